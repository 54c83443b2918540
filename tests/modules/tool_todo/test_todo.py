import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_tui.kernel.coordinator import ModuleCoordinator
from amplifier_tui.kernel.loader import ModuleLoader
from amplifier_tui.kernel.models import ToolResult
from amplifier_tui.kernel.testing import MockContextManager
from amplifier_tui.modules import tool_todo
from amplifier_tui.modules.tool_todo import STATUSES, read_items

ITEMS = [
    {"content": "Read the code", "status": "completed", "activeForm": "Reading the code"},
    {"content": "Write a test", "status": "in_progress", "activeForm": "Writing a test"},
    {"content": "Run it", "status": "pending", "activeForm": "Running it"},
]


async def mounted(**config: Any) -> ModuleCoordinator:
    coordinator = ModuleCoordinator()
    await tool_todo.mount(coordinator, config)
    return coordinator


async def call(coordinator: ModuleCoordinator, **arguments: Any) -> ToolResult:
    result: ToolResult = await coordinator.get("tools", "todo").execute(arguments)
    return result


async def test_it_is_found_by_its_id():
    coordinator = ModuleCoordinator()
    mount = await ModuleLoader(coordinator).load("tool-todo", {})
    await mount(coordinator)
    tool = coordinator.get("tools", "todo")
    properties = tool.input_schema["properties"]["todos"]["items"]["properties"]
    assert list(properties) == ["content", "status", "activeForm"]


async def test_a_list_is_created_changed_and_listed():
    coordinator = await mounted()
    created = await call(coordinator, action="create", todos=ITEMS)
    assert created.output == {"status": "created", "count": 3, "todos": ITEMS}
    changed = [{**item, "status": "completed"} for item in ITEMS]
    updated = await call(coordinator, action="update", todos=changed)
    assert updated.output == {"status": "updated", "count": 3, "todos": changed}
    listed = await call(coordinator, action="list")
    assert listed.output == {"status": "listed", "count": 3, "todos": changed}
    assert await coordinator.get_capability("todo.items")() == changed
    emptied = await call(coordinator, action="update", todos=[])
    assert emptied.output["count"] == 0


async def test_what_a_model_may_get_wrong_is_read_all_the_same():
    coordinator = await mounted()
    given = [
        "Just text",
        {"content": " two\nlines ", "status": "DONE", "active_form": "x"},
        {"content": "c", "status": "in-progress"},
        {"content": "d"},
    ]
    result = await call(coordinator, todos=json.dumps(given))
    assert result.output["todos"] == [
        {"content": "Just text", "status": "pending", "activeForm": "Just text"},
        {"content": "two lines", "status": "completed", "activeForm": "x"},
        {"content": "c", "status": "in_progress", "activeForm": "c"},
        {"content": "d", "status": "pending", "activeForm": "d"},
    ]


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({"action": "delete"}, "create, update, list"),
        ({"action": "create"}, "must be a list"),
        ({"action": "create", "todos": "nope"}, "must be a list"),
        ({"action": "create", "todos": {"a": 1}}, "must be a list"),
        ({"action": "create", "todos": [3]}, "Item 1"),
        ({"action": "create", "todos": [{"content": " "}]}, "Item 1 has no `content`"),
        ({"action": "update", "todos": ["a", {"content": "b", "status": "soon"}]}, "Item 2"),
        ({"action": "create", "todos": ["x"] * 101}, "at most 100"),
    ],
)
async def test_a_mistake_is_told_and_leaves_the_list_as_it_was(arguments: dict[str, Any], why: str):
    coordinator = await mounted()
    await call(coordinator, action="create", todos=ITEMS)
    result = await call(coordinator, **arguments)
    assert not result.success and why in str(result.output)
    assert (await call(coordinator, action="list")).output["todos"] == ITEMS


async def test_a_very_long_item_is_shortened():
    result = await call(await mounted(), action="create", todos=["x" * 10_000])
    assert len(result.output["todos"][0]["content"]) == 500


async def test_a_resumed_session_has_its_list_from_the_conversation():
    coordinator = await mounted()

    def calls(*arguments: Any) -> dict[str, Any]:
        listed = [{"id": "c", "name": "todo", "arguments": given} for given in arguments]
        return {"role": "assistant", "content": "", "tool_calls": listed}

    coordinator.mount_points["context"] = MockContextManager(
        [
            calls({"action": "create", "todos": ["first"]}),
            calls({"action": "update", "todos": ["second"]}, {"action": "list"}),
            calls({"action": "update", "todos": "broken"}),
            {"role": "assistant", "tool_calls": [{"name": "other", "arguments": {"todos": []}}]},
            {"role": "user", "content": "go on"},
        ]
    )
    items = await coordinator.get_capability("todo.items")()
    assert [item["content"] for item in items] == ["second"]


async def test_without_a_conversation_there_is_no_list():
    assert await (await mounted()).get_capability("todo.items")() == []


async def test_a_caller_cannot_change_the_list_through_what_it_gets():
    coordinator = await mounted()
    await call(coordinator, action="create", todos=ITEMS)
    items = await coordinator.get_capability("todo.items")()
    items[0]["content"] = "changed"
    items.clear()
    assert await coordinator.get_capability("todo.items")() == ITEMS


@pytest.mark.parametrize("most", [0, -1, "many", True])
async def test_a_mistake_in_the_config_is_told(most: Any):
    with pytest.raises(ValueError, match="max_items"):
        await mounted(max_items=most)


@given(
    st.recursive(
        st.none() | st.text() | st.integers(), lambda x: st.lists(x) | st.dictionaries(st.text(), x)
    )
)
def test_whatever_is_given_becomes_a_list_or_a_readable_error(value: Any):
    try:
        items = read_items(value, 100)
    except ValueError as error:
        assert str(error)
        return
    for item in items:
        assert set(item) == {"content", "status", "activeForm"}
        assert item["content"] and item["status"] in STATUSES and "\n" not in item["content"]
