"""The cursor on an entry of the conversation, and the keys that are about that entry."""

import time
from collections.abc import Callable
from typing import ClassVar

from textual.binding import Binding, BindingType

from amplifier_tui.host.events import MAIN_LANE
from amplifier_tui.ui.state.conversation.entries import (
    ConversationEntry,
    ErrorEntry,
    LaneEntry,
    ReportEntry,
    ToolEntry,
    UserEntry,
)
from amplifier_tui.ui.transcript.document_view import DocumentView
from amplifier_tui.ui.transcript.entries.long_output import rest_row
from amplifier_tui.ui.transcript.entries.renderer import is_expandable, name_of, plain_text
from amplifier_tui.ui.transcript.layout.item import DrawnEntry
from amplifier_tui.ui.transcript.layout.pager import EntryCursor
from amplifier_tui.ui.widgets.messages import (
    ActionWanted,
    CopyRequested,
    CursorMoved,
    EventsRequested,
    ExportRequested,
    ForkRequested,
    ImageRequested,
    RetryRequested,
    RewindRequested,
)

_OPEN = "Show details, or an image in full"
_WITHOUT = "After a failure of a context source: without it"
_REWIND = "Before the turn; after a failure, try again"
_FORK = "On a prompt: what came before it, in a new session, and it in the draft"


class CursorView(DocumentView, can_focus=True):
    """A document with a cursor on an entry, and the keys that are about that entry."""

    CHANGES: ClassVar[frozenset[str]] = frozenset(("rewind", "retry_without", "fork", "export"))
    """Actions that change something, or lead there: their letters wait until they stay alone."""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j,down", "move(1)", "Next", show=False, id="transcript.next"),
        Binding("k,up", "move(-1)", "Previous", show=False, id="transcript.previous"),
        Binding("g,home", "top", "First", show=False, id="transcript.first"),
        Binding("G,end", "end", "Newest", show=False, id="transcript.newest"),
        Binding("enter,space", "open", "Details", id="transcript.open", tooltip=_OPEN),
        Binding("y", "copy", "Copy", id="transcript.copy", tooltip="Copy this entry"),
        Binding("r", "rewind", "Go back", id="transcript.retry", tooltip=_REWIND),
        Binding("w", "retry_without", "Go on without", id="transcript.without", tooltip=_WITHOUT),
        Binding("v", "events", "Its events", id="transcript.events"),
        Binding("o", "agent", "The agent's own conversation", id="transcript.agent"),
        Binding("d", "diff", "Its change in full", id="transcript.diff"),
        Binding("a", "whole", "All of a long output", id="transcript.whole"),
        Binding("f", "fork", "Fork before this", id="transcript.fork", tooltip=_FORK),
        Binding("e", "export", "Export from here", id="transcript.export"),
    ]

    def __init__(self, home: str, clock: Callable[[], float] = time.time) -> None:
        super().__init__(home)
        self._clock = clock
        self._cursor = EntryCursor(self._document, self._pager)
        self._points_out = False

    @property
    def cursor(self) -> ConversationEntry | None:
        """The entry that the keys are about."""
        item = self._cursor.item
        return item.entry if item is not None else None

    @property
    def about(self) -> str | None:
        """The key of the entry under the cursor; None where there is none."""
        return self.cursor.key if self.cursor is not None else None

    def action_move(self, step: int) -> None:
        """Point at the next or previous entry."""
        before = self._cursor.item
        row = self._cursor.move(step)
        self._point_at(self._cursor.item, before)
        if row != self._pager.row:
            self._place(self._pager.scrolled(row))

    def action_top(self) -> None:
        """Go to the beginning, also of what is only stored as yet."""
        self.show_top()
        self.post_message(ActionWanted("view.top"))

    def show_top(self) -> None:
        """Go to the beginning of what is here."""
        if self._document.pieces:
            self._point_at(self._document.pieces[0].item)
            self._place(self._pager.scrolled(0))

    def action_end(self) -> None:
        """Go to the end and stay there."""
        if self._cursor.item is not None:
            self._point_at(self._document.pieces[-1].item)
        self.follow = True

    def shown_cursor(self) -> DrawnEntry | None:
        """Return the item under the cursor while the keys are heard here, or it is pointed out."""
        return self._cursor.item if self.has_focus or self._points_out else None

    def point_out(self, key: str) -> bool:
        """Show an entry and mark it until the user goes on; False when it is not here."""
        self._points_out = True
        return self.show_entry(key)

    def stop_pointing(self) -> None:
        """Take the mark away that `point_out` made."""
        if self._points_out:
            self._points_out = False
            self._point_at(self._cursor.item)

    def on_focus(self) -> None:
        """Show the cursor."""
        self._points_out = False
        self._cursor.land()
        self._point_at(self._cursor.item)

    def on_blur(self) -> None:
        """Hide the cursor."""
        self._point_at(self._cursor.item)

    def action_open(self) -> None:
        """Show the image of the entry under the cursor, else show or hide its details."""
        item = self._cursor.item
        if item is not None and self._document.renderer.draws_image(item.entry):
            self.post_message(ImageRequested(item.entry))
        elif item is not None:
            self._open(item)

    def _open(self, item: DrawnEntry) -> None:
        if isinstance(item.entry, ReportEntry):
            self.post_message(ActionWanted("session.report"))
            return
        self.toggle(item.entry.key)

    def show_entry(self, key: str) -> bool:
        """Put the cursor on an entry and show it; False when it is not here."""
        item = self._document.items.get(key)
        if item is None:
            return False
        self._document.reveal(item)
        self._point_at(item)
        for piece in item.pieces[:2]:
            self._document.measure(piece)
        self._place(self._pager.scrolled(self._document.top(item)))
        return True

    @property
    def entries(self) -> list[ConversationEntry]:
        """All entries, in their order on screen."""
        return [piece.item.entry for piece in self._document.pieces if piece.is_first]

    def seek(self, wanted: Callable[[ConversationEntry], bool], step: int) -> bool:
        """Show the next (1) or previous (-1) entry of a kind; False when there is none that way.

        From the entry with the cursor, where that is in sight, else from the end of the screen up,
        or from its top down.
        """
        if not self._document.pieces:
            return False
        pager, found = self._pager, self._cursor.item
        end = min(pager.row + pager.height, self._document.heights.total)
        if found is not None and pager.row <= self._document.top(found) < end:
            found = self._document.neighbour(found, step)
        else:
            found = self._document.item_at(pager.row if step > 0 else end - 1)
        while found is not None and not wanted(found.entry):
            found = self._document.neighbour(found, step)
        return found is not None and self.show_entry(found.entry.key)

    def toggle(self, key: str) -> None:
        """Show or hide the details of an entry."""
        raise NotImplementedError

    def keeps_back(self, item: DrawnEntry) -> bool:
        """Whether an item has more to show than it does."""
        if not is_expandable(item):
            return False
        return not item.expanded or rest_row(self._document.lines(item.pieces[0])) is not None

    def show_rest(self, item: DrawnEntry) -> None:
        """Show the details of an item; where it shows them, what they leave out."""
        raise NotImplementedError

    def action_whole(self) -> None:
        """Show what the entry under the cursor leaves out."""
        item = self._cursor.item
        if item is not None and self.keeps_back(item):
            self.show_rest(item)

    def show_a_rest(self) -> bool:
        """Show what an opened entry leaves out; False where none does.

        That is the one under the cursor, else the lowest in sight.
        """
        document, pager = self._document, self._pager
        last = min(pager.row + pager.height, document.heights.total) - 1
        item = self.shown_cursor() or document.item_at(last)
        while item is not None and not (item.expanded and self.keeps_back(item)):
            above = document.neighbour(item, -1)
            in_sight = above is not None and document.bottom(above) > pager.row
            item = above if in_sight else None
        if item is not None:
            self.show_rest(item)
        return item is not None

    def action_events(self) -> None:
        """Show the events of the entry under the cursor."""
        if (entry := self.cursor) is not None:
            self.post_message(EventsRequested(entry))

    def action_copy(self) -> None:
        """Copy the selection, else the entry under the cursor."""
        selection = self.text_selection
        if selection is not None and (selected := self.get_selection(selection)):
            self.post_message(CopyRequested(selected[0], "selection"))
        elif (entry := self.cursor) is not None:
            self.post_message(CopyRequested(plain_text(entry), name_of(entry)))

    def action_retry(self) -> None:
        """Try again what failed, if the cursor is on it."""
        entry = self.cursor
        if isinstance(entry, ErrorEntry) and entry.retryable:
            self.post_message(RetryRequested(entry))

    def action_rewind(self) -> None:
        """Go back before the turn of the entry under the cursor; a failure is tried again."""
        entry = self.cursor
        if isinstance(entry, ErrorEntry) and entry.retryable:
            self.action_retry()
        elif entry is not None:
            self.post_message(RewindRequested(entry))

    def action_export(self) -> None:
        """Write the conversation to a file, from the turn of the entry under the cursor on."""
        if (entry := self.cursor) is not None:
            self.post_message(ExportRequested(entry))

    def action_retry_without(self) -> None:
        """Go on without the context source that failed, if the cursor is on its error."""
        entry = self.cursor
        if isinstance(entry, ErrorEntry) and entry.retryable and entry.source:
            self.post_message(RetryRequested(entry, entry.source))

    def action_agent(self) -> None:
        """Open the conversation of the agent under the cursor."""
        if (entry := self.cursor) is not None and (lane := self._agent_of(entry)):
            self.post_message(ActionWanted("agents.show", lane))

    def action_diff(self) -> None:
        """Read the change that the call under the cursor made."""
        if isinstance(entry := self.cursor, ToolEntry) and entry.diff:
            self.post_message(ActionWanted("view.diff"))

    def action_fork(self) -> None:
        """Fork before the prompt under the cursor."""
        entry = self.cursor
        if isinstance(entry, UserEntry) and entry.begins_turn:
            self.post_message(ForkRequested(entry))

    def _point_at(self, item: DrawnEntry | None, before: DrawnEntry | None = None) -> None:
        """Move the cursor; both lines show it."""
        before = before or self._cursor.item
        self._cursor.item = item
        self._document.renderer.selected = self.shown_cursor()
        for changed in {before, item}:
            if changed is not None:
                self._refresh_head(changed)
        self.refresh()
        if self.has_focus:
            self.post_message(CursorMoved())

    def hints(self) -> list[str]:
        """Return what the keys do that are about the entry under the cursor."""
        item = self._cursor.item
        if item is None:
            return []
        entry, images = item.entry, self._document.renderer.draws_image(item.entry)
        error = entry if isinstance(entry, ErrorEntry) and entry.retryable else None
        return [
            words
            for words, works in (
                ("enter image", images),
                ("enter details", not images and is_expandable(item)),
                ("a all of it", item.expanded and self.keeps_back(item)),
                ("enter reads it", isinstance(entry, ReportEntry)),
                ("r tries again", error is not None),
                ("w goes on without", error is not None and bool(error.source)),
                ("d its change", isinstance(entry, ToolEntry) and bool(entry.diff)),
                ("o its conversation", bool(self._agent_of(entry))),
                ("y copy", True),
                ("r back before it", isinstance(entry, UserEntry) and entry.begins_turn),
                ("f fork", isinstance(entry, UserEntry) and entry.begins_turn),
            )
            if works
        ]

    def _agent_of(self, entry: ConversationEntry) -> str:
        """Return the lane that an entry tells of, where its conversation is another one."""
        lane = entry.lane if isinstance(entry, LaneEntry) else entry.agent
        return "" if lane in (MAIN_LANE, self._document.renderer.home) else lane

    def _refresh_head(self, item: DrawnEntry) -> None:
        """Repaint the row of an item that changes with time and cursor, if it did."""
        piece, number = item.pieces[0], item.head
        if piece.lines is None or number >= len(piece.lines):
            return
        self._document.renderer.now = self._clock()
        line = self._document.renderer.head_line(item)
        if line is not None and line != piece.lines[number]:
            piece.lines[number] = line
            piece.strips.pop(number, None)
            self.refresh_line(self._document.top(item) + number)
