"""What becomes of three sessions, two of them writing, when their window is killed."""

import os
import random
import sys
import time

from tests.bench.program import machine, median
from tests.bench.table import Row
from tests.host.conftest import MODULES
from tests.host.door.three_sessions import kill_window, lost, write_bundle
from tests.host.driving import Project

KILLS, QUICK = 100, 10
LONGEST = 1.5
"""Seconds after which a window is killed at the latest."""


def measure(quick: bool) -> list[Row]:
    """Return the rows."""
    kills = QUICK if quick else KILLS
    chance = random.Random(11)
    damaged = 0
    seconds: list[float] = []
    for _ in range(kills):
        with machine() as home:
            os.environ.update(home.env, AMPLIFIER_MODULES=str(MODULES))
            project = Project(home.project)
            write_bundle(project)
            ids = kill_window(project, chance.uniform(0, LONGEST))
            began = time.perf_counter()
            if found := lost(project, ids):
                damaged += 1
                print(*found, sep="\n", file=sys.stderr)
            seconds.append(time.perf_counter() - began)
    return [
        Row(
            what=f"of {kills} kills, those after which a session was not as it was left",
            value=damaged,
            unit="",
            goal=0,
            how="SIGKILL at a moment of chance; the next window offers and resumes all three",
        ),
        Row(
            what="  until all three are open, looked at and closed again: median",
            value=median(seconds),
            unit="s",
        ),
    ]
