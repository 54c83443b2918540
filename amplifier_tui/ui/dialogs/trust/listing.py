"""The list of the question of trust: a cursor over its rows, owners that fold, boxes to tick."""

from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.message import Message
from textual.strip import Strip

from amplifier_tui.ui.dialogs.trust.picks import About, TrustPicks, owner_of
from amplifier_tui.ui.dialogs.trust.rows import TrustRow, trust_rows
from amplifier_tui.ui.widgets.line_view import LineView, cursor_bindings
from amplifier_tui.ui.widgets.palette import MARGIN

if TYPE_CHECKING:
    from amplifier_tui.host.events import TrustAsked

_HEADED = 6
"""Rows above which an entry is shown below the heading of its group."""


class TrustList(LineView[TrustRow]):
    """Shows what is asked about, as far as it is not folded."""

    DEFAULT_CSS = """
    TrustList { height: auto; background: $panel; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        *cursor_bindings("trust-list"),
        Binding("pageup", "page(-1)", show=False),
        Binding("pagedown", "page(1)", show=False),
    ]

    class Changed(Message):
        """Something was ticked or folded, or is no more."""

    def __init__(self, asked: "TrustAsked", picks: TrustPicks) -> None:
        super().__init__(id="trust-list")
        self._asked = asked
        self._picks = picks
        self._seen: set[About] = set()

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Return the number of rows at `width`, most often of those that are made already."""
        width -= MARGIN + self.styles.scrollbar_size_vertical
        return max(1, len(self.rows if width == self._made_for else self._make_rows(width)))

    def lay_out(self) -> None:
        """Make the rows anew, with the cursor on the one it was on and that in view."""
        super().lay_out()
        # What is ticked next must be seen.
        if self.cursor_row >= 0:
            self.show_rows(self.cursor_row, self._count(self.cursor_row))

    def _make_rows(self, width: int) -> list[TrustRow]:
        return trust_rows(self._asked, self._picks, width)

    def _stops_at(self, row: TrustRow) -> bool:
        return row.own

    def _identity(self, row: TrustRow) -> About:
        return row.about

    def _draw_row(self, row: int, width: int) -> Strip:
        return self.palette.strip(self.rows[row].row, width, cursor=self.is_at_cursor(row))

    @property
    def below(self) -> int:
        """How many of its entries begin below what is on the screen."""
        end = int(self.scroll_offset.y) + self.scrollable_content_region.height
        return sum(row.own for row in self.rows[end:])

    def note_seen(self) -> None:
        """Take note of what has been on the screen to its last row."""
        top = int(self.scroll_offset.y)
        end = top + self.scrollable_content_region.height
        cut = self.rows[end].about if end < len(self.rows) else ()
        self._seen.update(row.about for row in self.rows[top:end] if row.about != cut)

    def show_unseen(self) -> bool:
        """Scroll to the first entry that would count and was not on the screen yet.

        Returns:
            Whether there is one.
        """
        self.note_seen()
        accepted = self._picks.accepted
        rows = (
            at
            for at, row in enumerate(self.rows)
            if row.own and row.about not in self._seen
            if any(item.key in accepted for item in self._picks.members(row.about))
        )
        first = next(rows, None)
        if first is None:
            return False
        room, top = self.scrollable_content_region.height, int(self.scroll_offset.y)
        start = first
        while room > _HEADED and start and not self.rows[start - 1].about:
            start -= 1
        reading = start <= top < first + self._count(first)
        y = top + max(1, room - 1) if reading else start
        self.scroll_to(y=y, animate=False, force=True, immediate=True)
        self.cursor_row = first
        self.refresh()
        return True

    @property
    def _about(self) -> About:
        return self.rows[self.cursor_row].about if self.cursor_row >= 0 else ()

    def _count(self, row: int) -> int:
        return sum(each.about == self.rows[row].about for each in self.rows)

    def put_cursor(self, row: int) -> None:
        """Put the cursor on a row and bring everything that belongs to it into view."""
        self.cursor_row = row
        self.show_rows(row, self._count(row))
        self.refresh()

    def action_move(self, by: int) -> None:
        """Move the cursor; first through what it is on, where that is longer than the list."""
        first, room = self.cursor_row, max(1, self.scrollable_content_region.height)
        top = self.scroll_offset.y
        if first >= 0 and by > 0 and first + self._count(first) > top + room:
            self.scroll_to(y=top + max(1, room - 1), animate=False, force=True, immediate=True)
        elif first >= 0 and by < 0 and first < top:
            self.scroll_to(y=max(first, top - room + 1), animate=False, force=True, immediate=True)
        else:
            super().action_move(by)

    def fold(self) -> None:
        """Fold the owner the cursor is on or in, or open it."""
        item = next(iter(self._picks.members(self._about)), None)
        if item is None:
            self.tick()
            return
        about = owner_of(item)
        self._picks.folded ^= {about}
        self.lay_out()
        self.put_cursor(max(0, self.find_row(about)))
        self.post_message(self.Changed())

    def tick(self) -> None:
        """Tick what the cursor is on, or take its tick away."""
        if self._about:
            self._picks.toggle(self._about)
            self.lay_out()
            self.post_message(self.Changed())

    def on_click(self, event: events.Click) -> None:
        """Tick what was clicked; a click on an owner folds or opens it."""
        row = self.clicked_row()
        if row is None or not self.rows[row].about:
            return
        self.cursor_row = self.find_row(self.rows[row].about)
        self.fold() if self._about[0] == "owner" else self.tick()
