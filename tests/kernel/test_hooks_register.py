from typing import Any
from unittest.mock import Mock

import pytest

from amplifier_tui.kernel import events
from amplifier_tui.kernel.hooks import HookRegistry, HookResult


async def noted(event: str, data: dict[str, Any]) -> None:
    return None


def test_the_registry_knows_the_usual_events_by_constant() -> None:
    assert HookRegistry.SESSION_START == events.SESSION_START == "session:start"
    assert HookRegistry.SESSION_END == "session:end"
    assert HookRegistry.PROMPT_SUBMIT == "prompt:submit"
    assert HookRegistry.TOOL_PRE == "tool:pre"
    assert HookRegistry.TOOL_POST == "tool:post"
    assert HookRegistry.CONTEXT_PRE_COMPACT == "context:pre_compact"
    assert HookRegistry.ORCHESTRATOR_COMPLETE == "orchestrator:complete"
    assert HookRegistry.USER_NOTIFICATION == "user:notification"


def test_lower_priorities_run_first_and_ties_in_order_of_registration() -> None:
    hooks = HookRegistry()
    for name, priority in (("c", 5), ("d", 5), ("a", -10), ("b", 0)):
        hooks.register("x", noted, priority, name)
    assert hooks.list_handlers("x") == {"x": ["a", "b", "c", "d"]}


def test_register_takes_keywords_and_on_is_the_same() -> None:
    hooks = HookRegistry()
    hooks.register(event="x", handler=noted, priority=1, name="one")
    hooks.on("x", noted, priority=0, name="zero")
    assert hooks.list_handlers("x") == {"x": ["zero", "one"]}


def test_the_default_name_is_the_handlers_own() -> None:
    hooks = HookRegistry()
    hooks.register("x", noted)
    assert hooks.list_handlers("x") == {"x": ["noted"]}


def test_a_handler_without_a_name_gets_one_of_its_own() -> None:
    class Handler:
        async def __call__(self, event: str, data: dict[str, Any]) -> None:
            return None

    hooks = HookRegistry()
    hooks.register("tool:pre", Handler())
    hooks.register("tool:pre", Handler())
    first, second = hooks.list_handlers("tool:pre")["tool:pre"]
    assert first.startswith("_auto_tool:pre_")
    assert first != second


@pytest.mark.parametrize("name", ["", 5, None])
def test_a_name_that_names_nothing_is_replaced(name: Any) -> None:
    handler = Mock(__name__=name)
    hooks = HookRegistry()
    hooks.register("tool:pre", handler)
    [found] = hooks.list_handlers("tool:pre")["tool:pre"]
    assert found.startswith("_auto_tool:pre_")


def test_list_handlers_knows_all_events_and_answers_for_unknown_ones() -> None:
    hooks = HookRegistry()
    hooks.register("x", noted)
    hooks.register("y", noted)
    assert hooks.list_handlers() == {"x": ["noted"], "y": ["noted"]}
    assert hooks.list_handlers("z") == {"z": []}


def test_unregistering_twice_is_fine_and_leaves_an_empty_list() -> None:
    hooks = HookRegistry()
    unregister = hooks.register("x", noted)
    unregister()
    unregister()
    assert hooks.list_handlers() == {"x": []}


def test_one_name_on_many_events_each_callable_removes_only_its_own() -> None:
    hooks = HookRegistry()
    removals = [hooks.register(f"e{i}", noted, name="logger") for i in range(45)]
    removals[7]()
    left = {event for event, names in hooks.list_handlers().items() if names}
    assert left == {f"e{i}" for i in range(45) if i != 7}


def test_the_same_handler_twice_on_one_event_is_two_registrations() -> None:
    hooks = HookRegistry()
    first = hooks.register("x", noted, name="n")
    hooks.register("x", noted, name="n")
    first()
    first()
    assert hooks.list_handlers("x") == {"x": ["n"]}


async def test_a_suspended_name_is_silent_until_it_is_resumed_where_it_was() -> None:
    hooks, heard = HookRegistry(), list[str]()
    for name, priority in (("a", 1), ("b", 2), ("c", 3)):
        hooks.register("x", lambda event, data, name=name: heard.append(name), priority, name)
    resume = hooks.suspend("b")
    await hooks.emit("x", {})
    resume()
    resume()
    await hooks.emit("x", {})
    assert heard == ["a", "c", "a", "b", "c"]
    hooks.suspend("nobody")()
    assert hooks.list_handlers("x") == {"x": ["a", "b", "c"]}


def test_unregister_by_name_removes_every_registration_of_that_name() -> None:
    hooks = HookRegistry()
    for event in ("x", "y"):
        hooks.register(event, noted, name="gone")
        hooks.register(event, noted, name="stays")
    hooks.unregister("gone")
    hooks.unregister("nobody")
    assert hooks.list_handlers() == {"x": ["stays"], "y": ["stays"]}


def test_a_priority_that_can_not_be_compared_leaves_the_registry_as_it_was() -> None:
    hooks = HookRegistry()
    hooks.register("x", noted, 1)
    odd: Any = "high"
    with pytest.raises(TypeError):
        hooks.register("x", noted, odd)
    assert hooks.list_handlers("x") == {"x": ["noted"]}


async def test_default_fields_are_replaced_not_added_to() -> None:
    hooks = HookRegistry()
    seen: list[dict[str, Any]] = []
    hooks.register("x", lambda event, data: seen.append(data))
    hooks.set_default_fields(a=1, b=2)
    hooks.set_default_fields(b=3, parent_id=None)
    await hooks.emit("x", {"b": 4})
    assert {k: v for k, v in seen[0].items() if k != "timestamp"} == {"b": 4, "parent_id": None}


def test_hook_result_is_one_class_wherever_it_is_imported_from() -> None:
    from amplifier_tui import kernel
    from amplifier_tui.kernel import hooks, models

    assert hooks.HookResult is models.HookResult is kernel.HookResult is HookResult
    assert {"HookRegistry", "HookResult", "ContextInjection"} <= set(hooks.__all__)


@pytest.mark.parametrize("priority", ["5", None, float("nan")])
def test_a_priority_that_is_no_number_is_refused_before_it_spoils_the_order(priority: Any) -> None:
    registry = HookRegistry()
    registry.register("tool:pre", print, priority=3)
    with pytest.raises(TypeError, match="priority of a hook is a number"):
        registry.register("tool:pre", print, priority=priority)
    registry.register("tool:pre", print, priority=1.5)
    assert len(registry.list_handlers("tool:pre")["tool:pre"]) == 2
