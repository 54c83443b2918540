"""A provider's calls to its API: their events, their retries, their streams.

What every provider owes the rest of the system is here once: `llm:request` before, `llm:response`
after the `ChatResponse` is built, `provider:retry` in between, `llm:stream_aborted` for a stream
that broke (PROVIDER_SPECIFICATION, and the event table of the interface). Where a step of the
conversation fails its orchestrator says so, by `provider:error`; of a request on the side this
does. A request that is cancelled ends with `llm:response` and the status `cancelled`, with what it
has used by then, about: it has to be paid for.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from decimal import Decimal
from typing import Any, Final

from amplifier_tui.base.tokens import ASCII_PER_TOKEN
from amplifier_tui.kernel import events
from amplifier_tui.kernel.correlation import is_aside, new_request_id
from amplifier_tui.kernel.llm_errors import LLMError
from amplifier_tui.kernel.message_models import (
    ChatRequest,
    ChatResponse,
    ContentBlockUnion,
    Message,
    TextBlock,
    Usage,
)
from amplifier_tui.kernel.models import Pricing
from amplifier_tui.kernel.utils.request_tokens import request_tokens
from amplifier_tui.kernel.utils.retry import RetryConfig, retry_with_backoff
from amplifier_tui.kernel.utils.stream import Emits, StreamEmitter
from amplifier_tui.kernel.utils.truncate import redact_secrets
from amplifier_tui.kernel.utils.turns import Repair

logger = logging.getLogger(__name__)


class LLMCalls:
    """Runs one provider's calls.

    Args:
        coordinator: Whose hooks get the events; None, or one without hooks, for nobody's.
        provider: Name of the provider.
        retry: How often and how fast to retry.
    """

    def __init__(self, coordinator: Any | None, *, provider: str, retry: RetryConfig) -> None:
        self._coordinator = coordinator
        self._provider = provider
        self._retry = retry
        self._told: set[Repair] = set()

    async def run(
        self,
        attempt: Callable[[StreamEmitter], Awaitable[ChatResponse]],
        *,
        model: str,
        facts: Mapping[str, Any],
        arguments: Mapping[str, Any] | Callable[[], Mapping[str, Any]],
        repairs: Iterable[Repair] = (),
    ) -> ChatResponse:
        """Emit, attempt, retry.

        Args:
            attempt: Sends the request and reads the answer. It gets a fresh emitter, with a
                request id of its own, each time.
            facts: What `llm:request` says about the request beside provider and model.
            arguments: The request as it is sent, or what returns it; `llm:request` shows it,
                without secrets, where the mount plan's `session.raw` asks for it.
            repairs: What had to be put right in the messages; told once each.

        Returns:
            The first answer that succeeds.

        Raises:
            LLMError: The last attempt's error, or the first one that is not retryable.
        """
        hooks: Emits | None = getattr(self._coordinator, "hooks", None)
        emit = _emitter(hooks, {"provider": self._provider, "model": model})
        await self._tell_repairs(repairs, emit)
        request_id = new_request_id()
        started = time.monotonic()
        raw = {}
        if self._shows_raw():
            sent = arguments() if callable(arguments) else arguments
            raw = {"raw": redact_secrets(dict(sent))}
        attempts = 0
        running: StreamEmitter | None = None

        async def once() -> ChatResponse:
            nonlocal attempts, running
            attempts += 1
            identity = request_id if attempts == 1 else new_request_id()
            watched = None if hooks is None else _Watched(hooks)
            emitter = running = StreamEmitter(watched, request_id=identity)
            try:
                return await attempt(emitter)
            except Exception as error:
                running = None
                if watched is not None and watched.used:
                    await emitter.aborted(error)
                raise

        async def report(number: int, delay: float, error: LLMError) -> None:
            await emit(
                events.PROVIDER_RETRY,
                {
                    "attempt": number,
                    "max_retries": self._retry.max_retries,
                    "delay": round(delay, 3),
                    **_failure(error),
                },
            )

        async def end(
            status: str, used: Usage | None, finish: str | None, beside: Mapping[str, Any]
        ) -> None:
            await emit(
                events.LLM_RESPONSE,
                {
                    "request_id": request_id,
                    "status": status,
                    "usage": usage_fields(used),
                    "cost_usd": _cost(used),
                    "finish_reason": finish,
                    "attempts": attempts,
                    "duration_ms": round((time.monotonic() - started) * 1000),
                    **beside,
                },
            )

        try:
            await emit(events.LLM_REQUEST, {**facts, **raw, "request_id": request_id})
            response = await retry_with_backoff(once, self._retry, on_retry=report)
        except Exception as error:
            if is_aside():
                # Of a step of the conversation its orchestrator tells.
                failed = {"request_id": request_id, "aside": True, "attempts": attempts}
                await emit(events.PROVIDER_ERROR, {**failed, **_failure(error)})
            raise
        except asyncio.CancelledError:
            beside = {"aside": True} if is_aside() else {}
            await end("cancelled", None if running is None else running.usage, None, beside)
            raise
        await end("ok", response.usage, response.finish_reason, {})
        return response

    async def _tell_repairs(self, repairs: Iterable[Repair], emit: _Emit) -> None:
        # The same history comes back with every request.
        new = [repair for repair in repairs if repair not in self._told]
        if not new:
            return
        self._told.update(new)
        await emit(
            events.PROVIDER_TOOL_SEQUENCE_REPAIRED,
            {
                "repair_count": len(new),
                "repairs": [
                    {
                        "kind": repair.kind,
                        "tool_call_id": repair.tool_call_id,
                        "tool_name": repair.tool_name,
                    }
                    for repair in new
                ],
            },
        )

    def _shows_raw(self) -> bool:
        config = getattr(self._coordinator, "config", None)
        session = config.get("session") if isinstance(config, dict) else None
        return isinstance(session, dict) and session.get("raw") is True


_Emit = Callable[[str, dict[str, Any]], Awaitable[None]]


def _emitter(hooks: Emits | None, who: Mapping[str, Any]) -> _Emit:
    async def emit(event: str, data: dict[str, Any]) -> None:
        if hooks is not None:
            await hooks.emit(event, {**who, **data})

    return emit


def _failure(error: Exception) -> dict[str, Any]:
    spent = getattr(error, "usage", None)
    paid = {"usage": spent.model_dump(mode="json", exclude_none=True)} if spent else {}
    return {
        **paid,
        "error": {"type": type(error).__name__, "msg": str(error)},
        "retry_after": getattr(error, "retry_after", None),
        "status_code": getattr(error, "status_code", None),
    }


class _Watched:
    """Hooks that know whether anything of a stream was shown: only then is there a loss to tell."""

    def __init__(self, hooks: Emits) -> None:
        self._hooks = hooks
        self.used = False

    def emit(self, event: str, data: dict[str, Any]) -> Awaitable[Any]:
        self.used = True
        return self._hooks.emit(event, data)


def request_facts(request: ChatRequest, *, stream: bool) -> dict[str, Any]:
    """Return what `llm:request` says about a request; `stream`: its answer comes in parts."""
    return {
        "message_count": len(request.messages),
        "tool_count": len(request.tools or ()),
        "stream": stream,
    }


def with_overrides(request: ChatRequest, overrides: Mapping[str, Any]) -> ChatRequest:
    """The request with those keyword arguments of `complete` that name its fields; None is none."""
    changes = {
        name: value
        for name, value in overrides.items()
        if name in ChatRequest.model_fields and value is not None
    }
    return request.model_copy(update=changes) if changes else request


def usage_fields(usage: Usage | None) -> dict[str, int]:
    """The usage as `llm:response` reports it: cache counts only where there are any."""
    if usage is None:
        return {}
    fields = {"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens}
    if usage.cache_read_tokens:
        fields["cache_read_tokens"] = usage.cache_read_tokens
    if usage.cache_write_tokens:
        fields["cache_write_tokens"] = usage.cache_write_tokens
    return fields


def usage_so_far(request: ChatRequest, emitter: StreamEmitter, before: Usage | None) -> Usage:
    """About what an answer that is cancelled has used: many APIs tell it with its end only.

    Args:
        before: What the answer before used; of what that read from a cache it is read again.
    """
    told = emitter.usage
    read = request_tokens(request) if told is None else told.input_tokens
    written = round(emitter.characters / ASCII_PER_TOKEN)
    if told is not None:
        # The beginning of an answer tells a number of its first tokens.
        written = max(written, told.output_tokens)
    usage = Usage(input_tokens=read, output_tokens=written, total_tokens=read + written)
    if told is not None:
        return told.model_copy(update=usage.model_dump(exclude_none=True))
    cached = min(read, (before.cache_read_tokens or 0) if before is not None else 0)
    return usage.model_copy(update={"cache_read_tokens": cached or None})


def _cost(usage: Usage | None) -> str | None:
    return None if usage is None or usage.cost_usd is None else str(usage.cost_usd)


_GO_ON = (
    "Your answer was cut off by the output limit. Continue exactly where it stopped, "
    "without repeating anything and without a remark about the interruption."
)


async def complete_fully(
    complete: Callable[[ChatRequest], Awaitable[ChatResponse]],
    request: ChatRequest,
    *,
    limit: int,
) -> ChatResponse:
    """Complete a request, and continue while the answer is text cut off by the output limit.

    It stops where it would do harm: a caller who set `max_output_tokens` gets what fits, and a cut
    tool call is not glued together. There are at most `limit` continuations; the response has the
    content joined, the cost summed and the rest from the last part. Where a continuation fails, the
    answer is what came before.
    """
    response = await complete(request)
    for _ in range(limit if request.max_output_tokens is None else 0):
        if not _is_cut_text(response):
            break
        messages = [
            *request.messages,
            Message(role="assistant", content=response.content),
            Message(role="user", content=_GO_ON),
        ]
        try:
            more = await complete(request.model_copy(update={"messages": messages}))
        except LLMError as error:
            # It is paid for, and the next attempt would most likely end in the same place.
            logger.warning("An answer that was cut off could not be continued: %s", error)
            break
        response = _joined(response, more)
    return response


def _is_cut_text(response: ChatResponse) -> bool:
    last = response.content[-1] if response.content else None
    return response.finish_reason == "length" and isinstance(last, TextBlock)


def _joined(first: ChatResponse, second: ChatResponse) -> ChatResponse:
    content: list[ContentBlockUnion] = list(first.content)
    rest = list(second.content)
    before, after = content[-1], rest[0] if rest else None
    if isinstance(before, TextBlock) and isinstance(after, TextBlock):
        content[-1] = before.model_copy(update={"text": before.text + after.text})
        del rest[0]
    return second.model_copy(
        update={"content": [*content, *rest], "usage": _last_usage(first.usage, second.usage)}
    )


def _last_usage(first: Usage | None, last: Usage | None) -> Usage | None:
    """The last part's tokens, which say how full the window is now, and the cost of both."""
    if first is None or last is None:
        return last or first
    known = first.cost_usd is not None and last.cost_usd is not None
    cost = Decimal(first.cost_usd or 0) + Decimal(last.cost_usd or 0) if known else None
    return last.model_copy(update={"cost_usd": cost})


_MILLION: Final = Decimal(1_000_000)


def usage_cost(usage: Usage, pricing: Pricing | None) -> Decimal | None:
    """The cost of a response in the currency of the prices; None where these are not known.

    `input_tokens` counts cache reads and writes too. Cache prices that are not known count as the
    input's.
    """
    if pricing is None:
        return None
    base = pricing.input_per_million
    read, written = usage.cache_read_tokens or 0, usage.cache_write_tokens or 0
    parts = (
        (usage.input_tokens - read - written, base),
        (read, pricing.cache_read_per_million),
        (written, pricing.cache_write_per_million),
        (usage.output_tokens, pricing.output_per_million),
    )
    total = sum(
        (count * _exact(base if price is None else price) for count, price in parts), Decimal(0)
    )
    return total / _MILLION


def _exact(price: float) -> Decimal:
    # The digits somebody wrote down, not the nearest binary fraction.
    return Decimal(str(price))
