"""What is left of running commands when the program is killed: nothing, one second later.

A program with the command tool runs lines that leave processes in the background, in sessions of
their own, deaf to signals; it is killed with SIGKILL at a moment of chance. Every second command
runs in the sandbox.
"""

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from amplifier_tui.base.commands.sandbox import sandbox_problem
from tests.bench.table import Row

KILLS = 200
QUICK = 20
LIMIT = 1.0
"""Seconds after which no process may be left."""
LINES = (
    "sleep {0}",
    "sleep {0} & sleep {0} & wait",
    "(setsid sleep {0} &); sleep {0}",
    "trap '' TERM HUP; nohup sleep {0} & while true; do sleep {0}; done",
    "env -i sleep {0} & for i in 1 2 3 4 5 6; do (sleep {0} &); done; wait",
)
PROGRAM = """
import asyncio, sys
from amplifier_tui.kernel.coordinator import ModuleCoordinator
from amplifier_tui.kernel.session.grant import Grant, granted
from amplifier_tui.modules import tool_bash

async def main():
    coordinator = ModuleCoordinator()
    coordinator.register_capability("session.working_dir", sys.argv[3])
    await tool_bash.mount(coordinator, {})
    with granted(Grant("rule" if sys.argv[2] == "sandbox" else "person")):
        print("ready", flush=True)
        await coordinator.get("tools", "bash").execute({"command": sys.argv[1]})

asyncio.run(main())
"""


def sleepers(seconds: str) -> list[int]:
    """Return the processes that sleep for just this long, dead ones not counted."""
    found = []
    for name in filter(str.isdecimal, os.listdir("/proc")):
        try:
            words = Path(f"/proc/{name}/cmdline").read_bytes().split(b"\0")
            state = Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue
        if words[:2] == [b"sleep", seconds.encode()] and state not in "ZX":
            found.append(int(name))
    return found


def kill_one(
    number: int, chance: random.Random, folder: Path, sandboxed: bool, limit: float = LIMIT
) -> float:
    """Run a command, kill the program, and return the seconds until nothing was left.

    At least `limit` is returned when something was left then.
    """
    seconds = f"{700 + number}.{time.time_ns() % 1_000_000:06d}"
    line = LINES[number % len(LINES)].format(seconds)
    words = [line, "sandbox" if sandboxed else "plain", str(folder)]
    program = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *words], stdout=subprocess.PIPE, start_new_session=True
    )
    assert program.stdout is not None
    program.stdout.readline()
    # At once, while the command starts, and while it runs.
    time.sleep(chance.choice((0.0, 0.002, 0.01, 0.03, 0.1, 0.2)))
    program.send_signal(signal.SIGKILL)
    program.communicate()
    killed = time.perf_counter()
    while time.perf_counter() - killed < limit:
        if not sleepers(seconds):
            # A process that was being born counts as well.
            time.sleep(0.05)
            if not sleepers(seconds):
                return time.perf_counter() - killed - 0.05
        time.sleep(0.005)
    left = sleepers(seconds)
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    return limit if left else time.perf_counter() - killed


def measure(quick: bool) -> list[Row]:
    """Kill the program again and again."""
    chance = random.Random(9)
    kills = QUICK if quick else KILLS
    with tempfile.TemporaryDirectory() as folder:
        taken = [
            kill_one(number, chance, Path(folder), bool(number % 2) and not sandbox_problem())
            for number in range(kills)
        ]
    survived = sum(seconds >= LIMIT for seconds in taken)
    how = f"{kills} kills at moments of chance, every second command in the sandbox"
    return [
        Row(
            what="Commands that outlived the killed program by 1 s",
            value=float(survived),
            unit="",
            goal=0,
            how=how,
        ),
        Row(
            what="Until the last process was gone, longest",
            value=max(taken) * 1_000,
            unit="ms",
            goal=LIMIT * 1_000,
            how=how,
        ),
    ]
