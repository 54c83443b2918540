"""The watching process itself; it runs alone and starts in a few milliseconds.

Arguments: a variable and its value, by which processes of the program's commands are known.
Messages, a line each, come on standard input; its end is the program's. `group ID` and `gone ID`
tell of process groups, `terminal RESET NUMBERS...` and `released` of the terminal, which is
standard output: the bytes to write to it in hexadecimal, and its settings.
"""

import os
import select
import signal
import sys
import time
from collections.abc import Callable, Iterator

_PERIOD = 0.02
_LONGEST = 5.0
"""Seconds after which what still can't be ended is given up."""


def main(variable: str, mark: str) -> None:
    """Follow the messages, and tidy up when they end."""
    for name in ("SIGTERM", "SIGHUP", "SIGINT", "SIGTTOU"):
        signal.signal(getattr(signal, name), signal.SIG_IGN)
    groups: set[int] = set()
    terminal: list[str] = []
    for word, *rest in _messages(os.getppid()):
        if word == "group":
            groups.add(int(rest[0]))
        elif word == "gone":
            groups.discard(int(rest[0]))
        elif word == "terminal":
            terminal = rest
        elif word == "released":
            terminal = []
    if terminal:
        _put_back(bytes.fromhex(terminal[0]), [int(number) for number in terminal[1:]])
    _end(groups, variable, mark)


def _messages(parent: int) -> Iterator[list[str]]:
    """Yield the words of messages until the pipe or the parent ends, whichever is first."""
    waiting = [0]
    if hasattr(os, "pidfd_open"):
        # A process the parent forked without starting a program holds the pipe, too.
        try:
            waiting.append(os.pidfd_open(parent))
        except OSError:
            return  # It has ended already.
    data = b""
    while True:
        ready, _, _ = select.select(waiting, [], [])
        read = os.read(0, 65536) if 0 in ready else b""
        if not read:
            return
        *lines, data = (data + read).split(b"\n")
        for line in lines:
            if line:
                yield line.decode().split()


def _put_back(reset: bytes, settings: list[int]) -> None:
    import termios

    numbers, codes = settings[:6], settings[6:]
    characters: list[bytes | int] = [
        code if place in (termios.VMIN, termios.VTIME) else bytes([code])
        for place, code in enumerate(codes)
    ]
    try:
        os.write(1, reset)
        restored: list[int | list[bytes | int]] = [*numbers, characters]
        termios.tcsetattr(1, termios.TCSANOW, restored)
    except (OSError, termios.error):
        return  # The terminal is gone, and nothing is left to put back.


def _end(groups: set[int], variable: str, mark: str) -> None:
    deadline = time.monotonic() + _LONGEST
    quiet = 0
    while quiet < 2 and time.monotonic() < deadline:
        # Twice nothing: a process may just be starting another. One that the program forked has no
        # mark before it starts its command, and holds the pipe until then.
        quiet = 0 if _kill_all(groups, variable, mark) or _pipe_is_held() else quiet + 1
        time.sleep(_PERIOD)


def _pipe_is_held() -> bool:
    """Whether a process other than this one still holds the pipe of messages."""
    return not select.select([0], [], [], 0)[0] or bool(os.read(0, 65536))


def _kill_all(groups: set[int], variable: str, mark: str) -> bool:
    """Kill every process of the groups, of their sessions, with the mark, and what they started.

    Returns whether there was any.
    """
    found = {pid for pid, variables in environments() if variables.get(variable) == mark}
    parents: dict[int, int] = {}
    for pid in process_ids():
        status = _status(pid)
        # State, parent, group, session.
        if status and status[0] not in "ZX":
            parents[pid] = int(status[1])
            if {int(status[2]), int(status[3])} & groups:
                found.add(pid)
    found &= parents.keys()
    more = found
    while more:
        more = {pid for pid, parent in parents.items() if parent in more} - found
        found |= more
    for pid in found - {os.getpid()}:
        _kill(os.kill, pid)
    for group in groups:
        _kill(os.killpg, group)
    return bool(found)


def _kill(how: Callable[[int, int], None], number: int) -> None:
    try:
        how(number, signal.SIGKILL)
    except OSError:
        return  # It has ended, or is not ours to end.


def process_ids() -> list[int]:
    """Return the ids of all processes; none where there is no ``/proc``."""
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdecimal()]
    except OSError:
        return []


def environments() -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the other processes with the variables they were started with, as far as they tell."""
    own = os.getpid()
    for pid in process_ids():
        if pid == own:
            continue
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                settings = file.read().decode("utf-8", "replace").split("\0")
        except OSError:
            continue
        yield pid, dict(setting.split("=", 1) for setting in settings if "=" in setting)


def _status(pid: int) -> list[str]:
    """Return the fields of ``/proc/PID/stat`` from the state on; empty when it is gone."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].decode().split()
    except OSError:
        return []


def group_members(group: int) -> list[int]:
    """Return the processes of a group that run; none where there is no ``/proc``."""
    found = ((pid, _status(pid)) for pid in process_ids())
    return [pid for pid, s in found if s and s[0] not in "ZX" and int(s[2]) == group]


def children_of(parent: int) -> dict[int, int]:
    """Return the direct children of a process with their process groups."""
    found = ((pid, _status(pid)) for pid in process_ids())
    return {pid: int(s[2]) for pid, s in found if s and int(s[1]) == parent}


def has_proc() -> bool:
    """Whether processes can be looked at here."""
    return os.path.exists("/proc/self/stat")


def start_time(pid: int) -> str:
    """Return when a process started, in clock ticks since the machine did; empty when unknown."""
    status = _status(pid)
    return status[19] if len(status) > 19 else ""


def command_line(pid: int) -> str:
    """Return a process's command line; empty when it is gone."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read().replace(b"\0", b" ").decode("utf-8", "replace").strip()
    except OSError:
        return ""


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
