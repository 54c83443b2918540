"""What a run without a screen says: its output, its progress, its questions."""

import contextlib
import os
import select
import stat
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any, Final, TextIO

import click

from amplifier_tui.base.capabilities.questions import Question, QuestionAnswer
from amplifier_tui.base.text import one_line, reveal, without_marks
from amplifier_tui.cli.bundle.common import json_line
from amplifier_tui.host.events import ApprovalRequested, HostEvent

_LOOKS: Final = 0.2
"""Seconds between two looks whether a run was stopped that waits for an answer."""

_READ_WITHIN: Final = 0.5
"""Seconds that the end of a run waits for the reader of its last words."""


class Speaker:
    """Writes to the program's own standard output and error, which nothing else reaches.

    Args:
        whole: Every event goes to standard output.
        asks: A person at the terminal answers; `UsageError` is raised where there is none.
    """

    def __init__(self, *, whole: bool, asks: bool) -> None:
        self._out, self._err = _stream(sys.__stdout__), _stream(sys.__stderr__)
        self._whole = whole
        self._live = self._err.isatty()
        self._shown = False
        self.gone = False
        """Nobody reads standard output any more, or it can't be written."""
        self.unwritten = ""
        """Why it can't be written, where somebody would read it."""
        self._muted = False
        self._terminal: TextIO | None = None
        if asks:
            try:
                flags = os.O_RDONLY | os.O_NOCTTY
                number = os.dup(0) if os.isatty(0) else os.open("/dev/tty", flags)
                self._terminal = os.fdopen(number, encoding="utf-8")
            except OSError as error:
                raise click.UsageError("--approve ask needs a terminal to ask at") from error

    def event(self, event: HostEvent) -> None:
        """Write an event down, if that is wanted."""
        if self._whole:
            self.row(event.to_json())

    def row(self, row: dict[str, Any]) -> None:
        """Write an object on a line of its own."""
        self._print(json_line(row))

    def finish(self, text: str) -> None:
        """Say the last words."""
        self.progress("")
        if text:
            self._print(text)
            if not self.gone:
                self.gone = _left_unread(self._out.fileno())

    def say(self, text: str) -> None:
        """Write a line about the run."""
        self.progress("")
        self._tell(f"{one_line(without_marks(text), 1_000)}\n")

    def progress(self, text: str) -> None:
        """Show what is going on now, where somebody looks; empty to take it away."""
        if self._live and (text or self._shown):
            width = max(20, _columns() - 1)
            self._tell(f"\r\x1b[K{one_line(text, width)}")
            self._shown = bool(text)

    def ask(self, request: ApprovalRequested, stopped: Callable[[], bool]) -> bool | None:
        """Ask the person at the terminal until the run is stopped; None where nobody is asked."""
        if self._terminal is None:
            return None
        from amplifier_tui.cli.plain.choices import as_one
        from amplifier_tui.cli.plain.questions import approval_lines
        from amplifier_tui.cli.plain.waiting_questions import EARLY, TOO_EARLY

        self.progress("")
        for line in approval_lines(request):
            self._err.write(f"{as_one(line)}\n")
        shown, person = time.monotonic(), self._terminal.isatty()
        while self._line("Allow this once? [y/N] ", stopped).casefold() in ("y", "yes"):
            # What was typed before is about something else.
            if not person or time.monotonic() - shown >= EARLY:
                return True
            self._err.write(f"{TOO_EARLY}\n")
        return False

    def ask_all(
        self, questions: Sequence[Question], stopped: Callable[[], bool]
    ) -> tuple[QuestionAnswer, ...]:
        """Ask the person at the terminal, a line for each; empty where nobody is asked."""
        if self._terminal is None:
            return ()
        self.progress("")
        return tuple(self._answer(question, stopped) for question in questions)

    def _answer(self, question: Question, stopped: Callable[[], bool]) -> QuestionAnswer:
        self._err.write(f"{reveal(question.question)}\n")
        for number, option in enumerate(question.options, start=1):
            about = f": {option.description}" if option.description else ""
            self._err.write(f"  {number}  {reveal(option.label + about)}\n")
        several = "s, such as 1 3" if question.multi_select else ""
        hint = f"Number{several}, or your own words: " if question.options else "Your answer: "
        line = self._line(hint, stopped)
        numbers = line.replace(",", " ").split()
        known = {str(at + 1): at for at in range(len(question.options))}
        if numbers and all(number in known for number in numbers):
            return QuestionAnswer(tuple(known[number] for number in numbers))
        return QuestionAnswer(text=line)

    def _line(self, prompt: str, stopped: Callable[[], bool]) -> str:
        """Return what the person writes, stripped; empty when the run is stopped first."""
        self._err.write(prompt)
        self._err.flush()
        while self._terminal is not None and not stopped():
            if select.select([self._terminal], [], [], _LOOKS)[0]:
                return self._terminal.readline().strip()
        return ""

    def _tell(self, text: str) -> None:
        """Write to standard error, for as long as that can be written: the work goes on."""
        if self._muted:
            return
        try:
            self._err.write(text)
            self._err.flush()
        except OSError:
            self._muted = True

    def _print(self, text: str) -> None:
        if self.gone:
            return
        try:
            self._out.write(f"{text}\n")
            self._out.flush()
        except OSError as error:
            self.gone = True
            if not isinstance(error, BrokenPipeError):
                self.unwritten = error.strerror or str(error)
                self.say(f"Standard output can't be written: {self.unwritten}")
            # What is left in the buffer has nowhere to go either.
            with contextlib.suppress(OSError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), self._out.fileno())


def _left_unread(number: int) -> bool:
    """Whether the reader of a pipe goes away before it has read all; waits a moment for it.

    A pipe takes what is written without anybody who reads it, as long as there is room.
    """
    if sys.platform == "win32" or not stat.S_ISFIFO(os.fstat(number).st_mode):
        return False
    from fcntl import ioctl
    from termios import FIONREAD

    def is_left() -> bool:
        return any(ioctl(number, FIONREAD, bytes(4)))

    # Only errors are looked for: that nobody reads is one.
    gone, end = select.poll(), time.monotonic() + _READ_WITHIN
    gone.register(number, 0)
    while is_left() and time.monotonic() < end:
        if gone.poll(10):
            # It may have read the rest in the meantime.
            return is_left()
    return False


def _stream(stream: TextIO | None) -> TextIO:
    if stream is None:
        raise click.UsageError("standard output and error have to be open")
    return stream


def _columns() -> int:
    try:
        return os.get_terminal_size(2).columns
    except OSError:
        return 80
