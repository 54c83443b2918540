"""The commands of a line without what only orders them: `if`, `while`, loops, groups, `timeout`."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from amplifier_tui.base.lazy.pattern import lazy_pattern
from amplifier_tui.base.shell.line import LoopWords, ShellCommand, ShellLine
from amplifier_tui.base.shell.looks import EXPANDED, writes_nothing
from amplifier_tui.base.shell.unwrap import programs_of

_MOST: Final = 200
"""Commands that loops stand for."""
_VARIABLE: Final = lazy_pattern(
    r"(?!(?:[cfm]?d?path|manpath|mailpath|module_path|psvar|watch|histchars|\w*_proxy)\Z)[a-z][a-z\d_]*"
)
"""None of those that change what programs do: these have capitals, or are zsh's names for such."""
_VALUE: Final = lazy_pattern(r"[\w./+,:@%=-]+")
_QUOTES: Final = lazy_pattern(r"'[^']*'|\"[^\"]*\"|[^'\"]+|['\"]")
_CHOOSES: Final = lazy_pattern(r"[*?\[{]")
_TIMER: Final = (
    r"(?:time(?: -p)?|nice(?: -n -?\d+)?|timeout(?: --foreground| --preserve-status| -v"
    r"| -k [\d.]+[smhd]?| -s \w+)* [\d.]+[smhd]?)"
)
_TIMERS: Final = lazy_pattern(rf"{_TIMER}(?: {_TIMER})*")
_OF_THE_SHELL: Final = frozenset({"cd", "pushd", "popd", "exit", "return", "break", "continue"})


def plain_line(line: ShellLine) -> ShellLine | None:
    """Return a line in which each command stands as it runs, and nothing orders them.

    A command in a loop over words stands once for each of them; what measures or limits a command
    is left out. None where the line is more than its commands, as with a function.
    """
    if not line.complete or (line.hidden and not line.ordered):
        return None
    names = [loop.name for loop in line.loops]
    if not all(map(_VARIABLE.fullmatch, names)) or len({*names}) < len(names):
        # Of two loops over one variable it would not be known which of them set it last.
        return None
    commands: list[ShellCommand] = []
    for command in line.commands:
        if _only_silences(command):
            continue
        commands += map(_without_timer, _in_loops(command, line))
        if len(commands) > _MOST:
            return None
    return replace(line, commands=tuple(commands), hidden="", loops=())


def _only_silences(command: ShellCommand) -> bool:
    """Whether it is no command: what a loop or a group before it prints goes nowhere."""
    return (
        not (command.words or command.assignments)
        and bool(command.redirections)
        and all(
            writes_nothing(each) and not each.operator.startswith("<")
            for each in command.redirections
        )
    )


def _in_loops(command: ShellCommand, line: ShellLine) -> Sequence[ShellCommand]:
    """Return what a command stands for in the loops around it."""
    loops = {loop.scope: loop for loop in line.loops}
    found, scope = [command], command.scope
    while scope:
        if (loop := loops.get(scope)) is not None:
            found = [each for one in found for each in _for_each(one, loop)]
        scope = line.scopes[scope].parent
        if len(found) > _MOST:
            return [command] * (_MOST + 1)
    return found


def _for_each(command: ShellCommand, loop: LoopWords) -> Sequence[ShellCommand]:
    """Return a command with each of a loop's words in the place of its variable.

    The command as it is where that is not surely what the shell makes of it.
    """
    use = re.compile(rf"\$\{{{loop.name}\}}|\${loop.name}(?!\w)")
    pairs = list(zip(command.written, command.known, strict=True))
    if not any(not known and use.search(word) for word, known in pairs):
        return [command]
    if not loop.words or _has_literal_dollar(command.text):
        return [command]
    # Rules know programs by their names: none may come from a loop.
    programs = [run.program for run in programs_of(command)]
    if not all(programs):
        return [command]
    found: list[ShellCommand] = []
    for value, is_known in loop.words:
        # Of a pattern only running tells what it stands for, and where that is split.
        if not (is_known and _VALUE.fullmatch(value)):
            return [command]
        written = [word if known else use.sub(value, word) for word, known in pairs]
        known = [
            known
            or (
                use.search(word) is not None
                and not (EXPANDED.search(made) or _CHOOSES.search(made))
            )
            for (word, known), made in zip(pairs, written, strict=True)
        ]
        texts = [
            made if sure else text
            for made, sure, text in zip(written, known, command.words, strict=True)
        ]
        made_of = replace(command, words=tuple(texts), known=tuple(known), written=tuple(written))
        if [run.program for run in programs_of(made_of)] != programs:
            return [command]
        found.append(made_of)
    return found


def _has_literal_dollar(text: str) -> bool:
    """Whether a command may hold a dollar that is no variable."""
    if "\\" in text:
        return True
    pieces = _QUOTES.findall(text)
    return any(piece in "'\"" or (piece[0] == "'" and "$" in piece) for piece in pieces)


def _without_timer(command: ShellCommand) -> ShellCommand:
    """Return the command that `time`, `timeout` or `nice` runs, or the command as it is."""
    runs = programs_of(command)
    at = len(command.written) - len(runs[0].command.written) if len(runs) == 1 else 0
    if at <= 0 or not all(command.known[:at]) or runs[0].program in _OF_THE_SHELL:
        return command
    return runs[0].command if _TIMERS.fullmatch(" ".join(command.written[:at])) else command
