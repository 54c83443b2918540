"""The tools of servers as tools of a session, and the search for them where they are too many."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar, Final

from amplifier_tui.base.text import one_line
from amplifier_tui.base.tokens import schema_tokens, text_tokens
from amplifier_tui.kernel.coordinator import ModuleCoordinator
from amplifier_tui.kernel.correlation import current_tool_call_id
from amplifier_tui.kernel.models import ToolResult
from amplifier_tui.modules._shared.tool import (
    DescribedTool,
    ModuleTool,
    ToolProblem,
    argument,
    failed,
)
from amplifier_tui.modules.tool_mcp.listing import ToolInfo
from amplifier_tui.modules.tool_mcp.server import McpServer

PROGRESS: Final = "tool:progress"
SEARCH_TOOL: Final = "tool_search"
_MOST_FOUND: Final = 20
_WORD: Final = re.compile(r"[a-z0-9]+")


class McpTool(DescribedTool):
    """One tool of a server (spec 000, Tool contract).

    Args:
        limit: Characters of a result.
    """

    def __init__(
        self,
        name: str,
        server: McpServer,
        info: ToolInfo,
        coordinator: ModuleCoordinator,
        limit: int,
    ) -> None:
        self.name = name
        self.server = server
        self.info = info
        self._coordinator = coordinator
        self._limit = limit

    @property
    def description(self) -> str:
        """What it does, in its server's words."""
        return self.info.description or f"{self.info.name} of the MCP server {self.server.name}."

    @property
    def input_schema(self) -> dict[str, Any]:
        """JSON schema of the input, as its server has it."""
        return self.info.schema

    @cached_property
    def tokens(self) -> int:
        """About what it costs to tell a model of it."""
        return text_tokens(self.name + self.description) + schema_tokens(self.info.schema)

    async def execute(self, input: dict[str, Any]) -> ToolResult:
        """Call it at its server, which is started if it does not run.

        Raises:
            asyncio.CancelledError: The call was cancelled; the server has been told.
        """
        try:
            client = await self.server.client()
        except ToolProblem as problem:
            return problem.result()
        from amplifier_tui.modules.tool_mcp.protocol import CallFailedError

        settings = self.server.settings
        assert settings is not None
        try:
            result = await client.call(
                self.info.name,
                input,
                timeout=settings.tool_timeout,
                limit=self._limit,
                show=self._show,
            )
        except CallFailedError as error:
            return failed(await self.server.failure(str(error), lost=error.lost), "mcp_error")
        self.server.worked()
        return result

    async def _show(self, text: str) -> None:
        call = {"tool_name": self.name, "tool_call_id": current_tool_call_id(), "text": text}
        await self._coordinator.hooks.emit(PROGRESS, call)


class ToolSearch(ModuleTool):
    """Finds tools of servers by words, and puts what it finds at the model's disposal.

    Args:
        tools: All there are.
        offer: Mounts tools; returns those that are mounted now.
    """

    name = SEARCH_TOOL
    parameters: ClassVar[Mapping[str, Any]] = {
        "query": argument(
            "string",
            "Words for what the tool should do, or names of tools, separated by spaces.",
        ),
        "limit": argument("integer", f"Most tools to load. Default 5, at most {_MOST_FOUND}."),
    }
    required = ("query",)

    def __init__(
        self,
        tools: Callable[[], Sequence[McpTool]],
        offer: Callable[[Sequence[McpTool]], "Any"],
    ) -> None:
        self._tools = tools
        self._offer = offer

    @property
    def description(self) -> str:
        """What it does, and of which servers there are tools."""
        counts: dict[str, int] = {}
        for tool in self._tools():
            counts[tool.server.name] = counts.get(tool.server.name, 0) + 1
        listed = ", ".join(f"{one_line(name, 40)} ({count})" for name, count in counts.items())
        return (
            "Find and load tools of MCP servers. They are too many to be listed, so search before "
            "you say that something can't be done; what is found can be called from your next "
            f"step on. Servers and their tools: {listed}."
        )

    async def run(self, given: Mapping[str, Any]) -> ToolResult:
        """Search, load what was found, and say what that is."""
        query, limit = given.get("query"), given.get("limit", 5)
        if not isinstance(query, str) or not query.strip():
            raise ToolProblem("`query` is missing: give words to search for.", "invalid_input")
        if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
            raise ToolProblem("`limit` must be a number from 1 up.", "invalid_input")
        found = ranked(self._tools(), query)[: min(limit, _MOST_FOUND)]
        if not found:
            return ToolResult(output=f"No tool was found for '{one_line(query, 200)}'.")
        loaded = await self._offer(found)
        lines = [f"- {tool.name}: {one_line(tool.description, 200)}" for tool in loaded]
        return ToolResult(output="\n".join(["Loaded, and ready to be called:", *lines]))


def ranked(tools: Sequence[McpTool], query: str) -> list[McpTool]:
    """Return the tools that a query finds, the best first."""
    wanted = query.casefold().split()
    words = _WORD.findall(query.casefold())
    scored = [(_score(tool, wanted, words), tool) for tool in tools]
    best = sorted((pair for pair in scored if pair[0]), key=lambda pair: -pair[0])
    return [tool for _, tool in best]


def _score(tool: McpTool, wanted: Sequence[str], words: Sequence[str]) -> int:
    name = tool.name.casefold()
    if name in wanted or tool.info.name.casefold() in wanted:
        return 1_000
    named, described = _WORD.findall(name), _WORD.findall(tool.description.casefold())
    return sum(
        5 * (word in named) + 2 * any(each.startswith(word) for each in named)
        + 2 * (word in described) + any(each.startswith(word) for each in described)
        for word in dict.fromkeys(words)
    )  # fmt: skip
