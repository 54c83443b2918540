"""Speed of the kernel beside the published one.

The same worker runs on our kernel and on a pip-installed `amplifier_core` 2.0, in turns, so that a
busy machine is busy for both. The latter lives in a virtual environment of its own, in the user's
cache directory; where it can't be installed there is no reference.
"""

import json
import os
import statistics
import subprocess
import sys
import venv
from pathlib import Path

from tests.bench import sampler
from tests.bench.table import Row

RUNS = 5
REQUIREMENT = "amplifier-core>=2.0,<2.1"
ROOT = Path(__file__).parents[2]
WORKER = Path(__file__).with_name("kernel_worker.py")

GOALS: dict[str, tuple[str, float | None]] = {
    "emit 0 small": ("hooks.emit, no handler", 3),
    "emit 1 small": ("hooks.emit, 1 async handler, small payload", 8),
    "emit 10 small": ("hooks.emit, 10 async handlers, small payload", 40),
    "emit 10 large": ("hooks.emit, 10 handlers, 200 kB payload", 1_500),
    "emit 1 large, modify": ("  the same, 1 handler that modifies", None),
    "emit 10 large, json.dumps each": ("  the same, 10 handlers that dump it as JSON", None),
    "session in memory": ("session, in-memory loader, 4 modules", 150),
    "session through the loader": ("session, through ModuleLoader, 3 modules", 1_500),
}
"""The worker's name of each row, the table's, and the goal in microseconds."""

IMPORT_GOAL = 60.0
"""Milliseconds the kernel may cost beyond pydantic."""
PYDANTIC = "from pydantic import BaseModel; BaseModel.model_rebuild"
KERNEL = "import amplifier_tui.kernel"
EVERY_NAME = "import amplifier_tui.kernel as k; [getattr(k, n) for n in k.__all__]"


def environment() -> Path:
    """Return the Python that has the published kernel, installing it the first time.

    Raises:
        RuntimeError: It can't be installed.
    """
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = cache / "amplifier-tui" / "bench-amplifier-core-2.0"
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    probe = [str(python), "-c", "import amplifier_core"]
    if python.exists() and subprocess.run(probe, capture_output=True).returncode == 0:
        return python
    venv.create(folder, with_pip=True, clear=True)
    install = [str(python), "-m", "pip", "install", "-q", REQUIREMENT]
    done = subprocess.run(install, capture_output=True, text=True)
    if done.returncode != 0:
        reason = (done.stderr.strip().splitlines() or ["pip failed"])[-1]
        raise RuntimeError(reason)
    return python


def work(command: list[str]) -> dict[str, float]:
    """Run the worker once."""
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def medians(runs: list[dict[str, float]]) -> dict[str, float]:
    """Return the median of each row over the runs."""
    return {name: statistics.median(run[name] for run in runs) for name in GOALS} if runs else {}


def both(runs: int) -> tuple[dict[str, float], dict[str, float], str]:
    """Return the microseconds of our kernel, those of the published one, and why there are none."""
    theirs_at: Path | None = None
    problem = ""
    try:
        theirs_at = environment()
    except (RuntimeError, OSError, subprocess.SubprocessError) as error:
        problem = f"amplifier_core 2.0 can't be installed ({error})"
    own = [sys.executable, *sampler.command("amplifier_tui.compat"), str(WORKER)]
    ours: list[dict[str, float]] = []
    theirs: list[dict[str, float]] = []
    for _ in range(runs):
        ours.append(work(own))
        if theirs_at is not None:
            theirs.append(work([str(theirs_at), str(WORKER)]))
    return medians(ours), medians(theirs), problem


def import_ms(statement: str) -> float:
    """Return the milliseconds of processor time a statement takes in a fresh interpreter."""
    code = f"import time; t = time.process_time(); {statement}; print(time.process_time() - t)"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    return float(done.stdout) * 1000


def imports(times: int) -> list[Row]:
    """What importing the kernel costs beside pydantic, in turns."""
    found: dict[str, list[float]] = {PYDANTIC: [], KERNEL: [], EVERY_NAME: []}
    for _ in range(times):
        for statement, taken in found.items():
            taken.append(import_ms(statement))
    pydantic = statistics.median(found[PYDANTIC])

    def row(what: str, statement: str, goal: float | None) -> Row:
        return Row(
            what=what,
            value=statistics.median(found[statement]),
            unit="ms",
            goal=goal,
            reference=pydantic,
            against="pydantic's import; the goal is that plus 60 ms",
            how=f"processor time in a fresh interpreter, medians of {times}",
        )

    return [
        row("import amplifier_tui.kernel", KERNEL, pydantic + IMPORT_GOAL),
        row("  the same, and every name of it", EVERY_NAME, None),
    ]


def measure(quick: bool) -> list[Row]:
    """Return the rows."""
    runs = 1 if quick else RUNS
    mine, published, problem = both(runs)
    how = f"one worker on both kernels, in turns: the best of its rounds, median of {runs} runs"
    rows = [
        Row(
            what=title,
            value=mine[name],
            unit="µs",
            goal=goal,
            reference=published.get(name),
            against=problem or "the published amplifier_core 2.0",
            how=how,
        )
        for name, (title, goal) in GOALS.items()
    ]
    return rows + imports(3 if quick else 7)
