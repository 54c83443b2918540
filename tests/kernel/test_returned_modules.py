from collections.abc import Awaitable, Callable
from typing import Any
from unittest.mock import AsyncMock, MagicMock

import pytest

from amplifier_tui.kernel.coordinator import ModuleCoordinator
from amplifier_tui.kernel.mounting.mount import is_module_of
from amplifier_tui.kernel.testing import (
    MockContextManager,
    MockProvider,
    MockTool,
    ScriptedOrchestrator,
)
from tests.kernel.plans import make, plan


class Tool:
    def __init__(self, name: str = "t") -> None:
        self.name = name
        self.called = 0

    async def execute(self, input: dict[str, Any]) -> None: ...

    def __call__(self) -> None:
        self.called += 1


class Context:
    add_message = get_messages_for_request = get_messages = set_messages = clear = AsyncMock()


class Provider(Tool):
    def get_info(self) -> None: ...

    list_models = complete = parse_tool_calls = get_info


def returns(value: Any) -> Callable[[ModuleCoordinator, dict[str, Any]], Awaitable[Any]]:
    async def mount(coordinator: ModuleCoordinator, config: dict[str, Any]) -> Any:
        return value

    return mount


async def test_what_mount_returns_is_registered_automatically() -> None:
    loop, context, provider, tool = ScriptedOrchestrator(["hi"]), Context(), Provider("p"), Tool()
    session, traces = make(
        {
            "loop": returns(loop),
            "context": returns(context),
            "provider-mock": returns(provider),
            "tool-t": returns(tool),
        },
        plan(tools=[{"module": "tool-t"}]),
    )
    async with session:
        coordinator = session.coordinator
        assert coordinator.get("orchestrator") is loop
        assert coordinator.get("context") is context
        assert coordinator.get("providers") == {"p": provider}
        assert coordinator.get("tools") == {"t": tool}
        assert await session.execute("x") == "hi"
    assert "module:load_failed" not in [trace.event for trace in traces]
    assert tool.called == 0


async def test_what_is_mounted_already_is_not_mounted_again() -> None:
    first, second = Tool("first"), Tool("second")

    async def mount(coordinator: ModuleCoordinator, config: dict[str, Any]) -> Any:
        await coordinator.mount("tools", first)
        return second

    session, _ = make({"t": mount}, plan(tools=[{"module": "t"}]))
    async with session:
        assert session.coordinator.get("tools") == {"first": first}


async def test_a_mock_that_is_returned_is_a_cleanup_function() -> None:
    cleanup = AsyncMock()
    session, _ = make({"t": returns(cleanup)}, plan(tools=[{"module": "t"}]))
    async with session:
        assert session.coordinator.get("tools") == {}
    cleanup.assert_awaited_once_with()


@pytest.mark.parametrize(
    ("kind", "returned", "is_one"),
    [
        ("tool", Tool(), True),
        ("tool", MockTool(), False),
        ("tool", Tool, False),
        ("tool", None, False),
        ("tool", print, False),
        ("tool", MagicMock(), False),
        ("provider", Tool(), False),
        ("provider", Provider(), True),
        ("provider", MockProvider(), False),
        ("orchestrator", ScriptedOrchestrator([]), True),
        ("context", Context(), True),
        ("context", MockContextManager(), False),
        ("hook", Tool(), False),
        ("resolver", Tool(), False),
    ],
)
def test_a_module_has_the_methods_of_its_kind_on_its_class(
    kind: str, returned: Any, is_one: bool
) -> None:
    assert is_module_of(kind, returned) is is_one
