"""How many tokens a message takes, estimated.

Counting for real needs the model's own tokenizer. About four ASCII characters or one and a half
others make a token; an image has a flat price.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

_ASCII_PER_TOKEN: Final = 4.0
_OTHERS_PER_TOKEN: Final = 1.5
_IMAGE: Final = 1_500
_PER_MESSAGE: Final = 4


def text_tokens(text: str) -> int:
    """Estimate the tokens of a text."""
    if text.isascii():
        return round(len(text) / _ASCII_PER_TOKEN)
    others = sum(character > "\x7f" for character in text)
    return round((len(text) - others) / _ASCII_PER_TOKEN + others / _OTHERS_PER_TOKEN)


def message_tokens(message: Mapping[str, Any]) -> int:
    """Estimate the tokens of a message, tool calls included."""
    content = message.get("content")
    total = _PER_MESSAGE + _content_tokens(content)
    in_content = {
        block.get("id")
        for block in (content if isinstance(content, list) else [])
        if isinstance(block, Mapping) and block.get("type") == "tool_call"
    }
    calls = message.get("tool_calls")
    for call in calls if isinstance(calls, list) else []:
        # Answers name a call in their content and beside it; it is sent once.
        if isinstance(call, Mapping) and call.get("id") not in in_content:
            total += _json_tokens(call.get("function") or call.get("arguments"))
    return total


def _content_tokens(content: Any) -> int:
    if content is None:
        return 0
    if isinstance(content, str):
        return text_tokens(content)
    if isinstance(content, list):
        return sum(map(_block_tokens, content))
    return _json_tokens(content)


def _block_tokens(block: Any) -> int:
    if not isinstance(block, Mapping):
        return _json_tokens(block)
    match block.get("type"):
        case "text":
            return text_tokens(str(block.get("text") or ""))
        case "thinking":
            return text_tokens(str(block.get("thinking") or ""))
        case "image":
            return _IMAGE
        case "tool_result":
            return _content_tokens(block.get("output"))
        case _:
            return _json_tokens(block)


def _json_tokens(value: Any) -> int:
    if value is None:
        return 0
    if isinstance(value, str):
        return text_tokens(value)
    return text_tokens(json.dumps(value, ensure_ascii=False, default=str))
