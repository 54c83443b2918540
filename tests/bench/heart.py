"""How late an event loop gets round to a timer."""

import asyncio
import time

from tests.bench import sampler
from tests.bench.machine_heart import MachineHeart
from tests.bench.table import Row

WORTH_A_LOOK = 5.0
"""Milliseconds of lateness the sampler is told of."""


class Heart:
    """Beats on a loop; a stall is how late a beat came.

    The machine may do other things as well: a process that does nothing but beat shows meanwhile
    how late a beat is on it anyway.

    Args:
        beat: Seconds between two beats.
    """

    def __init__(self, beat: float = 0.01) -> None:
        self.late: list[float] = []
        """Milliseconds by which each beat was late."""
        self.burned: list[float] = []
        """Milliseconds of the thread's processor time between two beats."""
        self.machine = 0.0
        """The longest stall of the process that did nothing, in milliseconds."""
        self._beat = beat
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> "Heart":
        self._task = asyncio.create_task(self._run())
        await asyncio.sleep(3 * self._beat)
        self.late.clear()
        self.burned.clear()
        MachineHeart.shared().begin()
        return self

    async def __aexit__(self, *exc: object) -> None:
        # The beat that is under way counts as well.
        await asyncio.sleep(3 * self._beat)
        if self._task is not None:
            self._task.cancel()
        self.machine = MachineHeart.shared().end()

    @property
    def worst(self) -> float:
        """The longest stall in milliseconds."""
        return max(self.late, default=0.0)

    async def _run(self) -> None:
        due, cpu = time.perf_counter() + self._beat, time.thread_time()
        while True:
            await asyncio.sleep(self._beat)
            now, burned = time.perf_counter(), time.thread_time()
            late = max(0.0, now - due) * 1000
            self.late.append(late)
            self.burned.append((burned - cpu) * 1000)
            if late > WORTH_A_LOOK:
                sampler.stalled(due, late)
            due, cpu = time.perf_counter() + self._beat, time.thread_time()


def stall_row(what: str, hearts: list[Heart], goal: float | None, how: str) -> Row:
    """Return the row of the longest stall, the median of some rounds.

    Args:
        what: What was going on.
        hearts: One per round; of an even number, the worse of the two in the middle counts.
        goal: In milliseconds.
        how: How it was measured.
    """
    middle = sorted(hearts, key=lambda heart: heart.worst)[len(hearts) // 2]
    burned = max(middle.burned, default=0.0)
    return Row(
        what=what,
        value=middle.worst,
        unit="ms",
        goal=goal,
        reference=middle.machine,
        against="an idle process's longest stall meanwhile",
        how=f"{how}; CPU is what the thread used between two beats, at most",
        remark=f"{burned:.0f} ms CPU",
    )
