"""Answers that the output limit cut off, continued without the caller's help.

PROVIDER_SPECIFICATION asks for transparent continuation. It stops where it would do harm: a caller
who set a limit gets what fits, and a cut tool call is not glued together.
"""

from collections.abc import Awaitable, Callable
from decimal import Decimal

from amplifier_tui.kernel.message_models import (
    ChatRequest,
    ChatResponse,
    ContentBlockUnion,
    Message,
    TextBlock,
    Usage,
)

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
    """Complete a request, and continue while the answer is text cut off by the limit.

    Args:
        complete: Completes a request once.
        request: The request. With a `max_output_tokens` of its own it is never continued.
        limit: How many continuations at most.

    Returns:
        One response: the content joined, the cost summed, the rest from the last part.
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
        more = await complete(request.model_copy(update={"messages": messages}))
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
