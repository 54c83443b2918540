"""Errors of LLM providers, one vocabulary for all of them.

LLMError
├── RateLimitError (retryable)
│   └── QuotaExceededError
├── AuthenticationError
│   └── AccessDeniedError
├── ContextLengthError
├── ContentFilterError
├── InvalidRequestError
├── NotFoundError
├── AbortError
├── ConfigurationError
├── InvalidToolCallError
├── ProviderUnavailableError (retryable)
│   └── NetworkError
├── LLMTimeoutError (retryable)
└── StreamError (retryable)
"""

from typing import Any, ClassVar

__all__ = [
    "AbortError",
    "AccessDeniedError",
    "AuthenticationError",
    "ConfigurationError",
    "ContentFilterError",
    "ContextLengthError",
    "InvalidRequestError",
    "InvalidToolCallError",
    "LLMError",
    "LLMTimeoutError",
    "NetworkError",
    "NotFoundError",
    "ProviderUnavailableError",
    "QuotaExceededError",
    "RateLimitError",
    "StreamError",
]


class LLMError(Exception):
    """A provider could not answer.

    Args:
        message: What happened, readable.
        provider: Name of the provider.
        model: Id of the model.
        status_code: HTTP status, if there was one.
        retryable: Whether the same request may succeed later. Defaults per class.
        retry_after: Seconds the API asks to wait.
        delay_multiplier: Factor on the backoff delay of this error.
    """

    _retryable: ClassVar[bool] = False
    remedy: str = ""
    """What to do about it; a message that says so ends with these words."""
    usage: Any = None
    """The `Usage` that has to be paid for although nothing came of it; None for nothing known."""

    def __init__(
        self,
        message: str,
        *,
        provider: str | None = None,
        model: str | None = None,
        status_code: int | None = None,
        retryable: bool | None = None,
        retry_after: float | None = None,
        delay_multiplier: float = 1.0,
    ) -> None:
        super().__init__(message)
        self.provider = provider
        self.model = model
        self.status_code = status_code
        self.retryable = self._retryable if retryable is None else retryable
        self.retry_after = retry_after
        self.delay_multiplier = delay_multiplier

    def __repr__(self) -> str:
        parts = [repr(str(self))]
        for name, default in _REPR_DEFAULTS:
            value = getattr(self, name)
            if value != default:
                parts.append(f"{name}={value!r}")
        return f"{type(self).__name__}({', '.join(parts)})"


_REPR_DEFAULTS: tuple[tuple[str, Any], ...] = (
    ("provider", None),
    ("model", None),
    ("status_code", None),
    ("retryable", False),
    ("retry_after", None),
    ("delay_multiplier", 1.0),
)


class RateLimitError(LLMError):
    """Too many requests (429)."""

    _retryable = True


class QuotaExceededError(RateLimitError):
    """The account's quota is used up; waiting does not help."""

    _retryable = False


class AuthenticationError(LLMError):
    """The key is missing or wrong (401)."""


class AccessDeniedError(AuthenticationError):
    """The key may not do this (403)."""


class ContextLengthError(LLMError):
    """The request does not fit the model's context window (413)."""


class ContentFilterError(LLMError):
    """The API's safety filter stopped the request or the answer."""


class InvalidRequestError(LLMError):
    """The API does not accept the request (400, 422)."""


class NotFoundError(LLMError):
    """The model or the address does not exist (404)."""


class AbortError(LLMError):
    """The request was cancelled by the caller."""


class ConfigurationError(LLMError):
    """The provider's configuration is incomplete or contradicts itself."""

    missing_env: tuple[str, ...] = ()
    """Environment variables that would complete it, if that is what is wrong."""


class ProviderUnavailableError(LLMError):
    """The API is down or overloaded (5xx)."""

    _retryable = True


class NetworkError(ProviderUnavailableError):
    """The API could not be reached."""


class LLMTimeoutError(LLMError):
    """The API did not answer in time."""

    _retryable = True


class StreamError(LLMError):
    """A stream broke off in the middle."""

    _retryable = True


class InvalidToolCallError(LLMError):
    """The model wrote a tool call nobody can read.

    Args:
        tool_name: The tool the model meant.
        raw_arguments: The arguments as the model wrote them.
    """

    def __init__(
        self,
        message: str,
        *,
        tool_name: str | None = None,
        raw_arguments: str | None = None,
        provider: str | None = None,
        model: str | None = None,
        status_code: int | None = None,
        retryable: bool | None = None,
    ) -> None:
        super().__init__(
            message, provider=provider, model=model, status_code=status_code, retryable=retryable
        )
        self.tool_name = tool_name
        self.raw_arguments = raw_arguments
