"""Token counts that come out the same for the same conversation."""

from __future__ import annotations

import json
from collections.abc import Iterable
from decimal import Decimal

from amplifier_tui.kernel.message_models import ChatRequest, Message, Usage
from amplifier_tui.modules.provider_mock.answers import Answer
from amplifier_tui.modules.provider_mock.pace import tokens


def count_usage(request: ChatRequest, answer: Answer) -> Usage:
    """Return what a call would have used.

    What the request has in common with the one before counts as read from the cache.

    Args:
        request: The request.
        answer: The answer to it.
    """
    tools = _estimate(json.dumps([tool.model_dump() for tool in request.tools or ()]))
    sizes = [_message(message) for message in request.messages]
    known = _known(request.messages)
    thinking = len(tokens(answer.thinking))
    said = thinking + len(tokens(answer.text))
    said += sum(_estimate(json.dumps(call)) for call in answer.calls)
    read = tools + sum(sizes)
    return Usage(
        input_tokens=read,
        output_tokens=said,
        total_tokens=read + said,
        reasoning_tokens=thinking or None,
        cache_read_tokens=tools + sum(sizes[:known]) if known else None,
        cost_usd=Decimal(0),
    )


def _known(messages: Iterable[Message]) -> int:
    """How many of the messages the request before had: those before the last answer."""
    roles = [message.role for message in messages]
    return len(roles) - 1 - roles[::-1].index("assistant") if "assistant" in roles else 0


def _message(message: Message) -> int:
    if isinstance(message.content, str):
        return _estimate(message.content)
    return _estimate(json.dumps([block.model_dump() for block in message.content], default=str))


def _estimate(text: str) -> int:
    return -(-len(text) // 4)
