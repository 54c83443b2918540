from pathlib import Path
from typing import Any

from amplifier_tui.kernel.coordinator import ModuleCoordinator
from amplifier_tui.kernel.models import ToolResult
from amplifier_tui.modules import tool_filesystem


class Files:
    """The three tools on a workspace."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.coordinator = ModuleCoordinator()
        self.coordinator.register_capability("session.working_dir", str(root))
        self.events: list[tuple[str, dict[str, Any]]] = []
        self.coordinator.hooks.observe(lambda trace: self.events.append((trace.event, trace.data)))

    async def mount(self, **config: Any) -> "Files":
        await tool_filesystem.mount(self.coordinator, config)
        return self

    async def call(self, tool: str, **arguments: Any) -> ToolResult:
        result: ToolResult = await self.coordinator.get("tools", tool).execute(arguments)
        return result

    async def read(self, path: Any, **arguments: Any) -> ToolResult:
        return await self.call("read_file", file_path=path, **arguments)

    async def write(self, path: Any, content: Any) -> ToolResult:
        return await self.call("write_file", file_path=path, content=content)

    async def edit(self, path: Any, old: Any, new: Any, **arguments: Any) -> ToolResult:
        return await self.call(
            "edit_file", file_path=path, old_string=old, new_string=new, **arguments
        )

    def put(self, path: str, content: str | bytes) -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        return file


def kind(result: ToolResult) -> str:
    assert not result.success
    assert result.error is not None
    return str(result.error["type"])
