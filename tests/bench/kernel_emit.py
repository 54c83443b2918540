"""Speed of the kernel beside the published one: `python -m tests.bench.kernel_emit`.

The rows and goals are those of the architecture, section 9. The same worker runs on our kernel and
on a pip-installed `amplifier_core` 2.0, in turns, so that a busy machine is busy for both. The
latter lives in a virtual environment of its own, in the user's cache directory; where it can't be
installed its column stays empty.
"""

import json
import os
import statistics
import subprocess
import sys
import venv
from pathlib import Path

from tests.bench.table import Row

RUNS = 3
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
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def import_ms(statement: str) -> float:
    """Return the milliseconds a statement takes in a fresh interpreter; the median of some."""
    code = f"import time; t = time.perf_counter(); {statement}; print(time.perf_counter() - t)"
    command = [sys.executable, "-c", code]
    times = [
        float(subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout)
        for _ in range(2 * RUNS + 1)
    ]
    return statistics.median(times) * 1000


def medians(runs: list[dict[str, float]]) -> dict[str, float]:
    """Return the median of each row over the runs."""
    return {name: statistics.median(run[name] for run in runs) for name in GOALS} if runs else {}


def line(title: str, goal: float | None, ours: float, theirs: float | None, unit: str) -> str:
    """Return a row of the table."""
    wanted = f"≤ {goal:,.0f}" if goal is not None else ""
    beside = f"{theirs:,.1f}" if theirs is not None else "-"
    ratio = f"{theirs / ours:,.1f}x" if theirs is not None else "-"
    mark = "" if goal is None else "met" if ours <= goal else "MISSED"
    return f"{title:<48}{wanted:>8}{ours:>10,.1f} {unit}{beside:>10}{ratio:>8}  {mark}"


def both(runs: int) -> tuple[dict[str, float], dict[str, float]]:
    """Return the microseconds of our kernel and of the published one, as far as it is there."""
    theirs_at: Path | None = None
    try:
        theirs_at = environment()
    except (RuntimeError, OSError, subprocess.SubprocessError) as error:
        print(f"amplifier_core 2.0 can't be installed ({error}); its column stays empty.\n")
    own = [sys.executable, "-m", "amplifier_tui.compat", str(WORKER)]
    ours: list[dict[str, float]] = []
    theirs: list[dict[str, float]] = []
    for _ in range(runs):
        ours.append(work(own))
        if theirs_at is not None:
            theirs.append(work([str(theirs_at), str(WORKER)]))
    return medians(ours), medians(theirs)


def measure(quick: bool) -> list[Row]:
    """Return the rows for the table of all benchmarks."""
    mine, published = both(1 if quick else RUNS)
    how = "one worker on both kernels in turns; the reference is the published amplifier_core 2.0"
    return [
        Row(
            what=title,
            value=mine[name],
            unit="µs",
            goal=goal,
            reference=published.get(name),
            against="amplifier_core 2.0",
            how=how,
        )
        for name, (title, goal) in GOALS.items()
    ]


def main() -> int:
    """Print the table; return 1 if a goal was missed."""
    mine, published = both(RUNS)
    print(f"{'':<48}{'goal':>8}{'ours':>10}   {'theirs':>10}{'ratio':>8}")
    for name, (title, goal) in GOALS.items():
        print(line(title, goal, mine[name], published.get(name), "µs"))
    pydantic = import_ms("from pydantic import BaseModel; BaseModel.model_rebuild")
    kernel = import_ms("import amplifier_tui.kernel")
    names = import_ms("import amplifier_tui.kernel as k; [getattr(k, n) for n in k.__all__]")
    print(line("import of the kernel", pydantic + IMPORT_GOAL, kernel, None, "ms"))
    print(line("  the same, and every name of it", None, names, None, "ms"))
    print(line("  pydantic alone", None, pydantic, None, "ms"))
    missed = [name for name, (_, goal) in GOALS.items() if goal is not None and mine[name] > goal]
    return 1 if missed or kernel > pydantic + IMPORT_GOAL else 0


if __name__ == "__main__":
    sys.exit(main())
