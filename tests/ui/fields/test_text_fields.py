"""Lines of text, wherever one is written: keys that come together act in their order."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from rich.cells import cell_len
from textual import events
from textual.app import App, ComposeResult
from textual.widgets import Input

from amplifier_tui import ui
from amplifier_tui.ui.fields.text_field import TextField
from tests.ui.driving import running


@asynccontextmanager
async def shown(text: str, length: int) -> AsyncIterator[TextField]:
    class Form(App[None]):
        def compose(self) -> ComposeResult:
            yield TextField(text, max_length=length, select_on_focus=False)

    app = Form()
    async with app.run_test() as pilot:
        await pilot.pause()
        yield app.query_one(TextField)


async def drained(field: TextField) -> None:
    """Wait until a field has handled what was sent to it."""
    handled = asyncio.Event()
    field.call_later(handled.set)
    await handled.wait()


async def test_keys_that_come_together_change_a_line_in_their_order() -> None:
    async with running() as drive:
        await drive.press("ctrl+f")
        field = drive.app.focused
        assert isinstance(field, Input)
        await drive.press_at_once(*"abc", "backspace", *"xy", "left", "left", "q", "end", "z")
        assert field.value == "abqxyz"


async def test_a_paste_of_several_lines_becomes_one_line() -> None:
    async with shown("say: !", 40) as field:
        field.cursor_position = 5
        field.post_message(events.Paste("  first\n\n\tsecond: no\nthird  "))
        await drained(field)
        assert field.value == "say: first second: no third!"
        field.post_message(events.Paste("a  b"))
        await drained(field)
        assert field.value == "say: first second: no thirda  b!", "one line is taken as it is"


async def test_of_a_paste_that_is_too_long_what_fits_is_taken_with_a_mark() -> None:
    async with shown("because: ", 20) as field:
        field.post_message(events.Paste("word " * 5_000))
        await drained(field)
        assert field.value == "because: word word …"


def test_no_field_is_one_of_textuals_own() -> None:
    sources = Path(ui.__path__[0]).rglob("*.py")
    bare = re.compile(r"\b(Input|TextArea)\(")
    assert not [path for path in sources if bare.search(path.read_text())]


async def test_two_clicks_select_a_word_of_a_draft_and_three_its_line() -> None:
    async with running() as drive:
        await drive.write("see src/a.py, and on")
        await drive.press("ctrl+j")
        await drive.write("x")
        field = drive.app.main.prompt.input
        for times, selected in ((2, "src/a.py"), (3, "see src/a.py, and on")):
            await drive.pilot.click(field, offset=(6, 0), times=times)
            assert field.selected_text == selected
            assert not drive.app.screen.selections, "nothing around it"
        await drive.press("ctrl+c")
        assert "Copied the selection, 20 characters." in drive.text()
        await drive.pilot.click(field, offset=(0, 1), times=2)
        await drive.press("ctrl+c")
        assert "Copied the selection, 1 character." in drive.text()


FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
JOINED = f"\u0645\u06cc\u200c\u062e {FAMILY} \u2764\ufe0f"


async def test_joiners_are_sent_as_they_are_pasted_and_typed_and_not_drawn() -> None:
    async with running() as drive:
        field = drive.app.main.prompt.input
        drive.app.post_message(events.Paste(JOINED))
        await drive.settle()
        for character in " \u0646\u200c\u0647\u3000\xa0x":
            drive.app.post_message(events.Key(hex(ord(character)), character))
        await drive.settle()
        sent = f"{JOINED} \u0646\u200c\u0647\u3000\xa0x"
        assert drive.draft == sent
        row = field.render_line(0)
        assert not set(row.text) & set("\u200c\u200d\ufe0f")
        assert sum(map(cell_len, row.text)) == field.size.width
        assert field.cursor_screen_offset.x - field.region.x == sum(map(cell_len, sent))
        assert "Left out" not in drive.text()
        await drive.press("enter")
        assert drive.client.named("submit") == [(sent,)]


async def test_signs_of_several_characters_wrap_by_what_is_drawn() -> None:
    async with running(size=(60, 24)) as drive:
        field = drive.app.main.prompt.input
        drive.app.post_message(events.Paste(f"{FAMILY}\u2764\ufe0f" * 20))
        await drive.settle()
        assert field.wrapped_document.height > 2
        for y in range(field.size.height):
            text = field.render_line(y).text
            assert sum(map(cell_len, text)) == field.size.width


async def test_the_cursor_never_stands_on_what_is_not_drawn() -> None:
    async with running() as drive:
        drive.app.post_message(events.Paste(f"a\u2764\ufe0fb{FAMILY}"))
        await drive.settle()
        field, columns = drive.app.main.prompt.input, []
        for _ in range(6):
            await drive.press("left")
            columns.append(field.cursor_location[1])
        assert columns == [8, 6, 4, 3, 1, 0]
        await drive.press("right", "delete")
        assert drive.draft == f"ab{FAMILY}"


async def test_what_is_left_out_of_a_paste_is_said() -> None:
    async with running() as drive:
        drive.app.post_message(events.Paste("a\u202eb\x1b[31mc\U000e0041"))
        await drive.settle()
        assert drive.draft == "abc"
        assert (
            "Left out of the draft: control and invisible characters (U+202E, U+001B, U+E0041)."
            in drive.text()
        )
