import asyncio
import importlib.metadata
from typing import Any

import pytest

from amplifier_tui.kernel.loader import ModuleLoader, module_failure_reason
from amplifier_tui.kernel.mounting.mount import call_mount
from amplifier_tui.kernel.mounting.sources import ModuleLoadError
from amplifier_tui.kernel.session import AmplifierSession
from tests.kernel.plans import Context, Loop, Named


class EntryPoint:
    dist = None

    def __init__(self, name: str, mount: Any) -> None:
        self.name, self.value, self._mount = name, "x:mount", mount

    def load(self) -> Any:
        return self._mount


def mounting(point: str, module: Any) -> Any:
    async def mount(coordinator: Any, config: dict[str, Any]) -> None:
        await coordinator.mount(point, module)

    return mount


async def test_a_mount_that_blocks_is_given_up_and_the_session_runs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ended: list[str] = []

    async def blocks(coordinator: Any, config: dict[str, Any]) -> None:
        coordinator.hooks.register("x", lambda event, data: None, name="half")
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("ended")

    entry_points = [
        EntryPoint("loop", mounting("orchestrator", Loop())),
        EntryPoint("context", mounting("context", Context())),
        EntryPoint("provider-mock", mounting("providers", Named("mock"))),
        EntryPoint("tool-slow", blocks),
    ]
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda *, group: entry_points)
    monkeypatch.setattr(ModuleLoader, "MOUNT_SECONDS", 0.01)
    session = AmplifierSession(
        {
            "session": {"orchestrator": "loop", "context": "context"},
            "providers": [{"module": "provider-mock"}],
            "tools": [{"module": "tool-slow"}],
        }
    )
    failures: list[dict[str, Any]] = []
    session.coordinator.hooks.observe(
        lambda trace: failures.append(trace.data) if trace.event == "module:load_failed" else None
    )
    async with session:
        assert await session.execute("hi") == "answer"
        assert session.coordinator.hooks.list_handlers("x") == {"x": []}
    [failure] = failures
    assert failure["module_id"] == "tool-slow"
    assert "Module 'tool-slow' did not finish mounting within 0.01 s" in failure["error"]
    assert "on_session_ready" in failure["error"]
    assert ended == ["ended"]


async def test_a_timeout_of_the_modules_own_comes_out_as_it_is() -> None:
    async def mount(coordinator: Any, config: dict[str, Any]) -> None:
        raise TimeoutError("my server")

    with pytest.raises(TimeoutError, match="my server"):
        await call_mount(mount, None, {}, "m")


async def test_giving_up_is_a_load_error_with_a_reason() -> None:
    async def mount(coordinator: Any, config: dict[str, Any]) -> None:
        await asyncio.Event().wait()

    with pytest.raises(ModuleLoadError) as caught:
        await call_mount(mount, None, {}, "m", 0)
    assert isinstance(caught.value, ValueError)
    assert module_failure_reason(caught.value) == "unknown"


async def test_a_sync_mount_is_called_as_it_is() -> None:
    assert await call_mount(lambda coordinator, config: config, None, {"a": 1}, "m") == {"a": 1}
