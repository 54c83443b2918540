"""The rows of a stored conversation, and the messages a context gets back from them."""

from collections.abc import Iterable
from typing import Any, Final

from amplifier_tui.base.jsonl import Row, StoredRows
from amplifier_tui.base.tool_calls import calls_of, failed_result
from amplifier_tui.host.messages import INTERRUPTED

__all__ = ["TRANSCRIPT", "Row", "StoredRows", "messages_of", "turns_before"]

TRANSCRIPT: Final = "transcript.jsonl"
_NO_RESULT: Final = (
    "No result: the session ended before the call did. Call the tool again if it is still needed."
)


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
        messages.append({key: value for key, value in row.items() if key != "timestamp"})
        if row.get("role") == "assistant":
            waiting += [
                failed_result(call.call_id, call.name, _NO_RESULT, mark=INTERRUPTED)
                for call in calls_of(row)
                if call.call_id and call.call_id not in answered
            ]
    return [*messages, *waiting]


def turns_before(stored: StoredRows, index: int) -> int:
    """Return how many rows before row `index` look like a user's prompt; none is parsed."""
    return sum(_is_prompt(stored.line(i)) for i in range(min(index, len(stored))))


def _is_prompt(line: bytes) -> bool:
    # Rows are written with the role first; hooks leave their mark in the metadata.
    head = line[:40].replace(b" ", b"")
    return b'"role":"user"' in head and b'"hook_name"' not in line
