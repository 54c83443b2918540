"""The arguments of a call as text to be changed, here or in the user's editor."""

import re
from typing import ClassVar

from textual.app import ComposeResult, SuspendNotSupported
from textual.containers import Vertical
from textual.widgets import Static

from amplifier_tui.base.text import one_line
from amplifier_tui.ui.fields.text_area import EditArea
from amplifier_tui.ui.terminal.editor import EditorError, edit_text

_FIRST_TEXT = re.compile(r'"(?:[^"\\]|\\.)*": "(?:[^"\\]|\\.)*')


class CallEditor(Vertical):
    """Holds the text and what is wrong with it; hidden until it is opened."""

    DEFAULT_CSS = """
    CallEditor { display: none; height: auto; margin-left: 2; }
    CallEditor.-open { display: block; }
    CallEditor > EditArea { background: $background; }
    CallEditor > Static { height: auto; max-height: 2; color: $text-error; }
    """
    ROWS_BELOW: ClassVar[int] = 2
    """What is wrong may take so many rows."""

    def compose(self) -> ComposeResult:
        """Make the text and the row below it."""
        yield EditArea(compact=True, tab_behavior="focus")
        yield Static(markup=False)

    @property
    def text(self) -> str:
        """The arguments as they are now."""
        return self.query_one(EditArea).text

    @property
    def is_open(self) -> bool:
        """Whether the arguments are being changed."""
        return self.has_class("-open")

    def open(self, text: str) -> None:
        """Show arguments to be changed, with the cursor at the end of the first that is a text."""
        area = self.query_one(EditArea)
        area.text = text
        if found := _FIRST_TEXT.search(text):
            before = text[: found.end()].split("\n")
            area.move_cursor((len(before) - 1, len(before[-1])))
        self.say("")
        self.add_class("-open")
        area.focus()

    def close(self) -> None:
        """Hide the text."""
        self.remove_class("-open")

    def say(self, problem: str) -> None:
        """Say what is wrong with the text."""
        self.query_one(Static).update(one_line(problem, 300))

    def fit(self, rows: int) -> None:
        """Take so many rows."""
        self.query_one(EditArea).styles.height = max(1, rows - self.ROWS_BELOW)

    def edit_outside(self) -> bool:
        """Have the text changed in the user's editor; False when it was not, and why is said."""
        before = self.text
        try:
            with self.app.suspend():
                text = edit_text(before, suffix=".json")
        except SuspendNotSupported:
            self.say("This terminal cannot be handed to an editor. The call is unchanged.")
        except EditorError as error:
            self.say(f"{error} The call is unchanged.")
        else:
            if text.strip():
                self.query_one(EditArea).text = text
                self.say("")
                return text != before
            self.say("The editor left the file empty. The call is unchanged.")
        return False
