"""Reading an answer, which may be anything: an SDK checks little of what a server sends."""

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol

from amplifier_tui.kernel.llm_errors import StreamError
from amplifier_tui.kernel.message_models import ChatResponse, TextBlock, ToolCallBlock, Usage
from amplifier_tui.kernel.utils.retry import one_line
from amplifier_tui.kernel.utils.stream import StreamEmitter
from amplifier_tui.modules._provider.errors import advised
from amplifier_tui.modules._provider.settings import ProviderSettings


class StreamAnswer(Protocol):
    """An answer being read."""

    @property
    def complete(self) -> bool:
        """Whether its end has come."""

    @property
    def usage(self) -> Usage | None:
        """What it has used, as far as that was told."""

    async def read_stream(self, events: Any, emitter: StreamEmitter) -> None:
        """Read a stream to its end and emit each piece as it arrives."""

    async def read_whole(self, answer: Any) -> None:
        """Take over an answer that came in one piece."""

    def response(self) -> ChatResponse:
        """The answer in the kernel's form."""


async def read_answer(
    create: Callable[..., Awaitable[Any]],
    arguments: Mapping[str, Any],
    answer: StreamAnswer,
    emitter: StreamEmitter,
    settings: ProviderSettings,
) -> ChatResponse:
    """Call the SDK's `create` and read what comes, in a stream or in one piece.

    Raises:
        StreamError: It ended too soon, or had another form than the API's.
    """
    got = await create(**arguments, stream=settings.stream)
    try:
        if settings.stream:
            await answer.read_stream(got, emitter)
        else:
            await answer.read_whole(got)
        if not answer.complete:
            raise advised(
                StreamError,
                f"The stream of {settings.where} ended before the answer was complete.",
                "Retry in a moment.",
                provider=settings.provider,
            )
        return answer.response()
    except (json.JSONDecodeError, UnicodeDecodeError):
        raise
    # An SDK makes objects of whatever comes, so that only their use shows what is missing.
    except (AttributeError, TypeError, LookupError, ValueError) as error:
        raise advised(
            StreamError,
            f"{settings.where} sent an answer of a form that its API does not have "
            f"({one_line(str(error)) or type(error).__name__}).",
            f"Check `base_url` of {settings.module}: is this the address of such an API?",
            provider=settings.provider,
            # The next answer would have the same form.
            retryable=False,
        ) from error
    finally:
        emitter.usage = answer.usage
        if settings.stream:
            # Also when cancelled: closing tells the server to stop generating.
            await got.close()


def refuse_emptiness(response: ChatResponse, settings: ProviderSettings) -> None:
    """Raise a `StreamError` for an answer without words or calls.

    Thoughts alone are an answer, unless the output limit ended them.
    """
    if any(isinstance(block, TextBlock | ToolCallBlock) for block in response.content):
        return
    if response.finish_reason == "length":
        raise advised(
            StreamError,
            f"{settings.where} used up the output limit before the first word of its answer.",
            f"Raise `max_tokens` of {settings.module}, or lower the effort.",
            provider=settings.provider,
            retryable=False,
        )
    if not response.content:
        raise advised(
            StreamError,
            f"{settings.where} sent an empty answer.",
            "Retry, or say it in other words.",
            provider=settings.provider,
        )
