"""The line in which words to find in the conversation are written, below it."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len
from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, Static

from amplifier_tui.ui.fields.text_field import TextField
from amplifier_tui.ui.keys.actions import bindings
from amplifier_tui.ui.transcript.searched_view import SearchedView

if TYPE_CHECKING:
    from amplifier_tui.ui.transcript.entries.scene import WayTo
    from amplifier_tui.ui.transcript.layout.finder import FoundPlace


class FindInput(TextField):
    """The field; its keys go through what was found."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("find")

    class Stepped(Message):
        """The next (1) or previous (-1) place is wanted."""

        def __init__(self, direction: int) -> None:
            super().__init__()
            self.direction = direction

    def action_find_step(self, direction: int) -> None:
        """Show the next or previous place."""
        self.post_message(self.Stepped(direction))


class FindBar(Horizontal):
    """Looks for words in a conversation while they are typed.

    Args:
        view: The conversation.
        words: What to look for first.
        keys: Names the keys in force.
    """

    DEFAULT_CSS = """
    FindBar { height: 1; background: $panel; padding: 0 2; }
    FindBar > #find-mark { width: auto; color: $text-muted; }
    FindBar > FindInput { width: 1fr; background: $panel; background-tint: $panel 0%; }
    FindBar > FindInput:focus { background-tint: $panel 0%; }
    FindBar > #find-place { width: auto; color: $text-muted; }
    """

    def __init__(self, view: SearchedView, words: str, keys: WayTo) -> None:
        super().__init__()
        self._view = view
        self._keys = keys
        # Used before they are mounted: keys come faster than that.
        self._field = FindInput(words, "words of the conversation", compact=True)
        self._said = Static(id="find-place")
        self._place: FoundPlace | None = None
        self._ended = False

    def compose(self) -> ComposeResult:
        """Make the field, and what says how much was found."""
        yield Static(_MARK, id="find-mark")
        yield self._field
        yield self._said

    def on_mount(self) -> None:
        """Take the keys, and look for what was given."""
        if not self._ended:
            self._field.focus()
            self._show(None)

    def begin(self, words: str) -> None:
        """Take the keys again; with words, look for those."""
        if words:
            self._field.value = words
        self._field.focus()
        self._field.select_all()

    def end(self) -> None:
        """Take the marks away, and then itself: another search may begin before it is gone."""
        self._ended = True
        self._view.end_find()
        self.remove()

    def show_place(self, place: FoundPlace) -> None:
        """Say which of how many places is on screen."""
        self._show(place)

    def _show(self, place: FoundPlace | None) -> None:
        words = Content()
        if place is not None and self._field.value:
            more = "…" if place.searching else ""
            words = Content(f"  {place.number} of {place.total:,}{more}")
            if not place.total and not place.searching:
                words = Content.styled("  not found", "$text-warning")
        way = self._keys
        says = f"   {way('find.next')} next  {way('find.previous')} previous"
        keys = Content(f"{says}  {way('turn.back')} close")
        # What is looked for is read to its end before the keys are.
        typed = max(_LEAST, cell_len(self._field.value) + 1)
        left = self.size.width - cell_len(_MARK) - typed - words.cell_length
        if left >= keys.cell_length:
            words = words.append(keys)
        self._place = place
        self._said.update(words)

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        if not self._ended:
            self._view.find(event.value)
            self._show(self._place)

    @on(events.Resize)
    def _resized(self) -> None:
        self._show(self._place)

    @on(FindInput.Stepped)
    def _step(self, event: FindInput.Stepped) -> None:
        event.stop()
        self._view.find_step(event.direction)


_MARK = "find "
_LEAST = 12
"""Columns that are kept for what is typed."""
