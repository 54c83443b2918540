"""One validator for each kind of module."""

import inspect
from pathlib import Path
from typing import Any, ClassVar, Final

from amplifier_tui.base.messages.tool_calls import told_schema, tool_spec
from amplifier_tui.base.nearest import nearest
from amplifier_tui.base.tool_names import is_known_tool
from amplifier_tui.kernel.models import ProviderInfo
from amplifier_tui.kernel.mounting.callbacks import (
    is_async,
    missing_keywords,
    needed_beyond,
    positional_parameters,
)
from amplifier_tui.kernel.mounting.contents import (
    CALLS,
    EVENT,
    RESPONSE,
    TOOL_NAME,
    event_problem,
    place_of,
    tool_name_problem,
)
from amplifier_tui.kernel.mounting.mount import METHODS
from amplifier_tui.kernel.mounting.schemas import json_problem, tool_schema_problem
from amplifier_tui.kernel.mounting.trial import TrialCoordinator
from amplifier_tui.kernel.validation.base import (
    Severity,
    ValidationCheck,
    ValidationResult,
    check_method,
    check_text,
    failure,
    success,
)
from amplifier_tui.kernel.validation.module_validator import (
    COMPLIANCE,
    InstanceValidator,
    ModuleValidator,
    mounted_at,
)

_ARGUMENTS: Final = ("prompt", "context", "providers", "tools", "hooks")
_REMEDY: Final = (
    "Define it as: async def execute(self, prompt, context, providers, tools, hooks, **kwargs)"
)


_OWN: Final = "amplifier_tui."
_KNOWN: Final = (
    "the program knows a tool named {!r}: its rules hold for this one, "
    "and of two of the name a session keeps the one mounted last"
)

_ONE_OF_TWO: Final = "a session keeps the one that is mounted last"
_BOTH_OF_ONE: Final = "loops of others tell models that name, and not what they are mounted as"
_MODELS: Final = "[ModelInfo(id=, display_name=, context_window=, max_output_tokens=), ...]"
_RENAME: Final = "Give one of the two another name"


class OrchestratorValidator(InstanceValidator):
    """Checks that a module mounts an orchestrator that a session can call."""

    kind: ClassVar[str] = "orchestrator"
    contract: ClassVar[str] = "Orchestrator"

    def look_closer(self, result: ValidationResult, instance: Any) -> None:
        """Add ``orchestrator_execute``."""
        name, execute = "orchestrator_execute", instance.execute
        # A session calls it by keywords only.
        missing = missing_keywords(execute, _ARGUMENTS)
        found = positional_parameters(execute)
        if not is_async(execute):
            problem = "Orchestrator.execute() should be async"
            result.fail(name, problem, _REMEDY, where=place_of(execute))
        elif missing:
            problem = (
                f"Orchestrator.execute() should accept ({', '.join(_ARGUMENTS)}), "
                f"found {found} params, missing: {', '.join(missing)}"
            )
            result.fail(name, problem, _REMEDY, where=place_of(execute))
        elif more := needed_beyond(execute, 0, (*_ARGUMENTS, "coordinator")):
            problem = f"Orchestrator.execute() needs {', '.join(more)}, which no session gives it"
            result.fail(name, problem, _REMEDY, where=place_of(execute))
        else:
            result.succeed(name, "Orchestrator.execute() has correct async signature")

    async def run(self, result: ValidationResult, coordinator: TrialCoordinator) -> bool:
        """Add what it does with the answers of hooks."""
        from amplifier_tui.kernel.validation.obedience import check_obedience

        orchestrator = coordinator.get("orchestrator")
        if orchestrator is not None:
            await check_obedience(result, orchestrator, coordinator)
        return orchestrator is not None


class ProviderValidator(InstanceValidator):
    """Checks that a module mounts providers with all five members of the contract."""

    kind: ClassVar[str] = "provider"
    contract: ClassVar[str] = "Provider"
    attributes: ClassVar[tuple[str, ...]] = ("name",)

    def look_closer(self, result: ValidationResult, instance: Any) -> None:
        """Add ``provider_name`` and one check for each method."""
        where = place_of(instance)
        result.add(check_text("provider_name", "Provider.name", instance.name, where=where))
        result.add(_check_info(instance))
        result.add(
            check_method("provider_list_models", "Provider.list_models()", instance.list_models, ())
        )
        result.add(
            check_method(
                "provider_complete", "Provider.complete()", instance.complete, ("request",)
            )
        )
        # Whether it can be called was seen with the rest of the contract.
        found = "Provider.parse_tool_calls() exists and is callable"
        result.succeed("provider_parse_tool_calls", found)

    async def run(self, result: ValidationResult, coordinator: TrialCoordinator) -> bool:
        """Add ``provider_answer``, ``provider_calls``, ``provider_models`` for what is no answer.

        Its source is read. It is not asked: that takes a key, and may cost money.
        """
        from amplifier_tui.kernel.validation.returns import plain_items, plain_return

        providers = coordinator.get_mounted("providers").values()
        for provider in providers:
            if found := plain_return(provider.complete):
                value, where = found
                # A stub returns nothing; the published validator lets one pass.
                unwritten = value == "None"
                problem = f"Provider.complete() returns {'nothing' if unwritten else value}"
                severity: Severity = "warning" if unwritten else "error"
                result.fail("provider_answer", problem, f"Return {RESPONSE}", severity, where)
            if is_async(provider.parse_tool_calls):
                problem = "Provider.parse_tool_calls() is async: no tool call is ever read"
                remedy = "Define it as: def parse_tool_calls(self, response)"
                where = place_of(provider.parse_tool_calls)
                result.fail("provider_calls", problem, remedy, where=where)
            elif found := plain_items(provider.parse_tool_calls):
                value, where = found
                problem = f"Provider.parse_tool_calls() returns {value} in its list"
                result.fail("provider_calls", problem, f"Return {CALLS}", where=where)
            if found := plain_items(provider.list_models):
                value, where = found
                problem = f"Provider.list_models() returns {value} in its list: no model is found"
                result.fail("provider_models", problem, f"Return {_MODELS}", "warning", where)
        return bool(providers)


def _check_info(provider: Any) -> ValidationCheck:
    name, where = "provider_get_info", place_of(provider.get_info)
    try:
        info = provider.get_info()
    except Exception as error:
        return failure(
            name,
            f"Error calling Provider.get_info(): {error}",
            "get_info() should work without a network or a key",
            "warning",
            where,
        )
    if inspect.iscoroutine(info):
        # Python would warn of it, in words of its own.
        info.close()
    if isinstance(info, ProviderInfo):
        return success(name, "Provider.get_info() returns ProviderInfo")
    return failure(
        name,
        f"Provider.get_info() should return ProviderInfo, got {type(info).__name__}",
        "Return ProviderInfo(id=..., display_name=...); it is not async",
        where=where,
    )


class ToolValidator(InstanceValidator):
    """Checks that a module mounts tools that can be described to a model and executed."""

    kind: ClassVar[str] = "tool"
    contract: ClassVar[str] = "Tool"
    attributes: ClassVar[tuple[str, ...]] = ("name", "description")

    def look(self, result: ValidationResult, coordinator: TrialCoordinator, returned: Any) -> None:
        """Add what all kinds have, and ``tool_name`` for each two tools of one name."""
        super().look(result, coordinator, returned)
        gone = {each["name"] for each in coordinator.unmount_history}
        mounted: dict[str, Any] = {}
        called: dict[str, Any] = {}
        for each in coordinator.mount_history:
            tool, name = each["module"], getattr(each["module"], "name", None)
            key = str(each["name"] or name)
            if each["mount_point"] != "tools" or key in gone:
                continue
            if mounted.setdefault(key, tool) is not tool:
                problem = f"two tools are called {key!r:.80}: {_ONE_OF_TWO}"
            elif isinstance(name, str) and called.setdefault(name, tool) is not tool:
                problem = f"two tools are called {name!r:.80}: {_BOTH_OF_ONE}"
            else:
                continue
            result.fail("tool_name", problem, _RENAME, "warning", place_of(tool))

    def look_closer(self, result: ValidationResult, instance: Any) -> None:
        """Add ``tool_name``, ``tool_description``, ``tool_input_schema`` and ``tool_execute``."""
        where = place_of(instance)
        result.add(check_text("tool_name", "Tool.name", instance.name, where=where))
        if wrong := tool_name_problem(instance.name):
            result.fail("tool_name", wrong, TOOL_NAME, "warning", where)
        if is_known_tool(instance.name) and not type(instance).__module__.startswith(_OWN):
            result.succeed("tool_known", _KNOWN.format(instance.name), "warning")
        result.add(
            check_text(
                "tool_description", "Tool.description", instance.description, "warning", where
            )
        )
        result.add(_check_schema(instance, where))
        result.add(check_method("tool_execute", "Tool.execute()", instance.execute, ("input",)))

    async def run(self, result: ValidationResult, coordinator: TrialCoordinator) -> bool:
        """Add ``tool_answer`` where execute() returns nothing: its source is read.

        It is not called: nobody knows what it would do.
        """
        from amplifier_tui.kernel.validation.returns import plain_return

        tools = coordinator.get_mounted("tools").values()
        for value, where in filter(None, (plain_return(tool.execute) for tool in tools)):
            if value == "None":
                problem = 'Tool.execute() returns nothing: the model reads "Success"'
                result.fail("tool_answer", problem, "Return a ToolResult", "warning", where)
        return bool(tools)


def _check_schema(tool: Any, where: str) -> ValidationCheck:
    name = "tool_input_schema"
    sent = tool_spec(name, tool)["parameters"]
    if found := tool_schema_problem(tool):
        wrong, remedy = found
        # With what is no JSON no request of a session could be sent.
        severity: Severity = "error" if json_problem(sent) else "warning"
        return failure(name, f"Tool.{wrong}", remedy, severity, where)
    told_by, schema = told_schema(tool)
    if told_by:
        count = len(schema.get("properties") or ())
        return success(name, f"Tool.{told_by} returns dict with {count} properties")
    return _no_schema(tool, where)


def _no_schema(tool: Any, where: str) -> ValidationCheck:
    near = nearest("input_schema", (each for each in dir(tool) if not each.startswith("_")))
    return failure(
        "tool_input_schema",
        "Tool.input_schema is missing: the model sees the tool without arguments",
        f"Rename {near} to input_schema"
        if near
        else 'Give it one; without arguments it is {"type": "object", "properties": {}}',
        "warning",
        where,
    )


_NO_HANDLER: Final = (
    "No handler was registered with coordinator.hooks (may be conditional); mount() at {where} "
    'hears events with: coordinator.hooks.register("tool:pre", handler)'
)


class HookValidator(ModuleValidator):
    """Checks that a module's handlers can be called as the hook registry calls them."""

    kind: ClassVar[str] = "hook"

    def look(self, result: ValidationResult, coordinator: TrialCoordinator, returned: Any) -> None:
        """Add ``protocol_compliance`` and ``hook_call`` for each handler registered."""
        handlers = coordinator.hooks._registered()
        if handlers:
            found = f"Hooks registered via coordinator.hooks ({len(handlers)} handlers)"
            result.succeed(COMPLIANCE, found)
        elif self.trial is not None and (added := self.trial.added):
            result.succeed(COMPLIANCE, f"It hears no events; it added {', '.join(added)}")
        else:
            found = _NO_HANDLER.format(where=self.mount_place) + mounted_at(coordinator)
            result.succeed(COMPLIANCE, found, "warning")
        for event, name, handler in handlers:
            who = f"Handler '{name}' of '{event}'"
            result.add(_check_handler(who, handler, self.mount_place))
            if wrong := event_problem(event):
                result.fail("hook_event", wrong, EVENT, "warning", place_of(handler))

    async def run(self, result: ValidationResult, coordinator: TrialCoordinator) -> bool:
        """Add what the handlers of prompts and tool calls answer."""
        from amplifier_tui.kernel.validation.answers import check_answers

        return await check_answers(result, coordinator)


def _check_handler(who: str, handler: Any, mount_place: str) -> ValidationCheck:
    remedy = "Define it as: async def handler(event, data) -> HookResult"
    if not callable(handler):
        problem = f"{who} is not callable: {type(handler).__name__}"
        return failure("hook_call", problem, remedy, where=mount_place)
    found = positional_parameters(handler)
    if found < 2:
        problem = f"{who} should accept (event, data), found {found}"
        return failure("hook_call", problem, remedy, where=place_of(handler))
    if more := needed_beyond(handler, 2):
        problem = f"{who} is called with (event, data), and needs {', '.join(more)}"
        return failure("hook_call", problem, remedy, where=place_of(handler))
    if not is_async(handler):
        problem = f"{who} should be async"
        return failure("hook_call", problem, remedy, "warning", place_of(handler))
    return success("hook_call", f"{who} has correct async signature")


_TAKES: Final = {"add_message": ("message",), "set_messages": ("messages",)}
_MAY_BE_GIVEN: Final = {"get_messages_for_request": ("token_budget", "provider")}


class ContextValidator(InstanceValidator):
    """Checks that a module mounts a context with all five methods of the contract."""

    kind: ClassVar[str] = "context"
    contract: ClassVar[str] = "ContextManager"

    def look_closer(self, result: ValidationResult, instance: Any) -> None:
        """Add ``context_<method>`` for each of the methods."""
        for method in METHODS[self.kind]:
            title, function = f"ContextManager.{method}()", getattr(instance, method)
            takes = (_TAKES.get(method, ()), _MAY_BE_GIVEN.get(method, ()))
            result.add(check_method(f"context_{method}", title, function, *takes))

    async def run(self, result: ValidationResult, coordinator: TrialCoordinator) -> bool:
        """Add whether it gives messages, and keeps those it is given."""
        from amplifier_tui.kernel.validation.keeping import check_keeping

        context = coordinator.get("context")
        if context is not None:
            await check_keeping(result, context)
        return context is not None


VALIDATORS: Final[dict[str, type[ModuleValidator]]] = {
    validator.kind: validator
    for validator in (
        OrchestratorValidator,
        ProviderValidator,
        ToolValidator,
        HookValidator,
        ContextValidator,
    )
}
"""The validator of each kind."""


async def validate_module(
    kind: str, package_dir: Path, module_id: str, config: dict[str, Any] | None = None
) -> ValidationResult | None:
    """Check the package of a module before it is mounted with ``config``.

    Returns None for a kind that has no validator.
    """
    validator = VALIDATORS.get(kind)
    if validator is None:
        return None
    return await validator(module_id).validate(package_dir, config=config)
