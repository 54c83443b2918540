"""Reading what handlers answer, and putting several answers together."""

from collections.abc import Mapping
from typing import Any, Final

from pydantic import ValidationError

from amplifier_tui.base.nearest import nearest
from amplifier_tui.kernel import events
from amplifier_tui.kernel.hooks.event_data import EventData
from amplifier_tui.kernel.models.hook_result import (
    ContextInjection,
    HookResult,
    changed,
    unknown_hook_fields,
)
from amplifier_tui.kernel.mounting.errors import exception_text

INVALID_RESPONSE = "Hook handler returned invalid response"
WANTED = 'Return a HookResult, such as HookResult(action="continue")'
"""What the author of such a handler can do."""


_FIELDS: Final = frozenset(HookResult.model_fields)
_NO_PROMPT: Final = 'action="modify" of {} leaves no text as `prompt` in `data`, so it does nothing'
_NO_RESULT: Final = 'action="modify" of {} leaves nothing as `{}` in `data`: the result is withheld'
RESULT_KEYS: Final = ("result", "tool_result")
"""The names a result goes by in ``tool:post``: the library's and the specs'."""
NOTHING_LEFT: Final = "it left nothing of it."
"""Why a result is withheld that a hook changed into nothing."""
WITHHELD: Final = "The result was withheld by a hook: {}"
"""What the model reads in place of a result that a hook denied."""
_NEEDED: Final = {"modify": "data", "inject_context": "context_injection"}


def stops_nothing(answer: HookResult | None, event: str) -> bool:
    """Whether it denies or asks where who emits the event does not heed that."""
    return answer is not None and answer.action in ("deny", "ask_user") and event in events.TOLD


def prompt_left(prompt: str, data: Mapping[str, Any]) -> str:
    """Return a prompt as hooks left it in the data; unchanged where they left no text of it."""
    left = data.get("prompt")
    return left if isinstance(left, str) and left.strip() else prompt


def without_effect(
    answer: HookResult | None, event: str, given: Mapping[str, Any] | None = None
) -> str:
    """Say why the action of an answer to an event does nothing, or leaves nothing; else empty.

    Args:
        given: The data that it answers: what was nothing before may stay it.
    """
    if answer is not None and stops_nothing(answer, event):
        where = ", ".join(each for each in events.ALL_EVENTS if each in events.JUDGED)
        return f'action="{answer.action}" of {event} stops nothing; it does for {where}'
    field = _NEEDED.get(answer.action) if answer is not None else None
    if answer is None or field is None:
        return ""
    if answer.action == "modify" and answer.data is not None:
        return _nothing_left(event, given or {}, answer.data)
    if getattr(answer, field) is not None:
        return ""
    if answer.action == "inject_context" and answer.context_injections:
        return ""
    return f'action="{answer.action}" without `{field}` does nothing'


def _nothing_left(event: str, given: Mapping[str, Any], data: Mapping[str, Any]) -> str:
    """Say that nothing is left of what a change is about; empty where something is, or none was."""
    if event == events.PROMPT_SUBMIT and prompt_left("", given) and not prompt_left("", data):
        return _NO_PROMPT.format(event)
    lost = (name for name in RESULT_KEYS if name in data and data[name] is None)
    gone = next((name for name in lost if given.get(name) is not None), "")
    return _NO_RESULT.format(event, gone) if event == events.TOOL_POST and gone else ""


def misspelt(answer: Any) -> str:
    """Say which fields of a handler's answer, as it gave it, are only like one that there is.

    Any other field is left alone: the module may be written for a later kernel.
    """
    if isinstance(answer, HookResult):
        names = unknown_hook_fields(answer)
    elif isinstance(answer, Mapping):
        names = tuple(each for each in answer if isinstance(each, str) and each not in _FIELDS)
    else:
        return ""
    near = [(name, meant) for name in names if (meant := nearest(name, _FIELDS))]
    told = ", ".join(f"{name!r:.80} ({meant!r} is meant?)" for name, meant in near)
    return f"a hook result has no field {told}: what it says is lost" if told else ""


class InvalidHookResponseError(Exception):
    """A handler answered something that is not a hook result."""


def read_result(answer: Any) -> HookResult | None:
    """Return a handler's answer as a hook result; None for "continue" without anything to say.

    It is a :class:`HookResult`, a dict of its fields, a model with ``model_dump``, or None; else
    `InvalidHookResponseError` is raised.
    """
    if answer is None:
        return None
    if type(answer) is HookResult:
        # Fields can be assigned after construction, so only the plainest answer goes unread.
        if answer.__dict__.get("action") == "continue":
            return answer
        return _validate(answer.__dict__)
    if not isinstance(answer, Mapping):
        dump = getattr(answer, "model_dump", None)
        if dump is None or isinstance(answer, type):
            raise InvalidHookResponseError(f"{type(answer).__name__} is not a HookResult")
        try:
            answer = dump()
        except Exception as error:
            raise InvalidHookResponseError(f"model_dump failed: {error}") from error
        if not isinstance(answer, Mapping):
            raise InvalidHookResponseError("model_dump did not return a dict")
    return _validate(answer) if answer else None


def _validate(fields: Mapping[str, Any]) -> HookResult:
    try:
        # Any key may be in a dict, and only texts can be fields.
        known = {name: value for name, value in fields.items() if name in _FIELDS}
        result = HookResult.model_validate(known)
        if result.action == "modify" and result.data is not None:
            # The handler may keep what it returned, and change it when nobody expects it.
            return changed(result, data=EventData(result.data).copy())
    except ValidationError as error:
        raise InvalidHookResponseError(first_problem(error)) from error
    except ValueError as error:
        raise InvalidHookResponseError(str(error)) from error
    return result


def raised_text(error: Exception) -> str:
    """Return the text of what a handler raised; of a model's mistakes the first.

    All of them are many lines, with the address of a page of pydantic's.
    """
    return first_problem(error) if isinstance(error, ValidationError) else exception_text(error)


def first_problem(error: ValidationError) -> str:
    """Return the first of a model's mistakes, with the field it is in."""
    problem = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(str(part) for part in problem["loc"])
    return f"{place}: {problem['msg']}"


def injections_of(result: HookResult, event: str, hook_name: str) -> list[ContextInjection]:
    """Return the texts a result injects, each stamped with where it comes from."""
    if result.context_injections:
        return [_stamped(item, event, hook_name) for item in result.context_injections]
    if not result.context_injection:
        return []
    return [
        ContextInjection(
            content=result.context_injection,
            role=result.context_injection_role,
            ephemeral=result.ephemeral,
            append_to_last_tool_result=result.append_to_last_tool_result,
            hook_name=hook_name,
            event=event,
        )
    ]


def _stamped(item: ContextInjection, event: str, hook_name: str) -> ContextInjection:
    update: dict[str, Any] = {}
    if item.hook_name == "unknown":
        update["hook_name"] = hook_name
    if not item.event:
        update["event"] = event
    return item.model_copy(update=update) if update else item


def projection(items: list[ContextInjection]) -> dict[str, Any]:
    """Return the scalar fields that say the same as a non-empty list of injections."""
    return {
        "context_injection": "\n\n".join(item.content for item in items),
        "context_injection_role": items[0].role,
        "ephemeral": items[0].ephemeral,
        "append_to_last_tool_result": any(item.append_to_last_tool_result for item in items),
        "context_injections": items,
    }


def merge_injections(found: list[tuple[HookResult, str]], event: str) -> HookResult:
    """Return one ``inject_context`` result for all results that inject, with handler names."""
    items = [item for result, name in found for item in injections_of(result, event, name)]
    first = found[0][0]
    if len(found) == 1:
        return changed(first, **projection(items))
    merged = HookResult(action="inject_context", suppress_output=first.suppress_output)
    return changed(merged, **projection(items))
