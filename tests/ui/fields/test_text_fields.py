"""Lines of text, wherever one is written: keys that come together act in their order."""

import re
from pathlib import Path

from textual.widgets import Input

from amplifier_tui import ui
from tests.ui.driving import running


async def test_keys_that_come_together_change_a_line_in_their_order() -> None:
    async with running() as drive:
        await drive.press("ctrl+f")
        field = drive.app.focused
        assert isinstance(field, Input)
        await drive.press_at_once(*"abc", "backspace", *"xy", "left", "left", "q", "end", "z")
        assert field.value == "abqxyz"


def test_no_field_is_one_of_textuals_own() -> None:
    sources = Path(ui.__path__[0]).rglob("*.py")
    bare = re.compile(r"\b(Input|TextArea)\(")
    assert not [path for path in sources if bare.search(path.read_text())]
