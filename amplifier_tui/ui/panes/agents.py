"""The strip of agents above the prompt: what each does, what it has used, and what can be done."""

import time
from typing import ClassVar, NamedTuple

from textual import events
from textual.binding import Binding, BindingType
from textual.strip import Strip

from amplifier_tui.ui.state.conversation.entries import LaneEntry
from amplifier_tui.ui.state.session import SessionState
from amplifier_tui.ui.transcript.entries.agents import (
    GLYPHS,
    agent_data,
    agent_name,
    agent_words,
)
from amplifier_tui.ui.transcript.entries.scene import KEYS
from amplifier_tui.ui.widgets.line_view import LineView, cursor_bindings
from amplifier_tui.ui.widgets.messages import ActionWanted
from amplifier_tui.ui.widgets.styled import Row, fit, spread

_FEW, _MANY = 3, 6
"""Rows of agents that work, on a low screen and on a high one."""
_HIGH = 30
_NARROW = 60
_NAME = 14
_INDENT = 2


class _AgentRow(NamedTuple):
    """An agent, or how many more there are."""

    entry: LaneEntry | None
    more: int = 0
    depth: int = 0


class AgentStrip(LineView[_AgentRow]):
    """The agents that work now; with the focus, all of the session, those that work first.

    `clock` gives Unix seconds.
    """

    FOOT = (("agents.open", "open"), ("agents.halt", "stop"), ("agents.leave", "back"))
    DEFAULT_CSS = """
    AgentStrip {
        display: none;
        height: auto;
        max-height: 40%;
        border-left: thick $secondary;
        padding: 0 1 0 0;
        &.-shown { display: block; }
    }
    """
    CHANGES = frozenset(("halt",))
    BINDINGS: ClassVar[list[BindingType]] = [
        *cursor_bindings("agents"),
        Binding("enter,space,o", "open", "Its conversation", id="agents.open"),
        Binding("s", "halt", "Stop it; again, at once", id="agents.halt"),
        Binding("q", "leave", "Back to the prompt", id="agents.leave"),
    ]

    def __init__(self) -> None:
        super().__init__(id="agents")
        self.keys = KEYS
        """Names the key that leads to an action."""
        self._entries: list[LaneEntry] = []
        self._version: tuple[int, int] | None = None

    def update_from(self, state: SessionState) -> None:
        """Show the state's agents; cheap when they have not changed."""
        version = (id(state.lanes), state.lanes.version)
        if version != self._version:
            self._version = version
            self._entries = list(state.lanes.by_lane.values())
            self._show()

    def on_mount(self) -> None:
        """Keep the times right while anything is shown."""
        self.set_interval(1.0, self._tick)

    def _tick(self) -> None:
        if self.display:
            self.refresh()

    def _show(self) -> None:
        self.set_class(any(e.running for e in self._entries) or self.has_focus, "-shown")
        self.lay_out()

    def begin(self) -> None:
        """Show all agents and let them hear the keys."""
        self.add_class("-shown")
        self.focus()

    def watch_has_focus(self, has_focus: bool) -> None:
        """Show all agents while the keys are heard here."""
        super().watch_has_focus(has_focus)
        if self.is_mounted:
            self._show()

    def _make_rows(self, width: int) -> list[_AgentRow]:
        working = [entry for entry in self._entries if entry.running]
        if self.has_focus:
            ended = [entry for entry in reversed(self._entries) if not entry.running]
            return [_AgentRow(entry, depth=self._depth(entry)) for entry in (*working, *ended)]
        most = _MANY if self.app.size.height >= _HIGH else _FEW
        shown = working if len(working) <= most else working[: most - 1]
        rows = [_AgentRow(entry, depth=self._depth(entry)) for entry in shown]
        if more := len(working) - len(shown):
            rows.append(_AgentRow(None, more))
        return rows

    def _foot_words(self) -> tuple[tuple[str, str], ...]:
        entry = self._at_cursor()
        # One that has ended can't be stopped.
        ended = entry is not None and not entry.running
        return tuple(each for each in self.FOOT if each[0] != "agents.halt" or not ended)

    def _depth(self, entry: LaneEntry) -> int:
        callers = {each.lane: each.agent for each in self._entries}
        depth, lane = 0, entry.agent
        while lane in callers and depth < 5:
            depth, lane = depth + 1, callers[lane]
        return depth

    def _stops_at(self, row: _AgentRow) -> bool:
        return row.entry is not None

    def _identity(self, row: _AgentRow) -> str | None:
        return row.entry.lane if row.entry is not None else None

    def _draw_row(self, row: int, width: int) -> Strip:
        pieces = self._pieces(self.rows[row], self.content_width())
        return self.palette.strip(pieces, width, cursor=self.is_at_cursor(row))

    def _pieces(self, row: _AgentRow, width: int) -> Row:
        entry = row.entry
        if entry is None:
            all_of_them: Row = [(f"   {self.keys('agents.show')}", "strong"), (" all", "muted")]
            return [(f"+{row.more} more agents", "muted"), *all_of_them]
        glyph, tone = GLYPHS[entry.state]
        indent = " " * (_INDENT * row.depth)
        name = fit(agent_name(entry), max(_NAME, width // 4))
        words, role = agent_words(entry)
        data = agent_data(entry, time.time(), short=width < _NARROW)
        left: Row = [(f"{indent}{glyph} ", tone), (f"{name:<{_NAME}}  ", "text"), (words, role)]
        return spread(left, [(data, "muted")], width)

    def _at_cursor(self) -> LaneEntry | None:
        return self.rows[self.cursor_row].entry if 0 <= self.cursor_row < len(self.rows) else None

    def on_click(self, event: events.Click) -> None:
        """Open the agent that was clicked, or show all."""
        row = self.clicked_row()
        if row is None:
            return
        entry = self.rows[row].entry
        self.post_message(ActionWanted("agents.show", entry.lane if entry is not None else ""))

    def action_open(self) -> None:
        """Open the conversation of the agent under the cursor."""
        if (entry := self._at_cursor()) is not None:
            self.post_message(ActionWanted("agents.show", entry.lane))

    def action_halt(self) -> None:
        """Stop the agent under the cursor."""
        if (entry := self._at_cursor()) is not None:
            self.post_message(ActionWanted("agents.stop", entry.lane))

    def action_leave(self) -> None:
        """Go back to the prompt."""
        self.post_message(ActionWanted("turn.back"))
