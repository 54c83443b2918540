"""The hook event log: every event, who handled it, what they answered."""

import time
from collections.abc import Callable
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import Input

from amplifier_tui.base.text import one_line
from amplifier_tui.ui.fields.text_field import TextField
from amplifier_tui.ui.panes.events.view import EventLogView
from amplifier_tui.ui.state.session import SessionState
from amplifier_tui.ui.widgets.line_view import key_words
from amplifier_tui.ui.widgets.palette import MARGIN, RowWidget
from amplifier_tui.ui.widgets.styled import Row, pieces_width, spread

_KEYS = (
    ("events.inspect", "inspect"),
    ("events.filter", "filter"),
    ("events.moment", "go to"),
    ("events.past", "as of"),
    ("events.export", "export"),
    ("events.follow", "follow"),
    ("events.pause", "pause"),
    ("events.copy", "copy"),
)
"""Bindings the foot names, with their words."""


class FilterInput(TextField):
    """The filter while it is typed: Enter keeps it, Esc takes it back."""

    DEFAULT_CSS = """
    FilterInput {
        display: none;
        background: $panel;
        border: none;
        height: 1;
        &, &.-textual-compact { padding: 0 1; }
        &.-open { display: block; }
        &:focus { border: none; background-tint: transparent; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "close", "Close", show=False, id="events.filter_close")
    ]

    def action_close(self) -> None:
        """Give the filter up."""
        if isinstance(self.parent, EventLogPane):
            self.parent.close_filter(clear=True)


class EventLogPane(Vertical):
    """Head, filter line and rows; `clock` gives monotonic seconds, for the repaint limit."""

    DEFAULT_CSS = """
    EventLogPane {
        height: 1fr;
        background: $surface;
        & > RowWidget { background: $surface; }
        &:focus-within > RowWidget > .pane--head { color: $primary; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "filter", "Filter", id="events.filter"),
    ]

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self.view = EventLogView(clock=clock)
        self._session = ""
        self._head = RowWidget()
        self._foot = RowWidget()
        self._foot.display = False
        self._input = FilterInput(placeholder="tool:* -delta mod:approval >100ms", compact=True)

    def compose(self) -> ComposeResult:
        """Stack the parts."""
        yield self._head
        yield self._input
        yield self.view
        yield self._foot

    @on(events.DescendantFocus)
    @on(events.DescendantBlur)
    def _focus_moved(self) -> None:
        """Show the keys while they are heard here; from one part to the other the foot stays."""
        focused = self.screen.focused
        self._foot.display = focused is not None and self in focused.ancestors
        if self._foot.display:
            self._say_keys()

    def on_resize(self) -> None:
        """Name as many keys as fit now; a pane gets the focus before it has a size."""
        if self._foot.display:
            self._say_keys()

    def _say_keys(self) -> None:
        width = max(0, self.size.width - 2 * MARGIN)
        if self.screen.focused is not self._input:
            self._foot.say(key_words(self, _KEYS, width))
            return
        keep: Row = [("enter", "strong"), (" keep   ", "muted")]
        rest = key_words(self, (("events.filter_close", "show all"),), width - pieces_width(keep))
        self._foot.say([*keep, *rest])

    def update_from(self, state: SessionState) -> None:
        """Show what is new in the state's event log; cheap when nothing is.

        Another session begins without the filter of the one before: its events would be hidden.
        """
        session = state.facts.session_id
        if self._session and session != self._session and self._input.value:
            self._input.value = ""
            self._input.set_class(self._input.has_focus, "-open")
            self.view.set_filter("")
        self._session = session
        self.view.show(state.log)

    def focus(self, scroll_visible: bool = True) -> "EventLogPane":
        """Give the focus to the rows."""
        self.view.focus(scroll_visible)
        return self

    def action_filter(self) -> None:
        """Open the filter line."""
        self._input.add_class("-open")
        self._input.focus()

    def close_filter(self, *, clear: bool) -> None:
        """Close the filter line, on `clear` showing all events, and go back to the rows."""
        if clear:
            self._input.value = ""
            self.view.set_filter("")
        self._input.set_class(bool(self._input.value.strip()), "-open")
        self.view.focus()

    @on(Input.Changed)
    def _filter_typed(self, event: Input.Changed) -> None:
        event.stop()
        self.view.set_filter(event.value)

    @on(Input.Submitted)
    def _filter_done(self, event: Input.Submitted) -> None:
        event.stop()
        self.close_filter(clear=False)

    @on(events.Mount)
    @on(EventLogView.Changed)
    def _say_how_many(self, event: Message) -> None:
        event.stop()
        width = max(0, self._head.size.width - 2 * MARGIN)
        head: Row = [("Events", "head")]
        self._head.say(spread(head, self._words(width - pieces_width(head) - 1), width))

    def _words(self, room: int) -> Row:
        view = self.view
        if not view.total and not view.waiting:
            return []
        words: Row = [(f"{view.total}", "text")]
        if view.older:
            words = [("last ", "muted"), *words, (f" of {view.older + view.total}", "muted")]
        if not view.filter.empty:
            words = [(f"{view.matched}", "text"), (f" of {view.total}", "muted")]
        if view.filter.problems:
            words.append((f" · {one_line(view.filter.problems[0])}", "warning"))
        elif view.paused:
            words += [(" · paused ", "warning"), (f"+{view.waiting}", "warning")]
        else:
            follows: Row = [(" · following" if view.following else " · f follows", "muted")]
            words += follows if pieces_width([*words, *follows]) <= room else []
        return words
