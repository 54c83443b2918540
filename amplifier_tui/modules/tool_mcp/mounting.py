"""Keeping the tools of servers mounted in one session, within what they may cost."""

import asyncio
import logging
from collections.abc import Sequence
from typing import Any, Final

from amplifier_tui.kernel import events
from amplifier_tui.kernel.coordinator import ModuleCoordinator
from amplifier_tui.modules.tool_mcp.listing import Listing
from amplifier_tui.modules.tool_mcp.names import tool_name
from amplifier_tui.modules.tool_mcp.servers import McpServers
from amplifier_tui.modules.tool_mcp.tools import SEARCH_TOOL, McpTool, ToolSearch

logger = logging.getLogger(__name__)

MOST_MOUNTED: Final = 100
"""Tools of servers in a request: OpenAI refuses one with more than 128 tools, ours among them."""


class MountedTools:
    """The tools of all servers as one session has them.

    As long as they are no more than an API takes, and cost no more than the settings allow, all are
    mounted; else a search for them, and what it found, the latest, within these limits.
    """

    def __init__(self, servers: McpServers, coordinator: ModuleCoordinator) -> None:
        self._servers = servers
        self._coordinator = coordinator
        self._all: dict[str, McpTool] = {}
        self._found: dict[str, McpTool] = {}
        self._mounted: dict[str, Any] = {}
        self._said: set[str] = set()
        self._lock = asyncio.Lock()
        self._search = ToolSearch(lambda: list(self._all.values()), self._load)
        self._stop = servers.follow(self._changed)
        self._task: asyncio.Task[None] | None = None
        self._stale = False

    async def update(self) -> None:
        """Mount what is there now, and unmount what is not any more."""
        async with self._lock:
            clashes = self._read()
            await self._apply()
        for clash in clashes:
            notice = {"message": clash, "level": "warning", "source": "tool-mcp"}
            await self._coordinator.hooks.emit(events.USER_NOTIFICATION, notice)

    async def close(self) -> None:
        """Follow the servers no longer, and take their tools out of the session."""
        self._stop()
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])
        mounted, self._mounted = self._mounted, {}
        for name in mounted:
            if self._coordinator.get("tools", name) is not None:
                await self._coordinator.unmount("tools", name)

    def _changed(self) -> None:
        self._stale = True
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._follow())

    async def _follow(self) -> None:
        # What changes meanwhile is taken up in another round.
        while self._stale:
            self._stale = False
            await self.update()

    def _read(self) -> list[str]:
        """Take up the tools of all servers; returns which can't be had, in sentences."""
        limit = self._servers.settings.max_result_chars
        known, self._all = self._all, {}
        clashes: list[str] = []
        for server in self._servers.servers.values():
            for info in (server.listing or Listing()).tools:
                name = tool_name(server.name, info.name)
                other = self._all.get(name)
                if other is not None:
                    clashes.append(
                        f"{info.name} of the MCP server {server.name} is left out: its name can't "
                        f"be told from {other.info.name} of {other.server.name}"
                    )
                    continue
                tool = known.get(name)
                if tool is None or tool.info != info or tool.server is not server:
                    tool = McpTool(name, server, info, self._coordinator, limit)
                self._all[name] = tool
        new = [each for each in clashes if each not in self._said]
        self._said.update(new)
        return new

    async def _apply(self) -> None:
        most = self._servers.settings.max_schema_tokens
        wanted: dict[str, Any] = dict(self._all)
        cost = sum(tool.tokens for tool in self._all.values())
        if cost > most or len(self._all) > MOST_MOUNTED:
            self._found = {name: self._all[name] for name in self._found if name in self._all}
            wanted = {SEARCH_TOOL: self._search, **self._within(most)}
        for name, tool in list(self._mounted.items()):
            if wanted.get(name) is not tool:
                del self._mounted[name]
                await self._coordinator.unmount("tools", name)
        for name, tool in wanted.items():
            if name in self._mounted:
                continue
            if self._coordinator.get("tools", name) is not None:
                logger.warning("There is a tool %s already; that of an MCP server is not", name)
                continue
            await self._coordinator.mount("tools", tool, name=name)
            self._mounted[name] = tool

    def _within(self, most: int) -> dict[str, McpTool]:
        """Return the tools that were found last, as many as may be told of."""
        cost = 0
        kept: dict[str, McpTool] = {}
        for name, tool in reversed(self._found.items()):
            cost += tool.tokens
            if kept and (cost > most or len(kept) == MOST_MOUNTED):
                break
            kept[name] = tool
        # In the order in which they were found: what a provider has cached stays as it is.
        return {name: tool for name, tool in self._found.items() if name in kept}

    async def _load(self, found: Sequence[McpTool]) -> Sequence[McpTool]:
        async with self._lock:
            for tool in reversed(found):
                if tool.name not in self._mounted:
                    self._found.pop(tool.name, None)
                    self._found[tool.name] = tool
            await self._apply()
            return [tool for tool in found if tool.name in self._mounted]
