import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_tui.foundation.spawn.inheritance import child_plan, follow_parent, overlay


def plan(**more: Any) -> dict[str, Any]:
    return {
        "session": {"orchestrator": "o", "context": {"module": "c", "config": {"a": [1], "b": 1}}},
        "tools": [{"module": "t1", "config": {"l": [1]}}, {"module": "t2"}, {"module": "delegate"}],
        "hooks": [{"module": "h1"}, {"module": "h1", "id": "h2"}],
        "agents": {"x": {"instruction": "x"}, "y": {}},
        **more,
    }


def tools(result: dict[str, Any]) -> list[str]:
    return [tool.get("id") or tool["module"] for tool in result["tools"]]


def test_without_agent_and_policy_everything_is_inherited() -> None:
    assert child_plan(plan(), None) == plan()


def test_the_policy_of_the_bundle_removes_or_replaces_tools() -> None:
    assert tools(child_plan(plan(spawn={"exclude_tools": ["delegate"]}), None)) == ["t1", "t2"]
    replaced = child_plan(
        plan(spawn={"tools": ["t2", {"module": "new"}], "exclude_tools": ["t2"]}), None
    )
    assert replaced["tools"] == [{"module": "t2"}, {"module": "new"}]


def test_a_replaced_tool_keeps_the_configuration_it_has() -> None:
    result = child_plan(plan(spawn={"tools": ["t1"]}), None)
    assert result["tools"] == [{"module": "t1", "config": {"l": [1]}}]


def test_lists_of_an_agent_replace_and_mappings_merge() -> None:
    agent = {
        "session": {"context": {"config": {"a": [2]}}},
        "tools": [{"module": "t1", "config": {"l": [2]}}, "bare"],
    }
    result = child_plan(plan(), agent)
    assert result["session"]["context"] == {"module": "c", "config": {"a": [2], "b": 1}}
    assert result["session"]["orchestrator"] == "o"
    assert result["tools"][0] == {"module": "t1", "config": {"l": [2]}}
    assert tools(result) == ["t1", "t2", "delegate", "bare"]


def test_what_an_agent_declares_is_kept_whatever_is_excluded() -> None:
    agent = {"tools": ["delegate", {"module": "t9"}], "hooks": [{"module": "h1"}]}
    result = child_plan(
        plan(spawn={"exclude_tools": ["delegate"]}),
        agent,
        tool_inheritance={"inherit_tools": []},
        hook_inheritance={"exclude_hooks": ["h1"]},
    )
    assert tools(result) == ["delegate", "t9"]
    assert result["hooks"] == [{"module": "h1"}]


def test_entries_are_named_by_id_or_module() -> None:
    result = child_plan(plan(), None, hook_inheritance={"exclude_hooks": ["h2"]})
    assert result["hooks"] == [{"module": "h1"}]
    result = child_plan(plan(), None, hook_inheritance={"inherit_hooks": ["h2"]})
    assert result["hooks"] == [{"module": "h1", "id": "h2"}]


@pytest.mark.parametrize(
    ("allowed", "expected"),
    [("none", []), (["x", "nobody"], ["x"]), ("all", ["x", "y", "z"]), (None, ["x", "y", "z"])],
)
def test_an_agent_says_whom_it_may_delegate_to(allowed: Any, expected: list[str]) -> None:
    result = child_plan(plan(), {"agents": allowed}, agents={"z": {}})
    assert sorted(result["agents"]) == expected


@pytest.mark.parametrize("bad", [{"tools": 5}, {"exclude_tools": "x"}, {}, None, "x"])
def test_a_policy_of_the_wrong_shape_does_nothing(bad: Any) -> None:
    assert tools(child_plan(plan(spawn=bad), None)) == ["t1", "t2", "delegate"]


entries = st.lists(
    st.fixed_dictionaries(
        {"module": st.sampled_from("abc")}, optional={"config": st.just({"k": [1]})}
    ),
    max_size=4,
)


@given(entries, entries, st.lists(st.sampled_from("abc")))
def test_a_child_plan_shares_nothing_with_its_parent(
    parent_tools: list[dict[str, Any]], own: list[dict[str, Any]], excluded: list[str]
) -> None:
    parent, agent = {"tools": parent_tools}, {"tools": own}
    before = copy.deepcopy((parent, agent))
    result = child_plan(parent, agent, tool_inheritance={"exclude_tools": excluded})
    for tool in result["tools"]:
        tool.setdefault("config", {})["k"] = "changed"
    assert (parent, agent) == before
    assert {tool["module"] for tool in own} <= {tool["module"] for tool in result["tools"]}


def test_an_overlay_adds_what_is_new() -> None:
    assert overlay({"a": {"b": 1}}, {"a": {"c": [1]}, "d": 2}) == {"a": {"b": 1, "c": [1]}, "d": 2}


def test_a_list_in_a_modules_configuration_is_no_list_of_modules() -> None:
    parent = {"tools": [{"module": "fs", "config": {"tools": ["read", "write"], "hooks": [1]}}]}
    agent = {"tools": [{"module": "fs", "config": {"tools": ["read"]}}]}
    plan = child_plan(parent, agent)
    assert plan["tools"] == [{"module": "fs", "config": {"tools": ["read"], "hooks": [1]}}]


def test_an_agents_own_policy_holds_for_every_call_and_leaves_what_it_declares() -> None:
    parent = {
        "tools": [{"module": "a"}, {"module": "b"}, {"module": "c"}],
        "hooks": [{"module": "h"}, {"module": "i"}],
    }
    agent = {
        "inherit_tools": ["a", "b"],
        "exclude_hooks": ["h"],
        "tools": [{"module": "own"}],
    }
    plan = child_plan(parent, agent, tool_inheritance={"exclude_tools": ["b"]})
    assert [entry["module"] for entry in plan["tools"]] == ["a", "own"]
    assert [entry["module"] for entry in plan["hooks"]] == ["i"]
    nothing = child_plan(parent, {"inherit_tools": []})
    assert nothing["tools"] == []


def test_one_module_to_inherit_or_leave_out_need_be_no_list() -> None:
    parent = {"tools": [{"module": "a"}, {"module": "b"}]}
    for rule, left in (("exclude_tools", "b"), ("inherit_tools", "a")):
        assert tools(child_plan(parent, {rule: "a"})) == [left]
    assert tools(child_plan({**parent, "spawn": {"exclude_tools": "a"}}, {})) == ["b"]


def test_a_child_has_what_it_inherited_as_its_parent_has_it_now() -> None:
    before = plan()
    own = {"tools": [{"module": "t1", "config": {"mine": 1}}, {"module": "own"}]}
    child = child_plan(before, own, tool_inheritance={"exclude_tools": ["delegate"]})
    changed = {"module": "h1", "config": {"a": 1}}
    now = plan(tools=[{"module": "delegate"}, {"module": "new"}], hooks=[changed])
    followed = follow_parent(child, before, now)
    assert tools(followed) == ["t1", "own"], "t2 is gone; what the agent brings stays as it is"
    assert followed["hooks"] == [changed]
    assert follow_parent(child, before, before)["tools"] == child["tools"]
