import asyncio
import os
from pathlib import Path
from typing import Any

from amplifier_tui.kernel.coordinator import ModuleCoordinator
from amplifier_tui.kernel.models import ToolResult
from amplifier_tui.modules import tool_bash
from amplifier_tui.modules.tool_bash import BashTool
from tests.waiting import within


class Shell:
    """The tool on a workspace, with what it shows while it runs."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.coordinator = ModuleCoordinator()
        self.coordinator.register_capability("session.working_dir", str(root))
        self.progress: list[dict[str, Any]] = []
        self.shown = asyncio.Event()
        self.coordinator.hooks.register("tool:progress", self._take)
        self.close: Any = None

    def _take(self, event: str, data: dict[str, Any]) -> None:
        self.progress.append(data)
        self.shown.set()

    async def mount(self, **config: Any) -> "Shell":
        self.close = await tool_bash.mount(self.coordinator, config)
        return self

    @property
    def tool(self) -> BashTool:
        tool: BashTool = self.coordinator.get("tools", "bash")
        return tool

    async def run(self, command: Any, **arguments: Any) -> ToolResult:
        return await self.tool.execute({"command": command, **arguments})

    async def output_contains(self, text: str) -> None:
        while text not in "".join(data["text"] for data in self.progress):
            self.shown.clear()
            await self.shown.wait()


def alive(pid: int) -> bool:
    """Whether a process runs; one that is dead and not yet collected does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
        return not Path("/proc/self").exists()
    return state != "Z"


async def gone(*pids: int) -> None:
    async with within(30, f"the end of {pids}"):
        while any(alive(pid) for pid in pids):
            await asyncio.sleep(0.01)


def kind(result: ToolResult) -> str:
    assert not result.success
    assert result.error is not None
    return str(result.error["type"])
