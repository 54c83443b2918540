"""Which commands of git sign what they make, or leave out a signature that the user has set."""

import re
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import Final, Literal

from amplifier_tui.base.commands.git_lines.words import git_words
from amplifier_tui.base.git import git_output_now
from amplifier_tui.base.shell import only_looks, programs_of
from amplifier_tui.base.shell.looks import git_folders
from amplifier_tui.host.gate.calls.option_words import option_names
from amplifier_tui.host.gate.risk import judge_script
from amplifier_tui.host.gate.verdicts.git import given

_MAKES_NOTHING: Final = {
    "am": "--abort --quit --show-current-patch",
    "cherry-pick": "--abort --quit -n --no-commit",
    "commit": "--dry-run",
    "merge": "--abort --quit --no-commit --squash --ff-only",
    "pull": "--no-commit --squash --ff-only",
    "rebase": "--abort --quit --edit-todo --show-current-patch",
    "revert": "--abort --quit -n --no-commit",
    "tag": "-d --delete -v --verify",
}
"""Commands of git that may sign, and options with which they don't."""
# Letters that take a value have the rest of the word for it.
_OF_COMMITS: Final = (re.compile(r"-[aefiknopqrsvxz3]*S"), "gpg-sign", "no-gpg-sign")
_OF_TAGS: Final = (re.compile(r"-[aef]*[su]"), "sign local-user", "no-sign")
"""Options that sign, by letter and by name, and those that don't."""

Signature = Literal["", "made", "left out"]


def leaves_unsigned(text: str, workspace: Path, folder: Path) -> str:
    """Return why a command line's commits or tags would lack a signature; else empty. Blocking.

    Args:
        text: As a shell reads it.
        workspace: Where the session works, absolute.
        folder: Where the line runs.
    """
    script = judge_script(text, workspace, folder)
    for command, heres in zip(script.line.commands, script.heres, strict=True):
        runs = [run for run in programs_of(command) if run.program == "git"]
        folders = {here.folder for here in heres}
        if any(signature(run.arguments, folders) == "left out" for run in runs):
            return "it leaves out the signature that your configuration of git asks for"
    return ""


def signature(arguments: tuple[str, ...], folders: Iterable[Path]) -> Signature:
    """Return what becomes of the signature of what git makes. Blocking.

    Git is asked about commands that may sign.

    Args:
        arguments: What stands behind `git`.
        folders: Where it may run, absolute.

    Returns:
        `left out` only where a configuration asks for it.
    """
    options, name, rest = git_words(arguments)
    nothing = _MAKES_NOTHING.get(name)
    if nothing is None or not {*nothing.split(), "-h", "--help"}.isdisjoint(rest):
        return ""
    if only_looks(("git", name, *rest)):
        return ""
    setting = "tag.gpgsign" if name == "tag" else "commit.gpgsign"
    places = [folder.joinpath(*git_folders(options)) for folder in folders]
    told = _told(name, rest)
    if told is None:
        told = _is_set(setting, places, _set_for_this(setting, options))
    if told:
        return "made"
    return "left out" if _is_set(setting, places) else ""


def _told(name: str, words: tuple[str, ...]) -> bool | None:
    """Whether options say to sign; None where none is about it."""
    letters, names, leaving_out = _OF_TAGS if name == "tag" else _OF_COMMITS
    said = None
    for word in words[: words.index("--")] if "--" in words else words:
        if letters.match(word) or given(option_names((word,)), names):
            said = True
        elif given(option_names((word,)), leaving_out):
            said = False
    return said


def _set_for_this(setting: str, options: tuple[str, ...]) -> tuple[str, ...]:
    """Return git's options that set it for one call."""
    values = (after for each, after in pairwise(options) if each == "-c")
    found = (value for value in values if value.partition("=")[0].lower() == setting)
    return tuple(word for value in found for word in ("-c", value))


def _is_set(setting: str, places: list[Path], options: tuple[str, ...] = ()) -> bool:
    asked = (*options, "config", "--type=bool", "--get", setting)
    return any(git_output_now(place, *asked) == "true\n" for place in places)
