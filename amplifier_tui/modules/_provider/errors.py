"""An SDK's errors in the kernel's words, each with what to do next."""

import json
from collections.abc import Mapping
from typing import Any, ClassVar, Final

from amplifier_tui.base.text import span
from amplifier_tui.kernel import llm_errors
from amplifier_tui.kernel.utils.retry import one_line, retry_after
from amplifier_tui.modules._provider.settings import ProviderSettings

_BY_STATUS: Final[Mapping[int, type[llm_errors.LLMError]]] = {
    401: llm_errors.AuthenticationError,
    402: llm_errors.QuotaExceededError,
    403: llm_errors.AccessDeniedError,
    404: llm_errors.NotFoundError,
    408: llm_errors.LLMTimeoutError,
    413: llm_errors.ContextLengthError,
    504: llm_errors.LLMTimeoutError,
}

_TLS: Final = "[SSL"
"""How the words of a failure of TLS begin: of `ssl.SSLError`, which the HTTP client repeats."""
_OF_TLS: Final = (
    "A server answers: check whether `base_url` is of http or https, and its certificate."
)


class ErrorTranslator:
    """Translates the errors of one request.

    The SDKs of both vendors are made by the same generator, so their errors have the same names.

    Args:
        sdk: The SDK's package.
        settings: Where was asked, and how long a `retry-after` may be.
        model: The model that was asked.
    """

    words: ClassVar[Mapping[type[llm_errors.LLMError], tuple[str, str]]] = {
        llm_errors.AuthenticationError: (
            "{where} does not accept the API key: {said}.",
            "Check {key_variable}.",
        ),
        llm_errors.QuotaExceededError: (
            "The account's quota is used up: {said}.",
            "See the billing page of {where}, or use another provider.",
        ),
        llm_errors.AccessDeniedError: (
            "The API key may not do this: {said}.",
            "Use another key or model.",
        ),
        llm_errors.NotFoundError: (
            "{where} does not know the model {model!r} ({said}).",
            "Choose another model, or correct `default_model`.",
        ),
        llm_errors.LLMTimeoutError: ("{where} timed out: {said}.", ""),
        llm_errors.ContextLengthError: (
            "The conversation does not fit {model}: {said}.",
            "Compact it, or start a new session.",
        ),
        llm_errors.ContentFilterError: ("The filter of {where} stopped this: {said}.", ""),
        llm_errors.InvalidRequestError: ("{where} refuses the request: {said}.", ""),
    }
    """Of each kind: what happened, and what to do about it where that is known."""

    def __init__(self, sdk: Any, settings: ProviderSettings, model: str) -> None:
        self.sdk = sdk
        self.settings = settings
        self.model = model
        self.where = settings.where
        self.who: dict[str, Any] = {"provider": settings.provider, "model": model}

    def translate(self, error: Exception) -> llm_errors.LLMError | None:
        """Return the kernel's error for one of the SDK or its HTTP client, None for others."""
        import httpx2

        sdk, where, who = self.sdk, self.where, self.who
        if isinstance(error, sdk.APIConnectionError):
            # What the guarded client says is for people already.
            error = error.__cause__ if isinstance(error.__cause__, llm_errors.LLMError) else error
        if isinstance(error, llm_errors.LLMError):
            error.model = error.model or self.model or None
            return error
        if isinstance(error, sdk.APITimeoutError | httpx2.TimeoutException):
            place = "" if where == self.settings.url else f" ({self.settings.url})"
            return self.advised(
                llm_errors.LLMTimeoutError,
                f"{where} sent nothing in time{place}.",
                "Retry, or raise `timeout`.",
            )
        if isinstance(error, sdk.APIConnectionError):
            cause = error.__cause__ or error
            if isinstance(cause, httpx2.RemoteProtocolError | httpx2.ReadError):
                return self._broken(cause)
            reason = _reason(cause)
            advice = _OF_TLS if _TLS in reason else self.settings.advice
            said = f"Can't reach {self.settings.url}: {reason}."
            return self.advised(llm_errors.NetworkError, said, advice)
        if isinstance(error, sdk.APIStatusError):
            return self.status_error(error)
        if isinstance(error, sdk.APIResponseValidationError):
            return llm_errors.StreamError(f"The answer of {where} is unreadable: {error}", **who)
        if isinstance(error, httpx2.RequestError):
            return self._broken(error)
        if isinstance(error, json.JSONDecodeError | UnicodeDecodeError | RecursionError):
            # A RecursionError comes of JSON that is nested too deeply.
            what = f"The answer of {where} held something unreadable: {error}."
            return self.advised(llm_errors.StreamError, what, "Retry in a moment.")
        return self.other_error(error)

    def status_error(self, error: Any) -> llm_errors.LLMError:
        """Return the kernel's error for an answer of the API, an SDK's `APIStatusError`."""
        raise NotImplementedError

    def other_error(self, error: Exception) -> llm_errors.LLMError | None:
        """Return the kernel's error for whatever else the SDK raises."""
        raise NotImplementedError

    def answered(
        self, status: int, said: str, headers: Mapping[str, str] | None = None
    ) -> llm_errors.LLMError:
        """Return the error for the status of an answer.

        Args:
            status: The HTTP status.
            said: The API's words, on one line.
            headers: Of the answer, which may say when to retry.
        """
        where, wait = self.where, retry_after(headers or {})
        self.who["status_code"] = status
        if status in _BY_STATUS:
            return self.error(_BY_STATUS[status], said)
        when = f"in {span(wait)}" if wait is not None else "in a moment"
        hopeless = wait is not None and wait > self.settings.max_retry_delay
        if status == 429:
            return self.advised(
                llm_errors.RateLimitError,
                f"The rate limit of {where} is reached: {said}.",
                f"Retry {when}.",
                retry_after=wait,
                retryable=not hopeless,
            )
        if status >= 500:
            what = "is overloaded" if status == 529 else f"has a problem ({status})"
            return self.advised(
                llm_errors.ProviderUnavailableError,
                f"{where} {what}: {said}.",
                f"Retry {when}.",
                retry_after=wait,
                retryable=not hopeless,
            )
        return self.refused(said)

    def refused(self, said: str) -> llm_errors.LLMError:
        """Return the error for a request the API does not take."""
        return self.error(llm_errors.InvalidRequestError, said)

    def error(self, kind: type[llm_errors.LLMError], said: str) -> llm_errors.LLMError:
        """Return an error of a kind that has `words`."""
        facts = {
            "where": self.where,
            "said": said,
            "model": self.model,
            "key_variable": self.settings.key_variable,
        }
        return self.advised(kind, *(words.format(**facts) for words in self.words[kind]))

    def advised(
        self, kind: type[llm_errors.LLMError], what: str, remedy: str, **more: Any
    ) -> llm_errors.LLMError:
        """Return an error that says what happened and what to do about it."""
        return advised(kind, what, remedy, **self.who, **more)

    def _broken(self, error: BaseException) -> llm_errors.StreamError:
        return llm_errors.StreamError(
            f"The connection broke while {self.where} was answering: {_reason(error)}.", **self.who
        )


def advised(
    kind: type[llm_errors.LLMError], what: str, remedy: str, **more: Any
) -> llm_errors.LLMError:
    """Return an error whose words say what happened, and end with what to do, its `remedy`."""
    error = kind(f"{what} {remedy}".rstrip(), **more)
    error.remedy = remedy
    return error


def _reason(error: BaseException) -> str:
    return one_line(str(error)).rstrip(".") or type(error).__name__
