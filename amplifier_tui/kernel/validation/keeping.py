"""Whether a context gives messages, and keeps those it is given: it is called to see that."""

import copy
from typing import Any, Final

from amplifier_tui.base.python import awaited
from amplifier_tui.kernel.mounting.contents import checked_messages, place_of
from amplifier_tui.kernel.mounting.errors import (
    WrongAnswerError,
    named_text,
    place_of_error,
)
from amplifier_tui.kernel.validation.base import Severity, ValidationResult
from amplifier_tui.kernel.validation.trials import SECONDS, within

_GIVES: Final = ("get_messages", "get_messages_for_request")
_TEXT: Final = "These are the words of a trial"
_CALL: Final = "trial-call"
_ROWS: Final[tuple[dict[str, Any], ...]] = (
    {"role": "user", "content": f"{_TEXT}: a prompt."},
    {
        "role": "assistant",
        "content": f"{_TEXT}: a call.",
        "tool_calls": [{"id": _CALL, "tool": "trial", "arguments": {}}],
    },
    {"role": "tool", "tool_call_id": _CALL, "name": "trial", "content": f"{_TEXT}: a result."},
    {"role": "assistant", "content": f"{_TEXT}: an answer."},
)
"""What a turn adds; each row is known again by its content."""


async def check_keeping(result: ValidationResult, context: Any) -> None:
    """Add ``context_messages`` for each method that gives some, and ``context_keeps`` likewise.

    Args:
        result: Gets the checks.
        context: As it was mounted.
    """
    given = [await _given(result, context, method) for method in _GIVES]
    # Messages that are there already are of a session: nothing is added to those, nor cleared.
    if any(given) or None in given:
        return
    try:
        try:
            for row in _ROWS:
                await within(awaited(context.add_message(copy.deepcopy(row))), SECONDS)
            for method in _GIVES:
                await _see_kept(result, context, method)
        finally:
            # Some keep it on disk, where a session would find it.
            await within(awaited(context.clear()), SECONDS)
        if any(_TEXT in str(message) for message in await _asked(context, _GIVES[0])):
            problem = "ContextManager.clear() leaves what add_message() was given"
            remedy = "Forget every message there"
            result.fail("context_clears", problem, remedy, where=place_of(context.clear))
    except WrongAnswerError as error:
        _say_wrong(result, error)
    except Exception as error:
        said = f"It could not be tried whether it keeps messages: {_why(error)}"
        remedy = "Correct that line, unless it needs what a trial has not"
        where = place_of_error(error) or place_of(context)
        result.fail("context_keeps", said, remedy, "warning", where)


async def _given(result: ValidationResult, context: Any, method: str) -> list[Any] | None:
    """Return the messages that a method gives; None where it gives none."""
    name = f"ContextManager.{method}()"
    try:
        messages = await _asked(context, method)
    except WrongAnswerError as error:
        _say_wrong(result, error)
    except Exception as error:
        # It may need what a trial has not.
        said = f"{name} could not be tried: {_why(error)}"
        remedy = "It is called without arguments"
        result.fail("context_messages", said, remedy, "warning", place_of(getattr(context, method)))
    else:
        if not _lacks_role(result, context, method, messages):
            result.succeed("context_messages", f"{name} returns messages")
        return messages
    return None


async def _asked(context: Any, method: str) -> list[Any]:
    ask = getattr(context, method)
    return list(checked_messages(ask, await within(awaited(ask()), SECONDS)))


def _say_wrong(result: ValidationResult, error: WrongAnswerError) -> None:
    remedy = "Return a list, empty where there are none"
    result.fail("context_messages", f"ContextManager.{error}", remedy, where=error.place)


async def _see_kept(result: ValidationResult, context: Any, method: str) -> None:
    name = f"ContextManager.{method}()"
    messages = await _asked(context, method)
    _lacks_role(result, context, method, messages)
    found = [_find(row["content"], messages) for row in _ROWS]
    places = [each for each in found if each is not None]
    # What a request has may be less, where its author means that.
    severity: Severity = "error" if method == _GIVES[0] else "warning"
    if not places:
        severity = "error"
        problem = f"{name} does not return what add_message() was given"
        remedy = "Keep each message that is added, and return it"
    elif len(places) < len(_ROWS):
        roles = [row["role"] for row, at in zip(_ROWS, found, strict=True) if at is None]
        dropped = f"{len(roles)} of {len(_ROWS)} rows that add_message() was given"
        problem = f"{name} drops {dropped}: those of {', '.join(dict.fromkeys(roles))}"
        remedy = "Return every row; only what does not fit into a request may be left out of that"
    elif places != sorted(places):
        problem = f"{name} returns rows in another order than they were added in"
        remedy = "Return them in their order: a result comes after its call"
    else:
        result.succeed("context_keeps", f"{name} returns what was added")
        return
    where = place_of(getattr(context, method))
    result.fail("context_keeps", problem, remedy, severity, where)


def _find(content: str, messages: list[Any]) -> int | None:
    return next((at for at, each in enumerate(messages) if content in str(each)), None)


def _lacks_role(result: ValidationResult, context: Any, method: str, messages: list[Any]) -> bool:
    """Add ``context_messages`` where a row has no role; whether one has none."""
    bare = [each for each in messages if not isinstance(each.get("role"), str) or not each["role"]]
    if bare:
        keys = ", ".join(map(repr, bare[0])) or "nothing"
        problem = f"ContextManager.{method}() returns a row without 'role'; it has {keys:.200}"
        remedy = "Return each row with the role it was added with: no model gets one without"
        where = place_of(getattr(context, method))
        result.fail("context_messages", problem, remedy, where=where)
    return bool(bare)


def _why(error: Exception) -> str:
    ended = not isinstance(error, TimeoutError)
    return named_text(error) if ended else f"it did not end within {SECONDS:g} s"
