import asyncio
import inspect
from typing import Any

import pytest

from amplifier_tui import kernel
from amplifier_tui.kernel import testing
from amplifier_tui.kernel.interfaces import ContextManager, Orchestrator, Provider, Tool
from amplifier_tui.kernel.message_models import ChatRequest, Message
from amplifier_tui.kernel.models import HookResult, ToolResult
from amplifier_tui.kernel.testing import (
    EventRecorder,
    MockContextManager,
    MockCoordinator,
    MockProvider,
    MockTool,
    ScriptedOrchestrator,
    TestCoordinator,
    create_test_coordinator,
    wait_for,
)


def test_the_published_names_are_exported() -> None:
    for name in (
        "EventRecorder",
        "MockContextManager",
        "MockCoordinator",
        "MockTool",
        "ScriptedOrchestrator",
        "create_test_coordinator",
        "wait_for",
    ):
        assert getattr(kernel, name) is getattr(testing, name)
        assert name in kernel.__all__


# -- the coordinator -------------------------------------------------------------------------------


def test_the_coordinator_belongs_to_a_test_session() -> None:
    coordinator = MockCoordinator()
    assert isinstance(coordinator, kernel.ModuleCoordinator)
    assert (coordinator.session_id, coordinator.parent_id) == ("test-session", None)
    assert coordinator.config == {
        "session": {"orchestrator": "test-orchestrator", "context": "test-context"}
    }
    assert TestCoordinator is MockCoordinator


def test_pytest_does_not_take_the_coordinator_for_a_test() -> None:
    assert TestCoordinator.__test__ is False


async def test_the_coordinator_notes_mounts_and_unmounts() -> None:
    coordinator, tool = MockCoordinator(), MockTool()
    await coordinator.mount("tools", tool)
    await coordinator.mount("tools", tool, name="other")
    await coordinator.unmount("tools", "other")
    assert coordinator.mount_history == [
        {"mount_point": "tools", "module": tool, "name": None},
        {"mount_point": "tools", "module": tool, "name": "other"},
    ]
    assert coordinator.unmount_history == [{"mount_point": "tools", "name": "other"}]
    assert coordinator.get_mounted("tools") == {"mock_tool": tool}
    with pytest.raises(ValueError, match="Unknown mount point"):
        await coordinator.mount("nowhere", tool)
    with pytest.raises(ValueError, match="Nothing named 'gone'"):
        await coordinator.unmount("tools", "gone")
    # What was tried is noted, too.
    assert coordinator.mount_history[2]["mount_point"] == "nowhere"
    assert coordinator.unmount_history[1] == {"mount_point": "tools", "name": "gone"}


async def test_the_coordinators_approval_and_display_are_mocks_that_work() -> None:
    coordinator = MockCoordinator()
    asked = HookResult(action="ask_user", approval_prompt="Sure?")
    assert (await coordinator.process_hook_result(asked, "tool:pre")).action == "continue"
    coordinator.approval_system.request_approval.assert_awaited_once()
    coordinator.approval_system.request_approval.return_value = "Deny"
    assert (await coordinator.process_hook_result(asked, "tool:pre")).action == "deny"
    await coordinator.process_hook_result(HookResult(user_message="hello"), "tool:pre", "h")
    coordinator.display_system.show_message.assert_called_once_with("hello", "info", "hook:h")


def test_two_coordinators_share_nothing() -> None:
    one, two = MockCoordinator(), MockCoordinator()
    one.config["x"] = one.mount_points["tools"]["t"] = 1
    assert "x" not in two.config
    assert two.get("tools") == {}


# -- the tool --------------------------------------------------------------------------------------


async def test_a_mock_tool_answers_and_counts() -> None:
    tool = MockTool()
    assert isinstance(tool, Tool)
    assert (tool.name, tool.description) == ("mock_tool", "Mock tool: mock_tool")
    assert tool.input_schema == {"type": "object", "properties": {}}
    assert (tool.call_count, tool.last_input) == (0, None)
    result = await tool.execute({"a": 1})
    assert result == ToolResult(success=True, output="Success")
    assert (tool.call_count, tool.last_input) == (1, {"a": 1})
    tool.execute.assert_awaited_once_with({"a": 1})


@pytest.mark.parametrize(
    ("arguments", "output"),
    [
        ({"name": "x", "output": [1]}, [1]),
        ({"name": "x", "description": "d", "return_value": "mock result"}, "mock result"),
        ({"output": "a", "return_value": None}, None),
    ],
)
async def test_a_mock_tool_takes_the_names_of_both_documents(
    arguments: dict[str, Any], output: Any
) -> None:
    tool = MockTool(**arguments)
    assert (await tool.execute({})).output == output
    assert tool.description == arguments.get("description", f"Mock tool: {tool.name}")


async def test_a_mock_tool_can_fail_both_ways() -> None:
    result = ToolResult(success=False, error={"message": "no"})
    assert await MockTool(output=result).execute({}) is result
    with pytest.raises(OSError, match="disk"):
        await MockTool(output=OSError("disk")).execute({})


# -- the context -----------------------------------------------------------------------------------


async def test_a_mock_context_does_the_real_thing_and_can_be_asserted_on() -> None:
    given = [{"role": "system", "content": "s"}]
    context = MockContextManager(given)
    assert context.messages is given
    assert isinstance(context, ContextManager)
    await context.add_message({"role": "user", "content": "u"})
    context.add_message.assert_awaited_once()
    assert [m["role"] for m in context.messages] == ["system", "user"]
    for messages in (
        await context.get_messages(),
        await context.get_messages_for_request(),
        await context.get_messages_for_request(token_budget=5, provider=object()),
    ):
        assert messages == context.messages
        assert messages is not context.messages
    assert await context._should_compact() is False
    assert await context._compact_internal() is None
    await context.set_messages([{"role": "user", "content": "only"}])
    assert len(context.messages) == 1
    await context.clear()
    assert context.messages == []


# -- the provider ----------------------------------------------------------------------------------


async def test_a_mock_provider_answers_its_text() -> None:
    provider = MockProvider("Hello", name="fake")
    assert isinstance(provider, Provider)
    request = ChatRequest(messages=[Message(role="user", content="hi")])
    response = await provider.complete(request)
    assert response.content[0].text == "Hello"
    assert provider.requests == [request]
    assert provider.parse_tool_calls(response) == []
    assert provider.get_info().id == "fake"
    assert [model.id for model in await provider.list_models()] == ["fake-model"]


# -- the recorder ----------------------------------------------------------------------------------


async def test_the_recorder_keeps_copies_in_order() -> None:
    recorder, data = EventRecorder(), {"tool_name": "Write"}
    result = await recorder.record("tool:pre", data)
    assert result == HookResult(action="continue")
    await recorder.emit("tool:post", {"n": 1})
    await recorder.emit("tool:pre")
    data["tool_name"] = "changed"
    assert recorder.get_events() == [
        ("tool:pre", {"tool_name": "Write"}),
        ("tool:post", {"n": 1}),
        ("tool:pre", {}),
    ]
    assert recorder.events == recorder.get_events()
    assert recorder.get_events("tool:post") == [("tool:post", {"n": 1})]
    coroutine = recorder.emit("x", {})
    assert inspect.iscoroutine(coroutine)
    coroutine.close()
    recorder.clear()
    assert recorder.get_events() == []


# -- the orchestrator ------------------------------------------------------------------------------


async def test_a_scripted_orchestrator_answers_from_its_list_and_then_is_done() -> None:
    orchestrator, context, hooks = (
        ScriptedOrchestrator(["one"]),
        MockContextManager(),
        EventRecorder(),
    )
    assert isinstance(orchestrator, Orchestrator)
    arguments = {"context": context, "providers": {}, "tools": {}, "hooks": hooks}
    assert await orchestrator.execute(prompt="p", **arguments, coordinator=None) == "one"
    assert await orchestrator.execute("q", context, {}, {}, hooks) == "DONE"
    assert orchestrator.call_count == 2
    assert [m["content"] for m in context.messages] == ["p", "one", "q", "DONE"]
    assert hooks.events[:2] == [
        ("session:start", {"prompt": "p"}),
        ("session:end", {"response": "one"}),
    ]


# -- the rest --------------------------------------------------------------------------------------


async def test_the_ready_made_coordinator_has_tools_that_work_and_fail() -> None:
    coordinator = create_test_coordinator()
    assert list(coordinator.get("tools")) == ["echo", "fail"]
    assert (await coordinator.get("tools", "echo").execute({})).output == "Echo response"
    assert (await coordinator.get("tools", "fail").execute({})).success is False
    assert isinstance(coordinator.get("context"), MockContextManager)
    assert coordinator.mount_history == []


async def test_wait_for_waits_until_the_condition_holds() -> None:
    seen = asyncio.Event()
    asyncio.get_running_loop().call_soon(seen.set)
    assert await wait_for(seen.is_set) is True

    async def yes() -> bool:
        return True

    assert await wait_for(yes) is True
    assert await wait_for(lambda: False, timeout=0) is False
