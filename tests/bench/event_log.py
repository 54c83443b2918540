"""Speed of the event log with 100 000 rows: `python -m tests.bench.event_log`.

Goals (architecture, section 9): append at least 500 000 rows/s, filter in at most 100 ms, and no
stall of the UI loop above 20 ms. A stall is how late a 2 ms heartbeat on the same loop is, so it
holds whatever else the machine does meanwhile.
"""

import asyncio
import gc
import time
from collections.abc import Callable
from dataclasses import dataclass

from textual.app import App, ComposeResult

from amplifier_tui.host.events import HandlerTrace, HookTraced
from amplifier_tui.ui.panes.event_log import EventLogPane
from amplifier_tui.ui.state.event_log import EventLog
from amplifier_tui.ui.state.session import SessionState

ROWS = 100_000
BATCH = 1_000
FILTERS = ("tool:* -delta verdict:deny", "mod:approval", ">100ms", "tool -pre,post lane:main")

_NAMES = ("tool:pre", "tool:post", "provider:request", "llm:stream_block_delta", "context:include")
_HANDLERS = (
    HandlerTrace(name="hooks-logging", verdict="continue", ms=0.1),
    HandlerTrace(name="hooks-redaction", verdict="continue", ms=0.1),
)
_DENIED = (*_HANDLERS, HandlerTrace(name="hooks-approval", verdict="deny", ms=0.4, reason="no"))


@dataclass(frozen=True, slots=True)
class Result:
    """One line of the table."""

    what: str
    value: float
    unit: str
    goal: float
    more_is_better: bool = False

    @property
    def met(self) -> bool:
        """The goal was reached."""
        return self.value >= self.goal if self.more_is_better else self.value <= self.goal

    def __str__(self) -> str:
        sign = "≥" if self.more_is_better else "≤"
        ratio = self.value / self.goal
        mark = "met" if self.met else "MISSED"
        return (
            f"{self.what:<44}{self.value:>12,.1f} {self.unit:<7}"
            f"{sign} {self.goal:>9,.0f}  {ratio:>6.2f}x  {mark}"
        )


def rows(count: int) -> list[HookTraced]:
    """Return a mixture as a long session has it; one row in fifty is denied."""
    return [
        HookTraced(
            session_id="s",
            seq=number,
            event=_NAMES[number % len(_NAMES)],
            source=("bash", "read_file", "anthropic")[number % 3],
            verdict="deny" if number % 50 == 0 else "continue",
            duration_ms=float(number % 130),
            handlers=_DENIED if number % 50 == 0 else _HANDLERS,
            at=1_790_000_000 + number / 100,
            data='{"tool_name": "bash"}',
        )
        for number in range(count)
    ]


class Heartbeat:
    """Measures how long the loop does not get round to a 2 ms timer."""

    def __init__(self) -> None:
        self.worst = 0.0
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> "Heartbeat":
        self._task = asyncio.create_task(self._beat())
        await asyncio.sleep(0)
        return self

    async def __aexit__(self, *exc: object) -> None:
        # The beat that is under way counts as well.
        await asyncio.sleep(0.005)
        if self._task is not None:
            self._task.cancel()

    async def _beat(self) -> None:
        while True:
            began = time.perf_counter()
            await asyncio.sleep(0.002)
            self.worst = max(self.worst, (time.perf_counter() - began - 0.002) * 1000)


class _App(App[None]):
    def compose(self) -> ComposeResult:
        yield EventLogPane()


async def _until(done: Callable[[], bool]) -> None:
    while not done():
        await asyncio.sleep(0)


def bench_ring(events: list[HookTraced]) -> list[Result]:
    """The state alone."""
    best = 0.0
    for _ in range(3):
        log = EventLog(ROWS)
        began = time.perf_counter()
        log.extend(events)
        best = max(best, len(events) / (time.perf_counter() - began))
    small = EventLog()
    began = time.perf_counter()
    small.extend(events)
    ring = len(events) / (time.perf_counter() - began)
    return [
        Result("append, ring of 100 000", best, "rows/s", 500_000, True),
        Result("append, ring of 10 000 (as in the app)", ring, "rows/s", 500_000, True),
    ]


async def bench_pane(events: list[HookTraced], width: int) -> list[Result]:
    """The pane in `width` cells, fed in batches as the app feeds it."""
    results: list[Result] = []
    state = SessionState(log_capacity=ROWS)
    app = _App()
    async with app.run_test(size=(width, 36)) as pilot:
        pane = app.query_one(EventLogPane)
        await pilot.pause()
        # As the program does after its first frame.
        gc.collect()
        gc.freeze()
        gc.set_threshold(50_000, 20, 1000)
        async with Heartbeat() as heart:
            for start in range(0, len(events), BATCH):
                state.apply(events[start : start + BATCH])
                pane.update_from(state)
                await asyncio.sleep(0)
            await _until(lambda: pane.view.matched > 0 and not pane.view.behind)
        results.append(Result(f"{width} cells: stall while appending", heart.worst, "ms", 20))
        for text in (*FILTERS, ""):
            async with Heartbeat() as heart:
                began = time.perf_counter()
                pane.view.set_filter(text)
                await _until(lambda: not pane.view.filtering)
                took = (time.perf_counter() - began) * 1000
            name = f"{width} cells: filter {text or '(none)'}"
            results += [Result(name, took, "ms", 100), Result("   stall", heart.worst, "ms", 20)]
    return results


def main() -> None:
    """Print the table."""
    events = rows(ROWS)
    print(f"{'':<44}{'measured':>12}        {'goal':>10}  {'ratio':>6}")
    for result in bench_ring(events):
        print(result)
    for width in (34, 120):
        for result in asyncio.run(bench_pane(events, width)):
            print(result)


if __name__ == "__main__":
    main()
