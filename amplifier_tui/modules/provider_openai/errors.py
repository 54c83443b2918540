"""The errors of OpenAI's APIs, and of compatible servers, in the kernel's words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from amplifier_tui.kernel import llm_errors
from amplifier_tui.kernel.utils.retry import one_line
from amplifier_tui.modules._provider.errors import ErrorTranslator

if TYPE_CHECKING:
    import openai

_FILTERED = {"content_filter", "content_policy_violation", "bio_policy", "invalid_prompt"}
_STATUS_OF_CODE = {
    "rate_limit_exceeded": 429,
    "insufficient_quota": 429,
    "context_length_exceeded": 400,
    "invalid_prompt": 400,
    "model_not_found": 404,
    "invalid_api_key": 401,
}
"""The status each error code stands for where it comes without one."""


class OpenAIErrors(ErrorTranslator):
    """Translates the errors of one request to OpenAI or a compatible server."""

    def status_error(self, error: openai.APIStatusError) -> llm_errors.LLMError:
        """Return the kernel's error for an answer of the API."""
        code = error.code or error.type
        return self.failed(error.status_code, code, _words(error), error.response.headers)

    def other_error(self, error: Exception) -> llm_errors.LLMError | None:
        """Return the kernel's error for whatever else the SDK raises."""
        if isinstance(error, self.sdk.APIError):
            return self.failed(500, error.code or error.type, _words(error))
        if isinstance(error, self.sdk.OpenAIError):
            return llm_errors.LLMError(f"OpenAI's client failed: {error}", **self.who)
        return None

    def failed(
        self,
        status: int,
        code: object,
        words: object,
        headers: Mapping[str, str] | None = None,
    ) -> llm_errors.LLMError:
        """Return the error for a status, a code and words.

        A code counts more than a status of 500, which stands for none: in a stream that began
        with 200, and with gateways that pass on what another server said.
        """
        # Servers put anything into these fields.
        said, code = one_line(str(words or "no reason was given")), str(code)
        if status == 500:
            status = _status_of(code)
        self.who["status_code"] = status
        if code == "insufficient_quota":
            return self.error(llm_errors.QuotaExceededError, said)
        if _is_too_long(status, code, said.lower()):
            return self.error(llm_errors.ContextLengthError, said)
        if code in _FILTERED:
            return self.error(llm_errors.ContentFilterError, said)
        return self.answered(status, said, headers)

    def error(self, kind: type[llm_errors.LLMError], said: str) -> llm_errors.LLMError:
        """Return an error of a kind; what is not found may be the model or the address."""
        if kind is not llm_errors.NotFoundError:
            return super().error(kind, said)
        model, url = self.model, self.settings.url
        if self.where != url or (model and model.lower() in said.lower()):
            advice = "Choose another model, or correct `default_model`."
        elif urlsplit(url).path.strip("/"):
            advice = "Check that `base_url` ends as the server wants it, most often with /v1."
        else:
            set_it = f"set {self.settings.url_variable}, or `base_url`, to {url.rstrip('/')}/v1"
            advice = f"Most servers answer below /v1 only: {set_it}."
        asked = f"the model {model!r} or the address" if model else "the address"
        return self.advised(kind, f"{self.where} does not know {asked} ({said}).", advice)


def _status_of(code: str) -> int:
    """The status that a code stands for; some servers give the number itself."""
    number = int(code) if code.isascii() and code.isdigit() and len(code) == 3 else 0
    return _STATUS_OF_CODE.get(code, number if 400 <= number < 600 else 500)


def _is_too_long(status: int, code: str, said: str) -> bool:
    return status in (400, 413, 422, 500) and (
        status == 413
        or code == "context_length_exceeded"
        or any(words in said for words in ("context length", "context window", "context size"))
    )


def _words(error: openai.APIError) -> str:
    """What the API said: compatible servers put it in various places."""
    body = error.body
    if isinstance(body, dict):
        inner = body.get("error")
        for words in (body.get("message"), inner, body.get("detail")):
            if isinstance(words, str) and words:
                return words
    return body if isinstance(body, str) and body else error.message
