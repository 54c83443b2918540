"""How late an event loop gets round to a timer."""

import asyncio
import time

from tests.bench.program import percentile


class Heart:
    """Beats on a loop; a stall is how late a beat came.

    The processor's stall, which other programs on the machine do not inflate, is what the thread
    burned between two beats.

    Args:
        beat: Seconds between two beats.
    """

    def __init__(self, beat: float = 0.01) -> None:
        self.late: list[float] = []
        """Milliseconds by which each beat was late."""
        self.burned: list[float] = []
        """Milliseconds of processor time between two beats."""
        self._beat = beat
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> "Heart":
        self._task = asyncio.create_task(self._run())
        await asyncio.sleep(3 * self._beat)
        self.late.clear()
        self.burned.clear()
        return self

    async def __aexit__(self, *exc: object) -> None:
        # The beat that is under way counts as well.
        await asyncio.sleep(3 * self._beat)
        if self._task is not None:
            self._task.cancel()

    @property
    def worst(self) -> float:
        """The longest stall in milliseconds."""
        return max(self.late, default=0.0)

    @property
    def words(self) -> str:
        """The rest that is worth knowing."""
        if not self.late:
            return "no beat"
        p99 = percentile(self.late, 0.99)
        return f"p99 {p99:.1f} ms, CPU at most {max(self.burned):.1f} ms between two beats"

    async def _run(self) -> None:
        due, cpu = time.perf_counter() + self._beat, time.thread_time()
        while True:
            await asyncio.sleep(self._beat)
            now, burned = time.perf_counter(), time.thread_time()
            self.late.append(max(0.0, now - due) * 1000)
            self.burned.append((burned - cpu) * 1000)
            due, cpu = time.perf_counter() + self._beat, time.thread_time()
