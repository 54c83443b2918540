"""The SDK's errors in the kernel's words, each with what to do next."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from amplifier_tui.kernel import llm_errors
from amplifier_tui.kernel.utils.http_errors import one_line, retry_after
from amplifier_tui.modules.provider_anthropic.settings import API_KEY_VARIABLE

if TYPE_CHECKING:
    import anthropic

_BY_TYPE: dict[str, int] = {
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "timeout_error": 504,
    "api_error": 500,
    "overloaded_error": 529,
    "invalid_request_error": 400,
}
"""The status each error type has when it arrives inside a stream that began with 200."""


def translate(
    error: Exception, *, model: str, base_url: str, longest_wait: float
) -> llm_errors.LLMError | None:
    """The kernel's error for an error of the SDK or its HTTP client.

    Args:
        error: What was raised.
        model: The model that was asked.
        base_url: Where it was asked.
        longest_wait: The longest `retry-after` in seconds that is worth waiting for.

    Returns:
        The error to raise instead, or None for errors of another origin.
    """
    import anthropic
    import httpx2

    who: dict[str, Any] = {"provider": "anthropic", "model": model}
    match error:
        case llm_errors.LLMError():
            return error
        case anthropic.APITimeoutError() | httpx2.TimeoutException():
            return llm_errors.LLMTimeoutError(
                f"Anthropic sent nothing in time ({base_url}). Retry, or raise `timeout`.", **who
            )
        case anthropic.APIStatusError():
            return _status_error(error, longest_wait, who)
        case anthropic.APIConnectionError():
            cause = error.__cause__ or error
            if isinstance(cause, httpx2.RemoteProtocolError | httpx2.ReadError):
                return _broken(cause, who)
            return llm_errors.NetworkError(
                f"Can't reach {base_url}: {_reason(cause)}. Check the connection and `base_url`.",
                **who,
            )
        case httpx2.TransportError():
            return _broken(error, who)
        case json.JSONDecodeError() | UnicodeDecodeError():
            return llm_errors.StreamError(
                f"Anthropic's stream held something unreadable: {error}.", **who
            )
        case anthropic.APIResponseValidationError():
            return llm_errors.StreamError(f"Anthropic's answer is unreadable: {error}", **who)
        case anthropic.AnthropicError():
            return llm_errors.LLMError(f"Anthropic's client failed: {error}", **who)
    return None


def _reason(error: BaseException) -> str:
    return str(error).rstrip(".") or type(error).__name__


def _broken(error: BaseException, who: dict[str, Any]) -> llm_errors.StreamError:
    return llm_errors.StreamError(
        f"The connection broke while Anthropic was answering: {_reason(error)}.", **who
    )


def _status_error(
    error: anthropic.APIStatusError, longest_wait: float, who: dict[str, Any]
) -> llm_errors.LLMError:
    status = error.status_code
    if status < 400:
        status = _BY_TYPE.get(str(error.type), 500)
    said = _said(error)
    who = {**who, "status_code": status}
    match status:
        case 401:
            return llm_errors.AuthenticationError(
                f"Anthropic does not accept the API key: {said}. Check {API_KEY_VARIABLE}.", **who
            )
        case 402:
            return llm_errors.QuotaExceededError(
                f"Anthropic wants payment first: {said}. See console.anthropic.com.", **who
            )
        case 403:
            return llm_errors.AccessDeniedError(
                f"The API key may not do this: {said}. Use another key or model.", **who
            )
        case 404:
            return llm_errors.NotFoundError(
                f"Anthropic does not know the model {who['model']!r} ({said}). "
                "Choose another model, or correct `default_model`.",
                **who,
            )
        case 408 | 504:
            return llm_errors.LLMTimeoutError(f"Anthropic timed out: {said}.", **who)
        case 413:
            return _too_long(said, who)
        case 429:
            return _rate_limited(error, said, longest_wait, who)
        case _ if status >= 500:
            what = "is overloaded" if status == 529 else f"has a problem ({status})"
            return llm_errors.ProviderUnavailableError(
                f"Anthropic {what}: {said}. Retry in a moment.",
                retry_after=retry_after(error.response.headers),
                **who,
            )
        case _:
            return _refused(said, who)


def _refused(said: str, who: dict[str, Any]) -> llm_errors.LLMError:
    low = said.lower()
    if "prompt is too long" in low or "context window" in low or "context limit" in low:
        return _too_long(said, who)
    if "credit balance" in low or "billing" in low:
        return llm_errors.QuotaExceededError(
            f"The Anthropic account has no credit left: {said}. See console.anthropic.com.", **who
        )
    if "content filter" in low or "usage polic" in low:
        return llm_errors.ContentFilterError(f"Anthropic's filter stopped this: {said}.", **who)
    return llm_errors.InvalidRequestError(f"Anthropic refuses the request: {said}.", **who)


def _too_long(said: str, who: dict[str, Any]) -> llm_errors.ContextLengthError:
    return llm_errors.ContextLengthError(
        f"The conversation does not fit {who['model']}: {said}. "
        "Compact it, or start a new session.",
        **who,
    )


def _rate_limited(
    error: anthropic.APIStatusError, said: str, longest_wait: float, who: dict[str, Any]
) -> llm_errors.RateLimitError:
    wait = retry_after(error.response.headers)
    hopeless = wait is not None and wait > longest_wait
    when = f"in {wait:g} s" if wait is not None else "in a moment"
    return llm_errors.RateLimitError(
        f"Anthropic's rate limit is reached: {said}. Retry {when}.",
        retry_after=wait,
        retryable=not hopeless,
        **who,
    )


def _said(error: anthropic.APIStatusError) -> str:
    return one_line(error.api_message if isinstance(error.api_message, str) else error.message)
