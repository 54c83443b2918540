"""Whether the handlers of a hook module answer what the kernel understands: they are called."""

from copy import deepcopy
from typing import Any, Final

from amplifier_tui.base.python import awaited
from amplifier_tui.kernel import events
from amplifier_tui.kernel.hooks.results import (
    WANTED,
    InvalidHookResponseError,
    misspelt,
    raised_text,
    read_result,
    stops_nothing,
    without_effect,
)
from amplifier_tui.kernel.models import HookResult
from amplifier_tui.kernel.mounting.contents import place_of
from amplifier_tui.kernel.mounting.errors import place_of_error
from amplifier_tui.kernel.mounting.trial import TrialCoordinator
from amplifier_tui.kernel.validation.base import ValidationResult
from amplifier_tui.kernel.validation.trials import SECONDS, within

_CALL: Final = {
    "session_id": "test-session",
    "tool_name": "trial_tool",
    "tool_call_id": "call-1",
    "tool_input": {"text": "for a trial"},
}
_RESULT: Final = {"success": True, "output": "done", "error": None}
_DATA: Final[dict[str, dict[str, Any]]] = {
    events.PROMPT_SUBMIT: {"session_id": "test-session", "prompt": "For a trial."},
    events.TOOL_PRE: _CALL,
    events.TOOL_POST: {**_CALL, "tool_result": _RESULT, "result": _RESULT},
}
_BLOCK: Final = {"block_index": 0, "total_blocks": 1}
_TOLD: Final[dict[str, dict[str, Any]]] = {
    events.SESSION_START: {"session_id": "test-session"},
    events.EXECUTION_START: _DATA[events.PROMPT_SUBMIT],
    events.LLM_REQUEST: {"session_id": "test-session", "provider": "trial", "model": "trial"},
    events.CONTENT_BLOCK_START: {**_BLOCK, "block_type": "text"},
    events.CONTENT_BLOCK_END: {**_BLOCK, "block": {"type": "text", "text": "For a trial."}},
}
"""Events that a guard may be written for by mistake; handlers of others are not called."""


async def check_answers(result: ValidationResult, coordinator: TrialCoordinator) -> bool:
    """Add ``hook_answer`` for each handler of a prompt or a tool call; tell whether there is one.

    One that changes a call to what is no call fails. Of other handlers, one that denies in vain
    gets a warning.

    Args:
        result: Gets the checks.
        coordinator: Where the handlers are registered.
    """
    registered = coordinator.hooks._registered()
    for event, name, handler in registered:
        if event in _TOLD:
            await _check_told(result, event, name, handler)
    handlers = [each for each in registered if each[0] in _DATA]
    for event, name, handler in handlers:
        who = f"Handler '{name}' of '{event}'"
        try:
            asked = awaited(handler(event, deepcopy(_DATA[event])))
            reply = await within(asked, SECONDS)
            answer = read_result(reply)
        except InvalidHookResponseError as error:
            result.fail(
                "hook_answer",
                f"{who} answers what is no hook result, which denies: {error}",
                WANTED,
                where=place_of(handler),
            )
        except TimeoutError:
            problem = f"{who} did not answer within {SECONDS:g} s"
            remedy = "Answer at once, and do long work in a task"
            result.fail("hook_answer", problem, remedy, "warning", place_of(handler))
        except Exception as error:
            text = raised_text(error)
            result.fail(
                "hook_answer",
                f"{who} failed with the data of a trial: {type(error).__name__}: {text}",
                "Correct that line; read what may be missing with data.get(...)",
                "warning",
                place_of_error(error),
            )
        else:
            if problem := _spoilt(event, answer):
                remedy = 'Change a copy: data={**data, "tool_input": {...}}'
                said = f"{who} {problem}, so the call is refused"
                result.fail("hook_answer", said, remedy, where=place_of(handler))
            elif lacking := without_effect(answer, event, _DATA[event]):
                remedy = 'Give it what it is for, or answer action="continue"'
                said = f"{who}: {lacking}"
                result.fail("hook_answer", said, remedy, "warning", place_of(handler))
            # Those of a HookResult are told from the source, all of them.
            elif not isinstance(reply, HookResult) and (wrong := misspelt(reply)):
                said, remedy = f"{who}: {wrong}", "Correct the name"
                result.fail("hook_answer", said, remedy, "warning", place_of(handler))
            else:
                result.succeed("hook_answer", f"{who} answers with a hook result")
    return bool(handlers)


async def _check_told(result: ValidationResult, event: str, name: str, handler: Any) -> None:
    try:
        asked = awaited(handler(event, deepcopy(_TOLD[event])))
        answer = read_result(await within(asked, SECONDS))
    except Exception:
        # What else it would need of a session is not known here.
        return
    if lacking := without_effect(answer, event) if stops_nothing(answer, event) else "":
        said, remedy = f"Handler '{name}': {lacking}", "Register it for one of these"
        result.fail("hook_answer", said, remedy, "warning", place_of(handler))


def _spoilt(event: str, answer: HookResult | None) -> str:
    """Return what is wrong with a call as a handler changed it; empty where nothing is."""
    if event != events.TOOL_PRE or answer is None or answer.action != "modify":
        return ""
    data = answer.data
    if data is None:
        return ""
    name = data.get("tool_name")
    if not isinstance(name, str) or not name:
        return "changes a call and leaves no `tool_name`"
    if not isinstance(data.get("tool_input"), dict):
        return "changes a call and leaves no object as `tool_input`"
    return ""
