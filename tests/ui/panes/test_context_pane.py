from dataclasses import replace
from itertools import pairwise

import pytest
from rich.cells import cell_len

from amplifier_tui.host.client import ItemCard
from amplifier_tui.host.events import (
    BudgetChanged,
    PlanStep,
    SourceUsage,
    ToolEnded,
    ToolStarted,
    TurnStarted,
    Usage,
    UsageChanged,
)
from amplifier_tui.ui.panes.context.pane import ContextPane
from amplifier_tui.ui.panes.context.rows import MIXED, SLOTS, context_rows, look_of
from amplifier_tui.ui.widgets.messages import CompactRequested
from tests.ui.driving import running
from tests.ui.fake_client import SESSION, FakeClient
from tests.ui.panes.stage import Stage, foot, text
from tests.ui.state.make import NOW, make, new_state, opened, turn

SOURCES = (
    SourceUsage(source="tool:read", tokens=31_400, messages=7),
    SourceUsage(source="bundle:coding", tokens=10_300),
    SourceUsage(source="tools:tool-bash", tokens=3_900, messages=1),
    SourceUsage(source="tools:tool-fs", tokens=5_000, messages=3),
    SourceUsage(source="user", tokens=1_500, messages=3),
    SourceUsage(source="assistant", tokens=10_000, messages=8),
)


def budget(**fields: object) -> BudgetChanged:
    values: dict[str, object] = {
        "total": 62_100,
        "window": 200_000,
        "trigger": 170_000,
        "kind": "usage",
        "turns_left": 9,
        "sources": SOURCES,
    }
    return make(BudgetChanged, **(values | fields))


class Unfocused(Stage):
    AUTO_FOCUS = None


def stage(*events: BudgetChanged) -> Stage:
    return Unfocused(ContextPane(clock=lambda: NOW), events=events)


async def test_a_focused_pane_names_its_keys_and_asks_for_the_compaction() -> None:
    app = stage(budget())
    async with app.run_test(size=(34, 30)) as pilot:
        pane = app.query_one(ContextPane)
        assert len(text(pane)) == 7
        pane.focus()
        await pilot.pause()
        assert foot(pane) == "c compact   b items …"
        await pilot.press("c", "i")
        assert app.posted == [CompactRequested(False), CompactRequested(True)]
        app.set_focus(None)
        await pilot.pause()
        assert len(text(pane)) == 7


async def test_the_compact_form_is_head_bar_legend_and_threshold() -> None:
    app = stage(budget())
    async with app.run_test(size=(34, 30)):
        assert text(app.widgets[0]) == [
            "Context            62.1k of 200k",
            "██▓▒▒▒▒▒░░·················│····",
            "█ bundle:coding       10.3k  17%",
            "▓ tool schemas         8.9k  14%",
            "▒ tool:read           31.4k  51%",
            "░ conversation        11.5k  19%",
            "compacts at 170k       ≈ 9 turns",
        ]


async def test_an_estimate_says_so() -> None:
    app = stage(budget(kind="estimated"))
    async with app.run_test(size=(34, 30)):
        assert text(app.widgets[0])[0] == "Context          ≈ 62.1k of 200k"


async def test_a_window_that_nobody_tells_is_said_to_be_assumed() -> None:
    app = stage(budget(window=0, assumed=True))
    async with app.run_test(size=(34, 30)):
        assert text(app.widgets[0])[-1] == "compacts at 170k (assumed)"
    app = stage(budget(window=0, assumed=True))
    async with app.run_test(size=(80, 30)):
        lines = text(app.widgets[0])
        at = next(n for n, line in enumerate(lines) if line.startswith("compacts at 170k (assumed"))
        assert lines[at + 1] == "its window is not known: set window of the bundle's context"


async def test_small_sources_are_put_together() -> None:
    sources = tuple(SourceUsage(source=f"tool:t{n}", tokens=1_000 * n) for n in range(1, 10))
    app = stage(budget(sources=sources))
    async with app.run_test(size=(34, 30)):
        lines = text(app.widgets[0])
        assert len(lines) == 8
        assert lines[6].startswith("▚ 5 more")


async def test_neighbouring_segments_differ_in_pattern_and_in_colour() -> None:
    sources = tuple(SourceUsage(source=f"tool:t{n}", tokens=10_000) for n in range(8))
    app = stage(budget(sources=sources, total=80_000))
    async with app.run_test(size=(120, 40)):
        bar = app.widgets[0].render_line(3)
        segments = [s for s in bar if s.text.strip(" ·│")]
        assert len(segments) == 8
        for left, right in pairwise(segments):
            assert left.text[0] != right.text[0]
            assert left.style is not None
            assert right.style is not None
            assert left.style.color != right.style.color


async def test_an_unknown_window_shows_the_total_only() -> None:
    app = stage(budget(window=0, trigger=0, turns_left=None))
    async with app.run_test(size=(34, 30)):
        lines = text(app.widgets[0])
        assert lines[0] == "Context             62.1k tokens"
        assert "│" not in lines[1]
        assert lines[-1] == "never compacts"


async def test_more_than_the_window_fills_the_bar() -> None:
    app = stage(budget(total=300_000, sources=(SourceUsage(source="x", tokens=300_000),)))
    async with app.run_test(size=(34, 30)):
        assert text(app.widgets[0])[1].replace("│", "█") == "█" * 32


async def test_before_the_first_count_there_is_a_word() -> None:
    app = stage()
    async with app.run_test(size=(34, 30)):
        assert text(app.widgets[0]) == ["Context", "Nothing counted yet"]


async def test_a_warning_is_shown() -> None:
    app = stage(budget(warning="bundle:coding alone is over the target"))
    async with app.run_test(size=(34, 30)):
        assert text(app.widgets[0])[-1] == "! bundle:coding alone is over t…"


@pytest.mark.parametrize("width", [34, 80])
async def test_what_came_from_the_providers_cache_is_told_where_it_has_one(width: int) -> None:
    used = Usage(input_tokens=50_000, cache_read_tokens=41_000, cache_write_tokens=5_000)
    app = Unfocused(
        ContextPane(clock=lambda: NOW),
        events=[budget(), make(UsageChanged, turn=used, session=used)],
    )
    async with app.run_test(size=(width, 30)):
        words = "\n".join(text(app.query_one(ContextPane)))
        assert "82% of the input came" in words
    async with stage(budget()).run_test(size=(width, 30)) as pilot:
        assert "came from the cache" not in "\n".join(text(pilot.app.query_one(ContextPane)))


@pytest.mark.parametrize(
    ("width", "at", "words"),
    [
        (80, 2, "used 50k in · 3.2k out, 1.1k of it reasoning · $0.42"),
        (34, -1, "used 50k in · 3.2k out · $0.42"),
    ],
)
async def test_what_the_session_has_used_is_told_in_every_form_where_it_is_seen(
    width: int, at: int, words: str
) -> None:
    used = Usage(input_tokens=50_000, output_tokens=3_200, reasoning_tokens=1_100, cost="0.42")
    spent = make(UsageChanged, turn=used, session=used)
    app = Unfocused(ContextPane(clock=lambda: NOW), events=[budget(), spent])
    async with app.run_test(size=(width, 30)):
        assert text(app.query_one(ContextPane))[at] == words


async def test_the_full_form_tells_all() -> None:
    steps = (PlanStep(action="truncate", source="tool:read", rows=9, before=31_400, after=8_000),)
    app = stage(
        budget(total=56_000), budget(reserve=8_000, floor=21_000, preview=steps, at=NOW - 4)
    )
    async with app.run_test(size=(100, 40)):
        app.feed(opened(model="claude-sonnet-4-5"), turn(), budget(total=68_200, preview=steps))
        app.feed(budget(reserve=8_000, floor=21_000, preview=steps, at=NOW - 4))
        lines = [" ".join(line.split()) for line in text(app.widgets[0])]
        assert lines[0] == "Context 62.1k of 200k 31%"
        assert lines[1] == "sonnet 4.5 · counted by the provider · 4 s ago"
        assert "▒ tool:read 7 messages 31.4k 51%" in lines
        assert "▓ tool schemas 4 tools 8.9k 14%" in lines
        assert "· free 8k of it reserved for the answer 137.9k" in lines
        assert "no compaction goes below 21k" in lines
        assert "tools:tool-fs 5k" in lines
        assert "If compacted now −23.4k" in lines
        assert "tool:read 9 messages shortened 31.4k → 8k" in lines
        few = "▚ less than a cell each"
        assert few not in lines
        app.feed(budget(sources=(*SOURCES, SourceUsage(source="hook:lint", tokens=90))))
        assert few in [" ".join(line.split()) for line in text(app.widgets[0])]


async def test_an_unchanged_budget_is_not_laid_out_again() -> None:
    app = stage(budget())
    async with app.run_test(size=(34, 30)):
        pane = app.query_one(ContextPane)
        rows = pane.rows
        app.feed()
        assert pane.rows is rows


@pytest.mark.parametrize("width", [1, 2, 5, 20, 21, 33, 47, 48, 59, 60, 61, 62, 80, 200])
async def test_hostile_names_are_harmless_at_any_width(width: int) -> None:
    names = ("\x1b[31mred\x1b[0m", "[bold]x[/]", "漢字" * 30, "a\nb", "\u202eevil", "")
    sources = tuple(SourceUsage(source=name, tokens=10_000) for name in names)
    app = stage(budget(sources=sources, warning="\x1b]0;title\x07[red]"))
    async with app.run_test(size=(width, 24)):
        pane = app.widgets[0]
        for y in range(pane.size.height):
            line = pane.render_line(y)
            assert line.cell_length == cell_len(line.text) == pane.size.width
            assert not set(line.text) & {"\x1b", "\n", "\u202e", "\x07"}


async def test_a_source_looks_the_same_whatever_its_rank() -> None:
    app = stage(budget())
    async with app.run_test(size=(34, 30)):
        small = SourceUsage(source="tool:read", tokens=900)
        huge = SourceUsage(source="hook:lint", tokens=50_000)
        app.feed(budget(sources=(huge, *SOURCES[1:], small)))
        lines = text(app.widgets[0])
        assert lines[2].startswith("█ bundle:coding") and lines[4].startswith("▒ tool:read")
        assert lines[5].startswith("▄ hook:lint") and "▚" in lines[1]


@pytest.mark.parametrize("rank", [1, -1])
def test_a_source_has_one_colour_in_the_bar_and_in_the_legend_whatever_its_rank(rank: int) -> None:
    state = new_state(budget())
    turned = zip(SOURCES, [each.tokens for each in SOURCES][::rank], strict=True)
    state.apply([budget(sources=tuple(replace(each, tokens=size) for each, size in turned))])
    _, bar, *legend = context_rows(state.budget, 200, groups=len(SLOTS))
    labels = ("tool:read", "bundle:coding", "tool schemas", "conversation")
    looks = [look_of(state.budget, label) for label in labels]
    assert len({role for _, role in looks}) == len(labels)
    named = {words: (mark.strip(), role) for (mark, role), (words, _), *_ in legend[:4]}
    assert named == dict(zip(labels, looks, strict=True))
    drawn = {(text[0], role) for text, role in bar if text[0] not in "·│"}
    assert drawn == {*looks}


async def test_what_is_far_off_is_not_said() -> None:
    app = stage(budget(turns_left=51))
    async with app.run_test(size=(34, 30)):
        assert text(app.widgets[0])[-1] == "compacts at 170k"


async def test_a_source_without_a_name_says_so() -> None:
    app = stage(budget(sources=(SourceUsage(source="", tokens=62_100),)))
    async with app.run_test(size=(34, 30)):
        assert "no name given" in text(app.widgets[0])[2]


ITEMS = (
    ItemCard(
        key="3", source="tool:read", text="import os", tokens=14_100, whole=14_100, call_id="c1"
    ),
    ItemCard(key="5", source="tool:bash", text="ok", tokens=12, whole=9_700, state="dropped"),
    ItemCard(key="", source="bundle:coding", text="bundle:coding", tokens=501, fixed="It stays."),
)


@pytest.mark.parametrize("size", [(80, 24), (120, 36)])
async def test_items_are_listed_pinned_dropped_shortened_undone_and_gone_to(
    size: tuple[int, int],
) -> None:
    async with running(FakeClient(listed=ITEMS), size=size) as drive:
        call = {"session_id": SESSION, "call_id": "c1", "tool": "read_file"}
        await drive.push(
            budget(session_id=SESSION),
            ToolStarted(**call, arguments={"file_path": "src/app.py"}),
            ToolEnded(**call, ok=True, output="import os"),
        )
        await drive.press("f4", "b")
        await drive.until(lambda: "tool:read" in drive.text())
        screen = drive.text()
        assert "p pin" in screen and "left out  12 of 9.7k" in screen
        await drive.press("p")
        await drive.until(lambda: drive.client.named("choose_item") == [("3", "pin")])
        await drive.press("s")
        await drive.until(lambda: drive.client.named("choose_item")[-1] == ("3", "shorten"))
        await drive.press("j", "x")
        await drive.until(lambda: drive.client.named("choose_item")[-1] == ("5", ""))
        await drive.press("u")
        await drive.until(lambda: drive.client.named("undo_item") == [()])
        await drive.press("j", "x")
        await drive.until(lambda: "It stays." in drive.text())
        await drive.press("g", "enter")
        transcript = drive.app.main.transcript
        assert transcript is not None
        await drive.until(lambda: transcript.has_focus)
        assert transcript.cursor is not None and getattr(transcript.cursor, "call_id", "") == "c1"
        await drive.press("f4")
        assert "14.1k" in drive.text(), "the list is as it was left"
        await drive.press("escape")
        await drive.write("/context shorten import os")
        await drive.press("enter")
        await drive.until(lambda: drive.client.named("choose_item")[-1] == ("3", "shorten"))


@pytest.mark.parametrize("keys", [["ctrl+x", "N"], [*"/context", "enter"]])
async def test_who_wants_to_pin_or_drop_an_item_gets_the_list_in_which_that_is_done(
    keys: list[str],
) -> None:
    async with running(FakeClient(listed=ITEMS), size=(120, 36)) as drive:
        await drive.push(budget(session_id=SESSION))
        await drive.press(*keys)
        await drive.until(lambda: "tool:read" in drive.text() and "p pin" in drive.text())
        await drive.press("p")
        await drive.until(lambda: drive.client.named("choose_item") == [("3", "pin")])


async def test_a_number_means_the_item_that_has_that_place_in_the_list_on_screen() -> None:
    async with running(FakeClient(listed=ITEMS), size=(120, 36)) as drive:
        await drive.push(budget(session_id=SESSION))
        await drive.press("f4", "b")
        await drive.until(lambda: "tool:read" in drive.text())
        await drive.press("escape")
        drive.client.listed = (ITEMS[1], ITEMS[0])
        await drive.write("/context pin 1")
        await drive.press("enter")
        await drive.until(lambda: drive.client.named("choose_item") == [("3", "pin")])
        drive.client.listed = (ITEMS[1],)
        await drive.write("/context shorten 1")
        await drive.press("enter")
        await drive.until(lambda: "no longer in the context" in drive.text())
        assert drive.client.named("choose_item") == [("3", "pin")]


async def test_what_is_no_row_of_the_conversation_leads_to_no_other_row() -> None:
    provided = ItemCard(key="", source="hook:x", role="user", text="hello", tokens=2_000, whole=0)
    async with running(FakeClient(listed=(provided, ITEMS[2])), size=(120, 36)) as drive:
        hello = TurnStarted(session_id=SESSION, turn=1, prompt="hello")
        await drive.push(hello, budget(session_id=SESSION))
        await drive.press("f4", "b")
        await drive.until(lambda: "hook:x" in drive.text())
        await drive.press("j", "j", "enter")
        await drive.until(lambda: "no row of the conversation" in drive.text())
        assert isinstance(drive.app.focused, ContextPane)


async def test_the_cursor_stays_in_view_when_its_item_has_another_place() -> None:
    items = [replace(ITEMS[0], key=str(n), tokens=9_000 - n, text=f"item {n}") for n in range(60)]
    async with running(FakeClient(listed=tuple(items)), size=(120, 36)) as drive:
        await drive.push(budget(session_id=SESSION))
        await drive.press("f4", "b")
        await drive.until(lambda: "item 0" in drive.text())
        pane = drive.app.query_one(ContextPane)
        # Left out it is the smallest, and listed last.
        drive.client.listed = (*items[1:], replace(items[0], tokens=1, state="dropped"))
        await drive.push(budget(session_id=SESSION, total=70_000))
        await drive.until(lambda: pane.listed[-1].key == "0")
        item = pane.rows[pane.cursor_row].item
        assert item is not None and item.key == "0"
        await drive.until(lambda: "left out" in drive.text())


async def test_items_that_are_listed_anew_take_no_key_from_the_prompt() -> None:
    async with running(FakeClient(listed=ITEMS), size=(140, 36)) as drive:
        await drive.push(budget(session_id=SESSION))
        await drive.press("f4", "b")
        await drive.until(lambda: "tool:read" in drive.text())
        await drive.press("escape")
        prompt = drive.app.main.prompt.input
        assert drive.app.focused is prompt
        drive.client.listed = RuntimeError("It keeps its rows.")
        await drive.push(budget(session_id=SESSION, total=70_000))
        await drive.until(lambda: "It keeps its rows." in drive.text())
        await drive.settle()
        assert drive.app.focused is prompt


async def test_a_context_that_cannot_list_its_items_says_what_can_be_done() -> None:
    async with running(FakeClient(listed=RuntimeError("It keeps its rows."))) as drive:
        await drive.push(budget(session_id=SESSION))
        await drive.write("/items")
        await drive.press("enter")
        await drive.until(lambda: "It keeps its rows." in drive.text())


def test_no_two_sources_have_one_pattern_so_that_they_differ_without_colours() -> None:
    patterns = [pattern for pattern, _ in (*SLOTS, MIXED)]
    assert len(set(patterns)) == len(patterns)
    assert {cell_len(pattern) for pattern in patterns} == {1}
