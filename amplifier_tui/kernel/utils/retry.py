"""Trying again when a provider fails for a while."""

import asyncio
import math
import random
import re
import warnings
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Final, TypeVar

from amplifier_tui.base.python import awaited
from amplifier_tui.base.text import shortened
from amplifier_tui.kernel.llm_errors import (
    AccessDeniedError,
    AuthenticationError,
    ContentFilterError,
    ContextLengthError,
    InvalidRequestError,
    LLMError,
    NotFoundError,
    ProviderUnavailableError,
    RateLimitError,
)

T = TypeVar("T")

_JITTER: Final = 0.2


class RetryConfig:
    """How often to try again, and how long to wait in between. Read-only.

    Args:
        max_retries: Attempts after the first.
        initial_delay: Seconds before the first retry.
        max_delay: Seconds that backoff never exceeds.
        backoff_factor: Factor from one delay to the next.
        jitter: Whether to spread the delays at random (the attribute is 0.2 or 0.0). None: yes.
        honor_retry_after: Whether to wait at least as long as the API asks.
        min_delay: Former name of ``initial_delay``.
        backoff_multiplier: Former name of ``backoff_factor``.

    Raises:
        OverflowError: ``max_retries`` is negative.
    """

    max_retries: int
    initial_delay: float
    max_delay: float
    backoff_factor: float
    jitter: float
    honor_retry_after: bool

    def __init__(
        self,
        max_retries: int = 3,
        initial_delay: float = 1.0,
        max_delay: float = 60.0,
        backoff_factor: float = 2.0,
        jitter: bool | float | None = None,
        honor_retry_after: bool = True,
        min_delay: float | None = None,
        backoff_multiplier: float | None = None,
    ) -> None:
        if max_retries < 0:
            raise OverflowError("max_retries can't be negative")
        if min_delay is not None:
            _deprecated("min_delay", "initial_delay")
            initial_delay = min_delay
        if backoff_multiplier is not None:
            _deprecated("backoff_multiplier", "backoff_factor")
            backoff_factor = backoff_multiplier
        if jitter is not None and not isinstance(jitter, bool):
            warnings.warn(
                "passing a float for jitter is deprecated, use a bool",
                DeprecationWarning,
                stacklevel=2,
            )
        # Not by assignment: the policy is read-only.
        vars(self).update(
            max_retries=int(max_retries),
            initial_delay=float(initial_delay),
            max_delay=float(max_delay),
            backoff_factor=float(backoff_factor),
            jitter=_JITTER if jitter is None or jitter else 0.0,
            honor_retry_after=bool(honor_retry_after),
        )

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{name} can't be changed: make another RetryConfig")

    @property
    def min_delay(self) -> float:
        """Former name of ``initial_delay``."""
        _deprecated("min_delay", "initial_delay")
        return self.initial_delay

    @property
    def backoff_multiplier(self) -> float:
        """Former name of ``backoff_factor``."""
        _deprecated("backoff_multiplier", "backoff_factor")
        return self.backoff_factor

    def __repr__(self) -> str:
        fields = {**vars(self), "jitter": bool(self.jitter)}
        return f"RetryConfig({', '.join(f'{name}={value}' for name, value in fields.items())})"


def _deprecated(old: str, new: str) -> None:
    warnings.warn(f"{old} is deprecated, use {new}", DeprecationWarning, stacklevel=3)


def compute_delay(
    config: RetryConfig,
    attempt: int,
    retry_after: float | None = None,
    delay_multiplier: float | None = None,
) -> float:
    """Return the seconds to wait before a retry.

    Args:
        attempt: Retries made before this one; 0 for the first.
        retry_after: Seconds the API asks to wait; may exceed ``max_delay``.
        delay_multiplier: Factor of this error; may exceed ``max_delay``, too.
    """
    try:
        delay = config.initial_delay * config.backoff_factor**attempt
    except OverflowError:
        delay = config.max_delay
    delay = min(delay, config.max_delay)
    if delay_multiplier is not None and math.isfinite(delay_multiplier) and delay_multiplier > 0:
        delay *= delay_multiplier
    if config.honor_retry_after and retry_after is not None and math.isfinite(retry_after):
        delay = max(delay, retry_after)
    if config.jitter:
        delay *= random.uniform(0.5, 1.5)
    return delay


async def retry_with_backoff(
    operation: Callable[[], Awaitable[T]],
    config: RetryConfig | None = None,
    *,
    on_retry: Callable[[int, float, LLMError], Any] | None = None,
) -> T:
    """Run an async operation, and run it again while it fails with a retryable error.

    Args:
        operation: Function without arguments.
        config: The policy.
        on_retry: Called, and awaited, before each wait: retry (1 for the first), seconds, error.

    Raises:
        LLMError: It is not retryable, or the last attempt failed with it.
        Exception: Any other error of the operation, at once.
    """
    policy = config or RetryConfig()
    attempt = 0
    while True:
        try:
            return await operation()
        except LLMError as error:
            if not error.retryable or attempt >= policy.max_retries:
                raise
            delay = compute_delay(policy, attempt, error.retry_after, error.delay_multiplier)
            attempt += 1
            if on_retry is not None:
                await awaited(on_retry(attempt, delay, error))
        # Outside of the handler: while we wait, the error is over.
        await asyncio.sleep(delay)


_BY_STATUS: Final[dict[int, type[LLMError]]] = {
    401: AuthenticationError,
    403: AccessDeniedError,
    404: NotFoundError,
    413: ContextLengthError,
    429: RateLimitError,
}
_BY_TEXT: Final[tuple[tuple[tuple[str, ...], type[LLMError]], ...]] = (
    (("context length", "too many tokens", "maximum context"), ContextLengthError),
    (("rate limit", "too many requests"), RateLimitError),
    (("authentication", "api key", "unauthorized"), AuthenticationError),
    (("not found",), NotFoundError),
    (("content filter", "safety", "blocked"), ContentFilterError),
)


def classify_error_message(
    message: str, *, status_code: int | None = None, provider: str | None = None
) -> type[LLMError]:
    """Return the error class that fits an API's words, or its HTTP status, which counts more."""
    if status_code is not None:
        if status_code in _BY_STATUS:
            return _BY_STATUS[status_code]
        if status_code >= 500:
            return ProviderUnavailableError
    text = message.lower()
    for phrases, error in _BY_TEXT:
        if any(phrase in text for phrase in phrases):
            return error
    return InvalidRequestError if status_code in (400, 422) else LLMError


_LONGEST: Final = 300
_PAGE_READ: Final = 10_000
_PAGE: Final = re.compile(r"\s*<(?:!doctype html|html|head|body)\b", re.IGNORECASE)
_TITLE: Final = re.compile(r"<title[^>]*>([^<]*[^<\s][^<]*)", re.IGNORECASE)
_MARKS: Final = re.compile(
    r"<(script|style)\b.*?(?:</\1\s*>|\Z)|<!--.*?(?:-->|\Z)|<[^>]*(?:>|\Z)",
    re.IGNORECASE | re.DOTALL,
)


def one_line(text: str) -> str:
    """An API's words on one line, without the final stop, not too long.

    Of a page, which gateways send, it is the title; where it has none, what it shows.
    """
    if _PAGE.match(text):
        page = text[:_PAGE_READ]
        title = _TITLE.search(page)
        # Only here: its table of names takes 350 kB.
        from html import unescape

        text = unescape(title[1] if title else _MARKS.sub(" ", page)).strip() or "an empty page"
    return shortened(" ".join(text.split()).rstrip("."), _LONGEST)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """The seconds an API asks to wait, from `retry-after-ms` or `retry-after` (RFC 9110 10.2.3).

    A date counts from that of the answer, whose clock may differ from ours. Header names are
    case-insensitive or lower-case.
    """
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) * unit
        except ValueError:
            continue
        if math.isfinite(seconds) and seconds >= 0:
            return seconds
    until = _date(headers.get("retry-after", ""))
    if until is None:
        return None
    now = _date(headers.get("date", "")) or datetime.now(UTC)
    return max(0.0, (until - now).total_seconds())


def _date(text: str) -> datetime | None:
    try:
        date = parsedate_to_datetime(text)
    except ValueError:
        return None
    return date.replace(tzinfo=UTC) if date.tzinfo is None else date
