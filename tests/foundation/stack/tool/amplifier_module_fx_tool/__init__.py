"""A tool that is mounted under the name its configuration gives."""

from typing import Any

from amplifier_tui.kernel.models import ToolResult

__amplifier_module_type__ = "tool"


class Tool:
    description = "Does nothing"

    def __init__(self, config: dict[str, Any]) -> None:
        self.input_schema = {"type": "object", "properties": {}}
        self.name = str(config.get("name", "fx"))
        self.config = config

    async def execute(self, input: dict[str, Any]) -> ToolResult:
        return ToolResult(success=True, output="done")


async def mount(coordinator: Any, config: dict[str, Any] | None = None) -> None:
    tool = Tool(config or {})
    await coordinator.mount("tools", tool, name=tool.name)
