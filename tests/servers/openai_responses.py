"""OpenAI's Responses API on the wire: numbered events, output items, usage at the end."""

import itertools
from collections.abc import Iterator
from typing import Any

from tests.servers.openai_errors import FAILURES
from tests.servers.replies import (
    RedactedThinking,
    Refusal,
    Reply,
    StreamFailure,
    Text,
    Thinking,
    ToolUse,
    Usage,
)
from tests.servers.wire import WireStep, new_id, paced, raw_arguments, split, sse

_INCOMPLETE = {
    "length": "max_output_tokens",
    "context_window": "max_output_tokens",
    "refusal": "content_filter",
    "pause": "max_output_tokens",
}


def stream(reply: Reply, request: dict[str, Any]) -> Iterator[WireStep]:
    return _Stream(reply, request).steps()


def body(reply: Reply, request: dict[str, Any]) -> dict[str, Any]:
    output = [
        _finished(part, _item(part))
        for part in reply.parts
        if isinstance(part, Text | Thinking | Refusal | ToolUse)
    ]
    return _final(reply, request, new_id("resp_"), output)


def stream_failure(step: StreamFailure) -> bytes:
    _, _, code, message = FAILURES[step.kind]
    failed = _response({}, new_id("resp_"), "failed", [])
    failed["error"] = {"code": code or "server_error", "message": message}
    data = {"type": "response.failed", "sequence_number": 99, "response": failed}
    return sse(data, event="response.failed")


class _Stream:
    """One response being sent: counts its events and keeps its finished items."""

    def __init__(self, reply: Reply, request: dict[str, Any]) -> None:
        self._reply = reply
        self._request = request
        self._id = new_id("resp_")
        self._sequence = itertools.count()
        self._output: list[dict[str, Any]] = []

    def steps(self) -> Iterator[WireStep]:
        begun = _response(self._request, self._id, "in_progress", [])
        yield self._event("response.created", response=begun)
        yield self._event("response.in_progress", response=begun)
        for part in self._reply.parts:
            if isinstance(part, Text | Thinking | Refusal | ToolUse):
                yield from self._part(part)
            elif not isinstance(part, RedactedThinking):
                yield part
        final = _final(self._reply, self._request, self._id, self._output)
        yield self._event(f"response.{final['status']}", response=final)

    def _event(self, kind: str, **fields: Any) -> bytes:
        return sse({"type": kind, "sequence_number": next(self._sequence), **fields}, event=kind)

    def _part(self, part: Any) -> Iterator[WireStep]:
        index = len(self._output)
        item = _item(part)
        yield self._event("response.output_item.added", output_index=index, item=item)
        where = {"item_id": item["id"], "output_index": index}
        match part:
            case Text():
                yield from self._text(part, where)
            case Refusal():
                yield self._event(
                    "response.refusal.delta", **where, content_index=0, delta=part.content
                )
                yield self._event(
                    "response.refusal.done", **where, content_index=0, refusal=part.content
                )
            case Thinking():
                yield from self._summary(part, where)
            case ToolUse():
                raw = raw_arguments(part)
                kind = "response.function_call_arguments"
                yield from paced(
                    list(split(raw, part.pieces)),
                    self._reply,
                    lambda text: self._event(f"{kind}.delta", **where, delta=text),
                )
                yield self._event(f"{kind}.done", **where, arguments=raw)
        item = _finished(part, item)
        self._output.append(item)
        yield self._event("response.output_item.done", output_index=index, item=item)

    def _text(self, part: Text, where: dict[str, Any]) -> Iterator[WireStep]:
        empty = {"type": "output_text", "text": "", "annotations": [], "logprobs": []}
        full = {**empty, "text": part.joined()}
        yield self._event("response.content_part.added", **where, content_index=0, part=empty)
        yield from paced(
            part.chunks(),
            self._reply,
            lambda text: self._event(
                "response.output_text.delta", **where, content_index=0, delta=text, logprobs=[]
            ),
        )
        yield self._event(
            "response.output_text.done",
            **where,
            content_index=0,
            text=part.joined(),
            logprobs=[],
        )
        yield self._event("response.content_part.done", **where, content_index=0, part=full)

    def _summary(self, part: Thinking, where: dict[str, Any]) -> Iterator[WireStep]:
        empty = {"type": "summary_text", "text": ""}
        full = {**empty, "text": part.joined()}
        kind = "response.reasoning_summary"
        yield self._event(f"{kind}_part.added", **where, summary_index=0, part=empty)
        yield from paced(
            part.chunks(),
            self._reply,
            lambda text: self._event(f"{kind}_text.delta", **where, summary_index=0, delta=text),
        )
        yield self._event(f"{kind}_text.done", **where, summary_index=0, text=part.joined())
        yield self._event(f"{kind}_part.done", **where, summary_index=0, part=full)


def _item(part: Any) -> dict[str, Any]:
    match part:
        case Thinking():
            return {"id": new_id("rs_"), "type": "reasoning", "summary": []}
        case ToolUse(name=name, id=id):
            return {
                "id": new_id("fc_"),
                "type": "function_call",
                "status": "in_progress",
                "call_id": id or new_id("call_"),
                "name": name,
                "arguments": "",
            }
        case _:
            return {
                "id": new_id("msg_"),
                "type": "message",
                "status": "in_progress",
                "role": "assistant",
                "content": [],
            }


def _finished(part: Any, item: dict[str, Any]) -> dict[str, Any]:
    match part:
        case Thinking():
            text = part.joined()
            summary = [{"type": "summary_text", "text": text}] if text else []
            return {**item, "summary": summary, "encrypted_content": part.signature}
        case ToolUse():
            return {**item, "status": "completed", "arguments": raw_arguments(part)}
        case Refusal():
            content: dict[str, Any] = {"type": "refusal", "refusal": part.content}
        case _:
            content = {
                "type": "output_text",
                "text": part.joined(),
                "annotations": [],
                "logprobs": [],
            }
    return {**item, "status": "completed", "content": [content]}


def _final(
    reply: Reply, request: dict[str, Any], identity: str, output: list[dict[str, Any]]
) -> dict[str, Any]:
    final = _response(request, identity, "incomplete" if reply.stop else "completed", output)
    if reply.stop:
        final["incomplete_details"] = {"reason": _INCOMPLETE[reply.stop]}
    final["usage"] = _usage(reply.usage) if reply.usage else None
    return final


def _response(
    request: dict[str, Any], identity: str, status: str, output: list[dict[str, Any]]
) -> dict[str, Any]:
    return {
        "id": identity,
        "object": "response",
        "created_at": 1_767_225_600,
        "status": status,
        "error": None,
        "incomplete_details": None,
        "instructions": request.get("instructions"),
        "metadata": {},
        "model": request.get("model", "unknown"),
        "output": list(output),
        "parallel_tool_calls": True,
        "store": request.get("store", True),
        "tool_choice": request.get("tool_choice", "auto"),
        "tools": request.get("tools", []),
        "usage": None,
    }


def _usage(usage: Usage) -> dict[str, Any]:
    return {
        "input_tokens": usage.input,
        "input_tokens_details": {
            "cached_tokens": usage.cache_read,
            "cache_write_tokens": usage.cache_write,
        },
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning},
        "total_tokens": usage.input + usage.output,
    }
