"""Token estimates, for what a provider has not counted (context reference, section c, rule 9).

About four ASCII characters make a token, one and a half of any others, and an image has a fixed
price. A provider's own count, once there is one, corrects the sum.
"""

import json
from collections.abc import Mapping
from typing import Any, Final

ASCII_PER_TOKEN: Final = 4.0
OTHERS_PER_TOKEN: Final = 1.5
IMAGE_TOKENS: Final = 1_500
MESSAGE_TOKENS: Final = 4
"""What a message costs beside its content."""

# Tuples: a type may be anything, a list, too, which no set can be asked for.
_IMAGE_TYPES: Final = ("image", "image_url", "input_image")
_CALL_TYPES: Final = ("tool_call", "tool_use")
# Ids and signatures that come back to the provider as they are.
_UNREAD: Final = frozenset({"signature", "visibility", "encrypted_content"})


def text_tokens(text: str) -> int:
    """Return about how many tokens a text has; at least one if it is not empty."""
    if not text:
        return 0
    if text.isascii():
        return max(1, round(len(text) / ASCII_PER_TOKEN))
    # ASCII characters are the single bytes of UTF-8.
    plain = len(text.encode("ascii", "ignore"))
    return max(1, round(plain / ASCII_PER_TOKEN + (len(text) - plain) / OTHERS_PER_TOKEN))


def content_tokens(content: Any) -> int:
    """Return about how many tokens a message's content has: a text, or a list of blocks."""
    if isinstance(content, str):
        return text_tokens(content)
    if isinstance(content, list | tuple):
        return sum(content_tokens(block) for block in content)
    if isinstance(content, Mapping):
        kind = content.get("type")
        if kind in _IMAGE_TYPES:
            return IMAGE_TOKENS
        if kind in _CALL_TYPES:
            return text_tokens(str(content.get("name") or "")) + schema_tokens(content.get("input"))
        return sum(
            content_tokens(value)
            for key, value in content.items()
            if key != "type" and key not in _UNREAD
        )
    if content is None or isinstance(content, bool):
        return 0
    return text_tokens(str(content))


def message_tokens(message: Mapping[str, Any]) -> int:
    """Return about how many tokens a kernel message has, tool calls included."""
    content = message.get("content")
    total = MESSAGE_TOKENS + content_tokens(content)
    calls = message.get("tool_calls")
    # Some orchestrators list the calls and keep them as blocks, too; only one of it is sent.
    if isinstance(calls, list) and not _has_call_blocks(content):
        for call in calls:
            total += _call_tokens(call) if isinstance(call, Mapping) else 0
    return total


def schema_tokens(schema: Any) -> int:
    """Return about how many tokens plain data has as compact JSON, such as a tool's schema."""
    if schema is None or schema == {}:
        return 0
    try:
        return text_tokens(json.dumps(schema, ensure_ascii=False, separators=(",", ":")))
    except (TypeError, ValueError, RecursionError):
        return text_tokens(str(schema))


def _call_tokens(call: Mapping[str, Any]) -> int:
    inner = call.get("function")
    inner = inner if isinstance(inner, Mapping) else call
    arguments = inner.get("arguments", call.get("input"))
    name = text_tokens(str(inner.get("name") or call.get("tool") or ""))
    # Arguments come as an object or as its JSON.
    return name + (
        text_tokens(arguments) if isinstance(arguments, str) else schema_tokens(arguments)
    )


def _has_call_blocks(content: Any) -> bool:
    return isinstance(content, list) and any(
        isinstance(block, Mapping) and block.get("type") in _CALL_TYPES for block in content
    )
