"""The status bar: one row that says what runs, what waits, and where one is."""

import os
import time
from collections.abc import Callable
from typing import Final

from textual import events, on
from textual.timer import Timer

from amplifier_tui.ui.state.session import SessionState
from amplifier_tui.ui.state.status_line import (
    Placed,
    SegmentName,
    StatusSegment,
    notice_segment,
    place,
    status_segments,
)
from amplifier_tui.ui.widgets.messages import ActionWanted
from amplifier_tui.ui.widgets.palette import MARGIN, RowWidget
from amplifier_tui.ui.widgets.styled import Row, pieces_width

SPINNER = "◐◓◑◒"
FRAME = 0.25
"""Seconds a spinner's frame stays."""

_ROOMY: Final = 60
"""Columns from which it has the left edge of the prompt and the conversation."""

CLICKED: Final[dict[SegmentName, str]] = {
    "mode": "mode.choose",
    "context": "pane.context",
    "cost": "pane.context",
    "model": "model.choose",
    "approvals": "approval.show",
    "queue": "turn.queue",
    "bundle": "session.bundles",
    "title": "session.rename",
    "notice": "view.notices",
    "help": "app.help",
    "activity": "view.plan",
}
"""What a click on a segment does, by ids of actions."""

_HELP = StatusSegment("help", (("F1 ", "muted"), ("keys", "muted")), (("F1", "muted"),))
_NO_HELP = StatusSegment("help", (("       ", "muted"),), (("  ", "muted"),))
"""As wide, so that nothing moves when a dialog opens."""


class StatusBar(RowWidget):
    """Draws `status_line` and keeps its clock (Unix seconds) and spinner going."""

    DEFAULT_CSS = """
    StatusBar {
        background: $panel;
        & > .pane--success { text-style: bold; }
    }
    """

    def __init__(self, *, clock: Callable[[], float] = time.time) -> None:
        super().__init__()
        self.notices_key = ""
        """The keys that show notices whole, for people; empty names none."""
        self._clock = clock
        self._home = os.path.expanduser("~")
        self._state: SessionState | None = None
        self._versions: tuple[int, ...] = ()
        self._placed: list[Placed] = []
        self._behind = False
        self._spin: Timer | None = None
        self._expiry: Timer | None = None
        self._changes: float | None = None

    @property
    def segments(self) -> list[SegmentName]:
        """Names of the segments that are shown, from left to right."""
        return [placed.segment.name for placed in self._placed]

    @property
    def _edge(self) -> int:
        """Cells that are free besides, so that it begins below the prompt's mark."""
        return 1 if self.size.width >= _ROOMY else 0

    def update_from(self, state: SessionState) -> None:
        """Show the state; cheap when none of the sections shown here has changed."""
        shown = (
            state.facts,
            state.activity,
            state.approvals,
            state.questions,
            state.trust,
            state.queue,
            state.budget,
        )
        versions = (id(state), *(s.version for s in (*shown, state.usage, state.notices)))
        if versions == self._versions:
            return
        self._state = state
        self._versions = versions
        self._wind()
        self._repaint()

    def stand_behind(self, behind: bool) -> None:
        """A dialog is in front, or is gone: it has the keys, and the help's does nothing."""
        self._behind = behind
        self._repaint()

    @on(events.Mount)
    @on(events.Resize)
    def _laid_out(self) -> None:
        self._wind()
        self._repaint()

    def on_click(self, event: events.Click) -> None:
        """Have done what belongs to the segment that was clicked."""
        cell = event.x - MARGIN - self._edge
        for placed in self._placed:
            if placed.at <= cell < placed.at + placed.segment.width:
                if (action := CLICKED.get(placed.segment.name)) is not None:
                    self.post_message(ActionWanted(action))
                return

    def _wind(self) -> None:
        """Run the spinner while something moves, and a timer to the end of the notice."""
        if not self.is_mounted or self._state is None:
            return
        moving = self._state.activity.phase is not None
        if moving and self._spin is None:
            # Without animations the glyph stands still and only the clock goes on.
            still = self.app.animation_level == "none"
            self._spin = self.set_interval(1.0 if still else FRAME, self._repaint)
        elif not moving and self._spin is not None:
            self._spin.stop()
            self._spin = None
        changes = self._state.notices.changes_at(self._clock())
        if changes == self._changes:
            return
        if self._expiry is not None:
            self._expiry.stop()
        self._expiry, self._changes = None, changes
        if changes is not None:
            left = changes - self._clock()
            self._expiry = self.set_timer(max(0.05, left + 0.05), self._expired)

    def _expired(self) -> None:
        self._expiry = self._changes = None
        self._wind()
        self._repaint()

    def _repaint(self) -> None:
        """Lay the row out again; draw it only when it reads differently."""
        state = self._state
        width = self.size.width - 2 * MARGIN - self._edge
        if state is None or not self.is_mounted or width <= 0:
            return
        now = self._clock()
        still = self.app.animation_level == "none"
        glyph = SPINNER[0 if still else int(now / FRAME) % len(SPINNER)]
        segments = status_segments(state, now, glyph, self._home)
        # A retry's clock and the silence are no notices.
        key = self.notices_key if state.notices.current(now) is not None else ""
        help_ = _NO_HELP if self._behind else _HELP
        placed = place(segments, notice_segment(state, now), help_, width, key)
        self._placed = placed
        row: Row = []
        for each in placed:
            at = self._edge + each.at
            row += [(" " * (at - pieces_width(row)), "text"), *each.segment.pieces]
        self.say(row)
