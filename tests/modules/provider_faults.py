"""What can go wrong between a provider and its API, and how each of it must end.

A fault is written once and made for each format: as a stream of events and in one piece.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any, Literal

from amplifier_tui.kernel import llm_errors
from tests.servers import (
    Cut,
    Failure,
    LoopbackServer,
    Pause,
    Raw,
    Reply,
    Stall,
    Text,
    ToolUse,
    reply,
)
from tests.servers.replies import Scripted, Step

Api = Literal["anthropic", "responses", "chat"]
Ending = type[llm_errors.LLMError] | str
"""The error that a turn ends in, or the words of its answer."""

SSE = {"content-type": "text/event-stream"}
JSON = {"content-type": "application/json"}
ENDPOINTS = {
    "anthropic": "/v1/messages",
    "responses": "/v1/responses",
    "chat": "/v1/chat/completions",
}


@dataclass(frozen=True)
class Asked:
    """How a fault is met: in which format, streamed or not."""

    api: Api
    stream: bool

    def pieces(self, answer: Reply) -> list[Any]:
        """The bytes of an answer, as its server would send them."""
        return LoopbackServer.pieces(self.api, answer, stream=self.stream)

    def raw(self, pieces: list["bytes | Step"], **options: Any) -> Raw:
        return Raw(pieces, headers=SSE if self.stream else JSON, **options)

    def changed(self, answer: Reply, change: Callable[[bytes], bytes]) -> Raw:
        """An answer of which each piece is changed on its way."""
        return self.raw([change(piece) for piece in self.pieces(answer)])

    def replaced(self, answer: Reply, old: str, new: str) -> Raw:
        return self.changed(answer, lambda piece: piece.replace(old.encode(), new.encode()))


@dataclass(frozen=True)
class Fault:
    """One thing that goes wrong.

    Attributes:
        made: Makes the server's answer.
        ending: What the turn ends in.
        words: What the error says, among other words: what the user can do.
        config: Of the provider, for this fault.
        only: Whether it is met streamed, in one piece, or both.
    """

    made: Callable[[Asked], Scripted]
    ending: Ending
    words: str = ""
    config: dict[str, Any] = field(default_factory=dict)
    only: Literal["stream", "whole", "both"] = "both"


def _failure(kind: Any, **options: Any) -> Callable[[Asked], Scripted]:
    return lambda _: Failure(kind, **options)


def _limited(**headers: str) -> Callable[[Asked], Scripted]:
    body = {"type": "error", "error": {"type": "rate_limit_error", "message": "slow down"}}
    return lambda _: Raw(
        [json.dumps(body).encode()],
        status=429,
        headers={**JSON, **{name.replace("_", "-"): value for name, value in headers.items()}},
    )


def _status(code: int, body: bytes, kind: str = "application/json") -> Callable[[Asked], Scripted]:
    return lambda _: Raw([body] if body else [], status=code, headers={"content-type": kind})


def _body(body: bytes, kind: str) -> Callable[[Asked], Scripted]:
    return _status(200, body, kind)


def _half(asked: Asked, *end: "bytes | Step") -> Raw:
    pieces = asked.pieces(reply(Text(["half ", "an answer"])))
    half = pieces[: len(pieces) // 2] if asked.stream else [pieces[0][:40]]
    return asked.raw([*half, *end])


def _error_in_200(asked: Asked) -> Raw:
    error = {"error": {"code": 429, "message": "Provider returned error", "type": None}}
    if not asked.stream:
        return asked.raw([json.dumps(error).encode()])
    if asked.api == "anthropic":
        error = {"type": "error", "error": {"type": "rate_limit_error", "message": "Provider"}}
        return asked.raw([b"event: error\ndata: " + json.dumps(error).encode() + b"\n\n"])
    return asked.raw([b"data: " + json.dumps(error).encode() + b"\n\n"])


def _nested(asked: Asked) -> Raw:
    deep = b'{"error":' + b"[" * 50_000
    if not asked.stream:
        return asked.raw([deep])
    return asked.raw([b"event: message_start\ndata: " + deep + b"\n\n"])


def _redirect(asked: Asked) -> Raw:
    return Raw(status=307, headers={"location": f"http://evil.invalid{ENDPOINTS[asked.api]}"})


def _oversized(asked: Asked) -> Raw:
    return asked.raw([b"x" * 65_536] * 20)


def _stop_named(asked: Asked) -> Raw:
    """An answer that stopped for a reason of which nobody has heard."""
    usual = {"anthropic": "end_turn", "responses": "max_output_tokens", "chat": "stop"}[asked.api]
    answer = reply("Hi.", stop="length") if asked.api == "responses" else reply("Hi.")
    return asked.replaced(answer, f'"{usual}"', '"tea_time"')


def _twins(asked: Asked) -> Reply:
    return reply(ToolUse("look", {"at": 1}, id="same"), ToolUse("look", {"at": 2}, id="same"))


def _in(seconds: float) -> str:
    return format_datetime(datetime.now(UTC) + timedelta(seconds=seconds), usegmt=True)


HTML = b"<!doctype html><html><title>Sign in</title><body>Welcome to the hotel</body></html>"

E = llm_errors
REFUSED: dict[str, Fault] = {
    # -- refused ----------------------------------------------------------------------------------
    "an unknown field": Fault(_failure("bad_request"), E.InvalidRequestError, "refuses"),
    "no credit": Fault(_failure("quota"), E.QuotaExceededError, "account"),
    "401": Fault(_failure("unauthorized"), E.AuthenticationError, "_API_KEY"),
    "403": Fault(_failure("forbidden"), E.AccessDeniedError, "another key or model"),
    "404": Fault(_failure("unknown_model"), E.NotFoundError, "Choose another model"),
    "context too long": Fault(_failure("context_too_long"), E.ContextLengthError, "Compact it"),
    "context too long by status": Fault(
        _status(413, b'{"error": {"message": "too big"}}'), E.ContextLengthError, "Compact it"
    ),
    "an error page": Fault(_failure("html"), E.ProviderUnavailableError, "Retry in a moment"),
    "an error without a body": Fault(_status(400, b""), E.InvalidRequestError, "refuses"),
    "an error that is a list": Fault(
        _status(400, b'[{"message": "no"}]'), E.InvalidRequestError, "refuses"
    ),
    "an error that is a number": Fault(_status(422, b"17"), E.InvalidRequestError, "refuses"),
    "an error with words of another kind": Fault(
        _status(400, b'{"error": {"message": {"a": 1}, "code": ["x"], "type": 3}}'),
        E.InvalidRequestError,
        "refuses",
    ),
    "an error that is no text": Fault(_status(500, b"\xff\xfe\x00"), E.ProviderUnavailableError),
    # -- later ------------------------------------------------------------------------------------
    "429": Fault(_failure("rate_limited"), E.RateLimitError, "Retry in a moment"),
    "429 with seconds": Fault(
        _failure("rate_limited", retry_after=7), E.RateLimitError, "Retry in 7 s"
    ),
    "429 with a date": Fault(
        lambda asked: _limited(retry_after=_in(30))(asked), E.RateLimitError, "Retry in "
    ),
    "429 with a date that has passed": Fault(
        lambda asked: _limited(retry_after=_in(-30))(asked), E.RateLimitError, "Retry in 0 s"
    ),
    "429 with a clock a day behind": Fault(
        lambda asked: _limited(date=_in(-86_400), retry_after=_in(-86_400 + 20))(asked),
        E.RateLimitError,
        "Retry in 20 s",
    ),
    "429 with a clock a day ahead": Fault(
        lambda asked: _limited(date=_in(86_400), retry_after=_in(86_400 + 20))(asked),
        E.RateLimitError,
        "Retry in 20 s",
    ),
    "429 with nonsense": Fault(_limited(retry_after="soon"), E.RateLimitError, "in a moment"),
    "500": Fault(_failure("server_error"), E.ProviderUnavailableError, "Retry in a moment"),
    "529": Fault(_status(529, b"{}"), E.ProviderUnavailableError, "is overloaded"),
}
BROKEN: dict[str, Fault] = {
    # -- slow and broken --------------------------------------------------------------------------
    "a slow first byte": Fault(lambda _: reply("Hi.", before=Pause(0.02)), "Hi."),
    "no byte at all": Fault(
        lambda _: Raw([Stall()], headers=SSE),
        E.LLMTimeoutError,
        "raise `timeout`",
        {"timeout": 0.5},
    ),
    "a stall": Fault(
        lambda asked: _half(asked, Stall()),
        E.LLMTimeoutError,
        "raise `timeout`",
        {"timeout": 0.5},
    ),
    "a cut": Fault(lambda asked: _half(asked, Cut()), E.StreamError, "connection broke"),
    "an end in the middle": Fault(lambda asked: _half(asked), E.StreamError),
    "a malformed event": Fault(
        lambda asked: _half(asked, b'event: content_block_delta\ndata: {"type":\n\n'),
        E.StreamError,
        "unreadable",
        only="stream",
    ),
    "an event that is no object": Fault(
        lambda asked: _half(asked, b"event: content_block_delta\ndata: 17\n\n"),
        E.StreamError,
        "Check `base_url`",
        only="stream",
    ),
    "an event without its fields": Fault(
        lambda asked: _half(
            asked,
            b'event: content_block_delta\ndata: {"type": "content_block_delta"}\n\n'
            b'event: response.output_item.done\ndata: {"type": "response.output_item.done", '
            b'"choices": [{"delta": {"tool_calls": [7]}}]}\n\n',
        ),
        E.StreamError,
        "Check `base_url`",
        only="stream",
    ),
    "invalid UTF-8": Fault(
        lambda asked: asked.changed(
            reply("caf?"), lambda piece: piece.replace(b"caf?", b"caf\xe9")
        ),
        E.StreamError,
        "unreadable",
    ),
    "broken tool JSON": Fault(
        lambda _: reply(ToolUse("look", '{"at": [1, ')), "It looked.", only="stream"
    ),
    "duplicate ids": Fault(_twins, "It looked."),
    "an unknown stop reason": Fault(_stop_named, "Hi."),
    "nothing to add to a result": Fault(lambda _: reply(ToolUse("look", {"at": 3})), ""),
    "an output limit that thoughts used up": Fault(
        lambda _: reply(stop="length"), E.StreamError, "Raise `max_tokens`"
    ),
    "an empty answer": Fault(lambda _: reply(), E.StreamError, "empty answer"),
    "no body": Fault(lambda asked: asked.raw([]), E.StreamError),
    # -- of another kind --------------------------------------------------------------------------
    "a web page": Fault(_body(HTML, "text/html"), E.StreamError, "Check `base_url`"),
    "a web page that says it is JSON": Fault(
        _body(HTML, "application/json"), E.StreamError, only="whole"
    ),
    "JSON of another kind": Fault(
        _body(b'{"status": "ok"}', "application/json"), E.StreamError, "Check `base_url`"
    ),
    "JSON nested too deeply": Fault(_nested, E.StreamError),
    "a JSON list": Fault(_body(b"[1, 2]", "application/json"), E.StreamError, "Check `base_url`"),
    "JSON null": Fault(_body(b"null", "application/json"), E.StreamError, "Check `base_url`"),
    "an error in a 200": Fault(_error_in_200, E.RateLimitError, "Retry in a moment"),
    "a redirect to another host": Fault(_redirect, E.ConfigurationError, "`base_url`"),
    "an oversized body": Fault(_oversized, E.StreamError, "more than 0.2 MB"),
}
# What is refused by its status never gets to have the form of a stream.
FAULTS = {name: replace(fault, only="stream") for name, fault in REFUSED.items()} | BROKEN
# Of these nothing depends on the form, or `test_provider_transport.py` has them in both.
for name in (
    "a slow first byte",
    "no byte at all",
    "duplicate ids",
    "nothing to add to a result",
    "a redirect to another host",
    "an oversized body",
):
    FAULTS[name] = replace(FAULTS[name], only="stream")
