"""What must hold of any input, tried with many more inputs than the suite tries.

The suite draws 20 examples a test, this 1 000 (`deep` in `tests/conftest.py`).
"""

import re
import subprocess
import sys
from pathlib import Path

from tests.bench.table import Row

ROOT = Path(__file__).parents[2]


def measure(quick: bool) -> list[Row]:
    """Return the row: how many tests of a property find an input that fails."""
    profile = "suite" if quick else "deep"
    command = [sys.executable, "-m", "pytest", "-n", "auto", "-m", "hypothesis", "--timeout=0"]
    done = subprocess.run(
        [*command, f"--hypothesis-profile={profile}"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    counts = {word: int(count) for count, word in re.findall(r"(\d+) (\w+)", done.stdout[-200:])}
    failed = sum(counts.get(word, 0) for word in ("failed", "error", "errors"))
    if failed or not counts.get("passed"):
        print(done.stdout, file=sys.stderr)
    return [
        Row(
            what="properties that an input breaks",
            value=failed if counts.get("passed") else 1,
            unit="tests",
            goal=0,
            how=f"{counts.get('passed', 0) + failed} tests, the examples of `{profile}`",
        )
    ]
