"""Which command lines of git concern files of the workspace alone, where it is part of a checkout.

Git works on all of a checkout: what lies beside the workspace is read-only in the sandbox, and what
would change it stays half done there, or takes up what the user did in it.
"""

import os
import re
from pathlib import Path
from typing import Final

from amplifier_tui.base.commands.git_lines.words import git_words
from amplifier_tui.base.git import brings_filters_now, git_bytes_now
from amplifier_tui.base.repositories.settings import places_of_hooks
from amplifier_tui.base.shell import ProgramRun, programs_of
from amplifier_tui.host.gate.calls.git_writing import git_writes_from
from amplifier_tui.host.gate.calls.option_words import option_names
from amplifier_tui.host.gate.calls.whereabouts import Whereabouts
from amplifier_tui.host.gate.risk import JudgedScript

_COMMIT: Final = "commit"
_GIVEN_FILES: Final = {
    name: frozenset(options.split())
    for name, options in (
        ("add", "A all u update v verbose f force N intent-to-add n dry-run"),
        ("mv", "f force k n dry-run v verbose"),
        ("restore", "S staged W worktree q quiet source"),
        ("rm", "r f force q quiet n dry-run cached ignore-unmatch"),
    )
}
"""Commands that concern the files they are given, and the options with which they do."""
_NO_FILES: Final = frozenset({"branch", "fetch", "notes", "push", "tag"})
"""Commands that leave the files of a checkout as they are, and its index."""
_NEW_BRANCH: Final = {"switch": ("-c", "--create"), "checkout": ("-b",)}
_OPTIONS: Final = re.compile(
    r"-[nqsv]+|--(?:quiet|signoff|no-verify|verbose|allow-empty|allow-empty-message|amend|no-edit"
    r"|no-gpg-sign)"
)
"""Options of a commit of what is in the index."""
_WITH_VALUE: Final = re.compile(r"(?:-[nqsv]*[mF]|--(?:message|file|author|date|trailer)(?==|\Z))")
_PATTERN: Final = re.compile(r"[\w./@+*?-]+")
"""What the shell alone makes files of, and nothing but files."""


def concerns_workspace(script: JudgedScript, workspace: Path, kept: Path) -> bool:
    """Whether git would change nothing but files of the workspace, and what it keeps of them.

    Not where the repository has git run more, which could write there what git believes without
    looking, and not where git knows of no file in the workspace: it may be a repository of other
    things. Blocking.

    Args:
        script: A command line in which git alone writes.
        workspace: A folder of a checkout, links followed.
        kept: The folder that keeps its repository.
    """
    commits = False
    for command, heres in zip(script.line.commands, script.heres, strict=True):
        for run in programs_of(command):
            moves = git_writes_from(run.arguments) if run.program == "git" else None
            if moves is None:
                continue
            if not all(
                here.known and _concerns(run, Whereabouts(workspace, here.folder.joinpath(*moves)))
                for here in heres
            ):
                return False
            commits = commits or git_words(run.arguments)[1] == _COMMIT
    return (
        git_bytes_now(workspace, "ls-files", "--", ".", most_bytes=1) not in (None, b"")
        and not _runs_others(workspace, kept)
        and not (commits and _holds_others(workspace))
    )


def _concerns(run: ProgramRun, here: Whereabouts) -> bool:
    """Whether a call of git concerns files of the workspace alone."""
    _, name, rest = git_words(run.arguments)
    start = len(run.command.words) - len(rest)
    known, written = run.command.known[start:], run.command.written[start:]
    if name == _COMMIT:
        return _is_of_index(rest, known)
    if name in _NO_FILES or (name == "reset" and rest[:1] == ("--soft",)):
        return True
    if name in _NEW_BRANCH:
        # From where it is now.
        return len(rest) == len(("-c", "name")) and rest[0] in _NEW_BRANCH[name]
    at = rest.index("--") if "--" in rest else len(rest)
    files = [
        (word, sure)
        for number, (word, sure) in enumerate(zip(written, known, strict=False))
        if number > at or (number < at and not rest[number].startswith("-"))
    ]
    return (
        name in _GIVEN_FILES
        and option_names(rest[:at]) <= _GIVEN_FILES[name]
        # Without one it is all of the checkout.
        and bool(files)
        and all(_is_file(word, here, known=sure) for word, sure in files)
    )


def _is_file(word: str, here: Whereabouts, *, known: bool) -> bool:
    # Git reads what begins with a colon in its own way, and the shell what is in braces.
    plain = not word.startswith(":") and "{" not in word if known else _PATTERN.fullmatch(word)
    return bool(plain) and here.holds(word)


def _is_of_index(words: tuple[str, ...], known: tuple[bool, ...]) -> bool:
    """Whether `git commit` with these words behind it commits what is in the index."""
    left = iter(zip(words, known, strict=True))
    for word, sure in left:
        valued = _WITH_VALUE.match(word)
        if valued is not None and (sure or valued.end() < len(word)):
            if valued.end() == len(word):
                next(left, None)
        elif not (sure and _OPTIONS.fullmatch(word)):
            return False
    return True


def _holds_others(workspace: Path) -> bool:
    """Whether the index may hold changes of files beside the workspace."""
    asked = ("diff", "--cached", "--name-only", "--no-ext-diff", "--no-textconv", "--")
    return git_bytes_now(workspace, *asked, ":(top)", ":(exclude).", most_bytes=1) != b""


def _runs_others(workspace: Path, kept: Path) -> bool:
    """Whether git may run more than itself: hooks, and filters that its repository names."""
    around = (each for each in workspace.parents if os.path.lexists(each / ".git"))
    places = places_of_hooks(next(around, workspace)) or (kept / "hooks",)
    try:
        hooks = [
            each for place in places for each in (place.iterdir() if place.is_dir() else (place,))
        ]
    except OSError:
        # What can't be looked at may be anything.
        return True
    return any(map(_is_run, hooks)) or brings_filters_now(workspace)


def _is_run(hook: Path) -> bool:
    return hook.suffix != ".sample" and hook.is_file() and os.access(hook, os.X_OK)
