"""The estimate of tokens, for whatever no provider has counted.

Four ASCII characters make about a token, one and a half of any others, and an image has a fixed
price.
"""

import json
from collections.abc import Mapping
from typing import Any, Final

from amplifier_tui.base.messages.tool_calls import CALL_BLOCKS, is_call_block, read_call

ASCII_PER_TOKEN: Final = 4.0
OTHERS_PER_TOKEN: Final = 1.5
IMAGE_TOKENS: Final = 1_500
MESSAGE_TOKENS: Final = 4
"""What a message costs beside its content."""

_PDF_PAGE: Final = 70_000
"""Characters of a PDF in base64 that make a page, about."""

# Tuples: a type may be anything, a list, too, which no set can be asked for.
_IMAGE_TYPES: Final = ("image", "image_url", "input_image")
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
            return IMAGE_TOKENS * _pages(content.get("source"))
        if kind in CALL_BLOCKS:
            return text_tokens(str(content.get("name") or "")) + schema_tokens(content.get("input"))
        return sum(
            content_tokens(value)
            for key, value in content.items()
            if key != "type" and key not in _UNREAD
        )
    if content is None or isinstance(content, bool):
        return 0
    return text_tokens(str(content))


def _pages(source: Any) -> int:
    """Return about how many pages a PDF has, each of which costs as much as an image; else 1."""
    if not isinstance(source, Mapping) or source.get("media_type") != "application/pdf":
        return 1
    data = source.get("data")
    return max(1, len(data) // _PDF_PAGE) if isinstance(data, str) else 1


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
    read = read_call(call)
    given = read.given
    return text_tokens(read.name) + (
        text_tokens(given) if isinstance(given, str) else schema_tokens(given)
    )


def _has_call_blocks(content: Any) -> bool:
    return isinstance(content, list) and any(map(is_call_block, content))
