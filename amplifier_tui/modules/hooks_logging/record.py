"""One event as a line of the log."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final, Literal, get_args

from amplifier_tui.base.secrets import replace_secrets
from amplifier_tui.kernel import events
from amplifier_tui.kernel.utils.stream import STREAM_ABORTED, STREAM_BLOCK_DELTA
from amplifier_tui.kernel.utils.truncate import REDACTED, redact_secrets

Level = Literal["DEBUG", "INFO", "WARNING", "ERROR"]
LEVELS: Final = get_args(Level)
SCHEMA: Final = {"name": "amplifier.log", "ver": "1.0.0"}

_PIECES: Final = frozenset(
    {
        STREAM_BLOCK_DELTA,
        events.CONTENT_BLOCK_DELTA,
        events.THINKING_DELTA,
        "tool:progress",
    }
)
"""Events that come in their hundreds, and whose sum another event has."""

_ERRORS: Final = frozenset(
    {events.PROVIDER_ERROR, events.TOOL_ERROR, events.MODULE_LOAD_FAILED, events.POLICY_VIOLATION}
)
_WARNINGS: Final = frozenset(
    {
        events.PROVIDER_RETRY,
        events.PROVIDER_THROTTLE,
        events.PROVIDER_TOOL_SEQUENCE_REPAIRED,
        events.APPROVAL_DENIED,
        events.CANCEL_REQUESTED,
        events.MODULE_ON_SESSION_READY_FAILED,
        STREAM_ABORTED,
    }
)
_TOP: Final = ("session_id", "parent_id", "timestamp")


def level_of(event: str) -> str:
    """Return the level an event is logged at."""
    if event in _PIECES:
        return "DEBUG"
    if event in _ERRORS:
        return "ERROR"
    return "WARNING" if event in _WARNINGS else "INFO"


def line_of(event: str, data: Mapping[str, Any], *, whole: bool) -> str:
    """Return an event as a line of JSON without line ends, secrets replaced.

    Args:
        event: Name of the event.
        data: Its data.
        whole: Whether to keep what fills a log fast: the messages of a request.
    """
    rest = {key: value for key, value in data.items() if key not in _TOP}
    messages = rest.get("messages")
    if event == events.PROVIDER_REQUEST and isinstance(messages, list) and not whole:
        # Every request holds the conversation once more.
        del rest["messages"]
        rest["message_count"] = len(messages)
    record: dict[str, Any] = {
        "ts": data.get("timestamp") or datetime.now(UTC).isoformat(),
        "lvl": level_of(event),
        "schema": SCHEMA,
        "event": event,
        "session_id": data.get("session_id"),
    }
    if data.get("parent_id"):
        record["parent_id"] = data["parent_id"]
    record["data"] = redact_secrets(rest)
    # The kernel knows secrets by the name of their key, these are known by their shape.
    return replace_secrets(
        json.dumps(record, ensure_ascii=False, default=str), lambda secret, kind: REDACTED
    )
