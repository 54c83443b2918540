"""Which commands of git take files away that it does not track, and that the sandbox keeps."""

import os
import re
from collections.abc import Iterable
from pathlib import Path, PurePath
from typing import Final

from amplifier_tui.base.commands.git_lines.words import git_words
from amplifier_tui.base.files.nearby import is_passed_over
from amplifier_tui.base.git import git_output_now
from amplifier_tui.base.protected import configuring
from amplifier_tui.base.shell.looks import git_folders
from amplifier_tui.host.gate.calls.option_words import first_word, option_names
from amplifier_tui.host.gate.verdicts.git import given

_PLAIN: Final = re.compile(r"[\w./+@-]+")
"""Names that neither the shell nor git takes for a pattern."""


def sweeps(arguments: tuple[str, ...], folders: Iterable[Path]) -> str:
    """Return a file that git would take away and that configures programs; else empty. Blocking.

    In the sandbox it is read-only, as git does not track it, and git stops half way.

    Args:
        arguments: What stands behind `git`.
        folders: Where it may run, absolute.
    """
    options, name, rest = git_words(arguments)
    which = _which(name, rest)
    if not which:
        return ""
    for folder in (each.joinpath(*git_folders(options)) for each in folders):
        told = git_output_now(folder, "ls-files", "-z", "--others", *which) or ""
        for file in map(PurePath, told.split("\0")):
            within = zip(file.parts, ("", *file.parts), strict=False)
            if any(configuring(*each) for each in within) and not any(
                is_passed_over(folder / each) for each in file.parents
            ):
                return os.path.normpath(file)
    return ""


def _which(name: str, words: tuple[str, ...]) -> tuple[str, ...]:
    """Return words for `git ls-files` about what a command takes away; nothing if it does not."""
    flags = option_names(words[: words.index("--")] if "--" in words else words)
    if name == "clean" and given(flags, "f force") and not given(flags, "n dry-run"):
        named = named_operands(words) if flags.isdisjoint(("e", "exclude")) else ()
        if "X" in flags:
            return ("--ignored", "--exclude-standard", "--", *named)
        return ("--", *named) if "x" in flags else ("--exclude-standard", "--", *named)
    if name == "stash" and first_word(words) in ("", "push", "save"):
        # It does so in the whole checkout.
        if given(flags, "a all"):
            return ("--", ":/")
        if given(flags, "u include-untracked"):
            return ("--exclude-standard", "--", ":/")
    return ()


def named_operands(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return the operands; none, which stands for all, where it is not sure which they are."""
    at = words.index("--") if "--" in words else len(words)
    named = [word for number, word in enumerate(words) if number > at or word[:1] != "-"]
    return tuple(named) if all(map(_PLAIN.fullmatch, named)) else ()
