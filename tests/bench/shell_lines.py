"""Lines of shell that are let through unasked as such that only look: what comes of them."""

import secrets
import tempfile
from pathlib import Path

from amplifier_tui.base.commands.sandbox import sandbox_problem
from tests.base.shell.fuzz import Workshop, let_through, lines
from tests.bench.table import Row

COUNT = 100_000
QUICK = 10_000
BATCH = 400


def measure(quick: bool) -> list[Row]:
    """Run lines, others each time, in a sandbox, by bash.

    Raises:
        RuntimeError: There is no sandbox here.
    """
    if sandbox_problem():
        raise RuntimeError(sandbox_problem())
    count = QUICK if quick else COUNT
    seed = secrets.randbelow(1 << 32)
    run = let_through(lines(count, seed))
    guilty: list[tuple[str, str]] = []
    with tempfile.TemporaryDirectory() as folder:
        workshop = Workshop(Path(folder))
        for start in range(0, len(run), BATCH):
            guilty += workshop.guilty(run[start : start + BATCH])
    return [
        Row(
            what="lines with an effect",
            value=len(guilty),
            unit="lines",
            goal=0,
            how=f"{count} random lines (seed {seed}), {len(run)} let through and run by bash",
            remark="; ".join(f"{line!r}: {effect}" for line, effect in guilty[:3]),
        )
    ]
