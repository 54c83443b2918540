from dataclasses import replace

import pytest

from amplifier_tui.host.events import (
    Failed,
    HandlerHolds,
    HostEvent,
    ModuleFailed,
    ModuleLoading,
    ModuleMounted,
    ModuleUnmounted,
    Notice,
    Usage,
    UsageChanged,
)
from amplifier_tui.ui.state.instruments.modules import ModuleStatus
from amplifier_tui.ui.state.session import SessionState
from tests.ui.state.make import handler, make, new_state, tool, tool_ended, traced


def loading(module_id: str, kind: str = "tool", **fields: object) -> ModuleLoading:
    return make(ModuleLoading, module_id=module_id, kind=kind, **fields)


def mounted(module_id: str, kind: str = "tool", **fields: object) -> ModuleMounted:
    return make(ModuleMounted, module_id=module_id, kind=kind, **fields)


def failed(module_id: str, kind: str = "tool", **fields: object) -> ModuleFailed:
    return make(ModuleFailed, module_id=module_id, kind=kind, **{"error": "no", **fields})


def info(state: SessionState, key: str) -> ModuleStatus:
    return state.modules.by_key[key]


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ([loading("a")], "loading"),
        ([loading("a"), mounted("a")], "ready"),
        ([loading("a"), failed("a")], "failed"),
        ([failed("a")], "failed"),
        ([mounted("a")], "ready"),
        ([mounted("a"), loading("a")], "ready"),
        ([failed("a"), loading("a")], "loading"),
        ([failed("a"), loading("a"), mounted("a")], "ready"),
    ],
)
def test_a_module_is_in_the_state_it_reached(events: list[HostEvent], expected: str) -> None:
    assert info(new_state(*events), "a").state == expected


def test_modules_are_ordered_by_kind_and_name() -> None:
    state = new_state(
        mounted("hooks-x", "hook"),
        mounted("tool-b"),
        failed("tool-a"),
        mounted("context-simple", "context"),
        mounted("loop", "orchestrator"),
        mounted("provider-x", "provider"),
    )
    assert [m.module_id for m in state.modules.ordered()] == [
        "provider-x",
        "loop",
        "context-simple",
        "tool-a",
        "tool-b",
        "hooks-x",
    ]


def test_two_instances_of_a_module_are_two() -> None:
    state = new_state(
        mounted("provider-openai", "provider", instance="local"),
        mounted("provider-openai", "provider", instance="cloud"),
    )
    assert state.modules.count("ready") == 2


def test_an_unmounted_module_is_gone() -> None:
    state = new_state(mounted("a"), make(ModuleUnmounted, module_id="a", kind="tool"))
    assert state.modules.by_key == {}


def test_a_failure_keeps_its_reason_and_remedy_until_it_is_ready() -> None:
    state = new_state(failed("a", error="no key", remedy="set KEY", missing=("KEY",), fatal=True))
    module = info(state, "a")
    assert (module.error, module.remedy, module.missing, module.fatal) == (
        "no key",
        "set KEY",
        ("KEY",),
        True,
    )
    state.apply([mounted("a")])
    assert (module.error, module.remedy, module.missing, module.fatal) == ("", "", (), False)


def test_calls_and_the_latest_duration_are_counted_for_the_module_of_the_tool() -> None:
    state = new_state(
        mounted("tool-fs", provides=("read", "write")),
        tool("1", "read"),
        tool_ended("1", "read", duration_ms=12.0),
        tool("2", "write", module_id="tool-fs"),
        tool_ended("2", "write", duration_ms=9.0),
        tool("3", "unknown"),
    )
    assert (info(state, "tool-fs").calls, info(state, "tool-fs").last_ms) == (2, 9.0)


def test_a_call_told_twice_and_a_replayed_call_do_not_count() -> None:
    state = new_state(
        mounted("tool-bash", provides=("bash",)),
        tool("1"),
        tool("1"),
        tool("2", replayed=True),
    )
    assert info(state, "tool-bash").calls == 1


def test_a_response_counts_once_though_provider_and_orchestrator_report_it() -> None:
    state = new_state(
        mounted("provider-anthropic", "provider", provides=("anthropic",)),
        traced(1, "llm:response", source="anthropic", data='{"duration_ms": 820.5}'),
        traced(2, "provider:response", source="anthropic"),
    )
    module = info(state, "provider-anthropic")
    assert (module.calls, module.last_ms) == (1, 820.5)


def test_a_provider_that_only_the_orchestrator_speaks_for_is_counted() -> None:
    state = new_state(
        mounted("provider-mock", "provider"), traced(1, "provider:response", source="whatever")
    )
    assert info(state, "provider-mock").calls == 1


@pytest.mark.parametrize("amount", ["1.2.3", "..", ""])
def test_a_duration_that_is_no_number_is_no_duration(amount: str) -> None:
    state = new_state(
        mounted("provider-x", "provider"),
        traced(1, "llm:response", data=f'{{"duration_ms": {amount}}}'),
    )
    assert info(state, "provider-x").last_ms == 0.0


def test_a_provider_shows_the_model_in_use() -> None:
    state = new_state(
        mounted("provider-x", "provider"),
        make(UsageChanged, session=Usage(), provider="x", model="m-1"),
    )
    assert info(state, "provider-x").model == "m-1"


@pytest.mark.parametrize("name", ["hooks-a", "hooks-a.on_pre", "hooks-a:pre", "named"])
def test_hook_runs_count_for_their_module(name: str) -> None:
    state = new_state(
        mounted("hooks-a", "hook", provides=("named",)),
        mounted("hooks-ab", "hook"),
        traced(1, handlers=(handler(name, ms=0.4),), count=3),
    )
    assert (info(state, "hooks-a").calls, info(state, "hooks-a").last_ms) == (3, 0.4)
    assert info(state, "hooks-ab").calls == 0


def test_a_hook_mounted_later_is_found_as_well() -> None:
    state = new_state(traced(1, handlers=(handler("hooks-a"),)), mounted("hooks-a", "hook"))
    state.apply([traced(2, handlers=(handler("hooks-a"),))])
    assert info(state, "hooks-a").calls == 1


def test_an_error_of_a_handler_is_remembered() -> None:
    state = new_state(
        mounted("hooks-a", "hook"),
        traced(1, handlers=(handler("hooks-a", "error", error="KeyError: x"),)),
        traced(2, handlers=(handler("hooks-a"),)),
    )
    assert info(state, "hooks-a").trouble == handler("", "error", error="KeyError: x").problem


def test_a_module_whose_code_failed_a_turn_says_so_until_it_is_mounted_anew() -> None:
    fault = make(Failed, kind="internal", message="It failed", remedy="See a.py:1.", module="p-a")
    state = new_state(mounted("p-a", "provider"), mounted("p-b", "provider"), fault)
    assert info(state, "p-a").trouble == "It failed. See a.py:1."
    assert info(state, "p-b").trouble == ""
    state.apply([mounted("p-a", "provider", again=True), replace(fault, replayed=True)])
    assert info(state, "p-a").trouble == ""


def test_a_module_whose_background_task_fails_while_it_is_mounted_says_so() -> None:
    told = make(Notice, level="warning", text="A background task failed", module="tool-a")
    state = new_state(loading("tool-a"), told, mounted("tool-a"), mounted("tool-b"))
    assert info(state, "tool-a").trouble == "A background task failed"
    assert info(state, "tool-b").trouble == ""
    state.apply([mounted("tool-a", again=True)])
    assert info(state, "tool-a").trouble == ""


def test_runs_of_a_handler_count_for_its_module_whatever_the_handler_is_called() -> None:
    state = new_state(
        mounted("hooks-a", "hook"),
        mounted("hooks-b", "hook"),
        traced(1, handlers=(handler("handler", module="hooks-b"),)),
    )
    assert (info(state, "hooks-a").calls, info(state, "hooks-b").calls) == (0, 1)


def test_a_hook_that_takes_long_holds_what_waits_for_it() -> None:
    hold = {"event": "tool:pre", "handler": "judge", "module": "hooks-a"}
    state = new_state(mounted("hooks-a", "hook"), make(HandlerHolds, **hold))
    assert info(state, "hooks-a").holds == ("tool:pre",)
    state.apply([make(HandlerHolds, **hold), make(HandlerHolds, **hold, over=True)])
    assert info(state, "hooks-a").holds == ("tool:pre",)
    state.apply([make(HandlerHolds, **hold, over=True)])
    assert info(state, "hooks-a").holds == ()
