from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.widgets import Input

from amplifier_tui.host.client import CompactionPreview
from amplifier_tui.host.events import (
    BudgetChanged,
    Compacted,
    Notice,
    PlanStep,
    SourceUsage,
    TurnEnded,
    TurnStarted,
)
from amplifier_tui.ui.dialogs.compaction import CompactionSheet, bars, facts, step_lines
from amplifier_tui.ui.panes.context.rows import full_context_rows, look_of
from amplifier_tui.ui.state.instruments.budget import BudgetState, source_label
from tests.ui.driving import Driver, running
from tests.ui.fake_client import SESSION, FakeClient
from tests.ui.state.make import NOW, make, new_state

HOSTILE = "[red]x[/]\x1b[31m\u202eevil\nline"
STEPS = (
    PlanStep(action="truncate", source="tool:read_file", rows=9, before=48_600, after=4_100),
    PlanStep(action="drop", source="assistant", rows=14, before=22_000, after=0),
    PlanStep(action="stub", source="user", rows=1, before=900, after=100),
)
PREVIEW = CompactionPreview(
    possible=True,
    before=118_000,
    after=31_000,
    target=100_000,
    floor=10_300,
    steps=STEPS,
    kept=("The instructions", "Your first message"),
    model="claude-sonnet-4-5",
)
SIZES = [(40, 12), (60, 16), (80, 24), (120, 36), (200, 50)]


async def reckoned(drive: Driver, *keys: str) -> CompactionSheet:
    await drive.press(*(keys or ("ctrl+x", "c")))
    sheet = await drive.dialog(CompactionSheet)
    await drive.settle()
    return sheet


@pytest.mark.parametrize("size", SIZES)
async def test_it_shows_what_would_become_of_the_conversation(size: tuple[int, int]) -> None:
    async with running(FakeClient(reckoned=PREVIEW), size=size) as drive:
        await reckoned(drive)
        text = drive.text()
        assert "118k" in text and "31k" in text and "−74%" in text
        assert "tool:read_file   9 messages" in text
        assert "Compact by rule" in text and "Summary by sonnet 4.5" in text
        assert "esc  Close" in text
        assert len(text.splitlines()) == size[1]
        if size[1] >= 24:
            assert "48.6k →   4.1k" in text and "14 messages left out" in text
            assert "aims at 100k · no compaction goes below 10.3k" in text
            assert "The instructions · Your first message" in text


async def test_enter_compacts_by_rule_without_a_model() -> None:
    async with running(FakeClient(reckoned=PREVIEW)) as drive:
        await reckoned(drive)
        await drive.press("enter")
        await drive.closed()
        assert drive.client.named("compact") == [(None,)]


async def test_escape_goes_on_without() -> None:
    async with running(FakeClient(reckoned=PREVIEW)) as drive:
        await reckoned(drive)
        await drive.press("escape")
        await drive.closed()
        assert drive.client.named("compact") == []


async def test_a_summary_takes_the_instructions_that_were_written() -> None:
    async with running(FakeClient(reckoned=PREVIEW)) as drive:
        sheet = await reckoned(drive)
        await drive.press("i")
        await drive.until(lambda: sheet.query_one(Input).has_focus)
        await drive.write("keep is [b]it[/b]")
        await drive.until(lambda: "Write the summary with sonnet 4.5" in drive.text())
        await drive.press("enter")
        await drive.closed()
        assert drive.client.named("compact") == [("keep is [b]it[/b]",)]


async def test_words_typed_at_once_with_the_key_to_the_line_choose_nothing() -> None:
    async with running(FakeClient(reckoned=PREVIEW)) as drive:
        await reckoned(drive)
        await drive.write("iso said she")
        await drive.closed()
        assert drive.draft == "iso said she"
        assert drive.client.named("compact") == []


async def test_a_summary_needs_no_instructions() -> None:
    async with running(FakeClient(reckoned=PREVIEW)) as drive:
        await reckoned(drive)
        await drive.press("s")
        await drive.closed()
        assert drive.client.named("compact") == [("",)]


async def test_escape_leaves_the_line_before_it_closes_the_dialog() -> None:
    async with running(FakeClient(reckoned=PREVIEW)) as drive:
        sheet = await reckoned(drive)
        await drive.press("i", "a", "escape")
        assert drive.app.screen is sheet
        assert sheet.query_one(Input).value == "a"
        await drive.press("enter")
        await drive.closed()
        assert drive.client.named("compact") == [(None,)]


async def test_the_command_brings_its_instructions_into_the_line() -> None:
    async with running(FakeClient(reckoned=PREVIEW)) as drive:
        await drive.write("/compact keep the decisions")
        await drive.press("enter")
        sheet = await drive.dialog(CompactionSheet)
        await drive.until(lambda: sheet.query_one(Input).has_focus)
        assert sheet.query_one(Input).value == "keep the decisions"
        await drive.press("enter")
        await drive.closed()
        assert drive.client.named("compact") == [("keep the decisions",)]


SAID = {
    "truncate": "shortened",
    "stub": "shortened",
    "squeeze": "shortened",
    "drop": "left out",
    "summary": "summarised",
}


@pytest.mark.parametrize("action", [*SAID])
def test_the_context_pane_says_what_becomes_of_messages_in_the_words_of_the_dialog(
    action: str,
) -> None:
    step = PlanStep(action=action, source="tool:read", rows=9, before=31_400, after=8_000)
    budget = new_state(make(BudgetChanged, preview=(step,), total=40_000, window=100_000)).budget
    rows = full_context_rows(budget, 80, model="", clock=lambda: NOW)
    shown = [" ".join("".join(text for text, _ in row).split()) for row in rows]
    (line,) = step_lines(replace(PREVIEW, steps=(step,)))
    assert line.text == f"tool:read  9 messages {SAID[action]}"
    assert f"tool:read 9 messages {SAID[action]} 31.4k → 8k" in shown


@pytest.mark.parametrize(("key", "writing"), [("c", False), ("i", True)])
async def test_the_context_pane_opens_it(key: str, writing: bool) -> None:
    async with running(FakeClient(reckoned=PREVIEW)) as drive:
        sheet = await reckoned(drive, "f4", key)
        await drive.until(lambda: sheet.query_one(Input).has_focus is writing)


async def test_nothing_can_be_chosen_before_the_figures_are_there() -> None:
    async with running() as drive:
        sheet = await reckoned(drive)
        assert "Reckoning…" in drive.text()
        await drive.press("enter", "s", "i")
        assert drive.app.screen is sheet
        await drive.press("escape")
        await drive.closed()
        assert drive.client.named("compact") == []


async def test_a_preview_that_fails_says_why() -> None:
    client = FakeClient(reckoned=RuntimeError(f"no context {HOSTILE}"))
    async with running(client) as drive:
        await reckoned(drive)
        assert "It cannot be reckoned: no context [red]x[/]" in drive.text()
        await drive.press("enter", "escape")
        await drive.closed()
        assert drive.client.named("compact") == []


async def test_where_nothing_would_be_saved_it_says_why_and_offers_only_what_there_is() -> None:
    refused = CompactionPreview(possible=False, before=9_000, reason="There is nothing yet.")
    async with running(FakeClient(reckoned=refused)) as drive:
        sheet = await reckoned(drive)
        text = drive.text()
        assert "! There is nothing yet." in text
        assert "Compact by rule" not in text and "Summary" not in text and "Close" in text
        await drive.press("enter", "s", "i")
        assert drive.app.screen is sheet
        assert drive.client.named("compact") == []


async def test_while_a_turn_runs_nothing_is_compacted() -> None:
    async with running(FakeClient(reckoned=PREVIEW)) as drive:
        await drive.push(TurnStarted(session_id=SESSION, turn=1, prompt="x"))
        sheet = await reckoned(drive)
        assert "A turn is running" in drive.text()
        await drive.press("enter", "s")
        assert drive.app.screen is sheet and drive.client.named("compact") == []
        await drive.push(TurnEnded(session_id=SESSION, turn=1, status="success"))
        await drive.press("enter")
        await drive.closed()
        assert drive.client.named("compact") == [(None,)]


async def test_stop_ends_a_summary_that_is_being_written() -> None:
    async with running(FakeClient(reckoned=PREVIEW)) as drive:
        await reckoned(drive)
        await drive.press("s")
        await drive.closed()
        begun = Notice(
            session_id=SESSION, level="info", source="context", text="m", until="compacted"
        )
        await drive.push(begun)
        await drive.press("ctrl+x", "s")
        assert drive.client.named("interrupt") == [(False, 0)]
        await drive.push(replace(begun, until=""))
        await drive.press("ctrl+x", "s")
        assert drive.client.named("interrupt") == [(False, 0)]
        assert "Nothing is running" in drive.text()


async def test_the_choices_can_be_clicked() -> None:
    async with running(FakeClient(reckoned=PREVIEW)) as drive:
        await reckoned(drive)
        rows = drive.text().splitlines()
        y = next(y for y, row in enumerate(rows) if "Compact by rule" in row)
        await drive.pilot.click(offset=(rows[y].index("Compact by rule"), y))
        await drive.closed()
        assert drive.client.named("compact") == [(None,)]


async def test_afterwards_the_conversation_has_a_divider_and_can_still_be_read() -> None:
    async with running() as drive:
        await drive.push(
            TurnStarted(session_id=SESSION, turn=1, prompt="before it"),
            TurnEnded(session_id=SESSION, turn=1, status="success"),
            Compacted(session_id=SESSION, before_tokens=118_000, after_tokens=31_000, rows=3),
        )
        await drive.until(lambda: "Compacted 118k → 31k · 3 messages shortened" in drive.text())
        assert "before it" in drive.text()


async def test_text_of_the_session_is_drawn_as_it_is() -> None:
    step = PlanStep(action="drop", source=HOSTILE, rows=1, before=5, after=0)
    hostile = CompactionPreview(
        possible=True, before=5, steps=(step,), kept=(HOSTILE,), model=HOSTILE
    )
    async with running(FakeClient(reckoned=hostile)) as drive:
        await reckoned(drive)
        text = drive.text()
        assert text.count("[red]x[/]") >= 2
        assert "\x1b" not in text and "\u202e" not in text


COUNTS = st.integers(0, 3_000_000)


@given(COUNTS, COUNTS, COUNTS, COUNTS, st.booleans(), st.integers(1, 250))
def test_the_bars_are_as_wide_as_each_other_whatever_the_numbers(
    before: int, after: int, target: int, floor: int, possible: bool, width: int
) -> None:
    preview = CompactionPreview(
        possible=possible, before=before, after=after, target=target, floor=floor
    )
    rows = bars(preview, width, BudgetState()).plain.split("\n")
    assert len(rows) == (2 if possible else 1)
    assert len({len(row) for row in rows}) == 1
    assert all(len(row) <= max(width, 30) for row in rows)
    facts(preview)


def test_the_bars_are_drawn_to_the_window_and_marked_where_it_compacts_by_itself() -> None:
    preview = CompactionPreview(
        possible=True, before=100, after=50, window=200, trigger=160, target=120
    )
    for row, share in zip(
        bars(preview, 80, BudgetState()).plain.split("\n"), (0.5, 0.25), strict=True
    ):
        bar = "".join(cell for cell in row if cell in "▚·│")
        assert bar.count("▚") == int(len(bar) * share)
        assert bar.index("│") == int(len(bar) * 0.8)


def test_the_bars_have_the_looks_that_the_sources_have_in_the_context_pane() -> None:
    sources = (
        SourceUsage(source="bundle:coding", tokens=1_000),
        SourceUsage(source="tools:tool-bash", tokens=1_000),
        SourceUsage(source="tool:read_file", tokens=4_000),
        SourceUsage(source="user", tokens=2_000),
    )
    report = make(BudgetChanged, total=8_000, window=16_000, sources=sources)
    state = new_state(report)
    step = PlanStep(action="truncate", source="tool:read_file", rows=9, before=4_000, after=1_000)
    preview = CompactionPreview(
        possible=True, before=8_000, after=5_000, window=16_000, steps=(step,)
    )
    drawn = bars(preview, 102, state.budget)
    now, after = drawn.plain.split("\n")
    of_bundle, of_schemas, of_file, of_talk = (
        look_of(state.budget, label)[0]
        for label in ("bundle:coding", "tool schemas", "tool:read_file", "conversation")
    )
    assert now.split()[1].rstrip("·") == (
        of_bundle * 5 + of_schemas * 5 + of_file * 20 + of_talk * 10
    )
    assert after.split()[1].count(of_file) == 5 and after.split()[1].count(of_talk) == 10
    assert len(after.split()[1].rstrip("·")) == 25
    looks = [look_of(state.budget, source_label(each.source)) for each in sources]
    assert len({role for _, role in looks}) == len(sources)
    for pattern, role in looks:
        colours = {
            span.style for span in drawn.spans if {*drawn.plain[span.start : span.end]} == {pattern}
        }
        assert colours == {{"key": "$secondary"}.get(role, f"${role}")}


def test_the_figures_of_the_steps_end_in_one_column() -> None:
    lines = step_lines(PREVIEW)
    assert [line.text for line in lines] == [
        "tool:read_file   9 messages shortened",
        "assistant       14 messages left out",
        "user             1 message  shortened",
    ]
    assert len({len(line.note) for line in lines}) == 1


@pytest.mark.parametrize("size", [(40, 12), (80, 24), (120, 36)])
async def test_what_was_compacted_opens_as_the_summary_and_the_rows_it_replaced(
    size: tuple[int, int],
) -> None:
    rows = tuple(f"tool:read_file · file number {number}" for number in range(1, 4))
    async with running(size=size) as drive:
        await drive.push(
            TurnStarted(session_id=SESSION, turn=1, prompt="go"),
            TurnEnded(session_id=SESSION, turn=1, status="success"),
            Compacted(
                session_id=SESSION,
                before_tokens=4_500,
                after_tokens=2_700,
                rows=3,
                strategy="summary",
                summary="They agreed on **blue**.\x1b[31m",
                replaced=rows,
            ),
        )
        assert "Compacted 4.5k → 2.7k" in drive.text() and "agreed on" not in drive.text()
        await drive.press("ctrl+o")
        screen = drive.text()
        assert "They agreed on **blue**." in screen and "file number 3" in screen
        await drive.press("ctrl+o")
        assert "They agreed" not in drive.text()
        await drive.press("f6", "G", "enter")
        assert "They agreed on **blue**." in drive.text()
