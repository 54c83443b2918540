"""Giving the terminal to a program of the user's, and taking it back when that has ended."""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

from amplifier_tui.base.watcher import RUN_VARIABLE, run_mark, watcher

_STOPS = ("SIGTERM", "SIGHUP")


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
    with _settings_kept(terminal):
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
def _passing_on(group: int) -> Iterator[None]:
    """End the program, too, where this one is told to end; its own loop hears of that later."""

    def pass_on(number: int, frame: object) -> None:
        _tell(group, number)

    numbers = [getattr(signal, name) for name in _STOPS]
    before = [(number, signal.signal(number, pass_on)) for number in numbers]
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
    """Show words below what a program printed until the user presses enter."""
    if sys.__stdin__ is None or not sys.__stdin__.isatty():
        return
    say(f"\n{words}")
    with contextlib.suppress(OSError, KeyboardInterrupt):
        sys.__stdin__.readline()
