"""Exceptions as something a person can act on: what happened, and what to do next."""

import asyncio
import traceback
from collections.abc import Iterable
from dataclasses import replace
from socket import gaierror
from typing import Final
from urllib.error import URLError

from amplifier_tui.base.commands.as_typed import as_typed
from amplifier_tui.base.config import SettingsError
from amplifier_tui.base.text import shortened, with_remedy
from amplifier_tui.foundation.exceptions import BundleError, TrustCancelledError, refusal_in
from amplifier_tui.foundation.settings.settings import SettingsFileError
from amplifier_tui.host.events import Failed, Level, Notice
from amplifier_tui.host.gate.calls.guarded import module_of_code
from amplifier_tui.host.redaction import Redactor
from amplifier_tui.host.store.sessions import (
    SessionBusyError,
    SessionExistsError,
    SessionNotFoundError,
)
from amplifier_tui.host.stream.sender import Stamp
from amplifier_tui.host.turns.prompts import PromptDeniedError
from amplifier_tui.host.turns.sources import failed_source
from amplifier_tui.kernel import llm_errors as llm
from amplifier_tui.kernel.mounting.errors import (
    ModuleNotFoundError,
    WrongAnswerError,
    named_text,
    place_of_error,
)

MESSAGE_LIMIT: Final = 2_000


_NO_SERVER: Final = "Check that the server runs and can be reached, then try again."
# Kind and remedy; the first class that fits counts, so subclasses come before their bases.
_TURN: Final[tuple[tuple[type[BaseException], str, str], ...]] = (
    (
        llm.QuotaExceededError,
        "quota",
        "Check the account's plan and billing, or use another provider.",
    ),
    (llm.RateLimitError, "rate_limit", "Wait a moment, then send it again."),
    (
        llm.AccessDeniedError,
        "access_denied",
        "Check what the key may use, or choose another model.",
    ),
    (
        llm.AuthenticationError,
        "authentication",
        "Check the provider's API key in the environment or keys.env.",
    ),
    (
        llm.ContextLengthError,
        "context_length",
        "Compact the conversation, or fork it before this prompt and send less.",
    ),
    (llm.ContentFilterError, "content_filter", "Say it in other words; the provider refused this."),
    (llm.NotFoundError, "not_found", "Check the model's name and the provider's base_url."),
    (
        llm.NetworkError,
        "network",
        "Check the connection and the provider's base_url, then try again.",
    ),
    (
        llm.ProviderUnavailableError,
        "overloaded",
        "The provider has trouble: wait a moment, then try again.",
    ),
    (llm.LLMTimeoutError, "timeout", "Try again; the provider took too long."),
    (llm.StreamError, "stream", "Try again; the answer broke off."),
    (llm.AbortError, "aborted", "Try again."),
    (
        llm.ConfigurationError,
        "configuration",
        "Correct the provider's configuration in the bundle or settings.",
    ),
    (
        llm.InvalidToolCallError,
        "tool_call",
        "Try again; the model called a tool in a way nobody understands.",
    ),
    (
        llm.InvalidRequestError,
        "invalid_request",
        "Change what the provider refuses, or use another model.",
    ),
    (llm.LLMError, "provider", "Try again, or use another provider."),
    (asyncio.CancelledError, "aborted", "A module cancelled the turn; try again."),
    (TimeoutError, "timeout", "Try again; something took too long."),
    *((error, "network", _NO_SERVER) for error in (ConnectionError, gaierror, URLError)),
    (OSError, "system", "Check the file or device it names, then try again."),
)
_OPENING: Final[tuple[tuple[type[BaseException], str, str], ...]] = (
    (TrustCancelledError, "cancelled", "Opened again it asks once more."),
    (SettingsFileError, "settings", "Correct the file, then try again."),
    (BundleError, "bundle", "Correct the bundle, or choose another one."),
    (SessionBusyError, "busy", "Or start a new session."),
    (SessionExistsError, "session_exists", "Resume it, or take another id."),
    (
        SessionNotFoundError,
        "no_session",
        "/new begins one. /sessions lists what is stored; in a shell, amplifier-tui sessions list "
        "does.",
    ),
    (asyncio.CancelledError, "cancelled", "Open it again when you are ready."),
    (ValueError, "bundle", "Correct the bundle's configuration, or choose another one."),
)


_ENGINE: Final = "amplifier_tui.host.door.engine"
"""Runs the loop, and so whatever ends it."""
_OWN: Final = "The session goes on. If it happens again, report it with the program's log."
_LIBRARY: Final = "A library that a module uses raised it."
_SECTION: Final = "the bundle's session section"
_ANYONES: Final = (ValueError, WrongAnswerError)
"""What a bundle's configuration may be the cause of, or the code of a module."""


def turn_failure(
    error: BaseException,
    stamp: Stamp,
    redactor: Redactor,
    *,
    prompt: str = "",
    missing: Iterable[str] = (),
    refused: Iterable[str] = (),
) -> Failed:
    """Return the event for an exception that ended a turn.

    Args:
        missing: Variables that providers need and do not find.
        refused: Variables whose key was sent; they are named where it was not accepted.
    """
    if isinstance(error, PromptDeniedError):
        return Failed(
            **stamp,
            kind="denied",
            message=redactor.text(str(error)),
            remedy="Change the prompt, or the hook that refuses it.",
            prompt=prompt,
        )
    source = failed_source(error)
    if source is not None:
        message = (
            f"The context source '{source.source_id}' failed, so the model was not asked: "
            f"{source.problem[:MESSAGE_LIMIT]}"
        )
        remedy = "Try again, or go on without this source."
        failed = _failed(error, stamp, redactor, "context_source", message, remedy)
        return replace(failed, retryable=True, prompt=prompt, source=source.source_id)
    kind, remedy, retryable = _judged(error)
    module = ""
    names = tuple({"no_provider": missing, "authentication": refused}.get(kind, ()))
    if kind == "no_provider":
        remedy = no_provider_remedy(names)
    words, remedy = _with_remedy(error, remedy)
    if kind == "internal" and (fault := _fault(error)) is not None:
        module, words, remedy = fault
    elif isinstance(error, OSError) and (found := _fault_place(error)) is not None:
        module, place = found
        words, remedy = _failed_words(module, error), f"{remedy} It failed at {place}."
    wait = getattr(error, "retry_after", None)
    return replace(
        _failed(error, stamp, redactor, kind, words, remedy),
        retryable=retryable,
        retry_after=float(wait) if isinstance(wait, int | float) else None,
        prompt=prompt,
        missing=names,
        module=module,
    )


def opening_failure(error: BaseException, stamp: Stamp, redactor: Redactor) -> Failed:
    """Return the event for an exception that kept a session from opening."""
    kind, remedy = _opening_kind(error)
    words, remedy = _with_remedy(error, remedy)
    module = ""
    if (kind == "internal" or type(error) in _ANYONES) and (fault := _fault(error)) is not None:
        module, words, remedy = fault
    return replace(_failed(error, stamp, redactor, kind, words, remedy), module=module)


def internal_failure(error: BaseException, what: str, stamp: Stamp, redactor: Redactor) -> Failed:
    """Return the event for an exception nobody expected.

    Args:
        what: What was being done, such as `open a session`.
    """
    remedy = "The session goes on. If it happens again, report it with the details."
    words = _words(error)
    if place := place_of_error(error):
        words = shortened(named_text(error), MESSAGE_LIMIT)
        remedy = f"The code of a module is wrong at {place}. The session goes on."
    message = f"Could not {what}: {words}"
    return _failed(error, stamp, redactor, "internal", message, remedy)


def stray_failure(error: BaseException, stamp: Stamp, redactor: Redactor) -> Notice:
    """Return what to say of an exception of a background task: nothing waits for one, or fails.

    What a module started may be all of a library: no code of a module is in its traceback.
    """
    fault = _fault(error)
    is_own = fault is None and _is_own(error)
    # Without a traceback it may be anyone's.
    whose = _OWN if is_own else _LIBRARY if error.__traceback__ is not None else ""
    module, _, remedy = fault or ("", "", whose)
    words = shortened(f"A background task failed: {named_text(error)}", MESSAGE_LIMIT)
    text = redactor.text(with_remedy(words, remedy))
    level: Level = "error" if is_own else "warning"
    return Notice(**stamp, level=level, text=text, source=module, module=module)


def _failed(
    error: BaseException, stamp: Stamp, redactor: Redactor, kind: str, message: str, remedy: str
) -> Failed:
    # The lines of code, never the values of variables.
    detail = redactor.text("".join(traceback.format_exception(error)))
    message, remedy = redactor.text(message), redactor.text(remedy)
    return Failed(**stamp, kind=kind, message=message, remedy=remedy, detail=detail)


def no_provider_remedy(missing: tuple[str, ...]) -> str:
    """Return what to do when no provider is mounted."""
    if missing:
        names = " or ".join(missing)
        return f"Set {names}, run {as_typed('amplifier-tui init')}, or open the demo bundle."
    return "Add a provider to the bundle or the settings, or open the demo bundle."


def _judged(error: BaseException) -> tuple[str, str, bool]:
    for cls, kind, remedy in _TURN:
        if isinstance(error, cls):
            again = bool(getattr(error, "retryable", True))
            return kind, remedy, again or kind in ("network", "stream", "aborted")
    if isinstance(error, RuntimeError) and "No providers mounted" in str(error):
        return "no_provider", "", False
    return "internal", "Try again. If it happens again, report it with the details.", True


def _fault(error: BaseException) -> tuple[str, str, str] | None:
    """Return the module that an error came from, what happened and what to do; None for our own."""
    found = _fault_place(error)
    if found is None:
        return None
    module, place = found
    # What holds the conversation is not reloaded, and no session goes on without it, nor without
    # what runs its turns.
    again = "open the bundle anew" if module.startswith("context-") else f"reload {module}"
    if not module.startswith(_NEEDED):
        again += ", or go on without it"
    remedy = f"Its code is wrong at {place}. Correct it there and {again}."
    return module, _failed_words(module, error), remedy


_NEEDED: Final = ("context-", "loop-", "provider-")
"""What the names of modules begin with that a turn does not go without."""


def _failed_words(module: str, error: BaseException) -> str:
    return shortened(f"{module} failed: {named_text(error)}", MESSAGE_LIMIT)


def _fault_place(error: BaseException) -> tuple[str, str] | None:
    if isinstance(error, WrongAnswerError):
        module_id = module_of_code(error.module)
        return (module_id, error.place) if module_id else None
    found = None
    for frame, line in traceback.walk_tb(error.__traceback__):
        name = str(frame.f_globals.get("__name__") or "")
        module_id = module_of_code(name)
        if module_id and not module_id.startswith("-"):
            found = module_id, f"{frame.f_code.co_filename}:{line}"
        elif isinstance(error, OSError) and name.startswith("amplifier_tui."):
            # No code is wrong where the disk is full that the program writes to for a module.
            found = None
    return found


def _is_own(error: BaseException) -> bool:
    """Whether the program's own code raised an error, or waited for what did."""
    frames = (frame for frame, _ in traceback.walk_tb(error.__traceback__))
    names = {str(frame.f_globals.get("__name__") or "") for frame in frames} - {_ENGINE}
    return any(
        name.startswith("amplifier_tui.") and not name.startswith("amplifier_tui.modules.")
        for name in names
    )


def _opening_kind(error: BaseException) -> tuple[str, str]:
    if (refusal := refusal_in(error)) is not None:
        return "untrusted", refusal.remedy
    for cls, kind, remedy in _OPENING:
        if isinstance(error, cls):
            return kind, remedy
    if isinstance(error, RuntimeError) and "Cannot initialize without" in str(error):
        if isinstance(error.__cause__, SettingsError):
            return "bundle", "The session cannot run without it: correct the setting."
        missing = isinstance(error.__cause__, ModuleNotFoundError)
        what = "" if missing else "the module, or name another in "
        return "bundle", f"The session cannot run without it: correct {what}{_SECTION}."
    return "internal", "If it happens again, report it with the details."


def _words(error: BaseException) -> str:
    return shortened(str(error).strip() or type(error).__name__, MESSAGE_LIMIT)


def _with_remedy(error: BaseException, remedy: str) -> tuple[str, str]:
    """Return what happened and what to do: the error's `remedy` or ours.

    It may end the words, which are without it then.
    """
    own = getattr(error, "remedy", "")
    remedy = own if isinstance(own, str) and own else remedy
    return _words(error).removesuffix(remedy).rstrip(), remedy[:MESSAGE_LIMIT]
