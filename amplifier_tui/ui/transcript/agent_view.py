"""The conversation of one agent: its task, what it said and did, and the way back."""

import time
from collections.abc import Iterable

from textual.app import ComposeResult
from textual.containers import Vertical

from amplifier_tui.ui.images.pictures import Fetch
from amplifier_tui.ui.state.conversation.entries import EntryChange, LaneEntry
from amplifier_tui.ui.state.session import SessionState
from amplifier_tui.ui.transcript.entries.agents import (
    GLYPHS,
    agent_data,
    agent_words,
    path_words,
)
from amplifier_tui.ui.transcript.entries.scene import KEYS, WayTo
from amplifier_tui.ui.transcript.view import TranscriptView
from amplifier_tui.ui.widgets.palette import RowWidget
from amplifier_tui.ui.widgets.styled import Row, spread


class AgentView(Vertical):
    """A head that says whose conversation it is, over what belongs to the lane."""

    DEFAULT_CSS = """
    AgentView { height: 1fr; }
    AgentView > RowWidget { background: $panel; }
    """

    def __init__(
        self, lane: str, state: SessionState, keys: WayTo = KEYS, images: Fetch | None = None
    ) -> None:
        super().__init__()
        self.lane = lane
        self.transcript = TranscriptView(home=lane)
        self._head = RowWidget()
        self._state = state
        self._keys = keys
        self.transcript.use_images(images)

    def compose(self) -> ComposeResult:
        """Make the head and the conversation."""
        yield self._head
        yield self.transcript

    def on_mount(self) -> None:
        """Show what was said so far, and keep the time right."""
        self.transcript.use_keys(self._keys)
        self.apply(EntryChange(op="add", entry=entry) for entry in self._state.entries)
        self.set_interval(1.0, self._draw_head)
        self.call_after_refresh(self._draw_head)

    def apply(self, changes: Iterable[EntryChange]) -> None:
        """Take those of the session's changes that belong to the lane and those below it."""
        lanes = self._state.lanes.below(self.lane)
        self.transcript.apply([change for change in changes if _is_of(change, self.lane, lanes)])
        self._draw_head()

    def on_resize(self) -> None:
        """Fit the head."""
        self._draw_head()

    def _draw_head(self) -> None:
        path = self._state.lanes.path_to(self.lane)
        if not path or not self.is_mounted:
            return
        entry = path[-1]
        glyph, tone = GLYPHS[entry.state]
        words, role = agent_words(entry)
        # It says its task itself, as the first thing in it.
        doing = words if entry.tool or role != "muted" else ""
        left: Row = [(f"{glyph} ", tone), (f"{path_words(path)}   ", "strong"), (doing, role)]
        short = self.size.width < 60
        back = f"   {self._keys('turn.back')} back"
        right: Row = [(agent_data(entry, time.time(), short=short), "muted"), (back, "key")]
        self._head.say(spread(left, right, max(0, self.size.width - 2)))


def _is_of(change: EntryChange, lane: str, lanes: set[str]) -> bool:
    entry = change.entry
    if entry is None:
        return True
    return entry.agent in lanes or (isinstance(entry, LaneEntry) and entry.lane == lane)
