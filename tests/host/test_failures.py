import asyncio
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from socket import gaierror
from typing import Any
from urllib.error import URLError

import pytest

from amplifier_tui.base.config import SettingProblem, SettingsError
from amplifier_tui.base.jsonl import append_rows
from amplifier_tui.foundation.exceptions import (
    BundleDependencyError,
    BundleLoadError,
    TrustRefusedError,
)
from amplifier_tui.host.failures import (
    internal_failure,
    opening_failure,
    stray_failure,
    turn_failure,
)
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
        (ConnectionRefusedError("no"), "network", True),
        (gaierror("no"), "network", True),
        (URLError("no"), "network", True),
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


def parrot_of(folder: Path, body: str) -> tuple[Any, Path]:
    """Return a provider's Python module whose second line is this, and its file."""
    code = folder / "amplifier_module_provider_parrot.py"
    code.write_text(f"def complete(request):\n    {body}\n")
    spec = spec_from_file_location(code.stem, code)
    assert spec is not None and spec.loader is not None
    parrot = module_from_spec(spec)
    spec.loader.exec_module(parrot)
    return parrot, code


def test_the_bug_of_a_module_names_it_and_its_line(tmp_path: Path) -> None:
    parrot, code = parrot_of(tmp_path, "return request['squawk']")
    with pytest.raises(KeyError) as caught:
        parrot.complete({})
    failed = turn_failure(caught.value, STAMP, Redactor({}))
    assert failed.message == "provider-parrot failed: KeyError: 'squawk'"
    assert failed.remedy.startswith(f"Its code is wrong at {code}:2.")
    # No turn goes on without its provider, unlike without a tool.
    assert failed.remedy.endswith("reload provider-parrot.")


@pytest.mark.parametrize(
    ("body", "words", "remedy"),
    [
        ("raise ConnectionRefusedError('no one')", "no one", "Check that the server runs"),
        ("import urllib.error as e; raise e.URLError('no')", "no", "Check that the server runs"),
        ("open('/no/cracker')", "'/no/cracker'", "Check the file or device it names"),
    ],
)
def test_what_a_module_can_not_reach_names_it_and_its_line(
    tmp_path: Path, body: str, words: str, remedy: str
) -> None:
    parrot, code = parrot_of(tmp_path, body)
    with pytest.raises(OSError) as caught:
        parrot.complete({})
    failed = turn_failure(caught.value, STAMP, Redactor({}))
    assert failed.module == "provider-parrot" and words in failed.message
    assert failed.message.startswith(f"provider-parrot failed: {type(caught.value).__name__}: ")
    assert failed.remedy.startswith(remedy)
    assert failed.remedy.endswith(f"then try again. It failed at {code}:2.")


def test_what_the_program_can_not_write_for_a_module_is_not_the_modules_failure(
    tmp_path: Path,
) -> None:
    parrot, _ = parrot_of(tmp_path, "request()")
    with pytest.raises(OSError) as caught:
        parrot.complete(lambda: append_rows(tmp_path, [{"squawk": 1}]))
    failed = turn_failure(caught.value, STAMP, Redactor({}))
    assert (
        not failed.module and failed.remedy == "Check the file or device it names, then try again."
    )


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


def test_a_request_that_the_provider_refuses_sends_nobody_to_a_traceback() -> None:
    failed = turn_failure(llm_errors.InvalidRequestError("No such field"), STAMP, Redactor({}))
    assert failed.message == "No such field" and "details" not in failed.remedy
    assert failed.remedy.endswith("or use another model.")


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


def test_a_setting_of_a_needed_module_is_what_is_to_be_corrected() -> None:
    error = RuntimeError("Cannot initialize without context manager: `target` must be a number")
    error.__cause__ = SettingsError([SettingProblem("target", "`target` must be a number")])
    failed = opening_failure(error, STAMP, Redactor({}))
    assert failed.remedy == "The session cannot run without it: correct the setting."


def test_a_failure_that_is_its_own_cause_is_told_as_any_other() -> None:
    error = RuntimeError("bad rows")
    error.__cause__ = error
    failed = opening_failure(error, STAMP, Redactor({}))
    assert (failed.kind, failed.message) == ("internal", "bad rows")


def test_what_helps_where_trust_was_refused_is_said_once_whatever_needed_it() -> None:
    error = BundleDependencyError("Cannot include x: Not allowed to fetch x.\nAllow it.")
    error.__cause__ = TrustRefusedError("Not allowed to fetch x", remedy="Allow it.")
    failed = opening_failure(error, STAMP, Redactor({}))
    assert (failed.kind, failed.message, failed.remedy) == (
        "untrusted",
        "Cannot include x: Not allowed to fetch x.",
        "Allow it.",
    )


def test_what_a_background_task_raised_without_a_traceback_is_blamed_on_nobody() -> None:
    notice = stray_failure(ValueError("lost"), STAMP, Redactor({}))
    assert (notice.level, notice.module) == ("warning", "")
    assert notice.text == "A background task failed: ValueError: lost"
