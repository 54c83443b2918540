"""Random sequences of whatever can be done in a session: ledger, screen and a resume agree.

Made as those in `tests/sequences`, many more of them, in a process for each core. What is
done is kept, in the user's cache directory, for as long as no file of the program or of the
sequences changes: a run that was ended is gone on with. `python -m tests.bench.sequences SEED`
plays one run again, and says which steps of it are enough.
"""

import hashlib
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.bench.table import Row

RUNS = 2_000
QUICK = 100
CHUNK = 20
"""Runs of a process."""
ROOT = Path(__file__).parents[2]


def measure(quick: bool) -> list[Row]:
    """Return the row: how many runs do not agree."""
    from tests.sequences.runs import LIVES

    count = QUICK if quick else RUNS
    digest = _digest()
    done = _kept(digest)
    before = dict(_read(done))
    # Other sequences with each change of the code.
    start = int(digest[:8], 16)

    def chunk(first: int) -> dict[str, list[str]]:
        if first in before:
            return before[first]
        seeds = [str(seed) for seed in range(first, first + CHUNK)]
        command = [sys.executable, "-m", "tests.bench.sequences", *seeds]
        out = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
        found: dict[str, list[str]] = json.loads(out.stdout.splitlines()[-1])
        with done.open("a") as file:
            file.write(json.dumps([first, found]) + "\n")
        return found

    failed: dict[str, list[str]] = {}
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        firsts = range(start, start + count, CHUNK)
        for number, found in enumerate(pool.map(chunk, firsts), 1):
            failed |= found
            print(f"{number * CHUNK} of {count} runs, {len(failed)} do not agree", file=sys.stderr)
    for seed, (steps, problem) in failed.items():
        print(f"run {seed}: {steps}\n{problem}", file=sys.stderr)
    return [
        Row(
            what="sequences after which something disagrees",
            value=len(failed),
            unit="runs",
            goal=0,
            how=f"{count * LIVES:,} random sequences (from seed {start}) in {count} sessions, each "
            "ended and resumed",
            remark="; ".join(f"seed {seed}: {steps}" for seed, (steps, _) in failed.items())[:500],
        )
    ]


def _digest() -> str:
    """Return a fingerprint of the code as it is now."""
    digest = hashlib.sha256()
    for folder in ("amplifier_tui", "tests/sequences", "tests/host"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _kept(digest: str) -> Path:
    """Return the file of what was done with the code of that fingerprint."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "amplifier-tui"
    cache.mkdir(parents=True, exist_ok=True)
    return cache / f"bench-sequences-{digest}.jsonl"


def _read(path: Path) -> list[tuple[int, dict[str, list[str]]]]:
    if not path.exists():
        return []
    return [(first, found) for first, found in map(json.loads, path.read_text().splitlines())]


def play(seeds: list[int]) -> dict[str, list[str]]:
    """Play runs; return the steps that are enough, and the problem, of those that disagree."""
    import logging

    from amplifier_tui import compat
    from tests.sequences.runs import failure, run_of, shortest
    from tests.sequences.world import MODULES

    os.environ["AMPLIFIER_MODULES"] = str(MODULES)
    logging.disable()
    compat.install()
    found: dict[str, list[str]] = {}
    for seed in seeds:
        if problem := failure(run_of(seed)):
            found[str(seed)] = [repr(shortest(run_of(seed))), problem]
    return found


if __name__ == "__main__":
    import tempfile

    from tests.homes import home_variables

    with tempfile.TemporaryDirectory() as home:
        os.environ |= home_variables(Path(home))
        print(json.dumps(play([int(seed) for seed in sys.argv[1:]])))
