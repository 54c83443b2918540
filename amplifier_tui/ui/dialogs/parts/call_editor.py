"""The arguments of a call as text to be changed, here or in the user's editor."""

import re
from typing import ClassVar

from textual.app import ComposeResult, SuspendNotSupported
from textual.containers import Vertical
from textual.widgets import Static

from amplifier_tui.base.text import one_line
from amplifier_tui.ui.dialogs.parts.call_text import CallText, call_text
from amplifier_tui.ui.fields.text_area import EditArea
from amplifier_tui.ui.terminal.editor import EditorError, edit_text

_FIRST_TEXT = re.compile(r'"(?:[^"\\]|\\.)*": "(?:[^"\\]|\\.)*')


class CallEditor(Vertical):
    """Holds the text and what is wrong with it; hidden until it is opened."""

    DEFAULT_CSS = """
    CallEditor { display: none; height: auto; margin-left: 2; }
    CallEditor.-open { display: block; }
    CallEditor > EditArea { background: $background; }
    CallEditor > #wrong { height: auto; max-height: 2; color: $text-error; }
    CallEditor > #kept { height: 1; color: $text-muted; text-overflow: ellipsis; }
    """
    ROWS_BELOW: ClassVar[int] = 2
    """What is wrong may take so many rows."""
    _given = CallText("")

    def compose(self) -> ComposeResult:
        """Make the text and the rows below it."""
        yield EditArea(compact=True, tab_behavior="focus")
        yield Static(id="kept", markup=False)
        yield Static(id="wrong", markup=False)

    @property
    def text(self) -> str:
        """What is being changed, as it is now."""
        return self.query_one(EditArea).text

    @property
    def changed(self) -> str:
        """What is being changed; empty while it is as it was given."""
        return self.text if self.text != self._given.text else ""

    @property
    def arguments(self) -> str:
        """All arguments as they are now, as JSON."""
        return self._given.arguments(self.text)

    @property
    def is_open(self) -> bool:
        """Whether the arguments are being changed."""
        return self.has_class("-open")

    def open(self, arguments: str, command: str = "") -> None:
        """Show arguments, given as JSON, to be changed; the cursor is at the end of the first text.

        Args:
            command: What was asked about, where that is a command line: it is typed as it is.
        """
        given = self._given = call_text(arguments, command)
        area = self.query_one(EditArea)
        area.text = given.text
        found = None if given.name else _FIRST_TEXT.search(given.text)
        end = found.end() if found is not None else len(command) if given.name else 0
        before = given.text[:end].split("\n")
        area.move_cursor((len(before) - 1, len(before[-1])))
        kept = self.query_one("#kept", Static)
        kept.update(given.kept)
        kept.display = bool(given.kept)
        self.say("")
        self.add_class("-open")
        area.focus()

    def close(self) -> None:
        """Hide the text."""
        self.remove_class("-open")

    def say(self, problem: str) -> None:
        """Say what is wrong with the text."""
        self.query_one("#wrong", Static).update(one_line(problem, 300))

    def fit(self, rows: int) -> None:
        """Take so many rows."""
        below = self.ROWS_BELOW + bool(self._given.kept)
        self.query_one(EditArea).styles.height = max(1, rows - below)

    def edit_outside(self) -> bool:
        """Have the text changed in the user's editor; False when it was not, and why is said."""
        before = self.text
        try:
            with self.app.suspend():
                # The ends of the last lines are the text's own: editors add one.
                ends = before[len(before.rstrip("\n")) :]
                text = edit_text(before, suffix=self._given.suffix) + ends
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
