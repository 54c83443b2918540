"""What is known of a shell command line without running it."""

import re
from dataclasses import field
from typing import Final, Literal, NamedTuple

from amplifier_tui.base.lazy.dataclass import dataclass

_WRITING: Final = frozenset({">", ">>", ">|", "&>", "&>>", "<>", ">&"})
_DESCRIPTOR: Final = re.compile(r"\d+-?|-")


@dataclass(frozen=True, slots=True)
class Redirection:
    """One redirection.

    Attributes:
        operator: As written, without the descriptor before it: `>`, `>>`, `<`, `<<`, `<<<`, `>&`.
        target: The file, unquoted; for `<<` and `<<<` the text that is fed in.
        known: False when the target is only known when it runs (`> $file`).
        written: The target as written, without its quotes.
    """

    operator: str
    target: str
    known: bool = True
    written: str = field(default="", compare=False)

    @property
    def writes(self) -> bool:
        """Whether it writes to its target; `2>&1` only copies a descriptor."""
        if self.operator == ">&" and self.known and _DESCRIPTOR.fullmatch(self.target):
            return False
        return self.operator in _WRITING


class LineScope(NamedTuple):
    """What some commands of a line stand in, such as a subshell.

    Attributes:
        kind: `process`: they run in a process of their own, so that a `cd` moves nothing behind
            it. `chain`: what stands in it directly is joined by `&&`, so each has succeeded before
            the next. `loop`: they may run several times, or later. `part`: they may not run at all.
        parent: The number of the scope around it; its own for the whole line.
        substituted: It runs while the command that it stands in is expanded.
    """

    kind: Literal["process", "chain", "loop", "part"] = "part"
    parent: int = 0
    substituted: bool = False


@dataclass(frozen=True, slots=True)
class ShellCommand:
    """One simple command of a command line.

    Attributes:
        text: As written, without the operators around it.
        words: Program and arguments with the quotes taken off, without what is only known when it
            runs; empty for a bare assignment or redirection.
        known: For each word, False when only running it tells what it is (`$x`, `$(…)`, `*.py`).
        written: The words with the quotes taken off, expansions as they are written.
        assignments: `NAME=value` before the program.
        redirections: In order.
        piped: It reads what a command before it writes.
        pipeline: The number of the pipeline it is in, however deep; 0 for none.
        nested: It stands inside a `$(…)`, backquotes or `<(…)` of another command.
        scope: The number of the scope that it stands in.
    """

    text: str
    words: tuple[str, ...] = ()
    known: tuple[bool, ...] = ()
    written: tuple[str, ...] = ()
    assignments: tuple[str, ...] = ()
    redirections: tuple[Redirection, ...] = ()
    piped: bool = False
    pipeline: int = 0
    nested: bool = False
    scope: int = field(default=0, compare=False)


class LoopWords(NamedTuple):
    """A loop over words.

    Attributes:
        name: Its variable.
        words: As written, without their quotes, each with whether that is what it stands for.
        scope: The number of the scope that its commands stand in.
    """

    name: str
    words: tuple[tuple[str, bool], ...]
    scope: int


@dataclass(frozen=True, slots=True)
class ShellLine:
    """A command line in parts.

    Attributes:
        commands: In the order they are written, those in substitutions included.
        complete: False when it was not wholly understood: then the parts may be wrong.
        hidden: What makes it more than the sum of its commands, such as `a command substitution`;
            empty if nothing does.
        ordered: What is hidden only orders the commands: conditions, loops, groups.
        scopes: What the commands stand in, the whole line first.
        loops: The loops over words.
        sets: Names of the variables that loops, and words while they are expanded (`${x:=…}`), set.
            One is empty where that may be any, or what some variable holds may run (`$((x))`).
    """

    commands: tuple[ShellCommand, ...]
    complete: bool = True
    hidden: str = ""
    ordered: bool = field(default=False, compare=False)
    scopes: tuple[LineScope, ...] = field(default=(LineScope(),), compare=False)
    loops: tuple[LoopWords, ...] = field(default=(), compare=False)
    sets: tuple[str, ...] = field(default=(), compare=False)
