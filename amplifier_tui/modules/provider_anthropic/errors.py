"""The errors of Anthropic's API in the kernel's words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar, Final

from amplifier_tui.kernel import llm_errors
from amplifier_tui.kernel.utils.retry import one_line
from amplifier_tui.modules._provider.errors import ErrorTranslator

if TYPE_CHECKING:
    import anthropic

_NOT_FOUND: Final = "not_found_error"
_STATUS_OF_TYPE: Final = {
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    _NOT_FOUND: 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "timeout_error": 504,
    "api_error": 500,
    "overloaded_error": 529,
    "invalid_request_error": 400,
}
"""The status each error type stands for where it comes without one."""

_REFUSALS: Final[dict[type[llm_errors.LLMError], tuple[str, ...]]] = {
    llm_errors.ContextLengthError: ("prompt is too long", "context window", "context limit"),
    llm_errors.QuotaExceededError: ("credit balance", "billing"),
    llm_errors.ContentFilterError: ("content filter", "usage polic"),
}
"""What a refused request was, by the API's words."""


class AnthropicErrors(ErrorTranslator):
    """Translates the errors of one request to Anthropic."""

    words: ClassVar[Mapping[type[llm_errors.LLMError], tuple[str, str]]] = {
        **ErrorTranslator.words,
        llm_errors.QuotaExceededError: (
            "The Anthropic account has no credit left: {said}.",
            "See console.anthropic.com.",
        ),
    }

    def status_error(self, error: anthropic.APIStatusError) -> llm_errors.LLMError:
        """Return the kernel's error for an answer of the API."""
        status = error.status_code
        if status < 400 or status == 500:
            status = _STATUS_OF_TYPE.get(str(error.type), 500)
        message = error.api_message if isinstance(error.api_message, str) else error.message
        said = one_line(message)
        of_a_model = self.model and self.model.lower() in said.lower()
        if status == 404 and error.type != _NOT_FOUND and not of_a_model:
            self.who["status_code"] = status
            return self.advised(
                llm_errors.ConfigurationError,
                f"Nothing answers this request at {self.settings.url} ({said}).",
                f"Check `base_url`, or {self.settings.url_variable}: it ends before /v1.",
            )
        return self.answered(status, said, error.response.headers)

    def refused(self, said: str) -> llm_errors.LLMError:
        """Return the error for a request the API does not take."""
        for kind, marks in _REFUSALS.items():
            if any(mark in said.lower() for mark in marks):
                return self.error(kind, said)
        return super().refused(said)

    def other_error(self, error: Exception) -> llm_errors.LLMError | None:
        """Return the kernel's error for whatever else the SDK raises."""
        if isinstance(error, self.sdk.AnthropicError):
            return llm_errors.LLMError(f"Anthropic's client failed: {error}", **self.who)
        return None
