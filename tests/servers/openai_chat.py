"""OpenAI's Chat Completions on the wire, as OpenAI and the compatible servers speak it."""

from collections.abc import Iterator
from typing import Any

from tests.servers.openai_errors import FAILURES, error_body
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

_STOP = {
    "length": "length",
    "refusal": "content_filter",
    "context_window": "length",
    "pause": "stop",
}


def stream(
    reply: Reply, request: dict[str, Any], reasoning_field: str = "reasoning_content"
) -> Iterator[WireStep]:
    identity = new_id("chatcmpl-")
    include_usage = bool((request.get("stream_options") or {}).get("include_usage"))

    def chunk(delta: dict[str, Any], finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        data = _envelope(identity, request, "chat.completion.chunk", [choice])
        if include_usage:
            data["usage"] = None
        return sse(data)

    def piece(part: Any, tool_index: int) -> Iterator[WireStep]:
        match part:
            case Text():
                yield from paced(part.chunks(), reply, lambda text: chunk({"content": text}))
            case Refusal():
                yield chunk({"refusal": part.content})
            case Thinking():
                yield from paced(part.chunks(), reply, lambda text: chunk({reasoning_field: text}))
            case ToolUse():
                opening = {"index": tool_index, **_call(part), "type": "function"}
                opening["function"]["arguments"] = ""
                yield chunk({"tool_calls": [opening]})
                yield from paced(
                    list(split(raw_arguments(part), part.pieces)),
                    reply,
                    lambda text: chunk(
                        {"tool_calls": [{"index": tool_index, "function": {"arguments": text}}]}
                    ),
                )

    yield chunk({"role": "assistant", "content": ""})
    tools = 0
    for part in reply.parts:
        if isinstance(part, Text | Thinking | Refusal | ToolUse):
            yield from piece(part, tools)
            tools += isinstance(part, ToolUse)
        elif not isinstance(part, RedactedThinking):
            yield part
    yield chunk({}, finish=_finish(reply))
    if include_usage and reply.usage is not None:
        data = _envelope(identity, request, "chat.completion.chunk", [])
        yield sse({**data, "usage": _usage(reply.usage)})
    yield sse("[DONE]")


def body(
    reply: Reply, request: dict[str, Any], reasoning_field: str = "reasoning_content"
) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": None, "refusal": None}
    calls: list[dict[str, Any]] = []
    for part in reply.parts:
        match part:
            case Text():
                message["content"] = (message["content"] or "") + part.joined()
            case Thinking():
                message[reasoning_field] = message.get(reasoning_field, "") + part.joined()
            case Refusal():
                message["refusal"] = part.content
            case ToolUse():
                calls.append({**_call(part), "type": "function"})
    if calls:
        message["tool_calls"] = calls
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": _finish(reply)}
    data = _envelope(new_id("chatcmpl-"), request, "chat.completion", [choice])
    return {**data, "usage": _usage(reply.usage)} if reply.usage else data


def _envelope(
    identity: str, request: dict[str, Any], kind: str, choices: list[Any]
) -> dict[str, Any]:
    return {
        "id": identity,
        "object": kind,
        "created": 1_767_225_600,
        "model": request.get("model", "unknown"),
        "system_fingerprint": "fp_test",
        "choices": choices,
    }


def _call(part: ToolUse) -> dict[str, Any]:
    function = {"name": part.name, "arguments": raw_arguments(part)}
    return {"id": part.id or new_id("call_"), "function": function}


def _finish(reply: Reply) -> str:
    if reply.stop:
        return _STOP[reply.stop]
    return "tool_calls" if reply.has_tools else "stop"


def _usage(usage: Usage) -> dict[str, Any]:
    return {
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.input + usage.output,
        "prompt_tokens_details": {
            "cached_tokens": usage.cache_read,
            "cache_write_tokens": usage.cache_write,
        },
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning},
    }


def stream_failure(step: StreamFailure) -> bytes:
    _, kind, code, message = FAILURES[step.kind]
    return sse(error_body(kind, code, message))
