import asyncio
import inspect
import math
import warnings
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_tui.kernel import llm_errors as e
from amplifier_tui.kernel.utils import retry
from amplifier_tui.kernel.utils.retry import (
    RetryConfig,
    classify_error_message,
    compute_delay,
    retry_with_backoff,
)

NO_JITTER = RetryConfig(jitter=False)


def test_the_policy_has_these_defaults_and_this_order() -> None:
    policy = RetryConfig()
    assert (policy.max_retries, policy.initial_delay, policy.max_delay) == (3, 1.0, 60.0)
    assert (policy.backoff_factor, policy.jitter, policy.honor_retry_after) == (2.0, 0.2, True)
    positional = RetryConfig(1, 2.0, 3.0, 4.0, False, False)
    assert (positional.max_retries, positional.initial_delay, positional.max_delay) == (1, 2, 3)
    assert (positional.backoff_factor, positional.jitter) == (4.0, 0.0)
    assert positional.honor_retry_after is False
    assert list(inspect.signature(RetryConfig).parameters) == [
        "max_retries",
        "initial_delay",
        "max_delay",
        "backoff_factor",
        "jitter",
        "honor_retry_after",
        "min_delay",
        "backoff_multiplier",
    ]
    assert repr(NO_JITTER).startswith("RetryConfig(max_retries=3, initial_delay=1.0")


def test_the_policy_is_read_only() -> None:
    policy = RetryConfig()
    for name in ("max_retries", "initial_delay", "max_delay", "backoff_factor", "jitter",
                 "honor_retry_after"):  # fmt: skip
        with pytest.raises(AttributeError):
            setattr(policy, name, 1)


def test_negative_retries_are_refused() -> None:
    with pytest.raises(OverflowError):
        RetryConfig(max_retries=-1)


@pytest.mark.parametrize(
    ("jitter", "seen", "warns"),
    [(None, 0.2, False), (True, 0.2, False), (False, 0.0, False), (0.5, 0.2, True), (0, 0.0, True)],
)
def test_jitter_is_a_yes_or_no(jitter: Any, seen: float, warns: bool) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert RetryConfig(jitter=jitter).jitter == seen
    assert [str(w.message) for w in caught] == (
        ["passing a float for jitter is deprecated, use a bool"] if warns else []
    )


@pytest.mark.parametrize(
    ("old", "new"), [("min_delay", "initial_delay"), ("backoff_multiplier", "backoff_factor")]
)
def test_former_names_work_and_say_so(old: str, new: str) -> None:
    message = f"{old} is deprecated, use {new}"
    with pytest.warns(DeprecationWarning, match=message):
        policy = RetryConfig(**{old: 7.0})
    assert getattr(policy, new) == 7.0
    with pytest.warns(DeprecationWarning, match=message):
        assert getattr(policy, old) == 7.0


@pytest.mark.parametrize(
    ("attempt", "arguments", "delay"),
    [
        (0, {}, 1.0),
        (3, {}, 8.0),
        (10, {}, 60.0),
        (10_000, {}, 60.0),
        (0, {"delay_multiplier": 5.0}, 5.0),
        (10, {"delay_multiplier": 2.0}, 120.0),
        (0, {"delay_multiplier": 0.0}, 1.0),
        (0, {"delay_multiplier": -1.0}, 1.0),
        (0, {"delay_multiplier": math.inf}, 1.0),
        (0, {"delay_multiplier": math.nan}, 1.0),
        (0, {"retry_after": 90.0}, 90.0),
        (3, {"retry_after": 2.0}, 8.0),
        (0, {"retry_after": math.inf}, 1.0),
    ],
)
def test_delays_grow_up_to_the_limit_and_obey_the_api(
    attempt: int, arguments: dict[str, float], delay: float
) -> None:
    assert compute_delay(NO_JITTER, attempt, **arguments) == delay


def test_the_apis_wish_can_be_ignored() -> None:
    policy = RetryConfig(jitter=False, honor_retry_after=False)
    assert compute_delay(policy, 0, retry_after=90.0) == 1.0


@given(st.integers(0, 20), st.floats(0, 200))
def test_jitter_comes_last_and_stays_within_a_half(attempt: int, retry_after: float) -> None:
    exact = compute_delay(NO_JITTER, attempt, retry_after)
    spread = compute_delay(RetryConfig(), attempt, retry_after)
    assert exact * 0.5 <= spread <= exact * 1.5


class Flaky:
    def __init__(self, *errors: Exception) -> None:
        self.errors = list(errors)
        self.calls = 0

    async def __call__(self) -> str:
        self.calls += 1
        if self.errors:
            raise self.errors.pop(0)
        return "done"


@pytest.fixture
def slept(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    delays: list[float] = []

    async def sleep(delay: float) -> None:
        delays.append(delay)

    monkeypatch.setattr(retry.asyncio, "sleep", sleep)
    return delays


async def test_retryable_errors_are_tried_again(slept: list[float]) -> None:
    first, second = e.RateLimitError("1"), e.StreamError("2", retry_after=30, delay_multiplier=2)
    heard: list[tuple[int, float, Exception]] = []

    async def on_retry(attempt: int, delay: float, error: Exception) -> None:
        assert len(slept) == attempt - 1
        heard.append((attempt, delay, error))

    operation = Flaky(first, second)
    assert await retry_with_backoff(operation, NO_JITTER, on_retry=on_retry) == "done"
    assert slept == [1.0, 30.0]
    assert heard == [(1, 1.0, first), (2, 30.0, second)]


async def test_a_sync_on_retry_is_fine(slept: list[float]) -> None:
    heard: list[int] = []
    operation = Flaky(e.NetworkError("x"))
    await retry_with_backoff(
        operation, on_retry=lambda attempt, delay, error: heard.append(attempt)
    )
    assert heard == [1]


async def test_the_last_error_comes_out_after_all_retries(slept: list[float]) -> None:
    errors = [e.RateLimitError(str(n)) for n in range(9)]
    operation = Flaky(*errors)
    with pytest.raises(e.RateLimitError, match="3"):
        await retry_with_backoff(operation)
    assert operation.calls == 4
    assert len(slept) == 3


@pytest.mark.parametrize(
    "error", [e.AuthenticationError("no"), ValueError("other"), e.QuotaExceededError("used up")]
)
async def test_other_errors_come_out_at_once(slept: list[float], error: Exception) -> None:
    operation = Flaky(error)
    with pytest.raises(type(error)):
        await retry_with_backoff(operation)
    assert (operation.calls, slept) == (1, [])


async def test_no_retries_means_one_attempt(slept: list[float]) -> None:
    operation = Flaky(e.RateLimitError("x"))
    with pytest.raises(e.RateLimitError):
        await retry_with_backoff(operation, RetryConfig(max_retries=0))
    assert operation.calls == 1


async def test_a_wait_can_be_cancelled() -> None:
    waiting = asyncio.Event()
    operation = Flaky(e.RateLimitError("x", retry_after=3600))
    task = asyncio.create_task(
        retry_with_backoff(operation, on_retry=lambda *arguments: waiting.set())
    )
    await waiting.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert operation.calls == 1


@pytest.mark.parametrize(
    ("message", "status", "error"),
    [
        ("x", 401, e.AuthenticationError),
        ("x", 403, e.AccessDeniedError),
        ("x", 404, e.NotFoundError),
        ("x", 413, e.ContextLengthError),
        ("x", 429, e.RateLimitError),
        ("x", 500, e.ProviderUnavailableError),
        ("rate limit", 503, e.ProviderUnavailableError),
        ("This exceeds the Context Length", None, e.ContextLengthError),
        ("too many tokens", 400, e.ContextLengthError),
        ("maximum context is", None, e.ContextLengthError),
        ("Rate limit reached", None, e.RateLimitError),
        ("Too Many Requests", None, e.RateLimitError),
        ("authentication failed", None, e.AuthenticationError),
        ("bad API key", None, e.AuthenticationError),
        ("unauthorized", None, e.AuthenticationError),
        ("model not found", None, e.NotFoundError),
        ("content filter", None, e.ContentFilterError),
        ("safety", None, e.ContentFilterError),
        ("blocked", 400, e.ContentFilterError),
        ("odd", 400, e.InvalidRequestError),
        ("odd", 422, e.InvalidRequestError),
        ("odd", 418, e.LLMError),
        ("odd", None, e.LLMError),
    ],
)
def test_what_an_api_says_has_its_error(
    message: str, status: int | None, error: type[e.LLMError]
) -> None:
    assert classify_error_message(message, status_code=status, provider="p") is error
