"""Timers that fire once do so, also where they begin too late."""

import asyncio

from textual.app import App

from amplifier_tui.ui.terminal.textual_costs import keep_single_timers
from tests.waiting import within


async def test_a_timer_that_begins_too_late_fires_once() -> None:
    keep_single_timers()
    keep_single_timers()
    fired: list[int] = []
    done = asyncio.Event()
    app = App[None]()
    async with app.run_test():
        # No processor is quick enough: every delay is over when its timer begins.
        for number in range(20):
            app.set_timer(1e-12, lambda number=number: fired.append(number))
        app.set_timer(0.01, lambda: app.call_later(done.set))
        async with within(5, "the timers"):
            await done.wait()
    assert sorted(fired) == list(range(20))
