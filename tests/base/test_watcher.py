"""What outlives a program that ends without a chance to tidy up, and what does not."""

import os
import pty
import re
import select
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from amplifier_tui.base import watcher as watching
from amplifier_tui.base.watcher.process import has_proc

pytestmark = pytest.mark.skipif(not has_proc(), reason="processes can't be looked at here")

PATIENCE = 20.0

STARTS = """
import os, subprocess, sys, time
from amplifier_tui.base.watcher import RUN_VARIABLE, run_mark, watcher
marked = {**os.environ, RUN_VARIABLE: run_mark()}
child = subprocess.Popen(["bash", "-c", sys.argv[1]], env=marked, start_new_session=True)
watcher().watch_group(child.pid)
print("ready", watcher().pid, flush=True)
time.sleep(600)
"""


def until(seen: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not seen():
        assert time.monotonic() < deadline, what
        time.sleep(0.01)


def running(word: str) -> list[int]:
    """Return the processes whose command line has a word."""
    found = []
    for name in filter(str.isdecimal, os.listdir("/proc")):
        try:
            words = Path(f"/proc/{name}/cmdline").read_bytes().split(b"\0")
            stopped = Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
        except OSError:
            continue
        if word.encode() in words and not stopped and b"-c" not in words:
            found.append(int(name))
    return found


@pytest.fixture
def seconds() -> Iterator[str]:
    """A time to sleep that nobody else sleeps for, by which a process is known."""
    chosen = f"{600 + time.time_ns() % 1_000_000 / 1_000_000:.6f}"
    yield chosen
    for pid in running(chosen):
        os.kill(pid, signal.SIGKILL)


def start(script: str) -> "subprocess.Popen[str]":
    program = subprocess.Popen(
        [sys.executable, "-c", STARTS, script], stdout=subprocess.PIPE, text=True
    )
    assert program.stdout is not None
    assert program.stdout.readline().startswith("ready")
    return program


@pytest.mark.parametrize(
    "script",
    [
        "sleep {0}",
        "sleep {0} & sleep {0} & wait",
        "(setsid sleep {0} &) ; sleep {0}",
        "env -i sleep {0} & sleep {0}",
        "trap '' TERM HUP INT; nohup sleep {0} & while true; do sleep {0}; done",
        "setsid env -i sleep {0} & wait",
    ],
    ids=["plain", "background", "own session", "empty environment", "deaf", "all of it"],
)
def test_commands_end_with_a_program_that_is_killed(script: str, seconds: str) -> None:
    program = start(script.format(seconds))
    until(lambda: bool(running(seconds)), "nothing was started")
    program.kill()
    program.wait()
    killed = time.monotonic()
    until(lambda: not running(seconds), "something goes on")
    assert time.monotonic() - killed < PATIENCE
    program.communicate()


FORKS = """
import os, select, signal, sys, time
from pathlib import Path
from amplifier_tui.base.watcher import RUN_VARIABLE, run_mark, watcher
marked = {**os.environ, RUN_VARIABLE: run_mark()}
watcher().start()
watching = os.pidfd_open(watcher().pid)
files = Path(f"/proc/{watcher().pid}/fd")
while not any("pidfd" in os.path.realpath(file) for file in files.iterdir()):
    time.sleep(0.01)
if os.fork():
    os.kill(os.getpid(), signal.SIGKILL)
# The watcher has had ten times as long as it takes to look twice, or has ended.
select.select([watching], [], [], 0.4)
os.write(1, b"starts")
os.execvpe("sleep", ["sleep", sys.argv[1]], marked)
"""


def test_a_command_that_had_not_started_yet_when_the_program_was_killed_ends(seconds: str) -> None:
    # Whatever it left holds its output.
    command = [sys.executable, "-c", FORKS, seconds]
    program = subprocess.run(command, check=False, stdout=subprocess.PIPE, timeout=PATIENCE)
    assert (program.returncode, program.stdout) == (-signal.SIGKILL, b"starts")
    assert not running(seconds)


def test_a_group_that_was_forgotten_is_left_alone(seconds: str) -> None:
    mine = subprocess.Popen(["sleep", seconds], start_new_session=True)
    one = watching.Watcher()
    one.watch_group(mine.pid)
    one.forget_group(mine.pid)
    one.stop()
    assert mine.poll() is None
    mine.kill()
    mine.wait()


def test_leftovers_are_those_of_programs_that_have_ended(seconds: str) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", "import os; print(os.getpid())"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()
    mine = {**os.environ, watching.RUN_VARIABLE: watching.run_mark()}
    others = {**os.environ, watching.RUN_VARIABLE: f"{ended}.1"}
    live = subprocess.Popen(["sleep", seconds], env=mine)
    left = subprocess.Popen(["sleep", seconds], env=others)
    until(lambda: len(running(seconds)) == 2, "they did not start")
    found = watching.leftovers()
    assert (left.pid, f"sleep {seconds}") in found
    assert live.pid not in [pid for pid, _ in found]
    for process in (live, left):
        process.kill()
        process.wait()


EXITS = """
import os, sys, termios, tty
from amplifier_tui.base.watcher import watcher
before = termios.tcgetattr(0)
watcher().watch_terminal(0, before, "<put back>")
tty.setraw(0)
os.write(1, b"raw")
if sys.argv[1] == "in order":
    termios.tcsetattr(0, termios.TCSANOW, before)
    watcher().release_terminal()
os._exit(3)
"""


@pytest.mark.parametrize(("how", "put_back"), [("os._exit", True), ("in order", False)])
def test_the_terminal_is_put_back_when_the_program_could_not(how: str, put_back: bool) -> None:
    outer, inner = pty.openpty()
    before = termios.tcgetattr(inner)
    program = subprocess.Popen(
        [sys.executable, "-c", EXITS, how],
        stdin=inner,
        stdout=inner,
        stderr=inner,
        start_new_session=True,
    )
    assert program.wait() == 3
    read = b""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and not (put_back and b"<put back>" in read):
        if select.select([outer], [], [], 0.5)[0]:
            read += os.read(outer, 1024)
        elif not put_back:
            break
    until(lambda: termios.tcgetattr(inner) == before, "the terminal is as the program left it")
    assert bool(re.search(rb"<put back>", read)) == put_back
    os.close(outer)
    os.close(inner)
