"""Speed of the event log with 100 000 rows, the pane in the width of the rail and of a drawer.

A stall is how late a 2 ms heartbeat on the same loop is.
"""

import asyncio
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field

# As in the program; Textual reads it when it is imported.
os.environ.setdefault("TEXTUAL_FPS", "200")

from textual.app import App, ComposeResult

from amplifier_tui.host.events import HandlerTrace, HookTraced
from amplifier_tui.ui.app import pace
from amplifier_tui.ui.panes.events.pane import EventLogPane
from amplifier_tui.ui.state.instruments.event_ring import EventRing
from amplifier_tui.ui.state.session import SessionState
from tests.bench.heart import Heart, stall_row
from tests.bench.table import Row

ROWS = 100_000
BATCH = 1_000
ROUNDS = 3
BEAT = 0.002
FILTERS = ("tool:* -delta verdict:deny", "mod:approval", ">100ms", "tool -pre,post lane:main")
HOW = (
    "headless app, 100 000 rows in batches of 1000, a heartbeat of 2 ms on the UI loop; of "
    "3 rounds the best time and the median stall"
)

_NAMES = ("tool:pre", "tool:post", "provider:request", "llm:stream_block_delta", "context:include")
_HANDLERS = (
    HandlerTrace(name="hooks-logging", verdict="continue", ms=0.1),
    HandlerTrace(name="hooks-redaction", verdict="continue", ms=0.1),
)
_DENIED = (*_HANDLERS, HandlerTrace(name="hooks-approval", verdict="deny", ms=0.4, reason="no"))


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


class _App(App[None]):
    def compose(self) -> ComposeResult:
        yield EventLogPane()


async def _until(done: Callable[[], bool]) -> None:
    while not done():
        await asyncio.sleep(0.001)


def appending(events: list[HookTraced], capacity: int) -> float:
    """Return the rows a second that the state takes."""
    best = 0.0
    for _ in range(10):
        log = EventRing(capacity)
        began = time.perf_counter()
        for event in events:
            log.append(event)
        best = max(best, len(events) / (time.perf_counter() - began))
    return best


@dataclass
class Round:
    """What one round showed.

    Attributes:
        fed: The heart while rows came.
        filtered: The heart while a filter was worked out, and the milliseconds that took.
    """

    fed: Heart
    filtered: dict[str, tuple[Heart, float]] = field(default_factory=dict)


async def pane(events: list[HookTraced], width: int, filters: tuple[str, ...]) -> Round:
    """The pane in `width` cells, fed in batches as the app feeds it."""
    state = SessionState(log_capacity=ROWS)
    app = _App()
    async with app.run_test(size=(width, 36)) as pilot:
        log = app.query_one(EventLogPane)
        await pilot.pause()
        pace.settle()
        async with Heart(BEAT) as heart:
            for start in range(0, len(events), BATCH):
                state.apply(events[start : start + BATCH])
                log.update_from(state)
                await asyncio.sleep(0)
            await _until(lambda: log.view.matched > 0 and not log.view.behind)
        found = Round(heart)
        for text in (*filters, ""):
            async with Heart(BEAT) as heart:
                began = time.perf_counter()
                log.view.set_filter(text)
                await _until(lambda: not log.view.filtering)
                took = (time.perf_counter() - began) * 1000
            found.filtered[text] = (heart, took)
    return found


def in_rounds(events: list[HookTraced], width: int, filters: tuple[str, ...]) -> list[Row]:
    """Return the rows of the pane in `width` cells."""
    rounds = [asyncio.run(pane(events, width, filters)) for _ in range(ROUNDS)]
    what = f"event log, {width} cells: stall while appending"
    rows = [stall_row(what, [each.fed for each in rounds], 20, HOW)]
    for text in rounds[0].filtered:
        took = min(each.filtered[text][1] for each in rounds)
        name = f"  filter {text or '(none)'}"
        rows.append(Row(what=name, value=took, unit="ms", goal=100, how=HOW))
        hearts = [each.filtered[text][0] for each in rounds]
        rows.append(stall_row("    stall", hearts, 20, HOW))
    return rows


def measure(quick: bool) -> list[Row]:
    """Return the rows."""
    events = rows(ROWS)
    found = [
        Row(
            what=f"event log, append to a ring of {capacity:,}",
            value=appending(events, capacity),
            unit="rows/s",
            goal=500_000,
            more_is_better=True,
            how="the state alone, best of 10",
        )
        for capacity in (ROWS, 10_000)
    ]
    for width in (34,) if quick else (34, 120):
        found += in_rounds(events, width, FILTERS[:1] if quick else FILTERS)
    return found
