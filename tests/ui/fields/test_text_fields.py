"""Lines of text, wherever one is written: keys that come together act in their order."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

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
