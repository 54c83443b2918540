import asyncio
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from amplifier_tui.foundation.exceptions import BundleLoadError
from amplifier_tui.host.failures import internal_failure, opening_failure, turn_failure
from amplifier_tui.host.redaction import Redactor
from amplifier_tui.host.stream.sender import Stamp
from amplifier_tui.kernel import llm_errors
from amplifier_tui.kernel.mounting.errors import MissingModuleError, ModuleValidationError

STAMP: Stamp = {"session_id": "s", "agent": "main", "at": 1.0}


@pytest.mark.parametrize(
    ("error", "kind", "retryable"),
    [
        (llm_errors.AuthenticationError("no"), "authentication", False),
        (llm_errors.AccessDeniedError("no"), "access_denied", False),
        (llm_errors.RateLimitError("no"), "rate_limit", True),
        (llm_errors.QuotaExceededError("no"), "quota", False),
        (llm_errors.ContextLengthError("no"), "context_length", False),
        (llm_errors.ContentFilterError("no"), "content_filter", False),
        (llm_errors.NotFoundError("no"), "not_found", False),
        (llm_errors.ProviderUnavailableError("no"), "overloaded", True),
        (llm_errors.NetworkError("no"), "network", True),
        (llm_errors.LLMTimeoutError("no"), "timeout", True),
        (llm_errors.StreamError("no"), "stream", True),
        (llm_errors.InvalidRequestError("no"), "invalid_request", False),
        (llm_errors.ConfigurationError("no"), "configuration", False),
        (llm_errors.LLMError("no"), "provider", False),
        (RuntimeError("No providers mounted: add one"), "no_provider", False),
        (asyncio.CancelledError(), "aborted", True),
        (TimeoutError(), "timeout", True),
        (OSError("no"), "system", True),
        (KeyError("x"), "internal", True),
    ],
)
def test_every_exception_says_what_to_do(error: BaseException, kind: str, retryable: bool) -> None:
    failed = turn_failure(
        error, STAMP, Redactor({}), prompt="the prompt", missing=("A_KEY",), refused=("B_KEY",)
    )
    assert (failed.kind, failed.retryable, failed.prompt) == (kind, retryable, "the prompt")
    assert failed.message and failed.remedy and failed.detail
    named = {"no_provider": ("A_KEY",), "authentication": ("B_KEY",)}
    assert failed.missing == named.get(kind, ())


def test_the_bug_of_a_module_names_it_and_its_line(tmp_path: Path) -> None:
    code = tmp_path / "amplifier_module_provider_parrot.py"
    code.write_text("def complete(request):\n    return request['squawk']\n")
    spec = spec_from_file_location(code.stem, code)
    assert spec is not None and spec.loader is not None
    parrot = module_from_spec(spec)
    spec.loader.exec_module(parrot)
    with pytest.raises(KeyError) as caught:
        parrot.complete({})
    failed = turn_failure(caught.value, STAMP, Redactor({}))
    assert failed.message == "provider-parrot failed: KeyError: 'squawk'"
    assert failed.remedy.startswith(f"Its code is wrong at {code}:2.")


def test_what_the_server_asked_to_wait_is_passed_on() -> None:
    failed = turn_failure(llm_errors.RateLimitError("slow", retry_after=7), STAMP, Redactor({}))
    assert failed.retry_after == 7.0


def test_what_an_error_says_to_do_is_said_once_and_instead_of_our_own_words() -> None:
    error = llm_errors.AuthenticationError("It knows no key s3cret-key. Check A_KEY, s3cret-key.")
    error.remedy = "Check A_KEY, s3cret-key."
    failed = turn_failure(error, STAMP, Redactor({"A_KEY": "s3cret-key"}))
    assert failed.message.startswith("It knows no key") and "Check" not in failed.message
    assert failed.remedy.startswith("Check A_KEY") and "s3cret" not in failed.remedy


def test_secrets_stay_out_of_words_and_details() -> None:
    redactor = Redactor({"MY_TOKEN": "secret-in-the-url"})
    failed = turn_failure(ValueError("GET /?k=secret-in-the-url"), STAMP, redactor)
    assert "secret-in-the-url" not in failed.message + failed.detail


def test_a_bundle_error_keeps_its_place_and_its_remedy() -> None:
    error = BundleLoadError("Not YAML", path=None, remedy="Correct the line.")
    failed = opening_failure(error, STAMP, Redactor({}))
    assert (failed.kind, failed.message, failed.remedy) == (
        "bundle",
        "Not YAML.",
        "Correct the line.",
    )


def test_an_internal_failure_says_what_was_being_done() -> None:
    failed = internal_failure(ValueError("bad"), "open a session", STAMP, Redactor({}))
    assert failed.kind == "internal" and failed.message == "Could not open a session: bad"


def test_an_internal_failure_of_a_modules_code_says_where_that_is(tmp_path: Path) -> None:
    file = tmp_path / "task.py"
    code = compile("\n{}['x']", file, "exec")
    with pytest.raises(KeyError) as caught:
        exec(code)
    failed = internal_failure(caught.value, "finish a task", STAMP, Redactor({}))
    assert failed.message == "Could not finish a task: KeyError: 'x'"
    assert failed.remedy.startswith(f"The code of a module is wrong at {file}:2.")


def test_an_endless_message_is_cut() -> None:
    assert len(turn_failure(ValueError("x" * 10**6), STAMP, Redactor({})).message) < 3_000


@pytest.mark.parametrize("missing", [True, False])
def test_a_needed_module_that_was_found_is_what_is_to_be_corrected(missing: bool) -> None:
    error = RuntimeError("Cannot initialize without context manager: it is wrong")
    error.__cause__ = (MissingModuleError if missing else ModuleValidationError)("it is wrong")
    failed = opening_failure(error, STAMP, Redactor({}))
    assert ("correct the module" in failed.remedy) != missing
    assert failed.remedy.endswith("the bundle's session section.")
