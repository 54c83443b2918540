"""Giving the terminal to a program of the user's, and taking it back when that has ended."""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO

from amplifier_tui.base.watcher import RUN_VARIABLE, run_mark, watcher

_STOPS = ("SIGTERM", "SIGHUP")
_GO_BACK = (b"\r", b"\n", b"\x03", b"\x04", b"")
"""Enter, ctrl+c, ctrl+d; nothing where the terminal is gone."""


def run_in_terminal(command: Sequence[str], cwd: Path | None = None) -> int:
    """Run a program that has the terminal to itself; returns its exit status.

    The caller has stopped drawing. Whatever the program leaves behind, the terminal's settings are
    afterwards what they were. A program that is suspended goes on: nothing here could bring it
    back later. It ends at the latest when this program does.

    Returns:
        The exit code; negative for a signal.

    Raises:
        OSError: It can't be started.
    """
    screen = sys.__stderr__
    terminal = sys.__stdin__ if sys.__stdin__ is not None and sys.__stdin__.isatty() else None
    watcher().start()
    with _settings_kept(terminal), _interrupts_noted() as interrupts:
        process = subprocess.Popen(
            command,
            cwd=cwd,
            env={**os.environ, RUN_VARIABLE: run_mark()},
            stdin=terminal,
            stdout=screen,
            stderr=screen,
            process_group=0,
        )
        watcher().watch_group(process.pid)
        try:
            with _in_front(terminal, process.pid), _passing_on(process.pid):
                if interrupts:
                    _tell(process.pid, signal.SIGINT)
                process.returncode = _wait(terminal, process.pid)
        finally:
            watcher().forget_group(process.pid)
    return process.returncode


def _wait(terminal: IO[str] | None, group: int) -> int:
    # It may have asked for the terminal before it had it, and was stopped for that.
    _tell(group, signal.SIGCONT)
    while True:
        _, status = os.waitpid(group, os.WUNTRACED)
        if not os.WIFSTOPPED(status):
            return os.waitstatus_to_exitcode(status)
        _put_in_front(terminal, group)
        _tell(group, signal.SIGCONT)


def _tell(group: int, number: int) -> None:
    """Send a signal to a process group, which may have ended.

    macOS says of one whose last process was not waited for yet that it may not be told (EPERM).
    """
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def _put_in_front(terminal: IO[str] | None, group: int) -> None:
    if terminal is not None:
        # The group may have ended, or the window was closed.
        with contextlib.suppress(OSError):
            os.tcsetpgrp(terminal.fileno(), group)


@contextlib.contextmanager
def _in_front(terminal: IO[str] | None, group: int) -> Iterator[None]:
    """Have the terminal's keys go to a process group."""
    # Whoever takes the terminal back stands in the background, and would be stopped for it.
    before = signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    _put_in_front(terminal, group)
    try:
        yield
    finally:
        _put_in_front(terminal, os.getpgrp())
        signal.signal(signal.SIGTTOU, before)


@contextlib.contextmanager
def _interrupts_noted() -> Iterator[list[int]]:
    """Note interrupts of this program: ctrl+c of before a command has the terminal is meant for it.

    The command runs, and may have printed, a moment before the terminal's keys go to it.
    """
    noted: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: noted.append(number))
    try:
        yield noted
    finally:
        signal.signal(signal.SIGINT, before)


def _passing_on(group: int) -> contextlib.AbstractContextManager[None]:
    """End the program, too, where this one is told to end."""
    return _told_to_end(lambda number: _tell(group, number))


@contextlib.contextmanager
def _told_to_end(react: Callable[[int], object]) -> Iterator[None]:
    """React at once where this program is told to end; its own loop hears of that later."""
    numbers = [getattr(signal, name) for name in _STOPS]
    before = [(number, signal.signal(number, lambda n, frame: react(n))) for number in numbers]
    try:
        yield
    finally:
        for number, handler in before:
            signal.signal(number, handler)


@contextlib.contextmanager
def _settings_kept(terminal: IO[str] | None) -> Iterator[None]:
    if terminal is None:
        yield
        return
    import termios

    saved = termios.tcgetattr(terminal.fileno())
    try:
        yield
    finally:
        with contextlib.suppress(termios.error):  # The window was closed.
            termios.tcsetattr(terminal.fileno(), termios.TCSADRAIN, saved)


def say(words: str) -> None:
    """Write a line where a program is going to write."""
    if sys.__stderr__ is not None:
        print(words, file=sys.__stderr__, flush=True)


def wait_for_enter(words: str) -> None:
    """Show words below what a program printed until the user presses enter, or ctrl+c of habit.

    No key is a signal here: it would be one to this program, which is to go on.
    """
    terminal = sys.__stdin__
    if terminal is None or not terminal.isatty():
        return
    import termios
    import tty

    def end_wait(number: int) -> None:
        raise InterruptedError

    keys = terminal.fileno()
    with (
        contextlib.suppress(OSError, termios.error),
        _settings_kept(terminal),
        _told_to_end(end_wait),
    ):
        tty.setraw(keys, termios.TCSANOW)
        # Not before: whoever reads them may press a key that is a signal until then.
        say(f"\r\n{words}")
        while os.read(keys, 1) not in _GO_BACK:
            pass
