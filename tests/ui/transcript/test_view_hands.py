from typing import Any

from textual.pilot import Pilot

from amplifier_tui.ui.state.conversation.entries import (
    EntryChange,
    ErrorEntry,
    TextEntry,
    ToolEntry,
)
from amplifier_tui.ui.transcript.view import TranscriptView
from amplifier_tui.ui.widgets.messages import (
    CopyRequested,
    LinkClicked,
    RetryRequested,
)
from tests.ui.transcript.conversation import DIFF, entries
from tests.ui.transcript.stage import stage, users


async def test_keys_move_the_cursor_open_and_copy() -> None:
    async with stage(entries()) as (app, pilot):
        app.view.focus()
        await pilot.pause()
        assert app.view.cursor is not None and app.view.cursor.key == "c4"
        await pilot.press("k", "k")
        assert app.view.cursor.key == "c2"
        assert app.rows[9].endswith("▸")
        await pilot.press("enter", "y", "down", "up", "G")
        assert "              tests/a.py:3: sleep(1)" in app.rows
        copied = [message for message in app.told if isinstance(message, CopyRequested)]
        assert copied == [copied[0]]
        assert copied[0].text == "search sleep( in tests/\ntests/a.py:3: sleep(1)"
        assert copied[0].what == "tool call"
        assert app.view.cursor.key == "c4"


async def test_the_cursor_is_a_surface_while_the_view_has_the_focus() -> None:
    async with stage(users(2)) as (app, pilot):

        def backgrounds(row: int) -> set[Any]:
            return {segment.style.bgcolor for segment in app.view.render_line(row)}

        plain = backgrounds(3)
        app.view.focus()
        await pilot.pause()
        assert backgrounds(3) != plain
        assert backgrounds(2) == plain
        app.set_focus(None)
        await pilot.pause()
        assert backgrounds(3) == plain


async def test_the_cursor_reads_through_an_entry_taller_than_the_window() -> None:
    text = "\n\n".join(f"part {n}" for n in range(100))
    async with stage([TextEntry(key="t", text=text), *users(1)]) as (app, pilot):
        app.view.focus()
        await pilot.press("g")
        seen = "\n".join(app.rows)
        for _ in range(30):
            await pilot.press("j")
            seen += "\n" + "\n".join(app.rows)
        assert all(f"part {n}\n" in seen for n in range(100))
        assert app.view.cursor is not None and app.view.cursor.key == "u0"


async def test_the_cursor_lets_go_of_an_entry_that_is_taken_out() -> None:
    these = users(3)
    async with stage(these) as (app, pilot):
        app.view.focus()
        await pilot.pause()
        app.view.apply([EntryChange(op="remove", entry=these[2])])
        assert app.view.cursor is these[1]
        app.view.apply([EntryChange(op="clear")])
        assert app.view.cursor is None
        await pilot.press("k", "j", "enter", "y", "g", "G")


async def test_an_error_offers_a_retry_by_key_and_by_click() -> None:
    error = ErrorEntry(key="e", kind="x", message="It broke.", retryable=True)
    async with stage([error]) as (app, pilot):
        column = app.rows[2].index("try again")
        await pilot.click(TranscriptView, offset=(column, 2))
        app.view.focus()
        await pilot.press("r")
        retries = [message for message in app.told if isinstance(message, RetryRequested)]
        assert [message.entry for message in retries] == [error, error]
        error.retryable = False
        app.view.apply([EntryChange(op="update", entry=error)])
        await pilot.press("r")
        assert len([message for message in app.told if isinstance(message, RetryRequested)]) == 2


async def test_a_link_tells_where_it_leads() -> None:
    async with stage([TextEntry(key="t", text="go [there](https://a.b/c) now")]) as (app, pilot):
        column = app.rows[1].index("there")
        await pilot.hover(TranscriptView, offset=(column, 1))
        assert app.view.tooltip == "https://a.b/c"
        await pilot.click(TranscriptView, offset=(column, 1))
        assert [message.url for message in app.told if isinstance(message, LinkClicked)] == [
            "https://a.b/c"
        ]
        await pilot.hover(TranscriptView, offset=(1, 1))
        assert app.view.tooltip is None


async def drag(pilot: Pilot[None], start: tuple[int, int], end: tuple[int, int]) -> None:
    await pilot.mouse_down(TranscriptView, offset=start)
    await pilot.hover(TranscriptView, offset=end)
    await pilot.mouse_up(TranscriptView, offset=end)


async def test_dragging_selects_text_without_padding_and_soft_wraps() -> None:
    text = "漢字 " + "alpha beta " * 12
    async with stage([TextEntry(key="t", text=text)]) as (app, pilot):
        await drag(pilot, (4 + 2, 1), (4 + 9, 2))
        selected = app.screen.get_selected_text()
        assert selected is not None
        assert selected.startswith("字 alpha beta") and "\n" not in selected
        assert selected == " ".join(selected.split())
        marked = [
            segment.text
            for segment in app.view.render_line(1)
            if segment.style.bgcolor != app.view.rich_style.bgcolor
        ]
        assert "".join(marked) == app.rows[1][5:]


async def test_a_double_click_selects_a_word_and_a_triple_click_a_paragraph() -> None:
    async with stage([TextEntry(key="t", text="see src/a.py now")]) as (app, pilot):
        await pilot.click(TranscriptView, offset=(10, 1), times=2)
        assert app.screen.get_selected_text() == "src/a.py"
        await pilot.click(TranscriptView, offset=(10, 1), times=3)
        assert app.screen.get_selected_text() == "see src/a.py now"


async def test_what_is_selected_has_the_colour_that_can_be_read_there() -> None:
    async with stage([TextEntry(key="t", text="see `src/a.py` and [this](https://a.b)")]) as (
        app,
        _,
    ):
        assert len({segment.style.color for segment in app.view.render_line(1)}) > 1
        app.view.text_select_all()
        marked = app.screen.get_component_rich_style("screen--selection")
        segments = [s for s in app.view.render_line(1) if s.style.bgcolor == marked.bgcolor]
        assert "".join(s.text for s in segments).strip() == app.rows[1].strip()
        assert {segment.style.color for segment in segments} == {marked.color}


async def test_selecting_everything_gives_the_sources() -> None:
    async with stage([*users(2), TextEntry(key="t", text="**bold**")]) as (app, _):
        app.view.text_select_all()
        assert app.screen.get_selected_text() == "prompt 0\n\nprompt 1\n\n**bold**"


async def test_a_selection_stays_on_its_text_when_rows_come_in_front() -> None:
    async with stage(users(30, 100)) as (app, pilot):
        app.view.scroll_home(animate=False)
        await pilot.pause()
        await drag(pilot, (4, 3), (14, 3))
        assert app.screen.get_selected_text() == "prompt 101"
        app.view.apply([EntryChange(op="prepend", entry=entry) for entry in users(7)])
        assert app.screen.get_selected_text() == "prompt 101"


async def test_a_drag_does_not_open_what_it_ends_on() -> None:
    tool = ToolEntry(key="c", tool="edit_file", arguments={"path": "a.py"}, state="ok", diff=DIFF)
    async with stage([tool]) as (app, pilot):
        await drag(pilot, (8, 1), (18, 1))
        assert len([row for row in app.rows if row]) == 1
