"""How every tool behaves."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_tui.kernel.models import ToolResult


class ToolBehaviorTests:
    """Runs on the first tool the module mounts."""

    @pytest.mark.asyncio
    async def test_mount_succeeds(self, tool_module: Any) -> None:
        """The module mounts a tool."""
        assert tool_module is not None

    @pytest.mark.asyncio
    async def test_tool_has_name(self, tool_module: Any) -> None:
        """Its name is a non-empty string."""
        assert isinstance(tool_module.name, str)
        assert tool_module.name

    @pytest.mark.asyncio
    async def test_tool_has_description(self, tool_module: Any) -> None:
        """Its description is a non-empty string."""
        assert isinstance(tool_module.description, str)
        assert tool_module.description

    @pytest.mark.asyncio
    async def test_tool_has_execute_method(self, tool_module: Any) -> None:
        """It can be executed."""
        assert callable(tool_module.execute)

    @pytest.mark.asyncio
    async def test_execute_returns_tool_result(self, tool_module: Any) -> None:
        """A call answers with a tool result, whatever comes of it."""
        result = await tool_module.execute({"_tool_call_id": "call-1"})
        assert isinstance(result, ToolResult), f"execute() returned {type(result).__name__}"

    @pytest.mark.asyncio
    async def test_tool_result_has_required_fields(self, tool_module: Any) -> None:
        """The result says whether it worked, and has output or an error."""
        result = await tool_module.execute({})
        assert isinstance(result.success, bool)
        assert result.success or result.error or result.output, "a failure says what went wrong"

    @pytest.mark.asyncio
    async def test_invalid_input_returns_error_result(self, tool_module: Any) -> None:
        """Arguments nobody expects are answered, not raised about."""
        result = await tool_module.execute({"no_such_argument": [None]})
        assert isinstance(result, ToolResult), f"execute() returned {type(result).__name__}"
