"""What a hook handler answers."""

from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field

HookAction = Literal["continue", "deny", "modify", "inject_context", "ask_user"]
InjectionRole = Literal["system", "user", "assistant"]


class ContextInjection(BaseModel):
    """One text a hook adds to the model's context.

    Attributes:
        ephemeral: For the next request only; never stored.
        append_to_last_tool_result: Put it at the end of the last tool result of that request.
        hook_name: The handler it comes from.
        event: The event it answers.
    """

    # Built at once: with the first model pydantic looks for plugins among the entry points, and a
    # module's test may have replaced that lookup when something is used first.
    model_config = ConfigDict(extra="ignore")

    content: str
    role: InjectionRole = "system"
    ephemeral: bool = False
    append_to_last_tool_result: bool = False
    hook_name: str = "unknown"
    event: str = ""


class HookResult(BaseModel):
    """What a handler wants to happen (spec 000, HookResult actions).

    ``context_injections`` says the same as the scalar ``context_injection*`` fields, one item per
    text; where both are set, the list counts. ``approval_timeout`` is in seconds.
    """

    # Built when first used.
    model_config = ConfigDict(extra="ignore", defer_build=True)

    action: HookAction = "continue"
    data: dict[str, Any] | None = None
    reason: str | None = None
    context_injection: str | None = None
    context_injection_role: InjectionRole = "system"
    ephemeral: bool = False
    approval_prompt: str | None = None
    approval_options: list[str] | None = None
    approval_timeout: float = 300.0
    approval_default: Literal["allow", "deny"] = "deny"
    suppress_output: bool = False
    user_message: str | None = None
    user_message_level: Literal["info", "warning", "error"] = "info"
    user_message_source: str | None = None
    append_to_last_tool_result: bool = False
    context_injections: list[ContextInjection] = Field(default_factory=list)

    if not TYPE_CHECKING:

        def __init__(self, /, **fields: Any) -> None:
            super().__init__(**fields)
            # Handlers make many of these: a validator and a private attribute as pydantic has
            # them would make each cost twice as much.
            if not fields.keys() <= _DEFAULTS.keys():
                known = type(self).model_fields
                unknown = tuple(name for name in fields if name not in known)
                _set(self, "__pydantic_private__", {_UNKNOWN: unknown})


def unknown_hook_fields(result: HookResult) -> tuple[str, ...]:
    """Return the fields that a result was given and does not have; they are ignored."""
    private = result.__pydantic_private__
    return private[_UNKNOWN] if private else ()


_UNKNOWN: Final = "_unknown"
_DEFAULTS: dict[str, Any] = {
    name: field.get_default(call_default_factory=True)
    for name, field in HookResult.model_fields.items()
}
_Model = TypeVar("_Model", bound=BaseModel)
_set = object.__setattr__


def _unchecked(model: type[_Model], values: dict[str, Any], fields_set: set[str]) -> _Model:
    # What model_construct does, without its walk over the fields: four times faster, and emit
    # makes one of these per event.
    instance = model.__new__(model)
    _set(instance, "__dict__", values)
    _set(instance, "__pydantic_fields_set__", fields_set)
    _set(instance, "__pydantic_extra__", None)
    _set(instance, "__pydantic_private__", None)
    return instance


def continue_with(data: dict[str, Any] | None) -> HookResult:
    """Return ``HookResult(action="continue", data=data)`` holding ``data`` itself, uncopied."""
    values = _DEFAULTS.copy()
    values["data"] = data
    values["context_injections"] = []
    return _unchecked(HookResult, values, {"action", "data"})


def changed(result: HookResult, **changes: Any) -> HookResult:
    """Return a copy of ``result`` with trusted ``changes``; the original stays as it is."""
    values = {**result.__dict__, **changes}
    return _unchecked(HookResult, values, result.model_fields_set | changes.keys())
