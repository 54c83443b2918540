"""Telling the hooks what a provider streams, as it comes."""

from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any, Protocol

from amplifier_tui.kernel.events import (
    STREAM_ABORTED,
    STREAM_BLOCK_DELTA,
    STREAM_BLOCK_END,
    STREAM_BLOCK_START,
)

if TYPE_CHECKING:
    from amplifier_tui.kernel.message_models import Usage

__all__ = [
    "STREAM_ABORTED",
    "STREAM_BLOCK_DELTA",
    "STREAM_BLOCK_END",
    "STREAM_BLOCK_START",
    "StreamEmitter",
]


class Emits(Protocol):
    """Whoever takes events: the hook registry, or a recorder in a test."""

    def emit(self, event: str, data: dict[str, Any]) -> Awaitable[Any]:
        """Take one event."""
        ...


class StreamEmitter:
    """Emits one response's blocks: start, deltas, end. Without hooks it costs nothing.

    Attributes:
        usage: What the response has used so far; None where that is not known.
        characters: How many characters of it came.
        sent: Whether the request has gone out, as far as is known: then it has to be paid for.
    """

    def __init__(self, hooks: Emits | None, *, request_id: str) -> None:
        self.usage: Usage | None = None
        self.characters = 0
        self.sent = False
        self._hooks = hooks
        self._request_id = request_id
        self._blocks: dict[int, dict[str, Any]] = {}
        self._sequence: dict[int, int] = {}

    async def start(self, index: int, block_type: str, name: str | None = None) -> None:
        """Open the block at a place of the response.

        It is "text", "thinking" or "tool_use", the last with the name of the tool.
        """
        block = {"request_id": self._request_id, "block_index": index, "block_type": block_type}
        self._blocks[index] = block
        self._sequence[index] = 0
        if self._hooks is not None:
            named = block if name is None else {**block, "name": name}
            await self._hooks.emit(STREAM_BLOCK_START, named)

    async def delta(self, index: int, text: str) -> None:
        """Add to a block; one that was not opened is opened as text. Empty pieces are left out."""
        self.characters += len(text)
        if self._hooks is None or not text:
            return
        if index not in self._blocks:
            await self.start(index, "text")
        sequence = self._sequence[index]
        self._sequence[index] = sequence + 1
        await self._hooks.emit(
            STREAM_BLOCK_DELTA, {**self._blocks[index], "sequence": sequence, "text": text}
        )

    async def end(self, index: int) -> None:
        """Close a block; one that is not open is ignored."""
        block = self._blocks.pop(index, None)
        self._sequence.pop(index, None)
        if self._hooks is not None and block is not None:
            await self._hooks.emit(STREAM_BLOCK_END, block)

    async def aborted(self, error: BaseException) -> None:
        """Say that the stream broke off; what came of it is void."""
        self._blocks.clear()
        self._sequence.clear()
        if self._hooks is not None:
            told = {"type": type(error).__name__, "msg": str(error)}
            data = {"request_id": self._request_id, "error": told}
            await self._hooks.emit(STREAM_ABORTED, data)
