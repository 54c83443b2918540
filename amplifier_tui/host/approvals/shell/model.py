"""What is known of a shell command line without running it."""

from dataclasses import dataclass
from typing import Final

WRITING: Final = frozenset({">", ">>", ">|", "&>", "&>>", "<>"})
"""Redirections that change their target."""


@dataclass(frozen=True, slots=True)
class Redirect:
    """One redirection.

    Attributes:
        operator: As written, without the descriptor: `>`, `>>`, `<`, `<<`, `<<<`, `>&`, …
        target: The file, unquoted; for `<<` and `<<<` the text that is fed in.
        known: False when the target is only known when it runs (`> $file`).
    """

    operator: str
    target: str
    known: bool = True


@dataclass(frozen=True, slots=True)
class Command:
    """One simple command of a command line.

    Attributes:
        text: As written, without the operators around it.
        words: Program and arguments with the quotes taken off; empty for a bare assignment or
            redirection.
        known: For each word, False when only running it tells what it is (`$x`, `$(…)`).
        assignments: `NAME=value` before the program.
        redirects: In order.
        piped: It reads what the command before it writes.
        nested: It stands inside a `$(…)`, backquotes or `<(…)` of another command.
    """

    text: str
    words: tuple[str, ...] = ()
    known: tuple[bool, ...] = ()
    assignments: tuple[str, ...] = ()
    redirects: tuple[Redirect, ...] = ()
    piped: bool = False
    nested: bool = False


@dataclass(frozen=True, slots=True)
class Script:
    """A command line in parts.

    Attributes:
        commands: In the order they are written.
        complete: False when quotes or brackets do not match, or it is nested absurdly deep: then
            the parts may be wrong.
    """

    commands: tuple[Command, ...]
    complete: bool = True
