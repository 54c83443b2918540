import copy
import pickle

import pytest

from amplifier_tui.kernel import llm_errors as e

TREE: list[tuple[type[e.LLMError], type[Exception], bool]] = [
    (e.LLMError, Exception, False),
    (e.RateLimitError, e.LLMError, True),
    (e.QuotaExceededError, e.RateLimitError, False),
    (e.AuthenticationError, e.LLMError, False),
    (e.AccessDeniedError, e.AuthenticationError, False),
    (e.ContextLengthError, e.LLMError, False),
    (e.ContentFilterError, e.LLMError, False),
    (e.InvalidRequestError, e.LLMError, False),
    (e.NotFoundError, e.LLMError, False),
    (e.AbortError, e.LLMError, False),
    (e.ConfigurationError, e.LLMError, False),
    (e.ProviderUnavailableError, e.LLMError, True),
    (e.NetworkError, e.ProviderUnavailableError, True),
    (e.LLMTimeoutError, e.LLMError, True),
    (e.StreamError, e.LLMError, True),
    (e.InvalidToolCallError, e.LLMError, False),
]


@pytest.mark.parametrize(("error", "base", "retryable"), TREE, ids=lambda x: str(x))
def test_each_error_has_its_place_and_its_default(
    error: type[e.LLMError], base: type[Exception], retryable: bool
) -> None:
    made = error("m")
    assert error.__bases__ == (base,)
    assert str(made) == "m"
    assert made.retryable is retryable
    assert (made.provider, made.model, made.status_code) == (None, None, None)
    assert (made.retry_after, made.delay_multiplier) == (None, 1.0)
    assert error("m", retryable=not retryable).retryable is not retryable


def test_all_sixteen_are_exported() -> None:
    assert sorted(e.__all__) == sorted(error.__name__ for error, _, _ in TREE)


def test_the_repr_shows_what_is_not_default() -> None:
    assert repr(e.LLMError("m")) == "LLMError('m')"
    assert repr(e.RateLimitError("slow")) == "RateLimitError('slow', retryable=True)"
    full = e.LLMError(
        "m",
        provider="p",
        model="x",
        status_code=429,
        retryable=True,
        retry_after=2.5,
        delay_multiplier=3.0,
    )
    assert repr(full) == (
        "LLMError('m', provider='p', model='x', status_code=429, retryable=True, "
        "retry_after=2.5, delay_multiplier=3.0)"
    )


def test_a_tool_call_nobody_can_read_says_which() -> None:
    error = e.InvalidToolCallError("m", tool_name="bash", raw_arguments="{", provider="p")
    assert (error.tool_name, error.raw_arguments, error.provider) == ("bash", "{", "p")
    for name in ("retry_after", "delay_multiplier"):
        with pytest.raises(TypeError):
            e.InvalidToolCallError("m", **{name: 1.0})


def test_errors_can_be_copied_and_sent_to_another_process() -> None:
    error = e.InvalidToolCallError("m", tool_name="bash", status_code=400)
    for twin in (copy.copy(error), pickle.loads(pickle.dumps(error))):
        assert repr(twin) == repr(error)
        assert twin.tool_name == "bash"
