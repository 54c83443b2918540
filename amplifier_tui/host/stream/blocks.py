"""The answer: streamed blocks, and the durable copies that follow them.

Providers stream `llm:stream_block_*`; the orchestrator then emits `content_block:*` for every
block of the finished answer. The copy replaces what streamed. Providers that do not stream give
the copy alone; older ones stream through `content_block:delta` and `thinking:delta`.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import field
from itertools import count
from json import dumps
from time import monotonic
from typing import Any, Final

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.host.events import MAIN_LANE, BlockEnded, BlockKind, BlockStarted
from amplifier_tui.host.messages import thinking_of
from amplifier_tui.host.stream.sender import Sender
from amplifier_tui.kernel.mounting.errors import place_of_caller

_KINDS: Final[dict[str, BlockKind]] = {
    "text": "text",
    "thinking": "thinking",
    "reasoning": "thinking",
    "redacted_thinking": "thinking",
    "tool_use": "tool_use",
    "tool_call": "tool_use",
}


_WORDS: Final = ("text", "delta", "content", "thinking")
"""Where providers put the words of a piece."""
_ADDED: Final = ("session_id", "parent_id", "timestamp")
"""Fields of an event that are not its emitter's."""


@dataclass(slots=True)
class _Block:
    block_id: str
    kind: BlockKind
    request: str
    index: int
    pieces: list[str] = field(default_factory=list)
    sent: str | None = None
    """The text its latest `BlockEnded` had; None before the first."""
    matched: bool = False
    """The durable copy has come."""
    void: bool = False
    """Its request broke off: it goes when another answer begins, and stays when none does."""
    stored: bool = False
    """A row holds it."""
    began: float | None = None
    """When thinking began to stream, in monotonic seconds."""
    duration_ms: float = 0.0
    """How long thinking streamed, once it has ended."""

    @property
    def text(self) -> str:
        return "".join(self.pieces)


@dataclass(slots=True)
class _Lane:
    blocks: list[_Block] = field(default_factory=list)
    """Of the running step, in the order they began."""
    streams: bool = False
    """This step has `llm:stream_*` events, so the older kind of delta is a repetition."""


class Blocks:
    """Follows the blocks of every lane."""

    def __init__(self, sender: Sender) -> None:
        self._sender = sender
        self._lanes: defaultdict[str, _Lane] = defaultdict(_Lane)
        self._numbers = count(1)
        self._said: set[str] = set()
        """Blocks with words of the main lane, of the running turn."""
        self._told: set[str] = set()
        """Code whose pieces have something wrong, of which that was told."""

    def turn_begins(self) -> None:
        """A prompt is about to run."""
        self._said.clear()

    def step_begins(self, lane: str) -> None:
        """The orchestrator turns to the model: blocks from here on belong to a new answer."""
        blocks = self._lanes[lane].blocks
        for block in blocks:
            if block.sent is None and not block.void:
                self._end(lane, block, block.text)
        self._lanes[lane] = _Lane([block for block in blocks if block.void])

    def stream_start(self, lane: str, data: Mapping[str, Any]) -> None:
        """`llm:stream_block_start`."""
        self._lanes[lane].streams = True
        if self._find(lane, data) is None:
            self._begin(lane, data)

    def stream_delta(self, lane: str, data: Mapping[str, Any]) -> None:
        """`llm:stream_block_delta`."""
        self._lanes[lane].streams = True
        block = self._find(lane, data)
        if block is None and (block := self._strayed(lane, data)) is not None:
            given = str(data.get("request_id") or "")
            has = f"`request_id` '{given}'" if given else "no `request_id`"
            wanted = f"'{block.request}'" if block.request else "none"
            self._tell(lane, "is of no block that began", f"{has}, and its block has {wanted}")
        block = block or self._begin(lane, data)
        # What a call streams is shown when it is whole.
        if block.kind != "tool_use" and not any(key in data for key in _WORDS):
            has = ", ".join(sorted(key for key in data if key not in _ADDED))
            self._tell(lane, "can't be shown as it comes", f"{has}, and no `text`")
        self._add(lane, block, _delta_text(data))

    def _strayed(self, lane: str, data: Mapping[str, Any]) -> _Block | None:
        """Return the block whose piece names another request: the place says whose it is."""
        index, kind = int(data.get("block_index") or 0), _KINDS.get(str(data.get("block_type")))
        for block in reversed(self._lanes[lane].blocks):
            streams = block.sent is None and not block.void
            if streams and block.index == index and kind in (None, block.kind):
                return block
        return None

    def _tell(self, lane: str, what: str, has: str) -> None:
        """Tell once whose pieces of an answer have something wrong."""
        place = place_of_caller()
        if place in self._told:
            return
        self._told.add(place)
        where = f" ({place})" if place else ""
        text = f"What the provider streams {what}{where}: its llm:stream_block_delta has {has}"
        self._sender.notice("warning", self._sender.redactor.text(text), "provider", lane)

    def stream_end(self, lane: str, data: Mapping[str, Any]) -> None:
        """`llm:stream_block_end`."""
        block = self._find(lane, data)
        if block is not None and block.sent is None:
            self._end(lane, block, block.text)

    def stream_aborted(self, lane: str, data: Mapping[str, Any]) -> bool:
        """`llm:stream_aborted`: the blocks of that request are void; whether there were any."""
        request = str(data.get("request_id") or "")
        blocks = self._lanes[lane].blocks
        void = [b for b in blocks if b.request == request and not b.matched and not b.void]
        for block in void:
            block.void = True
            self._said.discard(block.block_id)
        # A call whose arguments broke off is none; words can be read until others come.
        self._drop_void(lane, "tool_use")
        return bool(void)

    def _drop_void(self, lane: str, *kinds: BlockKind) -> None:
        """Take back what broke off, of some kinds only if any are given."""
        state = self._lanes[lane]
        void = [b for b in state.blocks if b.void and (not kinds or b.kind in kinds)]
        for block in void:
            self._discard(lane, block)
        state.blocks = [block for block in state.blocks if block not in void]

    def content_delta(self, lane: str, data: Mapping[str, Any]) -> None:
        """`content_block:delta` and `thinking:delta`, of providers that stream no other way."""
        if self._lanes[lane].streams:
            return
        self._add(lane, self._find(lane, data) or self._begin(lane, data), _delta_text(data))

    def content_end(self, lane: str, data: Mapping[str, Any]) -> None:
        """`content_block:end`: the durable copy of a block."""
        content = data.get("block")
        if not isinstance(content, Mapping):
            return
        kind = _KINDS.get(str(content.get("type")))
        if kind is None:
            return
        text = _durable_text(kind, content)
        block = self._match(lane, kind, text)
        if block is None:
            block = self._new(lane, kind, "", int(data.get("block_index") or 0))
            block.matched = True
        # Reasoning that is hidden from us was streamed as a summary: keep what was shown.
        self._end(lane, block, text or block.text)

    def returned(self, text: str, *, stored: bool) -> None:
        """Show what the orchestrator returned, unless words of this turn were shown before.

        A loop may return the whole of what it showed in part: only where there is nothing it is
        certain that nothing comes twice.

        Args:
            stored: A row holds the answer.
        """
        if not text.strip() or self._said or self._words_now():
            return
        block = self._new(MAIN_LANE, "text", "", 0)
        block.matched, block.stored = True, stored
        self._end(MAIN_LANE, block, text)

    def _words_now(self) -> bool:
        blocks = [b for b in self._lanes[MAIN_LANE].blocks if b.kind == "text" and not b.void]
        return any(_text_of(block).strip() for block in blocks)

    def row_added(self, *, interrupted: bool = False) -> None:
        """An answer of the main lane became a row: what streamed so far is in it.

        Args:
            interrupted: The row says that the answer broke off.
        """
        for block in self._lanes[MAIN_LANE].blocks:
            if interrupted and block.kind == "text" and not block.stored:
                self._end(MAIN_LANE, block, _text_of(block), interrupted=True)
            if block.duration_ms and not block.stored:
                self._note_time(block)
            block.stored = True

    def _note_time(self, block: _Block) -> None:
        """Keep how long a block of the newest row took; its text is in the row."""
        ended = BlockEnded(
            **self._sender.stamp(MAIN_LANE),
            block_id=block.block_id,
            kind=block.kind,
            text="",
            duration_ms=block.duration_ms,
        )
        self._sender.store.add_outcome(self._sender.store.rows, ended)

    def unsaved_texts(self) -> list[str]:
        """Return the blocks of text of the main lane that are in no row yet."""
        blocks = self._lanes[MAIN_LANE].blocks
        texts = [_text_of(b) for b in blocks if b.kind == "text" and not b.stored]
        return [text for text in texts if text.strip()]

    def turn_over(self, lane: str, *, interrupted: bool) -> None:
        """End what still streams: nothing more will come."""
        if not interrupted:
            self._drop_void(lane)
        for block in self._lanes[lane].blocks:
            if block.sent is None:
                self._end(lane, block, block.text, interrupted=interrupted)
        self._lanes.pop(lane, None)

    def _new(self, lane: str, kind: BlockKind, request: str, index: int) -> _Block:
        self._drop_void(lane)
        block = _Block(f"b{next(self._numbers)}", kind, request, index)
        self._lanes[lane].blocks.append(block)
        if lane == MAIN_LANE and kind == "text":
            self._sender.text_begins(block.block_id)
        return block

    def _find(self, lane: str, data: Mapping[str, Any]) -> _Block | None:
        request = str(data.get("request_id") or "")
        index = int(data.get("block_index") or 0)
        for block in reversed(self._lanes[lane].blocks):
            if (block.request, block.index) == (request, index) and not block.void:
                return block
        return None

    def _begin(self, lane: str, data: Mapping[str, Any]) -> _Block:
        kind = _KINDS.get(str(data.get("block_type") or "text"), "text")
        index = int(data.get("block_index") or 0)
        block = self._new(lane, kind, str(data.get("request_id") or ""), index)
        if kind == "thinking":
            block.began = monotonic()
        stamp, name = self._sender.stamp(lane), str(data.get("name") or "")
        self._sender.send(BlockStarted(**stamp, block_id=block.block_id, kind=kind, name=name))
        return block

    def _add(self, lane: str, block: _Block, text: str) -> None:
        if text:
            block.pieces.append(text)
            self._sender.delta(lane, block.block_id, text)

    def _end(self, lane: str, block: _Block, text: str, *, interrupted: bool = False) -> None:
        text = self._sender.redactor.text(text)
        if block.sent == text and not interrupted:
            return
        block.sent = text
        if lane == MAIN_LANE and block.kind == "text" and text.strip():
            self._said.add(block.block_id)
        if block.began is not None:
            block.duration_ms = (monotonic() - block.began) * 1000
            block.began = None
        self._sender.send(
            BlockEnded(
                **self._sender.stamp(lane),
                block_id=block.block_id,
                kind=block.kind,
                text=text,
                interrupted=interrupted,
                duration_ms=block.duration_ms,
            )
        )

    def _discard(self, lane: str, block: _Block) -> None:
        stamp = self._sender.stamp(lane)
        self._sender.send(
            BlockEnded(**stamp, block_id=block.block_id, kind=block.kind, text="", discarded=True)
        )

    def _match(self, lane: str, kind: BlockKind, text: str) -> _Block | None:
        """Return the streamed block a durable copy belongs to.

        One copy may cover several: an answer that was cut off and continued streams in pieces.
        """
        state = self._lanes[lane]
        waiting = [b for b in state.blocks if b.kind == kind and not b.matched and not b.void]
        waiting.sort(key=lambda block: block.stored)
        if not waiting:
            return None
        first = waiting[0]
        first.matched = True
        joined, covered = first.text, []
        for block in waiting[1:]:
            if joined == text or not text.startswith(joined + block.text):
                break
            joined += block.text
            covered.append(block)
        if covered and joined == text:
            for block in covered:
                self._discard(lane, block)
                state.blocks.remove(block)
        return first


def _text_of(block: _Block) -> str:
    return block.text if block.sent is None else block.sent


def _delta_text(data: Mapping[str, Any]) -> str:
    for key in _WORDS:
        value = data.get(key)
        if isinstance(value, str):
            return value
        if isinstance(value, Mapping) and isinstance(value.get("text"), str):
            return str(value["text"])
    return ""


def _durable_text(kind: BlockKind, content: Mapping[str, Any]) -> str:
    if kind == "thinking":
        return thinking_of(content)
    if kind == "text":
        return str(content.get("text") or "")
    arguments = content.get("input", content.get("arguments")) or {}
    return dumps(arguments, ensure_ascii=False, default=str)
