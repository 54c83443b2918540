"""One connection to a server: what it offers, calls, resources and prompts."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any, Final

import httpx2
import mcp_types as types
from mcp.client import Client, ClientRequestContext, Transport
from mcp.client.auth import OAuthRegistrationError
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from amplifier_tui import __version__
from amplifier_tui.base.text import one_line
from amplifier_tui.kernel.models import ToolResult
from amplifier_tui.modules.tool_mcp.callbacks import ServerCallbacks
from amplifier_tui.modules.tool_mcp.elicitation import AskingLimit, Elicited, ask_form, ask_to_open
from amplifier_tui.modules.tool_mcp.listing import (
    MOST_OTHERS,
    MOST_TOOLS,
    Listing,
    PromptInfo,
    ResourceInfo,
    ToolInfo,
    bounded,
    read_tool,
)
from amplifier_tui.modules.tool_mcp.protocol.refusals import NO_KEY
from amplifier_tui.modules.tool_mcp.protocol.results import block_text, contents_text, tool_result

_MOST_PAGES: Final = 100
Progress = Callable[[str], Awaitable[None]]
_FAILURES: Final = (MCPError, ValidationError, ValueError, RuntimeError, httpx2.HTTPError)
_TERMINATED: Final = "Session terminated"
"""What the SDK says of a session that a server over HTTP does not know any more."""
_CHANGES: Final = (
    types.ToolListChangedNotification,
    types.PromptListChangedNotification,
    types.ResourceListChangedNotification,
)


class CallFailedError(Exception):
    """A server did not answer a request, or not in a way that makes sense; says why.

    Attributes:
        lost: The connection is of no use any more.
    """

    def __init__(self, message: str, *, lost: bool = False) -> None:
        super().__init__(message)
        self.lost = lost


class ServerClient:
    """What can be asked of a server that is connected.

    Every method raises `CallFailedError`.
    """

    def __init__(self, client: Client, server: str) -> None:
        self._client = client
        self._server = server

    async def listing(self) -> Listing:
        """Return all that the server offers."""
        can = self._client.server_capabilities
        problems: list[str] = []
        try:
            tools = await self._tools(problems) if can.tools else []
            prompts = await self._prompts() if can.prompts else []
            resources = await self._resources() if can.resources else []
        except _FAILURES as error:
            raise _failed(error) from error
        return Listing(tuple(tools), tuple(prompts), tuple(resources), tuple(problems))

    async def call(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        *,
        timeout: float,
        limit: int,
        show: Progress,
    ) -> ToolResult:
        """Call a tool.

        Args:
            tool: Its name at the server.
            timeout: Seconds it may take; a sign of progress begins them anew.
            limit: Characters of the result.
            show: Told how far it is, in words.
        """
        try:
            async with asyncio.timeout(timeout) as patience:

                async def moved(progress: float, total: float | None, message: str | None) -> None:
                    patience.reschedule(asyncio.get_running_loop().time() + timeout)
                    await show(_progress(progress, total, message))

                # Its own time limit is none: ours begins anew with every sign of life.
                result = await self._client.call_tool(
                    tool, dict(arguments), progress_callback=moved
                )
        except TimeoutError as error:
            raise CallFailedError(f"it did not answer within {timeout:g} s") from error
        except _FAILURES as error:
            raise _failed(error) from error
        return tool_result(result, limit)

    async def read(self, uri: str) -> str:
        """Return a resource as text."""
        try:
            return contents_text((await self._client.read_resource(uri)).contents)
        except _FAILURES as error:
            raise _failed(error) from error

    async def prompt(self, name: str, arguments: Mapping[str, str]) -> str:
        """Return the text of a prompt."""
        try:
            result = await self._client.get_prompt(name, dict(arguments))
        except _FAILURES as error:
            raise _failed(error) from error
        return "\n\n".join(block_text(message.content) for message in result.messages)

    async def follow_changes(self, changed: Callable[[], None]) -> None:
        """Tell of changes, for as long as this runs, where the server has to be asked for that."""
        if self._client.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            return
        can = self._client.server_capabilities
        with suppress(MCPError, TimeoutError):  # then a restart shows what is new
            async with self._client.listen(
                tools_list_changed=bool(can.tools),
                prompts_list_changed=bool(can.prompts),
                resources_list_changed=bool(can.resources),
            ) as changes:
                async for _ in changes:
                    changed()

    async def _tools(self, problems: list[str]) -> list[ToolInfo]:
        tools: dict[str, ToolInfo] = {}
        cursor: str | None = None
        for _ in range(_MOST_PAGES):
            page = await self._client.list_tools(cursor=cursor)
            for each in page.tools:
                found = read_tool(each.name, each.description or each.title, each.input_schema)
                if isinstance(found, str):
                    problems.append(found)
                elif found.name in tools:
                    problems.append(f"{found.name} is listed twice; the first one counts.")
                elif len(tools) < MOST_TOOLS:
                    tools[found.name] = found
                else:
                    problems.append(f"Only its first {MOST_TOOLS} tools count.")
                    return list(tools.values())
            cursor = page.next_cursor
            if not cursor:
                break
        return list(tools.values())

    async def _prompts(self) -> list[PromptInfo]:
        found: list[PromptInfo] = []
        cursor: str | None = None
        for _ in range(_MOST_PAGES):
            page = await self._client.list_prompts(cursor=cursor)
            for each in page.prompts:
                arguments = sorted(each.arguments or (), key=lambda one: not one.required)
                names = tuple(one.name for one in arguments)
                needed = sum(1 for one in arguments if one.required)
                found.append(PromptInfo(each.name, bounded(each.description), names, needed))
            cursor = page.next_cursor
            if not cursor or len(found) >= MOST_OTHERS:
                break
        return found[:MOST_OTHERS]

    async def _resources(self) -> list[ResourceInfo]:
        found: list[ResourceInfo] = []
        cursor: str | None = None
        for _ in range(_MOST_PAGES):
            page = await self._client.list_resources(cursor=cursor)
            found += [
                ResourceInfo(str(each.uri), one_line(each.name, 200), bounded(each.description))
                for each in page.resources
            ]
            cursor = page.next_cursor
            if not cursor or len(found) >= MOST_OTHERS:
                break
        return found[:MOST_OTHERS]


@asynccontextmanager
async def connected(
    transport: Transport, server: str, callbacks: ServerCallbacks
) -> AsyncIterator[ServerClient]:
    """Connect to a server for as long as this lasts.

    Raises:
        Exception: It can't be reached or does not speak the protocol; `reason` says it in words.
    """
    limit = AskingLimit()

    async def logged(params: types.LoggingMessageNotificationParams) -> None:
        text = params.data if isinstance(params.data, str) else repr(params.data)[:2_000]
        await callbacks.logged(params.level, text)

    async def heard(message: types.ServerNotification | Exception) -> None:
        if isinstance(message, _CHANGES):
            callbacks.changed()

    async def elicit(
        context: ClientRequestContext, params: types.ElicitRequestParams
    ) -> types.ElicitResult:
        if not limit.take():
            await callbacks.logged("warning", "It asks the user too often: not asked.")
            return _elicit_result(Elicited("cancel"))
        return _elicit_result(await _ask(server, params, callbacks))

    client = Client(
        transport,
        logging_callback=logged,
        message_handler=heard,
        elicitation_callback=elicit,
        log_level="info",
        client_info=types.Implementation(name="amplifier-tui", version=__version__),
        cache=None,
    )
    async with client:
        yield ServerClient(client, server)


async def _ask(
    server: str, params: types.ElicitRequestParams, callbacks: ServerCallbacks
) -> Elicited:
    ask = callbacks.ask()
    if ask is None:
        return Elicited("cancel")
    if isinstance(params, types.ElicitRequestURLParams):
        return await ask_to_open(server, params.message, params.url, ask)
    return await ask_form(server, params.message, params.requested_schema, ask)


def _elicit_result(answer: Elicited) -> types.ElicitResult:
    return types.ElicitResult(action=answer.action, content=answer.content)


def _failed(error: Exception) -> CallFailedError:
    gone = isinstance(error, MCPError) and (
        error.code == types.CONNECTION_CLOSED or error.message == _TERMINATED
    )
    return CallFailedError(reason(error), lost=gone or isinstance(error, httpx2.HTTPError))


def reason(error: BaseException) -> str:
    """Return in words why a server could not be used."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, MCPError):
        return one_line(error.message, 500) or f"error {error.code}"
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False)[0]
        place = one_line(".".join(map(str, first["loc"])), 200)
        return f"its answer is not as the protocol has it ({place}: {one_line(first['msg'], 200)})"
    if isinstance(error, TimeoutError):
        return "it did not answer in time"
    words = one_line(str(getattr(error, "strerror", None) or error), 500) or type(error).__name__
    if isinstance(error, OAuthRegistrationError):
        return f"it wants you to sign in, but not this program ({words}); {NO_KEY}"
    if isinstance(error, httpx2.ConnectError):
        return f"no connection: {words}; see that it runs, and correct its `url` if not"
    return words


def _progress(done: float, total: float | None, message: str | None) -> str:
    share = f"{done:g} of {total:g}" if total else f"{done:g}"
    return f"{one_line(message, 300)} ({share})\n" if message else f"{share}\n"
