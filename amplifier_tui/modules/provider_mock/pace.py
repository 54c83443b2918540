"""Words at the pace of a model."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from typing import Final

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
