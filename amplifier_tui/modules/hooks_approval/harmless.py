"""Commands that only look, and only inside the workspace."""

from __future__ import annotations

from typing import Final

from amplifier_tui.modules.hooks_approval.command_line import Command, CommandLine

_PROGRAMS: Final = frozenset(
    {
        *("ls", "pwd", "cat", "head", "tail", "wc", "grep", "stat", "du", "df"),
        *("echo", "printf", "which", "whoami", "uname", "true", "false"),
    }
)
_GIT: Final = frozenset({"status", "diff", "log", "show"})
_WRITING: Final = ("--output", "--ext-diff", "--textconv")


def is_harmless(line: CommandLine) -> bool:
    """Whether every command of a line only looks, and only at what is in the workspace."""
    if line.opaque is not None or line.writes or line.reads or not line.commands:
        return False
    return all(_only_looks(command) for command in line.commands)


def _only_looks(command: Command) -> bool:
    program, *rest = command.words
    if program == "git":
        if not rest or rest[0] not in _GIT:
            return False
    elif program not in _PROGRAMS:
        return False
    return not command.assigns and not any(map(_reaches_out, rest))


def _reaches_out(word: str) -> bool:
    if "$" in word or ".." in word or word.startswith(("/", "~", *_WRITING)):
        return True
    return word.startswith("-") and ("/" in word or "~" in word)
