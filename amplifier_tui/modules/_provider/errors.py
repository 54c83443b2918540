"""An SDK's errors in the kernel's words, each with what to do next."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from amplifier_tui.kernel import llm_errors
from amplifier_tui.kernel.utils.retry import one_line, retry_after
from amplifier_tui.modules._provider.settings import ProviderSettings


@dataclass
class ErrorTranslator:
    """Translates the errors of one request.

    The SDKs of both vendors are made by the same generator, so their errors have the same names.

    Attributes:
        sdk: The SDK's package.
        settings: Where was asked, and how long a `retry-after` may be.
        model: The model that was asked.
        key_variable: Environment variable of the key.
        advice: What to check when the API can't be reached.
    """

    sdk: Any
    settings: ProviderSettings
    model: str
    key_variable: str
    advice: str
    who: dict[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        self.who = {"provider": self.settings.provider, "model": self.model}

    @property
    def where(self) -> str:
        """Who was asked, for people."""
        return self.settings.where

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
            return llm_errors.LLMTimeoutError(
                f"{where} sent nothing in time{place}. Retry, or raise `timeout`.", **who
            )
        if isinstance(error, sdk.APIConnectionError):
            cause = error.__cause__ or error
            if isinstance(cause, httpx2.RemoteProtocolError | httpx2.ReadError):
                return self._broken(cause)
            return llm_errors.NetworkError(
                f"Can't reach {self.settings.url}: {_reason(cause)}. {self.advice}", **who
            )
        if isinstance(error, sdk.APIStatusError):
            return self.status_error(error)
        if isinstance(error, sdk.APIResponseValidationError):
            return llm_errors.StreamError(f"The answer of {where} is unreadable: {error}", **who)
        if isinstance(error, httpx2.RequestError):
            return self._broken(error)
        if isinstance(error, json.JSONDecodeError | UnicodeDecodeError):
            return llm_errors.StreamError(
                f"The stream of {where} held something unreadable: {error}.", **who
            )
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
        who = self.who = {**self.who, "status_code": status}
        match status:
            case 401:
                return llm_errors.AuthenticationError(
                    f"{where} does not accept the API key: {said}. Check {self.key_variable}.",
                    **who,
                )
            case 402:
                return self.unpaid(said)
            case 403:
                return llm_errors.AccessDeniedError(
                    f"The API key may not do this: {said}. Use another key or model.", **who
                )
            case 404:
                return self.not_found(said)
            case 408 | 504:
                return llm_errors.LLMTimeoutError(f"{where} timed out: {said}.", **who)
            case 413:
                return self.too_long(said)
            case 429:
                when = f"in {wait:g} s" if wait is not None else "in a moment"
                hopeless = wait is not None and wait > self.settings.max_retry_delay
                return llm_errors.RateLimitError(
                    f"The rate limit of {where} is reached: {said}. Retry {when}.",
                    retry_after=wait,
                    retryable=not hopeless,
                    **who,
                )
            case _ if status >= 500:
                what = "is overloaded" if status == 529 else f"has a problem ({status})"
                return llm_errors.ProviderUnavailableError(
                    f"{where} {what}: {said}. Retry in a moment.", retry_after=wait, **who
                )
            case _:
                return self.refused(said)

    def refused(self, said: str) -> llm_errors.LLMError:
        """Return the error for a request the API does not take."""
        return llm_errors.InvalidRequestError(
            f"{self.where} refuses the request: {said}.", **self.who
        )

    def unpaid(self, said: str) -> llm_errors.QuotaExceededError:
        """Return the error for an account without credit."""
        return llm_errors.QuotaExceededError(
            f"The account's quota is used up: {said}. See the billing page of {self.where}.",
            **self.who,
        )

    def not_found(self, said: str) -> llm_errors.NotFoundError:
        """Return the error for a model the API does not know."""
        return llm_errors.NotFoundError(
            f"{self.where} does not know the model {self.model!r} ({said}). "
            "Choose another model, or correct `default_model`.",
            **self.who,
        )

    def too_long(self, said: str) -> llm_errors.ContextLengthError:
        """Return the error for a conversation that does not fit the model."""
        return llm_errors.ContextLengthError(
            f"The conversation does not fit {self.model}: {said}. "
            "Compact it, or start a new session.",
            **self.who,
        )

    def filtered(self, said: str) -> llm_errors.ContentFilterError:
        """Return the error for a request that a filter stopped."""
        return llm_errors.ContentFilterError(
            f"The filter of {self.where} stopped this: {said}.", **self.who
        )

    def _broken(self, error: BaseException) -> llm_errors.StreamError:
        return llm_errors.StreamError(
            f"The connection broke while {self.where} was answering: {_reason(error)}.", **self.who
        )


def _reason(error: BaseException) -> str:
    return one_line(str(error)).rstrip(".") or type(error).__name__
