import asyncio
import sys
from pathlib import Path
from typing import Any

from amplifier_tui.base.capabilities.mcp import CAPABILITY
from amplifier_tui.base.capabilities.questions import CAPABILITY as ASK_USER
from amplifier_tui.base.capabilities.questions import Question, QuestionsReply
from amplifier_tui.kernel.coordinator import ModuleCoordinator
from amplifier_tui.kernel.models import ToolResult
from amplifier_tui.modules import tool_mcp
from amplifier_tui.modules.tool_mcp.servers import McpServers
from tests.waiting import within

ROOT = Path(__file__).parents[3]
SAMPLE: dict[str, Any] = {
    "command": sys.executable,
    "args": ["-m", "tests.servers.mcp_server"],
    "cwd": str(ROOT),
    "startup_timeout": 50,
}
EVENTS = ("tool:progress", "user:notification", tool_mcp.LOG_EVENT)


class Session:
    """The module in a session, with what it tells."""

    def __init__(self, folder: Path) -> None:
        self.coordinator = ModuleCoordinator()
        self.coordinator.register_capability("session.working_dir", str(folder))
        self.coordinator.register_capability(ASK_USER, self._answer)
        self.heard: list[tuple[str, dict[str, Any]]] = []
        self.asked: list[Question] = []
        self.replies: list[QuestionsReply] = []
        self.happened = asyncio.Event()
        self.close: Any = None
        for event in EVENTS:
            self.coordinator.hooks.register(event, self._hear)

    def _hear(self, event: str, data: dict[str, Any]) -> None:
        self.heard.append((event, data))
        self.happened.set()

    async def _answer(self, questions: tuple[Question, ...]) -> QuestionsReply:
        self.asked += questions
        return self.replies.pop(0)

    async def mount(self, servers: dict[str, Any], **config: Any) -> "Session":
        self.close = await tool_mcp.mount(self.coordinator, {"servers": servers, **config})
        self.servers.follow(self.happened.set)
        self.servers.begin_now()
        return self

    @property
    def servers(self) -> McpServers:
        found = self.coordinator.get_capability(CAPABILITY)
        assert isinstance(found, McpServers)
        return found

    @property
    def tools(self) -> list[str]:
        return list(self.coordinator.get("tools"))

    def words(self, event: str, key: str) -> list[str]:
        return [str(data[key]) for each, data in self.heard if each == event]

    async def until(self, true: Any) -> None:
        """Wait until something is so; every event and change of a server has it looked at."""
        async with within(50):
            while not true():
                self.happened.clear()
                try:
                    async with asyncio.timeout(0.05):
                        await self.happened.wait()
                except TimeoutError:
                    continue

    async def call(self, tool: str, server: str = "sample", **arguments: Any) -> ToolResult:
        found = self.coordinator.get("tools", f"mcp__{server}__{tool}")
        result: ToolResult = await found.execute(arguments)
        return result
