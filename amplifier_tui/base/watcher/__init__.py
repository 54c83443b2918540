"""A second process that tidies up when this program ends in a way that lets it do nothing itself.

After SIGKILL, ``os._exit`` or a crash of the interpreter, the watcher ends the processes that the
program's commands left behind and puts the terminal back. It notices the end by a pipe that only
this program holds.
"""

import contextlib
import logging
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from amplifier_tui.base.watcher import process as watching

logger = logging.getLogger(__name__)

RUN_VARIABLE: Final = "AMPLIFIER_TUI_RUN"
"""Environment variable by which the processes of a program's commands are known."""


class Leftover(NamedTuple):
    """A process that an earlier run of the program started and did not end."""

    pid: int
    command: str


@cache
def run_mark() -> str:
    """Return what `RUN_VARIABLE` is for this program: its process id and when it started."""
    return f"{os.getpid()}.{watching.start_time(os.getpid()) or 0}"


def leftovers(same: Iterable[str] = ()) -> list[Leftover]:
    """Return processes of runs that have ended. Empty where there is no ``/proc``. Blocking.

    Args:
        same: Variables that must be to them what they are to this program.
    """
    found = []
    for pid, environment in watching.environments():
        owner, _, started = environment.get(RUN_VARIABLE, "").partition(".")
        if not started or any(environment.get(name) != os.environ.get(name) for name in same):
            continue
        if not owner.isdecimal() or watching.start_time(int(owner)) != started:
            found.append(Leftover(pid, watching.command_line(pid)))
    return found


def end_leftovers(processes: Iterable[Leftover]) -> None:
    """Kill processes, unless their ids have come to mean others since."""
    for process in processes:
        if watching.command_line(process.pid) == process.command:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGKILL)


class Watcher:
    """The process, started when it is needed first. Safe to use from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        """Its process id; 0 before it is started."""
        process = self._process
        return process.pid if process is not None else 0

    def start(self) -> None:
        """Start it, unless it runs: from now on it ends whatever has the mark of this run."""
        self._tell("")

    def watch_group(self, group: int) -> None:
        """Have a process group, and all that came from it, ended with this program."""
        self._tell(f"group {group}")

    def forget_group(self, group: int) -> None:
        """The group has ended."""
        self._tell(f"gone {group}")

    def watch_terminal(self, handle: int, attributes: Sequence[Any], reset: str) -> None:
        """Have the terminal put back when this program can't.

        Args:
            handle: File descriptor of the terminal.
            attributes: Its settings, as `termios.tcgetattr` gives them.
            reset: Control sequences to write to it first.
        """
        *numbers, characters = attributes
        codes = [code if isinstance(code, int) else ord(code) for code in characters]
        settings = " ".join(map(str, (*numbers, *codes)))
        self._tell(f"terminal {reset.encode().hex()} {settings}", terminal=handle)

    def release_terminal(self) -> None:
        """The terminal was put back in order. Does nothing when there is no watcher."""
        if self._process is not None:
            self._tell("released")

    def stop(self) -> None:
        """End the watcher, which ends what is left of the groups."""
        with self._lock:
            process, self._process = self._process, None
        if process is not None and process.stdin is not None:
            process.stdin.close()
            process.wait()

    def _tell(self, message: str, terminal: int | None = None) -> None:
        with self._lock:
            try:
                if self._process is None:
                    self._process = _start(terminal)
                assert self._process.stdin is not None
                self._process.stdin.write(f"{message}\n".encode())
                self._process.stdin.flush()
            except OSError as error:
                # It only matters should this program be killed; the next message starts another.
                logger.warning("No watcher: %s", error)
                self._process = None


def _start(terminal: int | None) -> "subprocess.Popen[bytes]":
    environment = {name: value for name, value in os.environ.items() if name != RUN_VARIABLE}
    command = [sys.executable, "-I", "-S", str(Path(watching.__file__)), RUN_VARIABLE, run_mark()]
    return subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL if terminal is None else terminal,
        stderr=subprocess.DEVNULL,
        env=environment,
        cwd="/",
        start_new_session=True,
    )


@cache
def watcher() -> Watcher:
    """Return this program's watcher."""
    return Watcher()
