"""How every hook behaves."""

from __future__ import annotations

import inspect
from typing import Any, Final

import pytest

from amplifier_tui.kernel._hook_results import INVALID_RESPONSE
from amplifier_tui.kernel.hooks import HookResult, HookTrace
from amplifier_tui.kernel.validation.proto_schema import VALID_HOOK_ACTIONS

_SAMPLE: Final = {
    "tool_name": "test_tool",
    "tool_input": {"text": "hello"},
    "tool_call_id": "call-1",
    "tool_result": {"success": True, "output": "hello"},
    "result": {"success": True, "output": "hello"},
    "prompt": "hello",
    "provider": "mock",
    "session_id": "test-session",
}
_EMPTY: Final[tuple[Any, ...]] = ({}, None)
_MALFORMED: Final[tuple[Any, ...]] = (
    {"tool_name": None, "tool_input": None},
    {"tool_name": 5, "tool_input": "text", "prompt": ["list"]},
    {"unexpected": {"nested": [1, 2, {"deep": None}]}},
)


class HookBehaviorTests:
    """Runs on the handlers the module registers, for each event it registers them for."""

    @pytest.mark.asyncio
    async def test_mount_succeeds(self, hook_cleanup: Any, coordinator: Any) -> None:
        """The module mounts."""
        assert coordinator.hooks is not None

    @pytest.mark.asyncio
    async def test_handler_returns_hook_result(self, hook_cleanup: Any, coordinator: Any) -> None:
        """Every handler answers with a hook result, or with nothing."""
        traces: list[HookTrace] = []
        stop = coordinator.hooks.observe(traces.append)
        for event in _events(coordinator):
            assert isinstance(await coordinator.hooks.emit(event, dict(_SAMPLE)), HookResult)
        stop()
        unreadable = [
            f"{part.name} on {trace.event}: {part.error}"
            for trace in traces
            for part in trace.handlers
            if part.error and part.error.startswith(INVALID_RESPONSE)
        ]
        assert not unreadable, "; ".join(unreadable)

    @pytest.mark.asyncio
    async def test_hook_result_has_valid_action(self, hook_cleanup: Any, coordinator: Any) -> None:
        """What comes of an emit is one of the five actions."""
        for event in _events(coordinator):
            result = await coordinator.hooks.emit(event, dict(_SAMPLE))
            assert result.action in VALID_HOOK_ACTIONS

    @pytest.mark.asyncio
    async def test_cleanup_is_callable_if_present(self, hook_cleanup: Any) -> None:
        """What mount returns is a function, or nothing."""
        assert hook_cleanup is None or callable(hook_cleanup)

    @pytest.mark.asyncio
    async def test_cleanup_does_not_raise(self, hook_cleanup: Any) -> None:
        """Cleaning up works; it is going to be called once more after the test."""
        if hook_cleanup is not None:
            outcome = hook_cleanup()
            if inspect.isawaitable(outcome):
                await outcome

    @pytest.mark.asyncio
    async def test_handler_does_not_crash_on_malformed_data(
        self, hook_cleanup: Any, coordinator: Any
    ) -> None:
        """Data nobody expects does not break the emit."""
        for event in _events(coordinator):
            for data in _MALFORMED:
                assert isinstance(await coordinator.hooks.emit(event, data), HookResult)

    @pytest.mark.asyncio
    async def test_handler_does_not_crash_on_empty_data(
        self, hook_cleanup: Any, coordinator: Any
    ) -> None:
        """No data at all does not break the emit."""
        for event in _events(coordinator):
            for data in _EMPTY:
                assert isinstance(await coordinator.hooks.emit(event, data), HookResult)


def _events(coordinator: Any) -> list[str]:
    registered = [event for event, names in coordinator.hooks.list_handlers().items() if names]
    return registered or ["tool:pre"]
