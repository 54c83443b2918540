"""A command line as its simple commands, as far as that can be told without running it.

Not a shell: what it is unsure of it reports as opaque, and then no rule allows the line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

_ASSIGNMENT: Final = re.compile(r"[A-Za-z_]\w*\+?=")
_NUMBER: Final = re.compile(r"\d+$")
_DESCRIPTOR: Final = re.compile(r"\s*(?:\d+-?|-)")

_KEYWORDS: Final = frozenset(
    {
        *("if", "then", "elif", "else", "fi", "for", "while", "until", "do", "done", "case"),
        *("esac", "select", "function", "in", "coproc", "!", "{", "}", "[[", "]]"),
        *("eval", "exec", "source", ".", "trap", "alias"),
    }
)
"""Words that make the rest of a command mean something else."""

_WRAPPERS: Final = _KEYWORDS | {
    *("sudo", "doas", "env", "command", "builtin", "nohup", "nice", "time", "timeout"),
    *("stdbuf", "xargs", "setsid"),
}
"""Programs that run another one, named somewhere among their words."""

_SHELLS: Final = frozenset({"sh", "bash", "dash", "zsh", "ksh", "eval"})
_DEPTH: Final = 3
_LOOKED_AT: Final = 20
"""Words behind a wrapper among which the program it runs is looked for."""


@dataclass(frozen=True)
class Command:
    """One simple command.

    Attributes:
        words: Its words without quotes; variables are not replaced.
    """

    words: tuple[str, ...]

    @property
    def assigns(self) -> bool:
        """Whether variables are set in front of it."""
        return _ASSIGNMENT.match(self.words[0]) is not None

    def readings(self, depth: int = _DEPTH) -> Iterator[tuple[str, ...]]:
        """Yield every way to read it: as written, unwrapped, and what a shell in it would run."""
        words = self.words
        while words and _ASSIGNMENT.match(words[0]):
            words = words[1:]
        if not words:
            return
        yield words
        yield _bare(words)
        if words[0] in _WRAPPERS:
            starts = range(1, min(len(words), _LOOKED_AT))
            yield from (_bare(words[start:]) for start in starts)
        if depth and any(word in _SHELLS for word in words):
            for word in words:
                if " " in word:
                    for command in read_command_line(word).commands:
                        yield from command.readings(depth - 1)


def _bare(words: tuple[str, ...]) -> tuple[str, ...]:
    """The words with the program's name instead of its path."""
    return (words[0].rpartition("/")[2] or words[0], *words[1:])


@dataclass
class CommandLine:
    """A command line.

    Attributes:
        commands: Its simple commands, those in substitutions included.
        opaque: What makes it more than the sum of its commands; None if nothing does.
        reads: Files it reads by redirection.
        writes: Files it writes to by redirection.
    """

    commands: list[Command] = field(default_factory=list)
    opaque: str | None = None
    reads: list[str] = field(default_factory=list)
    writes: list[str] = field(default_factory=list)


def read_command_line(text: str) -> CommandLine:
    """Take a command line apart."""
    return _Reader(text).read()


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._place = 0
        self._line = CommandLine()
        self._words: list[str] = []
        self._word: list[str] | None = None
        self._target: str | None = None
        # What ends the surrounding construct, innermost last: `"`, `)` or a backtick.
        self._inside: list[str] = []

    def read(self) -> CommandLine:
        while self._place < len(self._text):
            self._step()
        self._end_command()
        if self._inside:
            self._opaque("unbalanced quotes or brackets")
        return self._line

    def _step(self) -> None:
        if self._inside and self._inside[-1] == '"':
            self._step_quoted()
        else:
            self._step_plain()

    # --- characters ------------------------------------------------------------------------

    def _step_plain(self) -> None:
        character = self._take()
        match character:
            case "'":
                self._single_quotes()
            case '"':
                self._add("")
                self._inside.append('"')
            case "\\":
                self._escaped(keep="")
            case " " | "\t":
                self._end_word()
            case "#" if self._word is None:
                self._comment()
            case "\n" | ";" | "|":
                self._end_command()
            case "&":
                self._ampersand()
            case ">" | "<":
                self._redirection(character)
            case "(" | "{" if self._word is None or character == "(":
                self._opaque("a group of commands")
                self._end_command()
                if character == "(":
                    self._inside.append(")")
            case ")" if self._inside and self._inside[-1] == ")":
                self._end_command()
                self._inside.pop()
            case ")":
                self._opaque("a case or an unbalanced bracket")
                self._end_command()
            case "$" | "`":
                self._expansion(character)
            case _:
                self._add(character)

    def _step_quoted(self) -> None:
        character = self._take()
        match character:
            case '"':
                self._inside.pop()
            case "\\":
                self._escaped(keep=character)
            case "$" | "`":
                self._expansion(character)
            case _:
                self._add(character)

    def _escaped(self, keep: str) -> None:
        follower = self._take()
        if follower != "\n":  # A line that goes on in the next one.
            self._add(follower if not keep or follower in '"\\$`' else keep + follower)

    def _expansion(self, character: str) -> None:
        if character == "`":
            self._opaque("a command substitution")
            self._end_command()
            if self._inside and self._inside[-1] == "`":
                self._inside.pop()
            else:
                self._inside.append("`")
        elif self._text.startswith("(", self._place):
            self._opaque("a command substitution")
            self._place += 1
            self._end_command()
            self._inside.append(")")
        else:
            if self._text.startswith("'", self._place):
                self._opaque("a quoted string with escapes")
            self._add(character)

    def _single_quotes(self) -> None:
        end = self._text.find("'", self._place)
        if end < 0:
            self._opaque("unbalanced quotes or brackets")
            end = len(self._text)
        self._add(self._text[self._place : end])
        self._place = end + 1

    def _comment(self) -> None:
        end = self._text.find("\n", self._place)
        self._place = len(self._text) if end < 0 else end

    def _ampersand(self) -> None:
        if self._text.startswith(">", self._place):
            self._place += 1
            self._redirection(">")
        else:
            self._end_command()

    def _redirection(self, character: str) -> None:
        if self._word is not None and _NUMBER.match("".join(self._word)):
            self._word = None  # The number of a file descriptor, not a word.
        self._end_word()
        follower = self._text[self._place : self._place + 1]
        if follower == "(":
            self._opaque("a process substitution")
            return
        if character == "<" and follower == "<":
            self._opaque("a here document")
        while (more := self._text[self._place : self._place + 1]) and more in "><|&":
            self._place += 1
            if more == ">":
                character = ">"
            elif more == "&":
                descriptor = _DESCRIPTOR.match(self._text, self._place)
                if descriptor is not None:
                    self._place = descriptor.end()
                    return
        self._target = character

    # --- words and commands ----------------------------------------------------------------

    def _take(self) -> str:
        character = self._text[self._place : self._place + 1]
        self._place += 1
        return character

    def _add(self, text: str) -> None:
        if self._word is None:
            self._word = []
        self._word.append(text)

    def _end_word(self) -> None:
        if self._word is None:
            return
        word, self._word = "".join(self._word), None
        if self._target is not None:
            if word != "/dev/null":
                line = self._line
                (line.writes if self._target == ">" else line.reads).append(word)
            self._target = None
            return
        self._words.append(word)

    def _end_command(self) -> None:
        self._end_word()
        self._target = None
        if self._words:
            command = Command(tuple(self._words))
            if command.words[0] in _KEYWORDS:
                self._opaque(f"the shell's own `{command.words[0]}`")
            self._line.commands.append(command)
        self._words = []

    def _opaque(self, what: str) -> None:
        if self._line.opaque is None:
            self._line.opaque = what
