"""The SDK's errors in the kernel's words, each with what to do next."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from amplifier_tui.kernel import llm_errors
from amplifier_tui.kernel.utils.http_errors import one_line, retry_after
from amplifier_tui.modules.provider_openai.settings import API_KEY_VARIABLE, Settings

if TYPE_CHECKING:
    import openai

_FILTERED = {"content_filter", "content_policy_violation", "bio_policy", "invalid_prompt"}
_STREAM_STATUS = {
    "rate_limit_exceeded": 429,
    "insufficient_quota": 429,
    "context_length_exceeded": 400,
    "invalid_prompt": 400,
    "model_not_found": 404,
    "invalid_api_key": 401,
}
"""The status each error code has when it arrives inside a stream that began with 200."""


def translate(error: Exception, *, model: str, settings: Settings) -> llm_errors.LLMError | None:
    """The kernel's error for an error of the SDK or its HTTP client.

    Args:
        error: What was raised.
        model: The model that was asked.
        settings: Where it was asked, and how long a `retry-after` may be.

    Returns:
        The error to raise instead, or None for errors of another origin.
    """
    import httpx2
    import openai

    who: dict[str, Any] = {"provider": "openai", "model": model}
    where = "OpenAI" if settings.is_openai else settings.url
    match error:
        case llm_errors.LLMError():
            return error
        case openai.APITimeoutError() | httpx2.TimeoutException():
            return llm_errors.LLMTimeoutError(
                f"{where} sent nothing in time. Retry, or raise `timeout`.", **who
            )
        case openai.APIConnectionError() if _broke(error.__cause__):
            return _broken(where, error.__cause__ or error, who)
        case openai.APIConnectionError():
            return _connection_error(error, settings, who)
        case openai.APIStatusError():
            return _Failure(error, settings, who).error(error.status_code)
        case openai.APIResponseValidationError():
            return llm_errors.StreamError(f"The answer of {where} is unreadable: {error}", **who)
        case openai.APIError():
            status = _STREAM_STATUS.get(error.code or "", 500)
            return _Failure(error, settings, who).error(status)
        case httpx2.TransportError():
            return _broken(where, error, who)
        case json.JSONDecodeError() | UnicodeDecodeError():
            return llm_errors.StreamError(
                f"The stream of {where} held something unreadable: {error}.", **who
            )
        case openai.OpenAIError():
            return llm_errors.LLMError(f"OpenAI's client failed: {error}", **who)
    return None


def failed_response(
    code: str | None, message: str | None, *, model: str, settings: Settings
) -> llm_errors.LLMError:
    """The error for a response that failed after it had begun.

    Args:
        code: The API's error code.
        message: The API's words.
        model: The model that was asked.
        settings: Where it was asked.
    """
    failure = _Failure(None, settings, {"provider": "openai", "model": model}, code, message)
    return failure.error(_STREAM_STATUS.get(code or "", 500))


def _reason(error: BaseException) -> str:
    return str(error).rstrip(".") or type(error).__name__


def _broke(cause: BaseException | None) -> bool:
    import httpx2

    return isinstance(cause, httpx2.RemoteProtocolError | httpx2.ReadError)


def _broken(where: str, error: BaseException, who: dict[str, Any]) -> llm_errors.StreamError:
    return llm_errors.StreamError(
        f"The connection broke while {where} was answering: {_reason(error)}.", **who
    )


def _connection_error(
    error: openai.APIConnectionError, settings: Settings, who: dict[str, Any]
) -> llm_errors.LLMError:
    reason = _reason(error.__cause__ or error)
    if settings.is_openai:
        advice = "Check the connection."
    else:
        advice = "Is the server running? Check `base_url`."
    return llm_errors.NetworkError(f"Can't reach {settings.url}: {reason}. {advice}", **who)


class _Failure:
    """An error answer of the API, told in the kernel's words."""

    def __init__(
        self,
        error: openai.APIError | None,
        settings: Settings,
        who: dict[str, Any],
        code: str | None = None,
        message: str | None = None,
    ) -> None:
        self._settings = settings
        self._who = who
        self._code = code or (error.code if error else None) or (error.type if error else None)
        self._said = one_line(message or (_words(error) if error else "no reason was given"))
        self._headers = getattr(getattr(error, "response", None), "headers", None) or {}
        self._where = "OpenAI" if settings.is_openai else settings.url

    def error(self, status: int) -> llm_errors.LLMError:
        """The kernel's error for this status, code and wording."""
        self._who = {**self._who, "status_code": status}
        said, where, who = self._said, self._where, self._who
        if self._code == "insufficient_quota" or status == 402:
            return llm_errors.QuotaExceededError(
                f"The account's quota is used up: {said}. See the billing page of {where}.", **who
            )
        if self._is_too_long(status):
            return llm_errors.ContextLengthError(
                f"The conversation does not fit {who['model']}: {said}. "
                "Compact it, or start a new session.",
                **who,
            )
        if self._code in _FILTERED:
            return llm_errors.ContentFilterError(
                f"The filter of {where} stopped this: {said}.", **who
            )
        match status:
            case 401:
                return llm_errors.AuthenticationError(
                    f"{where} does not accept the API key: {said}. Check {API_KEY_VARIABLE}.",
                    **who,
                )
            case 403:
                return llm_errors.AccessDeniedError(
                    f"The API key may not do this: {said}. Use another key or model.", **who
                )
            case 404:
                return self._not_found()
            case 408 | 504:
                return llm_errors.LLMTimeoutError(f"{where} timed out: {said}.", **who)
            case 429:
                return self._rate_limited()
            case _ if status >= 500:
                return llm_errors.ProviderUnavailableError(
                    f"{where} has a problem ({status}): {said}. Retry in a moment.",
                    retry_after=retry_after(self._headers),
                    **who,
                )
            case _:
                return llm_errors.InvalidRequestError(
                    f"{where} refuses the request: {said}.", **who
                )

    def _is_too_long(self, status: int) -> bool:
        low = self._said.lower()
        return status in (400, 413, 422, 500) and (
            self._code == "context_length_exceeded"
            or status == 413
            or "context length" in low
            or "context window" in low
            or "context size" in low
        )

    def _not_found(self) -> llm_errors.LLMError:
        model = self._who["model"]
        if self._settings.is_openai or model.lower() in self._said.lower():
            advice = "Choose another model, or correct `default_model`."
        else:
            advice = "Check that `base_url` ends as the server wants it, most often with /v1."
        return llm_errors.NotFoundError(
            f"{self._where} does not know the model {model!r} or the address ({self._said}). "
            f"{advice}",
            **self._who,
        )

    def _rate_limited(self) -> llm_errors.LLMError:
        wait = retry_after(self._headers)
        hopeless = wait is not None and wait > self._settings.max_retry_delay
        when = f"in {wait:g} s" if wait is not None else "in a moment"
        return llm_errors.RateLimitError(
            f"The rate limit of {self._where} is reached: {self._said}. Retry {when}.",
            retry_after=wait,
            retryable=not hopeless,
            **self._who,
        )


def _words(error: openai.APIError) -> str:
    """What the API said: compatible servers put it in various places."""
    body = error.body
    if isinstance(body, dict):
        inner = body.get("error")
        for words in (body.get("message"), inner, body.get("detail")):
            if isinstance(words, str) and words:
                return words
    return error.message
