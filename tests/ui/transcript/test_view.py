import subprocess
import sys

import pytest

from amplifier_tui.ui.state.conversation.entries import (
    EntryChange,
    TextEntry,
    ThinkingEntry,
    ToolEntry,
    UserEntry,
)
from amplifier_tui.ui.transcript.view import TranscriptView
from amplifier_tui.ui.widgets.messages import (
    FollowChanged,
)
from tests.ui.transcript.conversation import ANSWER, DIFF, adding, entries, more
from tests.ui.transcript.documents import whole
from tests.ui.transcript.stage import Stage, stage, until, users, visible_text


async def test_the_view_shows_the_end_and_nothing_ticks() -> None:
    async with stage(users(100)) as (app, pilot):
        assert app.rows[-2:] == ["  █ prompt 99", ""]
        await until(pilot, lambda: not app.view._measure_ticker.running)
        assert not app.view._flush_ticker.running
        assert not app.view._pulse_ticker.running


async def test_heights_are_the_virtual_size_once_measured() -> None:
    async with stage([*entries(), *more(), *users(50)]) as (app, pilot):
        await until(pilot, lambda: not app.view._measure_ticker.running)
        document = app.view._document
        assert all(document.is_measured(piece) for piece in document.pieces)
        assert app.view.virtual_size.height == document.heights.total + 1


@pytest.mark.parametrize("size", [(20, 8), (80, 24), (120, 36), (200, 50), (1, 1), (3, 2)])
async def test_every_size_draws_every_entry(size: tuple[int, int]) -> None:
    async with stage([*entries(), *more()], size) as (app, pilot):
        app.view.toggle_all()
        for _ in range(12):
            app.view.scroll_page_up(animate=False)
            await pilot.pause()
            for row in range(size[1]):
                assert app.view.render_line(row).cell_length <= max(size[0], 1)


async def test_tokens_appear_while_the_text_still_streams() -> None:
    entry = TextEntry(key="t", text="", streaming=True)
    async with stage([UserEntry(key="u", text="hi"), entry]) as (app, pilot):
        for word in ("Hello ", "streaming ", "**wor"):
            entry.text += word
            app.view.apply([EntryChange(op="stream", entry=entry, text=word)])
        await until(pilot, lambda: "    Hello streaming wor" in app.rows)
        assert app.view.is_streaming
        entry.text += "ld**"
        entry.streaming = False
        app.view.apply([EntryChange(op="update", entry=entry)])
        await until(pilot, lambda: not app.view.is_streaming)
        assert "    Hello streaming world" in app.rows
        await until(pilot, lambda: not app.view._flush_ticker.running)


async def test_a_streamed_answer_ends_as_the_stored_one() -> None:
    entry = TextEntry(key="t", text="", streaming=True)
    text = ANSWER * 6
    async with stage([entry], (80, 200)) as (app, pilot):
        for start in range(0, len(text), 37):
            entry.text += text[start : start + 37]
            app.view.apply([EntryChange(op="stream", entry=entry, text=text[start : start + 37])])
            if start % 5 == 0:
                await pilot.pause()
        entry.streaming = False
        app.view.apply([EntryChange(op="update", entry=entry)])
        await until(pilot, lambda: not app.view.is_streaming)
        assert [row for row in app.rows if row] == [row for row in whole(text, 79) if row][-199:]


async def test_a_final_text_that_differs_from_the_streamed_one_replaces_it() -> None:
    entry = TextEntry(key="t", text="", streaming=True)
    async with stage([entry]) as (app, pilot):
        entry.text = "draft that will be void"
        app.view.apply([EntryChange(op="stream", entry=entry, text=entry.text)])
        await until(pilot, lambda: "    draft that will be void" in app.rows)
        entry.text, entry.streaming = "final words", False
        app.view.apply([EntryChange(op="update", entry=entry)])
        await until(pilot, lambda: not app.view.is_streaming)
        assert app.rows[:2] == ["", "    final words"]


async def test_a_burst_is_drawn_over_several_frames_and_completely() -> None:
    entry = TextEntry(key="t", text="", streaming=True)
    async with stage([entry]) as (app, pilot):
        entry.text = "\n\n".join(f"paragraph {n}" for n in range(2000))
        entry.streaming = False
        app.view.apply([EntryChange(op="stream", entry=entry, text=entry.text)])
        app.view.apply([EntryChange(op="update", entry=entry)])
        assert app.view.is_streaming
        await until(pilot, lambda: not app.view.is_streaming)
        assert app.rows[-2] == "    paragraph 1999"


async def test_the_view_follows_until_the_user_scrolls_up() -> None:
    async with stage(users(50)) as (app, pilot):
        app.view.apply(adding(users(1, 50)))
        assert app.rows[-2] == "  █ prompt 50"
        app.view.scroll_page_up(animate=False)
        await pilot.pause()
        assert not app.view.follow
        before = app.rows
        app.view.apply(adding(users(6, 51)))
        await pilot.pause()
        assert app.view.unseen == 12
        assert app.rows[:-1] == before[:-1]
        assert app.rows[-1].endswith("↓ 12")
        app.view.focus()
        await pilot.press("end")
        assert app.view.follow
        assert (app.view.unseen, app.rows[-2]) == (0, "▌ █ prompt 56")
        assert [type(message) for message in app.told] == [FollowChanged, FollowChanged]


async def test_the_pill_leads_to_the_end() -> None:
    async with stage(users(50)) as (app, pilot):
        app.view.scroll_home(animate=False)
        await pilot.pause()
        app.view.apply(adding(users(6, 50)))
        await pilot.pause()
        column = app.view.render_line(23).text.index("↓")
        await pilot.click(TranscriptView, offset=(column, 23))
        assert app.view.follow
        assert app.rows[-2] == "  █ prompt 55"


@pytest.mark.parametrize("top", [0, 1, 2])
@pytest.mark.parametrize(
    ("text", "pill"),
    [
        ("\n\n".join("x" * 35 + f" y{n}" for n in range(10, 60)), " ↓ 12"),
        ("wordy " * 600, " ↓"),
    ],
)
async def test_the_pill_covers_no_text(text: str, pill: str, top: int) -> None:
    async with stage([TextEntry(key="t", text=text)], size=(42, 12)) as (app, pilot):
        app.view.scroll_to(y=10 + top, animate=False)
        await pilot.pause()
        before = app.rows
        app.view.apply(adding(users(6)))
        await pilot.pause()
        [row] = [row for row, text in enumerate(app.rows) if text != before[row]]
        assert app.rows[row].endswith(pill)
        assert app.rows[row].removesuffix(pill).rstrip() == before[row]
        # Where the row is another one after a scroll, nothing is left on the one before.
        app.view.scroll_relative(y=1, animate=False)
        await pilot.pause()
        assert sum("↓" in text for text in app.rows) == 1


async def test_text_in_sight_stays_when_the_size_changes() -> None:
    text = "\n\n".join(f"marker {n} " + "word " * 40 for n in range(100))
    async with stage([TextEntry(key="t", text=text)]) as (app, pilot):
        app.view.scroll_to(y=200, animate=False)
        await pilot.pause()
        markers = [row for row in app.rows if "marker" in row]
        for width in (120, 60, 200, 80):
            await pilot.resize_terminal(width, 24)
            assert any(markers[0].split("word")[0].strip() in row for row in app.rows)


@pytest.mark.parametrize("at", [0, 1, 2, 3])
async def test_what_was_found_stays_in_sight_when_the_size_changes(at: int) -> None:
    text = "\n\n".join(f"marker {n} " + "word " * 40 + f"end{n}." for n in range(40))
    async with stage([TextEntry(key="t", text=text)]) as (app, pilot):
        app.view.scroll_to(y=20, animate=False)
        await pilot.pause()
        app.view.find(f"end{10 + at}")
        await until(pilot, lambda: f"end{10 + at}" in visible_text(app.view))
        for size in ((40, 12), (40, 6), (120, 30), (80, 24), (80, 5), (40, 12)):
            await pilot.resize_terminal(*size)
            await until(pilot, lambda: f"end{10 + at}" in visible_text(app.view))
        # What the user has left is left alone.
        app.view.scroll_home(animate=False)
        await pilot.pause()
        await pilot.resize_terminal(80, 24)
        assert f"end{10 + at}" not in visible_text(app.view)


async def test_following_survives_a_resize() -> None:
    async with stage(users(50)) as (app, pilot):
        for size in ((60, 10), (120, 40), (80, 24)):
            await pilot.resize_terminal(*size)
            assert app.view.follow
            assert app.rows[-2].strip() == "█ prompt 49"


async def test_earlier_entries_come_in_front_without_moving_what_is_read() -> None:
    async with stage(users(50, 100)) as (app, pilot):
        app.view.scroll_home(animate=False)
        await pilot.pause()
        before = app.rows
        changes = [EntryChange(op="prepend", entry=entry) for entry in reversed(users(100))]
        app.view.apply(changes)
        await pilot.pause()
        assert app.rows[1:] == before[1:]
        app.view.scroll_home(animate=False)
        await pilot.pause()
        assert app.rows[1] == "  █ prompt 0"


async def test_a_click_on_a_tool_line_opens_it_and_leaves_the_focus() -> None:
    tool = ToolEntry(key="c", tool="edit_file", arguments={"path": "a.py"}, state="ok", diff=DIFF)
    async with stage([tool]) as (app, pilot):
        await pilot.click(TranscriptView, offset=(20, 1))
        assert "              14 +     await clock.advance(3.0)" in app.rows
        assert app.focused is None
        await pilot.click(TranscriptView, offset=(20, 3))
        assert len([row for row in app.rows if row]) == 6
        await pilot.click(TranscriptView, offset=(20, 1))
        assert next(row for row in app.rows if row).startswith("    ✓ edit")
        assert len([row for row in app.rows if row]) == 1
        assert not app.told


async def test_toggle_works_on_an_entry_and_on_all() -> None:
    async with stage(entries()) as (app, _):
        app.view.toggle_all()
        assert "              import asyncio" in app.rows
        app.view.toggle_all()
        assert "              import asyncio" not in app.rows
        app.view.toggle("c1")
        assert "              import asyncio" in app.rows
        app.view.toggle("no such key")


async def test_a_line_that_is_opened_stays_where_it_is() -> None:
    tool = ToolEntry(
        key="c", tool="bash", arguments={"command": "x"}, state="ok", output="out\n" * 90
    )
    async with stage([*users(30), tool]) as (app, pilot):
        assert app.rows[22].startswith("    ✓ bash")
        await pilot.click(TranscriptView, offset=(20, 22))
        assert app.rows[22].startswith("    ✓ bash")
        assert app.rows[23].strip().startswith("out")
        assert not app.view.follow
        app.view.toggle("c")
        assert app.rows[22].startswith("    ✓ bash")
        assert app.view.follow


async def test_what_the_user_opened_stays_open_when_the_entry_changes() -> None:
    tool = ToolEntry(key="c", tool="bash", arguments={"command": "x"}, output="one")
    async with stage([tool]) as (app, _):
        app.view.toggle("c")
        tool.output, tool.state = "one\ntwo", "ok"
        app.view.apply([EntryChange(op="update", entry=tool)])
        assert [row.strip() for row in app.rows if row][1:] == ["one", "two"]


async def test_thinking_can_be_opened_while_it_streams() -> None:
    entry = ThinkingEntry(key="k", text="first", streaming=True)
    async with stage([entry]) as (app, pilot):
        app.now += 7
        entry.text += " second"
        app.view.apply([EntryChange(op="stream", entry=entry, text=" second")])
        assert app.rows[1].startswith("    thinking · first second")
        app.view.toggle("k")
        entry.text += " third"
        app.view.apply([EntryChange(op="stream", entry=entry, text=" third")])
        await until(pilot, lambda: "    first second third" in app.rows)
        entry.streaming, entry.duration_ms = False, 7_000
        app.view.apply([EntryChange(op="update", entry=entry)])
        await until(pilot, lambda: not app.view.is_streaming)
        assert "7.0 s" in app.rows[1]


async def test_one_cell_spins_and_seconds_tick_only_while_something_runs() -> None:
    running = [
        ToolEntry(key=f"c{n}", tool="bash", arguments={"command": "x"}, started=1000.0)
        for n in range(2)
    ]
    async with stage(running) as (app, pilot):
        app.animation_level = "full"
        app.now = 1005.0
        app.view._beat()
        assert [row[4] for row in app.rows[1:3]] == ["◐", "◓"]
        assert all(row.endswith(" 5 s") for row in app.rows[1:3])
        for tool in running:
            tool.state, tool.duration_ms = "ok", 5100
        app.view.apply([EntryChange(op="update", entry=tool) for tool in running])
        await until(pilot, lambda: not app.view._pulse_ticker.running)
        assert all(row.endswith("5.1 s") for row in app.rows[1:3])


async def test_a_tick_repaints_only_the_line_that_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    tool = ToolEntry(key="c", tool="bash", arguments={"command": "x"}, started=1000.0)
    async with stage([*users(3), tool]) as (app, pilot):
        await until(pilot, lambda: not app.view._measure_ticker.running)
        await pilot.pause()
        drawn: list[int] = []
        render = app.view.render_line
        monkeypatch.setattr(app.view, "render_line", lambda y: (drawn.append(y), render(y))[1])
        app.now = 1004.0
        app.view._beat()
        await pilot.pause()
        assert set(drawn) == {7}


async def test_clearing_leaves_nothing_and_follows_again() -> None:
    entry = TextEntry(key="t", text="x", streaming=True)
    async with stage([*users(50), entry]) as (app, pilot):
        app.view.scroll_home(animate=False)
        await pilot.pause()
        app.view.apply([EntryChange(op="clear"), *adding(users(1))])
        await pilot.pause()
        assert [row for row in app.rows if row] == ["  █ prompt 0"]
        assert app.view.follow and not app.view.is_streaming


@pytest.mark.parametrize(
    "theme", ["textual-dark", "textual-light", "nord", "ansi-dark", "ansi-light"]
)
async def test_every_theme_paints_every_cell(theme: str) -> None:
    async with stage([*entries(), *more()], (100, 60)) as (app, pilot):
        app.theme = theme
        await pilot.pause()
        for row in range(60):
            assert all(
                segment.style is not None and segment.style.color and segment.style.bgcolor
                for segment in app.view.render_line(row)
            )


async def test_a_theme_change_repaints_in_the_new_colours() -> None:
    async with stage(entries()) as (app, pilot):
        before = app.view.render_line(1)
        app.theme = "textual-light"
        await pilot.pause()
        after = app.view.render_line(1)
        assert after.text == before.text
        assert {segment.style.bgcolor for segment in after} != {
            segment.style.bgcolor for segment in before
        }


async def test_changes_before_there_is_a_size_are_kept() -> None:
    app = Stage()
    view = TranscriptView()
    view.apply(adding(users(3)))
    async with app.run_test(size=(80, 24)) as pilot:
        await app.query_one(TranscriptView).remove()
        await app.mount(view)
        await pilot.pause()
        assert "  █ prompt 2" in visible_text(view)


def test_importing_the_view_imports_no_parser_and_no_lexer() -> None:
    code = (
        "import sys, amplifier_tui.ui.transcript.view\n"
        "heavy = {'markdown_it', 'pygments', 'pydantic', 'yaml'} & set(sys.modules)\n"
        "sys.exit(', '.join(sorted(heavy)) or 0)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (result.returncode, result.stderr) == (0, "")
