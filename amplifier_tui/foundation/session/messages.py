"""Telling the user's messages from those that only have the user's role."""

from collections.abc import Mapping
from typing import Any, Final

_REMINDER: Final = "<system-reminder"


def is_real_user_message(message: Mapping[str, Any]) -> bool:
    """Whether a message begins a turn: the user wrote it, and no hook and no tool."""
    if message.get("role") != "user" or message.get("tool_call_id") is not None:
        return False
    metadata = message.get("metadata")
    if isinstance(metadata, Mapping) and metadata.get("source") == "hook":
        return False
    content = message.get("content")
    if isinstance(content, str):
        return not content.lstrip().startswith(_REMINDER)
    blocks = content if isinstance(content, list) else []
    kinds = {block.get("type") for block in blocks if isinstance(block, Mapping)}
    return kinds != {"tool_result"}
