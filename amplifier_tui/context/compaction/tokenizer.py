"""Counting the tokens of ADR messages."""

from __future__ import annotations

import json
from typing import Protocol

from amplifier_tui.base.tokens import text_tokens
from amplifier_tui.context.message import Message


class TokenizerProtocol(Protocol):
    """Counts tokens."""

    def count_tokens(self, text: str) -> int:
        """Return how many tokens a text has."""
        ...


class CharacterEstimatorTokenizer:
    """Estimates from the number of characters, and from how many of them are ASCII."""

    def count_tokens(self, text: str) -> int:
        """Return about how many tokens a text has; at least one."""
        return max(1, text_tokens(text))


def message_text(message: Message) -> str:
    """Return everything of a message that takes tokens, as one text."""
    data = {
        "contents": [content.to_dict() for content in message.contents],
        "message_id": message.message_id,
        "role": message.role,
    }
    return json.dumps(data, ensure_ascii=False, sort_keys=True, default=str)
