"""Sub-agents: a lane opens with the first word of a child session and closes with its end."""

from collections.abc import Callable, Mapping
from typing import Any

from amplifier_tui.host.events import MAIN_LANE, LaneClosed, LaneOpened, LaneUsed, TurnStatus
from amplifier_tui.host.stream.results import error_text
from amplifier_tui.host.stream.sender import Sender
from amplifier_tui.host.stream.usage import UsageMeter
from amplifier_tui.kernel.correlation import current_tool_call_id

_RESULT_LIMIT = 2_000


class Lanes:
    """Follows the sub-agents of a session.

    Args:
        on_close: Told of a lane before it closes, with its status.
    """

    def __init__(
        self,
        sender: Sender,
        usage: UsageMeter,
        on_close: Callable[[str, TurnStatus], None] = lambda *_: None,
    ) -> None:
        self._sender = sender
        self._usage = usage
        self._on_close = on_close
        self._redactor = sender.redactor
        self._open: dict[str, str] = {}

    def is_open(self, lane: str) -> bool:
        """Whether a lane is open; the main one always is."""
        return lane == MAIN_LANE or lane in self._open

    def open(
        self,
        lane: str,
        name: str = "",
        parent: str = MAIN_LANE,
        instruction: str = "",
        call_id: str = "",
    ) -> None:
        """A sub-agent starts; a lane that is open stays as it is."""
        # An event without the child's id carries the id of the session that emits it.
        if not lane or lane == self._sender.session_id or self.is_open(lane):
            return
        self._open[lane] = name
        self._sender.send(
            LaneOpened(
                **self._sender.stamp(lane),
                lane=lane,
                name=name or _name_in(lane),
                parent=parent if self.is_open(parent) else MAIN_LANE,
                instruction=self._redactor.text(instruction),
                call_id=call_id or current_tool_call_id() or "",
            )
        )

    def close(self, lane: str, status: TurnStatus = "success", result: str = "") -> None:
        """A sub-agent has ended; a lane that is not open is ignored."""
        if self._open.pop(lane, None) is None:
            return
        self._on_close(lane, status)
        self._sender.send(
            LaneClosed(
                **self._sender.stamp(lane),
                lane=lane,
                status=status,
                result=self._redactor.text(result)[:_RESULT_LIMIT],
                usage=self._usage.of(lane).as_usage(),
            )
        )

    def used(self, lane: str) -> None:
        """A model answered in a lane."""
        if lane in self._open:
            stamp, used = self._sender.stamp(lane), self._usage.of(lane).as_usage()
            self._sender.send(LaneUsed(**stamp, lane=lane, usage=used))

    def close_all(self, status: TurnStatus) -> None:
        """Close what is open, newest first: the turn is over."""
        for lane in reversed(tuple(self._open)):
            self.close(lane, status)

    def spawned(self, lane: str, data: Mapping[str, Any]) -> None:
        """`delegate:agent_spawned`, `task:agent_spawned`, `session:fork`, …"""
        child = _child(data)
        parent = str(data.get("parent_session_id") or data.get("parent") or "")
        self.open(
            child,
            str(data.get("agent") or data.get("agent_name") or ""),
            parent if parent in self._open else lane,
            str(data.get("instruction") or data.get("task") or ""),
            str(data.get("tool_call_id") or ""),
        )

    def ended(self, lane: str, data: Mapping[str, Any]) -> None:
        """`delegate:agent_completed`, `delegate:error`, …"""
        status: TurnStatus = "success"
        if data.get("success") is False or data.get("error"):
            status = "error"
        result = data.get("result") or data.get("output") or error_text(data.get("error"))
        self.close(_child(data), status, result if isinstance(result, str) else "")

    def cancelled(self, lane: str, data: Mapping[str, Any]) -> None:
        """`delegate:agent_cancelled`."""
        self.close(_child(data), "cancelled")


def _child(data: Mapping[str, Any]) -> str:
    # `session_id` is the parent's own where the event has the others.
    keys = ("sub_session_id", "child_session_id", "child_id", "session_id")
    found = (data.get(key) for key in keys)
    return next((value for value in found if isinstance(value, str) and value), "")


def _name_in(lane: str) -> str:
    """Return the agent in an id like `parentspan-childspan_agent-name`."""
    return lane.partition("_")[2] or lane[:8]
