"""Plays random runs, and finds the shortest one that fails like a long one.

A run is one project and one session with several lives. Each life is a sequence: steps, then the
end of the program, in order or at a blow, and a fresh resume.
"""

import asyncio
import tempfile
import traceback
from pathlib import Path
from random import Random

from tests.sequences.agree import check_files, check_ledger, check_resume, check_words
from tests.sequences.puppet import PUPPET
from tests.sequences.world import Ending, Step, World, steps

LIVES = 10
ENDINGS: dict[str, Ending] = {"kill": "kill", "resume": "resume", "away": "away"}
STEPS = 8
_FRAMES = 3


def run_of(seed: int) -> list[Step]:
    """Return the steps of a run."""
    chance = Random(seed)
    found: list[Step] = []
    for _ in range(LIVES):
        found += steps(chance, chance.randint(3, STEPS))
        found.append((chance.choices(list(ENDINGS), (4, 4, 2))[0],))
    return found


async def play(run: list[Step], folder: Path) -> None:
    """Do the steps of a run, and check after each that everything agrees.

    Raises:
        AssertionError: It does not; the step is in the notes.
    """
    PUPPET.reset()
    folder.mkdir()
    world = World(folder)
    await world.open(bundle="one")
    try:
        for number, step in enumerate(run):
            try:
                if (end := ENDINGS.get(step[0])) is not None:
                    await check_resume(world, end)
                else:
                    await world.do(step)
                check_words(world)
                check_files(world)
                check_ledger(world)
            except Exception as error:
                error.add_note(f"step {number}: {step}")
                raise
    finally:
        await world.close()


def failure(run: list[Step]) -> str:
    """Play a run; return what went wrong, empty for nothing."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            asyncio.run(play(run, Path(folder) / "project"))
        except Exception as error:
            frames = traceback.format_tb(error.__traceback__)[-_FRAMES:]
            return "".join([*frames, *traceback.format_exception_only(error)])
    return ""


def shortest(run: list[Step]) -> list[Step]:
    """Leave out of a run that fails whatever it fails without, in the same way."""
    way = _place(failure(run))
    size = len(run) // 2
    while size:
        at = 0
        while at < len(run):
            less = run[:at] + run[at + size :]
            if way and _place(failure(less)) == way:
                run = less
            else:
                at += size
        size //= 2
    return run


def _place(problem: str) -> str:
    """Return where a run failed: the last line of code that is named."""
    lines = [line for line in problem.splitlines() if line.startswith("  File")]
    return lines[-1] if lines else ""
