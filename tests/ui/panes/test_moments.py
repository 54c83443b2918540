# From an event to its moment: in the conversation, in modules and context, in a file.


import pytest

from amplifier_tui.host.events import (
    BudgetChanged,
    HostEvent,
    ModuleMounted,
    ModuleUnmounted,
    SourceUsage,
)
from amplifier_tui.ui.dialogs.export.sheet import ExportSheet
from amplifier_tui.ui.panes.context.rows import context_rows
from amplifier_tui.ui.panes.events.pane import EventLogPane
from amplifier_tui.ui.state.session import SessionState
from tests.ui.driving import Driver, running
from tests.ui.state.make import make, tool, tool_ended, traced, turn


def budget(total: int, at: float) -> BudgetChanged:
    sources = (SourceUsage(source="user", tokens=total, messages=1),)
    return make(BudgetChanged, total=total, window=1_000, sources=sources, at=at)


STORY: list[HostEvent] = [
    make(ModuleMounted, module_id="tool-dice", kind="tool", at=1.0),
    budget(100, 1.0),
    turn(1, "Roll", at=2.0),
    traced(1, "prompt:submit", at=2.1),
    tool("c1", "roll", at=3.0),
    traced(2, "tool:pre", source="roll", call_id="c1", verdict="deny", at=3.1),
    tool_ended("c1", at=4.0),
    make(ModuleUnmounted, module_id="tool-dice", kind="tool", at=5.0),
    budget(700, 5.0),
    traced(3, "prompt:complete", at=6.0, data='{"response": "done"}'),
]


def test_modules_and_context_are_shown_as_they_were() -> None:
    state = SessionState()
    state.apply(STORY)
    assert list(state.shown_modules.by_key) == []
    state.look_at(3.1)
    assert list(state.shown_modules.by_key) == ["tool-dice"]
    report = state.shown_budget.report
    assert report is not None and report.total == 100
    state.look_at(None)
    assert state.shown_modules is state.modules and state.shown_budget is state.budget


def test_before_the_session_was_opened_nothing_is_said_of_modules_and_context() -> None:
    state = SessionState()
    state.apply([traced(1, "prompt:submit", at=0.5), *STORY])
    state.look_at(0.5)
    assert not state.shown_modules.known and not state.shown_budget.known
    rows = context_rows(state.shown_budget, 34, groups=8)
    assert "Known only since the resume" in str(rows[-1])
    state.look_at(1.0)
    assert state.shown_modules.known and state.shown_budget.known


async def test_the_modules_pane_says_that_an_older_moment_is_not_known() -> None:
    async with running(size=(120, 36)) as driver:
        await driver.push(traced(1, "prompt:submit", at=0.5), *STORY)
        driver.app.state.look_at(0.5)
        await driver.press("f2")
        assert "Known only since the resume" in driver.text()
        assert "None mounted yet" not in driver.text()


def test_an_event_and_its_entry_find_each_other() -> None:
    state = SessionState()
    state.apply(STORY)
    call = state.log.find(2)
    done = state.log.find(3)
    assert call is not None and done is not None
    prompt, rolled = (entry.key for entry in state.entries[:2])
    assert state.moments.entry_of(call, state.entries) == rolled
    assert state.moments.entry_of(done, state.entries) == state.entries[-1].key
    assert state.log.index_of_call("c1") == 1
    at = state.moments.time_of(prompt)
    assert at == 2.0 and state.log.index_at(2.5) == 0


@pytest.mark.parametrize("size", [(80, 24), (120, 36)])
async def test_one_goes_from_an_event_to_its_moment_and_back(
    size: tuple[int, int],
) -> None:
    async with running(size=size) as driver:
        await driver.push(*STORY)
        pane = await _events(driver)
        await driver.press("g", "j")
        assert pane.view.cursor_seq == 2
        await driver.press("s")
        transcript = driver.app.main.transcript
        assert transcript is not None and transcript.has_focus
        assert getattr(transcript.cursor, "call_id", "") == "c1"
        await driver.press("v")
        await driver.until(lambda: _pane(driver).view.has_focus)
        assert _pane(driver).view.cursor_seq == 2
        await driver.press("t")
        if size[0] < 100:
            await driver.press("f2")
        assert "as of" in driver.text() and "tool-dice" in driver.text()
        await driver.press("escape")
        assert "as of" not in driver.text() and "tool-dice" not in driver.text()
        await _events(driver)
        await driver.press("slash")
        await driver.write("tool:*")
        await driver.press("enter", "x")
        await driver.dialog(ExportSheet)
        assert "the event log as JSON lines" in driver.text() and "tool:*" in driver.text()
        await driver.press("enter")
        await driver.closed()
        (request,) = [call[1] for call in driver.client.calls if call[0] == "export"]
        assert (request.form, request.events) == ("jsonl", "tool:*")
        await driver.until(lambda: "3 events written" in driver.text())


def _pane(driver: Driver) -> EventLogPane:
    return driver.app.main.query_one(EventLogPane)


async def _events(driver: Driver) -> EventLogPane:
    pane = _pane(driver)
    if not pane.view.has_focus:
        await driver.press("f3")
    await driver.until(lambda: len(pane.view.rows) >= 3)
    return pane
