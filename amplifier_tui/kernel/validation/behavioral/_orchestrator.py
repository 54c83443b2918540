"""How every orchestrator behaves."""

from __future__ import annotations

from typing import Any

import pytest


class OrchestratorBehaviorTests:
    """Runs the orchestrator the module mounts, on mocks and without a coordinator."""

    @pytest.mark.asyncio
    async def test_mount_succeeds(self, orchestrator_module: Any) -> None:
        """The module mounts an orchestrator."""
        assert orchestrator_module is not None

    @pytest.mark.asyncio
    async def test_orchestrator_has_execute_method(self, orchestrator_module: Any) -> None:
        """It can be executed."""
        assert callable(orchestrator_module.execute)

    @pytest.mark.asyncio
    async def test_execute_returns_string(self, orchestrator_module: Any, mock_deps: Any) -> None:
        """A turn answers with text."""
        answer = await _run(orchestrator_module, "Test prompt", mock_deps)
        assert isinstance(answer, str)
        assert answer

    @pytest.mark.asyncio
    async def test_execute_with_empty_prompt(
        self, orchestrator_module: Any, mock_deps: Any
    ) -> None:
        """An empty prompt is a prompt."""
        assert isinstance(await _run(orchestrator_module, "", mock_deps), str)

    @pytest.mark.asyncio
    async def test_orchestrator_uses_provider(
        self, orchestrator_module: Any, mock_deps: Any
    ) -> None:
        """It asks the provider."""
        await _run(orchestrator_module, "Test prompt", mock_deps)
        provider = mock_deps[1]["default"]
        assert provider.complete.await_count > 0, "provider.complete() was not called"

    @pytest.mark.asyncio
    async def test_orchestrator_updates_context(
        self, orchestrator_module: Any, mock_deps: Any
    ) -> None:
        """It adds the turn to the context."""
        await _run(orchestrator_module, "Test prompt", mock_deps)
        assert mock_deps[0].messages, "context.add_message() was not called"


async def _run(orchestrator: Any, prompt: str, deps: Any) -> Any:
    context, providers, tools, hooks = deps
    return await orchestrator.execute(
        prompt=prompt, context=context, providers=providers, tools=tools, hooks=hooks
    )
