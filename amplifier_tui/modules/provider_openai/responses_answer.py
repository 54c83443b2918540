"""Reading an answer of the Responses API, from its events or in one piece."""

from __future__ import annotations

from collections.abc import AsyncIterable, Iterable
from typing import TYPE_CHECKING, Any

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
from amplifier_tui.modules.provider_openai.errors import OpenAIErrors
from amplifier_tui.modules.provider_openai.native_patch import TOOL, patch_call
from amplifier_tui.modules.provider_openai.wire import read_usage

if TYPE_CHECKING:
    from openai.types.responses import Response, ResponseStreamEvent

_SHOWN_AS = {
    "message": "text",
    "reasoning": "thinking",
    "function_call": "tool_use",
    "apply_patch_call": "tool_use",
}


class ResponsesAnswer:
    """An answer being read; `errors` translates what the API reports in the stream."""

    def __init__(self, model: str, tool_names: dict[str, str], errors: OpenAIErrors) -> None:
        self._model = model
        self._tool_names = tool_names
        self._errors = errors
        self._items: dict[int, Any] = {}
        self._response: Response | None = None

    @property
    def complete(self) -> bool:
        """Whether the end of the answer has come."""
        return self._response is not None

    @property
    def usage(self) -> Usage | None:
        """What it has used, as far as that was told."""
        usage = getattr(self._response, "usage", None)
        return read_usage(usage, "input", "output") if usage else None

    async def read_stream(
        self, events: AsyncIterable[ResponseStreamEvent], emitter: StreamEmitter
    ) -> None:
        """Read a stream to its end and emit each piece as it arrives."""
        async for event in events:
            match event.type:
                case "response.output_item.added":
                    if shown := _SHOWN_AS.get(event.item.type):
                        patches = event.item.type == "apply_patch_call"
                        name = TOOL if patches else getattr(event.item, "name", None) or ""
                        name = self._tool_names.get(name, name)
                        await emitter.start(event.output_index, shown, name=name or None)
                case (
                    "response.output_text.delta"
                    | "response.refusal.delta"
                    | "response.reasoning_summary_text.delta"
                    | "response.reasoning_text.delta"
                    | "response.function_call_arguments.delta"
                ):
                    await emitter.delta(event.output_index, event.delta)
                case "response.reasoning_summary_part.added":
                    if event.summary_index > 0:
                        await emitter.delta(event.output_index, "\n\n")
                case "response.output_item.done":
                    self._items[event.output_index] = event.item
                    if event.item.type in _SHOWN_AS:
                        await emitter.end(event.output_index)
                case "response.completed" | "response.incomplete":
                    self._response = event.response
                case "response.failed":
                    raise self._failed(event.response)
                case "error":
                    raise self._errors.failed(500, event.code, event.message)

    async def read_whole(self, answer: Response) -> None:
        """Take over an answer that came in one piece."""
        if answer.status == "failed":
            raise self._failed(answer)
        self._response = answer
        self._items = dict(enumerate(answer.output))

    def response(self) -> ChatResponse:
        """The answer in the kernel's form; a filter that left nothing of it is an error."""
        final = self._response
        reason = getattr(getattr(final, "incomplete_details", None), "reason", None)
        cut_off = reason == "max_output_tokens"
        content: list[ContentBlockUnion] = []
        calls: list[ToolCall] = []
        refused = False
        last = max(self._items, default=0)
        for index, item in sorted(self._items.items()):
            ended = cut_off and index == last
            match item.type:
                case "message":
                    refused = refused or any(part.type == "refusal" for part in item.content)
                    content.extend(_message_blocks(item))
                case "reasoning":
                    content.extend(_reasoning_blocks(item))
                case "function_call":
                    name = self._tool_names.get(item.name, item.name)
                    call = read_tool_call(item.call_id, name, item.arguments, cut_off=ended)
                    calls.append(call)
                    content.append(call_block(call))
                case "apply_patch_call":
                    call, block = patch_call(item, cut_off=ended)
                    calls.append(call)
                    content.append(block)
        if reason == "content_filter" and not any(isinstance(b, TextBlock) for b in content):
            raise ContentFilterError(
                "The filter stopped the answer before its first word. Rephrase the request.",
                provider="openai",
                model=self._model,
            )
        return ChatResponse(
            content=content,
            tool_calls=calls or None,
            usage=self.usage,
            finish_reason=_finish(reason, refused=refused, called=bool(calls)),
            metadata={
                "response_id": getattr(final, "id", None),
                "model": getattr(final, "model", None),
                "stop_reason": reason or getattr(final, "status", None),
            },
        )

    def _failed(self, response: Response) -> Exception:
        error = response.error
        code, words = (error.code, error.message) if error else (None, None)
        return self._errors.failed(500, code, words)


def _finish(reason: str | None, *, refused: bool, called: bool) -> str:
    if refused or reason == "content_filter":
        return "content_filter"
    if reason is not None:
        return "length" if reason == "max_output_tokens" else reason
    return "tool_calls" if called else "stop"


def _message_blocks(item: Any) -> Iterable[TextBlock]:
    texts = [part.refusal if part.type == "refusal" else part.text for part in item.content]
    text = "".join(piece for piece in texts if piece)
    extra: dict[str, Any] = {}
    if getattr(item, "phase", None):
        # The API wants it back with the message.
        extra["phase"] = item.phase
    if text:
        yield TextBlock(text=text, **extra)


def _reasoning_blocks(item: Any) -> Iterable[ThinkingBlock]:
    """A reasoning item; `content` carries its encrypted form and its id, for the way back.

    So does `summary` where it has several parts, which are shown as one text.
    """
    summary = [part.text for part in item.summary or []]
    parts = [*summary, *(part.text for part in getattr(item, "content", None) or [])]
    text = "\n\n".join(parts)
    extra: dict[str, Any] = {"summary": summary} if len(summary) > 1 else {}
    encrypted = getattr(item, "encrypted_content", None)
    if text or encrypted:
        yield ThinkingBlock(
            thinking=text,
            content=[encrypted, item.id] if encrypted else None,
            visibility=None if text else "internal",
            **extra,
        )
