"""Reading an answer of Chat Completions, from its chunks or in one piece."""

from __future__ import annotations

from collections.abc import AsyncIterable, Iterator
from dataclasses import field
from typing import TYPE_CHECKING, Any, Final, Literal
from uuid import uuid4

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.kernel.llm_errors import ContentFilterError
from amplifier_tui.kernel.message_models import (
    ChatResponse,
    ContentBlockUnion,
    TextBlock,
    ThinkingBlock,
    ToolCall,
    Usage,
)
from amplifier_tui.kernel.utils.stream import StreamEmitter
from amplifier_tui.kernel.utils.tool_calls import call_block, read_tool_call
from amplifier_tui.modules.provider_openai.chat_request import REASONING_FIELDS
from amplifier_tui.modules.provider_openai.errors import OpenAIErrors
from amplifier_tui.modules.provider_openai.wire import read_usage

if TYPE_CHECKING:
    from openai.types.chat import ChatCompletion, ChatCompletionChunk

Kind = Literal["text", "thinking"]

_OPEN: Final = "<think>"
_CLOSE: Final = "</think>"


_FINISH = {"function_call": "tool_calls"}


@dataclass
class _Block:
    """One block as far as it has arrived; `field` is the server's name for reasoning."""

    kind: Literal["text", "thinking", "tool_use"]
    index: int
    pieces: list[str] = field(default_factory=list)
    field: str | None = None
    id: str = ""
    name: str = ""
    is_open: bool = True

    @property
    def text(self) -> str:
        return "".join(self.pieces)


class ChatAnswer:
    """An answer being read; `errors` translates what a server reports in its midst.

    Attributes:
        usage: What it has used, as far as that was told.
    """

    def __init__(self, model: str, tool_names: dict[str, str], errors: OpenAIErrors) -> None:
        self._model = model
        self._tool_names = tool_names
        self._errors = errors
        self._blocks: list[_Block] = []
        self._calls: dict[int, _Block] = {}
        self._tags = ThinkTags()
        self._finish: str | None = None
        self._refused = False
        self.usage: Usage | None = None
        self._id: str | None = None
        self._served_by: str | None = None

    @property
    def complete(self) -> bool:
        """Whether the end of the answer has come."""
        return self._finish is not None

    async def read_stream(
        self, events: AsyncIterable[ChatCompletionChunk], emitter: StreamEmitter
    ) -> None:
        """Read a stream to its end and emit each piece as it arrives."""
        async for chunk in events:
            self._id = chunk.id or self._id
            self._served_by = chunk.model or self._served_by
            if chunk.usage is not None:
                self.usage = read_usage(chunk.usage, "prompt", "completion")
            for choice in chunk.choices or []:
                self._check(choice)
                if choice.delta is not None:
                    await self._add(choice.delta, emitter)
                self._finish = choice.finish_reason or self._finish
        for kind, piece in self._tags.finish():
            await self._write(kind, piece, emitter)
        if self.complete:
            for block in self._blocks:
                await self._close(block, emitter)

    async def read_whole(self, answer: ChatCompletion) -> None:
        """Take over an answer that came in one piece."""
        self._id, self._served_by = answer.id, answer.model
        if answer.usage is not None:
            self.usage = read_usage(answer.usage, "prompt", "completion")
        for choice in answer.choices[:1]:
            self._check(choice)
            # A whole message has the fields of a delta, and calls without numbers.
            await self._add(choice.message, StreamEmitter(None, request_id=""))
            self._finish = str(getattr(choice, "finish_reason", None) or "stop")
        for kind, piece in self._tags.finish():
            await self._write(kind, piece, StreamEmitter(None, request_id=""))

    def response(self) -> ChatResponse:
        """The answer in the kernel's form; a filter that left nothing of it is an error."""
        content: list[ContentBlockUnion] = []
        calls: list[ToolCall] = []
        for block in self._blocks:
            match block.kind:
                case "tool_use":
                    call = self._tool_call(block)
                    calls.append(call)
                    content.append(call_block(call))
                case "thinking":
                    extra: dict[str, Any] = {}
                    if block.field is not None:
                        extra["reasoning_field"] = block.field
                    content.append(ThinkingBlock(thinking=block.text, **extra))
                case "text":
                    content.append(TextBlock(text=block.text))
        finish = _FINISH.get(self._finish or "", self._finish)
        if finish == "content_filter" and not content:
            raise ContentFilterError(
                "The filter stopped the answer before its first word. Rephrase the request.",
                provider="openai",
                model=self._model,
            )
        if calls and finish == "stop":
            finish = "tool_calls"
        return ChatResponse(
            content=content,
            tool_calls=calls or None,
            usage=self.usage,
            finish_reason="content_filter" if self._refused else finish,
            metadata={
                "response_id": self._id,
                "model": self._served_by,
                "stop_reason": self._finish,
            },
        )

    def _check(self, choice: Any) -> None:
        """Raise what a router says of the server behind it, which failed in the midst."""
        error = getattr(choice, "error", None)
        if isinstance(error, dict):
            raise self._errors.failed(500, error.get("code"), error.get("message"))

    async def _add(self, delta: Any, emitter: StreamEmitter) -> None:
        for name in REASONING_FIELDS:
            if piece := getattr(delta, name, None):
                await self._write("thinking", str(piece), emitter, field=name)
                break  # some servers send the same text under both names
        if delta.content:
            for kind, piece in self._tags.feed(delta.content):
                await self._write(kind, piece, emitter)
        if refusal := getattr(delta, "refusal", None):
            self._refused = True
            await self._write("text", refusal, emitter)
        for number, call in enumerate(delta.tool_calls or []):
            await self._add_call(number, call, emitter)

    async def _write(
        self,
        kind: Literal["text", "thinking"],
        piece: str,
        emitter: StreamEmitter,
        field: str | None = None,
    ) -> None:
        last = self._blocks[-1] if self._blocks else None
        if last is None or last.kind != kind:
            if last is not None and last.kind != "tool_use":
                await self._close(last, emitter)
            last = await self._open(_Block(kind, len(self._blocks), field=field), emitter)
        last.pieces.append(piece)
        await emitter.delta(last.index, piece)

    async def _add_call(self, number: int, call: Any, emitter: StreamEmitter) -> None:
        given = getattr(call, "index", None)
        index = given if isinstance(given, int) else number
        function = call.function
        name = (function.name if function else None) or ""
        name = self._tool_names.get(name, name)
        block = self._calls.get(index)
        if block is None or (call.id and block.id and call.id != block.id):
            # Some servers number every call 0 and tell them apart by id alone.
            fresh = _Block("tool_use", len(self._blocks), id=call.id or "", name=name)
            block = self._calls[index] = await self._open(fresh, emitter)
        else:
            # Either may come after the other.
            block.id = call.id or block.id
            block.name = block.name or name
        if function is not None and function.arguments:
            block.pieces.append(function.arguments)
            await emitter.delta(block.index, function.arguments)

    async def _open(self, block: _Block, emitter: StreamEmitter) -> _Block:
        self._blocks.append(block)
        await emitter.start(block.index, block.kind, name=block.name or None)
        return block

    async def _close(self, block: _Block, emitter: StreamEmitter) -> None:
        if block.is_open:
            block.is_open = False
            await emitter.end(block.index)

    def _tool_call(self, block: _Block) -> ToolCall:
        identity = block.id or f"call_{uuid4().hex[:12]}"
        cut_off = self._finish == "length" and block is self._blocks[-1]
        return read_tool_call(identity, block.name, block.text, cut_off=cut_off)


class ThinkTags:
    """Tells text from reasoning that a local model writes between `<think>` and `</think>`.

    Servers without a reasoning parser pass it on as text. It counts only at the very start of an
    answer, and may come in pieces cut anywhere.
    """

    def __init__(self) -> None:
        self._state: Literal["start", "thinking", "after", "text"] = "start"
        self._held = ""

    def feed(self, piece: str) -> Iterator[tuple[Kind, str]]:
        """Yield what is certain after one more piece, in order."""
        self._held += piece
        if self._state == "start":
            yield from self._at_start()
        if self._state == "thinking":
            yield from self._thinking()
        if self._state == "after" and (rest := self._held.lstrip()):
            self._state, self._held = "text", rest
        if self._state == "text" and self._held:
            held, self._held = self._held, ""
            yield "text", held

    def finish(self) -> Iterator[tuple[Kind, str]]:
        """Yield what was held back, now that no more follows."""
        if self._held and self._state != "after":
            yield "thinking" if self._state == "thinking" else "text", self._held
        self._held = ""

    def _at_start(self) -> Iterator[tuple[Kind, str]]:
        stripped = self._held.lstrip()
        if stripped.startswith(_OPEN):
            self._state, self._held = "thinking", stripped[len(_OPEN) :].lstrip("\n")
        elif not _OPEN.startswith(stripped):
            self._state = "text"
        yield from ()

    def _thinking(self) -> Iterator[tuple[Kind, str]]:
        before, tag, after = self._held.partition(_CLOSE)
        if tag:
            self._state, self._held = "after", after
        else:
            # The end of what is here may be the beginning of the closing tag.
            keep = next(
                (size for size in range(len(_CLOSE) - 1, 0, -1) if before.endswith(_CLOSE[:size])),
                0,
            )
            before, self._held = before[: len(before) - keep], before[len(before) - keep :]
        if before:
            yield "thinking", before
