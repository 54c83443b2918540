"""Anthropic's Messages API on the wire: server-sent events, JSON bodies, errors, model list."""

from collections.abc import Iterator
from typing import Any

from tests.servers.replies import (
    Failure,
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
    "length": "max_tokens",
    "refusal": "refusal",
    "context_window": "model_context_window_exceeded",
    "pause": "pause_turn",
}

_FAILURES: dict[str, tuple[int, str, str]] = {
    "unauthorized": (401, "authentication_error", "invalid x-api-key"),
    "forbidden": (403, "permission_error", "Your API key does not have permission."),
    "unknown_model": (404, "not_found_error", "model: {model}"),
    "rate_limited": (429, "rate_limit_error", "Number of requests has exceeded your rate limit."),
    "quota": (
        400,
        "invalid_request_error",
        "Your credit balance is too low to access the Anthropic API.",
    ),
    "overloaded": (529, "overloaded_error", "Overloaded"),
    "unavailable": (503, "api_error", "Service unavailable"),
    "server_error": (500, "api_error", "Internal server error"),
    "context_too_long": (
        400,
        "invalid_request_error",
        "prompt is too long: 214000 tokens > 200000 maximum",
    ),
    "bad_request": (400, "invalid_request_error", "messages: at least one message is required"),
}


def failure(answer: Failure, model: str) -> tuple[int, dict[str, Any]]:
    status, kind, message = _FAILURES[answer.kind]
    text = answer.message or message.format(model=model)
    return status, error_body(kind, text)


def error_body(kind: str, message: str) -> dict[str, Any]:
    return {
        "type": "error",
        "error": {"type": kind, "message": message},
        "request_id": new_id("req_"),
    }


def stream(reply: Reply, request: dict[str, Any]) -> Iterator[WireStep]:
    message = _envelope(request, content=[], stop=None, usage=_start_usage(reply.usage or Usage()))
    yield _event({"type": "message_start", "message": message})
    yield _event({"type": "ping"})
    index = 0
    for part in reply.parts:
        if isinstance(part, Text | Thinking | RedactedThinking | Refusal | ToolUse):
            yield from _block(part, index, reply)
            index += 1
        else:
            yield part
    delta = {"stop_reason": _stop_reason(reply), "stop_sequence": None}
    usage = _end_usage(reply.usage or Usage())
    yield _event({"type": "message_delta", "delta": delta, "usage": usage})
    yield _event({"type": "message_stop"})


def body(reply: Reply, request: dict[str, Any]) -> dict[str, Any]:
    content = [
        _whole(part)
        for part in reply.parts
        if isinstance(part, Text | Thinking | RedactedThinking | Refusal | ToolUse)
    ]
    usage = {**_start_usage(reply.usage or Usage()), **_end_usage(reply.usage or Usage())}
    return _envelope(request, content=content, stop=_stop_reason(reply), usage=usage)


def models(names: list[str]) -> dict[str, Any]:
    data = [
        {
            "type": "model",
            "id": name,
            "display_name": name.replace("-", " ").title(),
            "created_at": "2026-01-01T00:00:00Z",
            "lifecycle": "active",
            "max_input_tokens": 200_000,
            "max_tokens": 64_000,
        }
        for name in names
    ]
    return {
        "data": data,
        "has_more": False,
        "first_id": names[0] if names else None,
        "last_id": names[-1] if names else None,
    }


def _event(data: dict[str, Any]) -> bytes:
    return sse(data, event=data["type"])


def _envelope(
    request: dict[str, Any], *, content: list[Any], stop: str | None, usage: dict[str, Any]
) -> dict[str, Any]:
    return {
        "id": new_id("msg_"),
        "type": "message",
        "role": "assistant",
        "model": request.get("model", "unknown"),
        "content": content,
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": usage,
    }


def _block(part: Any, index: int, reply: Reply) -> Iterator[WireStep]:
    def delta(**fields: Any) -> bytes:
        return _event({"type": "content_block_delta", "index": index, "delta": fields})

    yield _event({"type": "content_block_start", "index": index, "content_block": _opening(part)})
    match part:
        case Text():
            yield from paced(part.chunks(), reply, lambda text: delta(type="text_delta", text=text))
        case Refusal():
            yield delta(type="text_delta", text=part.content)
        case Thinking():
            yield from paced(
                part.chunks(), reply, lambda text: delta(type="thinking_delta", thinking=text)
            )
            yield delta(type="signature_delta", signature=part.signature)
        case ToolUse():
            yield delta(type="input_json_delta", partial_json="")
            yield from paced(
                list(split(raw_arguments(part), part.pieces)),
                reply,
                lambda text: delta(type="input_json_delta", partial_json=text),
            )
    yield _event({"type": "content_block_stop", "index": index})


def _opening(part: Any) -> dict[str, Any]:
    match part:
        case Thinking():
            return {"type": "thinking", "thinking": "", "signature": ""}
        case RedactedThinking(data=data):
            return {"type": "redacted_thinking", "data": data}
        case ToolUse(name=name, id=id):
            return {"type": "tool_use", "id": id or new_id("toolu_"), "name": name, "input": {}}
        case _:
            return {"type": "text", "text": ""}


def _whole(part: Any) -> dict[str, Any]:
    block = _opening(part)
    match part:
        case Text():
            block["text"] = part.joined()
        case Refusal():
            block["text"] = part.content
        case Thinking():
            block |= {"thinking": part.joined(), "signature": part.signature}
        case ToolUse():
            block["input"] = part.arguments
    return block


def _stop_reason(reply: Reply) -> str:
    if reply.stop:
        return _STOP[reply.stop]
    return "tool_use" if reply.has_tools else "end_turn"


def _start_usage(usage: Usage) -> dict[str, Any]:
    return {
        "input_tokens": usage.input - usage.cache_read - usage.cache_write,
        "cache_creation_input_tokens": usage.cache_write,
        "cache_read_input_tokens": usage.cache_read,
        "output_tokens": 1,
        "service_tier": "standard",
    }


def _end_usage(usage: Usage) -> dict[str, Any]:
    end: dict[str, Any] = {"output_tokens": usage.output}
    if usage.reasoning:
        end["output_tokens_details"] = {"thinking_tokens": usage.reasoning}
    return end


def stream_failure(step: StreamFailure) -> bytes:
    _, kind, message = _FAILURES[step.kind]
    return _event(error_body(kind, message))
