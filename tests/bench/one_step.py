"""One prompt without a screen, beside a bare Python that only imports the vendor's SDK."""

import subprocess
import sys
import time
from collections.abc import Sequence

from tests.bench.program import MeasurementFailedError, machine, median
from tests.bench.table import Row
from tests.e2e.machine import Machine
from tests.e2e.vendors import Kind, lead_to
from tests.servers import LoopbackServer

SDKS: dict[Kind, str] = {"anthropic": "anthropic", "chat": "openai"}
"""What a bare Python imports, by the kind of server that is asked."""
ANSWER = "It is done."


def seconds(home: Machine, arguments: Sequence[str], said: str) -> float:
    """Run Python once; return how long that took.

    Raises:
        MeasurementFailedError: It did not say what it should.
    """
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, *arguments],
        env=home.env,
        cwd=home.project,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    took = time.perf_counter() - began
    if done.returncode != 0 or done.stdout.strip() != said:
        raise MeasurementFailedError(f"{arguments}: {done.stdout}{done.stderr}")
    return took


def measure(quick: bool) -> list[Row]:
    """Return the rows."""
    rounds = 3 if quick else 9
    found = []
    with machine() as home, LoopbackServer([ANSWER] * (rounds + 1) * len(SDKS)) as server:
        for kind, sdk in SDKS.items():
            lead_to(server, home, kind, kind)
            step = ("-m", "amplifier_tui", "run", "Do it.", "--bundle", kind)
            runs, imports = list[float](), list[float]()
            for _ in range(rounds + 1):
                runs.append(seconds(home, step, ANSWER))
                imports.append(seconds(home, ("-c", f"import {sdk}"), ""))
            # The first round warms the disk's cache.
            row = Row(
                what=f"run, one step: {sdk}",
                value=median(runs[1:]) * 1000,
                unit="ms",
                goal=2.5,
                relative=True,
                reference=median(imports[1:]) * 1000,
                against="a bare Python that imports the SDK",
                how=f"start to end, medians of {rounds} alternating rounds, loopback server",
            )
            found.append(row)
    return found
