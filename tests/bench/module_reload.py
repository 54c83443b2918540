"""A module's source under an open session: from one key to the new code, and what a hundred leave.

The real host without a screen. A module on disk is edited and reloaded; the memory of the process
is compared after a few reloads and after a hundred more.
"""

import gc
import os
import time
from pathlib import Path

from amplifier_tui.host.events import ModuleMounted, ToolEnded, TurnEnded
from tests.bench.program import MeasurementFailedError, machine, percentile
from tests.bench.table import Row
from tests.host.dice import KEY, Dice
from tests.host.driving import TOOLS, Driver, Project, calling

WARM = 10
TIMES = 100
HOW = f"the real host, {TIMES} reloads of a module that is edited each time"


def resident() -> float:
    """Return the resident memory of this process in MiB."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def reloaded(driver: Driver, dice: Dice, face: str) -> float:
    """Edit and reload; return the seconds until the new code is mounted."""
    dice.write(face)
    began = time.perf_counter()
    driver.client.reload(KEY)
    driver.wait(ModuleMounted, lambda event: event.again)
    return time.perf_counter() - began


def measure(quick: bool) -> list[Row]:
    """Return the rows."""
    with machine() as home:
        os.environ.update(home.env)
        project = Project(home.project)
        bundle = project.bundle(script=calling({"roll": {"count": True}}), tools=())
        project.allow((*TOOLS, "roll"))
        dice = Dice(home.home)
        driver = Driver(home.project)
        driver.open(bundle)
        driver.client.mount(str(dice.folder))
        driver.wait(ModuleMounted, lambda event: event.module_id == KEY)
        for number in range(WARM):
            reloaded(driver, dice, f"warm {number}")
        driver.events.clear()
        driver._seen = 0
        before = resident()
        seconds = [reloaded(driver, dice, f"face {number}") for number in range(TIMES)]
        driver.events.clear()
        driver._seen = 0
        after = resident()
        shown = driver.client.module_details(KEY).result(5).tools[0].description
        driver.client.submit("count")
        handlers = driver.wait(ToolEnded, lambda event: event.tool == "roll").output.count(KEY)
        driver.wait(TurnEnded)
        driver.client.close().result(10)
    if f"face {TIMES - 1}" not in shown or handlers != 1:
        raise MeasurementFailedError(f"after the reloads: {shown!r}, {handlers} handlers")
    p95 = percentile(seconds, 0.95)
    return [
        Row(what="reload of a module: p95", value=p95 * 1e3, unit="ms", goal=1_000, how=HOW),
        Row(
            what=f"memory after {TIMES} reloads",
            value=after,
            unit="MiB",
            goal=1.1,
            relative=True,
            reference=before,
            against=f"after {WARM}",
            how=HOW,
        ),
    ]
