"""The errors of Anthropic's API in the kernel's words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amplifier_tui.kernel import llm_errors
from amplifier_tui.kernel.utils.retry import one_line
from amplifier_tui.modules._provider.errors import ErrorTranslator
from amplifier_tui.modules.provider_anthropic.settings import API_KEY_VARIABLE, AnthropicSettings

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


class AnthropicErrors(ErrorTranslator):
    """Translates the errors of one request to Anthropic."""

    def status_error(self, error: anthropic.APIStatusError) -> llm_errors.LLMError:
        """Return the kernel's error for an answer of the API."""
        status = error.status_code
        if status < 400:
            status = _BY_TYPE.get(str(error.type), 500)
        message = error.api_message if isinstance(error.api_message, str) else error.message
        return self.answered(status, one_line(message), error.response.headers)

    def refused(self, said: str) -> llm_errors.LLMError:
        """Return the error for a request the API does not take; its words say why."""
        low = said.lower()
        if "prompt is too long" in low or "context window" in low or "context limit" in low:
            return self.too_long(said)
        if "credit balance" in low or "billing" in low:
            return self.unpaid(said)
        if "content filter" in low or "usage polic" in low:
            return self.filtered(said)
        return super().refused(said)

    def other_error(self, error: Exception) -> llm_errors.LLMError | None:
        """Return the kernel's error for whatever else the SDK raises."""
        if isinstance(error, self.sdk.AnthropicError):
            return llm_errors.LLMError(f"Anthropic's client failed: {error}", **self.who)
        return None

    def unpaid(self, said: str) -> llm_errors.QuotaExceededError:
        """Return the error for an account without credit."""
        return llm_errors.QuotaExceededError(
            f"The Anthropic account has no credit left: {said}. See console.anthropic.com.",
            **self.who,
        )


def errors_of(model: str, settings: AnthropicSettings) -> AnthropicErrors:
    """Return the translator for a request to a model."""
    import anthropic

    advice = "Check the connection and `base_url`."
    return AnthropicErrors(anthropic, settings, model, API_KEY_VARIABLE, advice)
