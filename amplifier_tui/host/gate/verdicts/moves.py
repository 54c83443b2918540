"""The folders that each command of a line may run in: a `cd` before it may have failed."""

import os
from collections.abc import Iterable
from dataclasses import field
from pathlib import Path
from typing import Final

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.shell import LineScope, ShellCommand, ShellLine, programs_of
from amplifier_tui.host.gate.calls.whereabouts import Whereabouts
from amplifier_tui.host.gate.places import resolved

_MOVES: Final = frozenset({"cd", "pushd", "popd"})
_IN_SHELL: Final = frozenset({"command", "builtin", "eval"})
"""What runs a command of the shell in the shell itself."""
_OPTIONS: Final = frozenset({"-L", "-P", "-e", "--"})
_STEERING: Final = ("CDPATH=", "HOME=", "OLDPWD=")
MOST_FOLDERS: Final = 8
"""Folders that are looked at for a command; with more it may run anywhere."""
_MOST_LOOKS: Final = 1_000
"""Folders that are looked at for the commands of a line together."""
_MOST_PARTS: Final = 64


@dataclass(slots=True)
class _Frame:
    """A scope while its commands are gone through: where the next one runs, and any before."""

    scope: LineScope
    heres: tuple[Whereabouts, ...]
    looped: bool
    been: tuple[Whereabouts, ...] = ()


@dataclass(slots=True)
class Moves:
    """Goes through the commands of a line, in their order, and follows each `cd`."""

    line: ShellLine
    start: Whereabouts
    _frames: dict[int, _Frame] = field(default_factory=dict)
    _open: list[int] = field(default_factory=list)
    _inside: set[int] = field(default_factory=set)
    _past: tuple[Whereabouts, ...] = ()
    _unchanged: bool = True
    _looks: int = 0
    _moved: bool = False

    def __post_init__(self) -> None:
        self._past = (self.start,)
        self._enter(0, (self.start,), looped=False)

    def before(self, command: ShellCommand) -> tuple[Whereabouts, ...]:
        """Return where a command may run, the likeliest first."""
        self._go_to(command.scope)
        return self._frames[command.scope].heres

    def after(self, command: ShellCommand, *, changes: bool) -> None:
        """Follow a command; `changes` says that it may do more than read."""
        frame = self._frames[command.scope]
        self._looks += len(frame.heres)
        if self._looks > _MOST_LOOKS and (len(frame.heres) > 1 or self._moved):
            frame.heres = frame.been = self._past = tuple(self._lost()[:1])
            return
        if any(word.startswith(_STEERING) for word in (*command.assignments, *command.written)):
            self._move(frame, (*frame.heres, *self._lost()))
        moving = any(word in command.text for word in _MOVES)
        for run in programs_of(command) if moving else ():
            if run.program in _MOVES and _IN_SHELL.issuperset(run.wrappers):
                self._follow(run.command, command, frame)
        self._unchanged = self._unchanged and not changes

    def _follow(self, run: ShellCommand, command: ShellCommand, frame: _Frame) -> None:
        self._moved = True
        moved = [after_command(run, here) for here in frame.heres]
        if frame.looped or not all(each.known for each in moved):
            # Maybe back to where it was, or nowhere: the variable may be empty.
            moved += self._lost()
            self._move(frame, (*moved, *frame.heres))
            return
        # Behind a `&&` it was done.
        sure = frame.scope.kind == "chain" and run.words[:1] == command.words[:1]
        stay = [
            here
            for here, there in zip(frame.heres, moved, strict=True)
            if not (sure or self._succeeds(command, here, there))
        ]
        self._move(frame, (*moved, *stay))

    def _succeeds(self, command: ShellCommand, here: Whereabouts, there: Whereabouts) -> bool:
        """Whether a `cd` surely gets there: to a folder above, or one that nothing can remove."""
        options = [word for word in command.words[1:] if word.startswith("-")]
        plain = command.words[0] == "cd" and _OPTIONS.issuperset(options)
        single = len(command.words) - len(options) <= 2
        quiet = all(
            not each.writes or each.target in ("/dev/null", "/dev/stderr")
            for each in command.redirections
        ) and not any(each.operator.startswith("<") for each in command.redirections)
        if not (plain and single and quiet) or command.assignments:
            return False
        above = here.folder.is_relative_to(there.folder)
        return (
            (above or self._unchanged)
            and os.access(there.folder, os.X_OK)
            and (os.path.isdir(there.folder))
        )

    def _lost(self) -> list[Whereabouts]:
        return [Whereabouts(each.workspace, each.folder, known=False) for each in self._past]

    def _move(self, frame: _Frame, heres: Iterable[Whereabouts]) -> None:
        frame.heres = _limited(heres)
        frame.been = tuple(dict.fromkeys((*frame.been, *frame.heres)))
        self._past = _limited((*self._past, *frame.heres))

    # --- scopes ----------------------------------------------------------------------------

    def _go_to(self, number: int) -> None:
        """Leave what the command is not in, and enter what it is in."""
        ways, at = list[int](), number
        while at not in self._inside:
            ways.append(at)
            at = self.line.scopes[at].parent
        while self._open[-1] != at:
            self._leave()
        for each in reversed(ways):
            frame = self._frames[self._open[-1]]
            scope = self.line.scopes[each]
            # What a command is made of runs before it, also before it moves.
            again = scope.substituted or each in self._frames
            looped = scope.kind == "loop" or (frame.looped and scope.kind != "process")
            self._enter(each, frame.been if again else frame.heres, looped=looped)

    def _enter(self, number: int, heres: tuple[Whereabouts, ...], *, looped: bool) -> None:
        self._frames[number] = _Frame(self.line.scopes[number], heres, looped, heres)
        self._open.append(number)
        self._inside.add(number)

    def _leave(self) -> None:
        number = self._open.pop()
        self._inside.remove(number)
        inner = self._frames[number]
        if inner.scope.kind != "process":
            outer = self._frames[self._open[-1]]
            self._move(outer, (*inner.heres, *inner.been, *outer.heres))


def _limited(heres: Iterable[Whereabouts]) -> tuple[Whereabouts, ...]:
    found = tuple(dict.fromkeys(heres))
    if len(found) <= MOST_FOLDERS:
        return found
    lost = (Whereabouts(each.workspace, each.folder, known=False) for each in found)
    return tuple(dict.fromkeys(lost))[:MOST_FOLDERS]


def after_command(command: ShellCommand, here: Whereabouts) -> Whereabouts:
    """Return where the commands behind a command run, if it succeeds."""
    words, known = command.words, command.known
    if not words or words[0] not in _MOVES:
        return here
    lost = Whereabouts(here.workspace, here.folder, known=False)
    pairs = list(zip(words[1:], known[1:], strict=True))
    operands = [pair for pair in pairs if not pair[0].startswith("-")]
    turned = words[0] == "pushd" and (not operands or words[1].startswith(("+", "-")))
    if words[0] == "popd" or turned or (pairs and not operands):
        return lost
    text, sure = operands[0] if operands else ("~", True)
    if not sure:
        return lost
    # Links stay in it, as in the shell's own idea of where it is: `cd ..` leads back out of them.
    folder = Path(os.path.normpath(here.folder / os.path.expanduser(text)))
    if len(folder.parts) > _MOST_PARTS:
        return lost
    physical = any(word.startswith("-") and "P" in word for word in words[1:])
    return Whereabouts(here.workspace, resolved(folder) if physical else folder, here.known)
