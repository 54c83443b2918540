"""Words at the pace of a model, and what they would have cost in tokens."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Sequence
from decimal import Decimal
from typing import Final

from amplifier_tui.base.tokens import text_tokens
from amplifier_tui.kernel.message_models import (
    ChatRequest,
    ContentBlockUnion,
    Message,
    TextBlock,
    ThinkingBlock,
    Usage,
)
from amplifier_tui.modules.provider_mock.answers import ScriptedAnswer

_TOKEN: Final = re.compile(r"\s*\S{1,6}|\s+")
_SHORTEST_WAIT: Final = 0.002
_BREATHE: Final = 64


def tokens(text: str) -> list[str]:
    """Return a text in pieces about the size of tokens; joined, they are the text."""
    return _TOKEN.findall(text)


class Pace:
    """Hands out tokens, not faster than a model would.

    Args:
        tokens_per_second: The pace; 0 for as fast as it goes.
    """

    def __init__(self, tokens_per_second: float) -> None:
        self._seconds = 1 / tokens_per_second if tokens_per_second else 0.0
        self._due = 0.0

    async def begin(self, delay: float) -> None:
        """Start the clock.

        Args:
            delay: Seconds before the first token, at any pace but the fastest.
        """
        if self._seconds and delay:
            await asyncio.sleep(delay)
        self._due = asyncio.get_running_loop().time()

    async def of(self, text: str) -> AsyncIterator[str]:
        """Yield the tokens of a text when they are due."""
        for number, token in enumerate(tokens(text)):
            if self._seconds:
                await self._wait()
            elif number % _BREATHE == 0:
                await asyncio.sleep(0)
            yield token

    async def _wait(self) -> None:
        # Against the clock, not from token to token: late ones are made up for.
        self._due += self._seconds
        wait = self._due - asyncio.get_running_loop().time()
        if wait > _SHORTEST_WAIT:
            await asyncio.sleep(wait)


class UsageCounter:
    """Counts tokens as a real service would report them; a message that comes again is known."""

    def __init__(self) -> None:
        self._messages: list[Message] = []
        self._sizes: list[int] = []

    def count(self, request: ChatRequest, answer: ScriptedAnswer) -> Usage:
        """Return what a call would have used.

        What the request has in common with the one before counts as read from the cache.
        """
        tools = text_tokens(json.dumps([tool.model_dump() for tool in request.tools or ()]))
        sizes = self._sizes_of(request.messages)
        known = _known(request.messages)
        thinking = len(tokens(answer.thinking))
        said = thinking + len(tokens(answer.text))
        said += sum(text_tokens(json.dumps(call)) for call in answer.calls)
        read = tools + sum(sizes)
        return Usage(
            input_tokens=read,
            output_tokens=said,
            total_tokens=read + said,
            reasoning_tokens=thinking or None,
            cache_read_tokens=tools + sum(sizes[:known]) if known else None,
            cost_usd=Decimal(0),
        )

    def _sizes_of(self, messages: list[Message]) -> list[int]:
        known = len(self._messages)
        if any(new is not old for new, old in zip(messages, self._messages, strict=False)):
            known = 0
        self._sizes = [*self._sizes[:known], *map(_message, messages[known:])]
        self._messages = list(messages)
        return self._sizes


def _known(messages: Sequence[Message]) -> int:
    """How many of the messages the request before had: those before the last answer."""
    answers = (i for i in range(len(messages) - 1, -1, -1) if messages[i].role == "assistant")
    return next(answers, 0)


def _message(message: Message) -> int:
    if isinstance(message.content, str):
        return text_tokens(message.content)
    return sum(map(_block, message.content))


def _block(block: ContentBlockUnion) -> int:
    match block:
        case TextBlock():
            return text_tokens(block.text)
        case ThinkingBlock():
            return text_tokens(block.thinking)
        case _:
            return text_tokens(json.dumps(block.model_dump(), default=str))
