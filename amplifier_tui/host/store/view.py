"""Stored rows as a context gets them back: complete, without changing what is stored."""

from collections.abc import Iterable
from typing import Any, Final

from amplifier_tui.host.messages import INTERRUPTED, calls_of
from amplifier_tui.host.store.rows import Row

_NO_RESULT: Final = (
    "No result: the session ended before the call did. Call the tool again if it is still needed."
)
_OURS: Final = frozenset({"timestamp"})


def messages_of(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """Return rows as messages; a tool call without a result gets one that says so.

    Args:
        rows: As stored, in order.
    """
    stored = [row for row in rows if row.get("role")]
    answered = {row.get("tool_call_id") for row in stored if row.get("role") == "tool"}
    messages: list[dict[str, Any]] = []
    waiting: list[dict[str, Any]] = []
    for row in stored:
        if waiting and row.get("role") != "tool":
            # Behind the results that did come.
            messages += waiting
            waiting = []
        messages.append({key: value for key, value in row.items() if key not in _OURS})
        if row.get("role") == "assistant":
            waiting += [
                _missing(call.call_id, call.tool)
                for call in calls_of(row)
                if call.call_id not in answered
            ]
    return [*messages, *waiting]


def _missing(call_id: str, tool: str) -> dict[str, Any]:
    return {
        "role": "tool",
        "tool_call_id": call_id,
        "name": tool,
        "content": _NO_RESULT,
        "metadata": {"is_error": True, INTERRUPTED: True},
    }
