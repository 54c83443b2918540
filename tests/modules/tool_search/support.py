from pathlib import Path
from typing import Any

from amplifier_tui.kernel.coordinator import ModuleCoordinator
from amplifier_tui.kernel.models import ToolResult
from amplifier_tui.modules import tool_search


class Search:
    """The two tools on a workspace."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.coordinator = ModuleCoordinator()
        self.coordinator.register_capability("session.working_dir", str(root))

    async def mount(self, **config: Any) -> "Search":
        await tool_search.mount(self.coordinator, config)
        return self

    async def call(self, tool: str, **arguments: Any) -> ToolResult:
        result: ToolResult = await self.coordinator.get("tools", tool).execute(arguments)
        return result

    async def grep(self, pattern: Any, **arguments: Any) -> list[str]:
        return lines(await self.call("grep", pattern=pattern, **arguments))

    async def content(self, pattern: Any, **arguments: Any) -> list[str]:
        return await self.grep(pattern, output_mode="content", **arguments)

    async def glob(self, pattern: Any, **arguments: Any) -> list[str]:
        return lines(await self.call("glob", pattern=pattern, **arguments))

    def put(self, path: str, content: str | bytes = "needle\n") -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        return file


def lines(result: ToolResult) -> list[str]:
    """The results, without the notes in brackets."""
    assert result.success, result.output
    return [line for line in str(result.output).split("\n") if not line.startswith("[")]


def kind(result: ToolResult) -> str:
    assert not result.success
    assert result.error is not None
    return str(result.error["type"])
