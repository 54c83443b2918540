"""One server: started when it is needed, started again when it died, ended with the session."""

import asyncio
import contextvars
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Final

from amplifier_tui.base.capabilities.mcp import ServerState, ServerStatus
from amplifier_tui.base.text import clean, one_line
from amplifier_tui.modules._shared.tool import ToolProblem
from amplifier_tui.modules.tool_mcp.callbacks import AskUser, ServerCallbacks
from amplifier_tui.modules.tool_mcp.listing import Listing
from amplifier_tui.modules.tool_mcp.names import tool_name
from amplifier_tui.modules.tool_mcp.settings import ServerSettings

if TYPE_CHECKING:
    from amplifier_tui.modules.tool_mcp.protocol.client import ServerClient

logger = logging.getLogger(__name__)

FIRST_PAUSE: Final = 1.0
LONGEST_PAUSE: Final = 60.0
"""Seconds before a server that failed is started again; they double each time."""
_PATIENCE: Final = 2.0
"""Seconds of such a pause that a call waits for."""
CLOSING: Final = 5.0
"""Seconds a connection that is lost may take to close."""
_SETTLED: Final = 0.2
"""Seconds of quiet after a change of what it offers, before it is asked for it."""
_LOG_LINES: Final = 200
_LONGEST_LINE: Final = 2_000
_LOGS_A_SECOND: Final = 20


class McpServer:
    """A server as its settings describe it.

    Args:
        name: As it is configured.
        settings: None where they make no sense; `problem` says why.
        folder: Where it works.
        emit_log: Takes its log messages: their level and text.
        ask: Finds who asks the user.
        refusal: Says why it may not be started now; empty if it may.

    Attributes:
        listing: What it offers, as it was last known; None before anything is.
    """

    def __init__(
        self,
        name: str,
        settings: ServerSettings | None,
        folder: Path,
        emit_log: Callable[[str, str], Awaitable[None]],
        ask: Callable[[], AskUser | None],
        refusal: Callable[[str], Awaitable[str]],
        problem: str = "",
    ) -> None:
        self.name = name
        self.settings = settings
        self.listing: Listing | None = None
        self.on_change: Callable[[McpServer], None] = lambda _: None
        self._folder = folder
        self._emit_log = emit_log
        self._ask = ask
        self._refusal = refusal
        self._state: ServerState = "failed" if settings is None else "idle"
        if settings is not None and not settings.is_on:
            self._state = "off"
        self._problems: deque[str] = deque([problem] if problem else [], maxlen=5)
        self._log: deque[str] = deque(maxlen=_LOG_LINES)
        self._unfinished = ""
        self._logged = (0.0, 0)
        self._task: asyncio.Task[None] | None = None
        self._ready: asyncio.Future[ServerClient] | None = None
        self._wake = asyncio.Event()
        self._over = ""
        self._closed_for_good = False
        self._stale = False
        self._wanted = False
        self._failures = 0
        self._not_before = 0.0
        # Not that of the call that happens to start it: it outlives it.
        self._context = contextvars.copy_context()

    @property
    def state(self) -> ServerState:
        """How it stands with it."""
        return self._state

    def status(self) -> ServerStatus:
        """Return all a person may want to know of it."""
        settings, listing = self.settings, self.listing or Listing()
        target = ""
        if settings is not None:
            # Without its arguments and what follows the address: keys are given there.
            address = (settings.url or "").partition("?")[0]
            target = address if settings.transport == "http" else settings.command or ""
        return ServerStatus(
            name=self.name,
            state=self._state,
            transport=settings.transport if settings is not None else "",
            target=target,
            tools=tuple(tool_name(self.name, tool.name) for tool in listing.tools),
            resources=tuple(each.uri for each in listing.resources),
            prompts=tuple(each.name for each in listing.prompts),
            problems=(*listing.problems[:20], *self._problems),
            log=tuple(self._log),
        )

    async def client(self, *, wanted: bool = True) -> "ServerClient":
        """Return the connection to it, made now if there is none.

        Args:
            wanted: Whether somebody wants it who may be asked to sign in.

        Raises:
            ToolProblem: It is off, its settings make no sense, or it can't be started.
        """
        if self.settings is None or self._state == "off":
            why = self._problems[-1] if self._problems else "it is off by its settings"
            raise ToolProblem(f"The MCP server {self.name} can't be used: {why}.", "unavailable")
        await self._closed_by_now()
        if self._task is None or self._task.done():
            loop = asyncio.get_running_loop()
            pause = self._not_before - loop.time()
            if pause > _PATIENCE:
                raise ToolProblem(
                    f"The MCP server {self.name} failed ({self._last_problem}). It is started "
                    f"again at the first call in {pause:.0f} s or later; the user can restart it "
                    "at once with /mcp.",
                    "unavailable",
                )
            if pause > 0:
                await asyncio.sleep(pause)
            if self._closed_for_good:
                raise ToolProblem(f"The MCP server {self.name} was ended.", "unavailable")
            if self._task is None or self._task.done():
                self._ready = loop.create_future()
                self._wanted = wanted
                self._task = loop.create_task(
                    self._live(self.settings, self._ready),
                    name=f"mcp:{self.name}",
                    context=self._context.copy(),
                )
        assert self._ready is not None
        # Who waits may be stopped; the start goes on.
        await asyncio.wait([self._ready])
        if self._ready.cancelled():
            raise ToolProblem(f"The MCP server {self.name} was ended.", "unavailable")
        problem = self._ready.exception()
        if problem is not None:
            words = f"The MCP server {self.name} can't be used: {self._last_problem}."
            if self._log:
                words += " Its log: /mcp."
            raise ToolProblem(words, "unavailable") from problem
        return self._ready.result()

    def worked(self) -> None:
        """Note that it answered a call: its next failure is the first."""
        self._failures = 0

    async def failure(self, error: str, *, lost: bool) -> str:
        """Return in sentences why a call of it failed, which `error` says as far as it is known.

        Args:
            lost: The connection is of no use any more: the next call makes another.
        """
        if lost and not self._over:
            self._closed(error)
        words = f"The MCP server {self.name}: {error.removesuffix('.')}."
        if await self._closed_by_now():
            words = f"The MCP server {self.name} ended during the call: {self._last_problem}."
            if self._log:
                words += "\nThe last it said:\n" + "\n".join(list(self._log)[-5:])
        return words

    async def _closed_by_now(self) -> bool:
        """Wait until a connection that is over is closed; whether there was one.

        A server that answers nothing any more may not answer that either.
        """
        task, ready = self._task, self._ready
        if not self._over or task is None or ready is None:
            return False
        _, left = await asyncio.wait([task], timeout=CLOSING)
        if left:
            task.cancel()
            await asyncio.wait([task])
            if self._task is task and self._state != "failed":
                self._failed(self._over, ready)
        return True

    async def end(self) -> None:
        """End it, and whatever it started."""
        task, self._task = self._task, None
        if task is None:
            return
        self._over = self._over or "ended"
        self._wake.set()
        task.cancel()
        await asyncio.wait([task])

    async def close(self) -> None:
        """End it for good: its session is over."""
        self._closed_for_good = True
        await self.end()

    async def restart(self) -> str:
        """End it and start it again; returns what went wrong, empty for nothing."""
        await self.end()
        self._not_before, self._failures = 0.0, 0
        try:
            await self.client()
        except ToolProblem as problem:
            return str(problem)
        return ""

    async def _live(self, settings: ServerSettings, ready: "asyncio.Future[ServerClient]") -> None:
        """Hold the connection from its beginning to its end: one task owns all of it."""
        self._over, self._stale = "", False
        self._wake.clear()
        self._set("starting")
        try:
            protocol = await asyncio.to_thread(_protocol)
        except ImportError as error:
            self._failed(f"the package `mcp` can't be used: {error}", ready)
            return
        try:
            if refused := await self._refusal(self.name):
                self._failed(refused, ready)
                return
            async with AsyncExitStack() as stack:
                async with asyncio.timeout(settings.startup_timeout) as patience:
                    callbacks = self._callbacks(patience)
                    if settings.transport == "http":
                        auth = None
                        if not has_key(settings.headers):
                            auth = await protocol.sign_in(self.name, settings.url, callbacks)
                        transport = protocol.http_streams(settings, auth)
                    else:
                        transport = protocol.stdio_streams(settings, self._folder, callbacks)
                    connection = protocol.connected(transport, self.name, callbacks)
                    client = await stack.enter_async_context(connection)
                    await self._take(client, settings)
                following = asyncio.create_task(client.follow_changes(self._changed))
                stack.callback(following.cancel)
                self._set("ready")
                ready.set_result(client)
                await self._until_over(client, settings)
        except asyncio.CancelledError:
            self._set("idle")
            ready.cancel()
            raise
        except Exception as error:
            # Whatever a stranger's server does, and the SDK makes of it, it is this server's end.
            logger.debug("MCP server %s", self.name, exc_info=error)
            why = self._over or protocol.reason(error)
            if isinstance(error, TimeoutError) and not self._over:
                why = f"it did not start within {settings.startup_timeout:g} s"
            self._failed(why, ready)
            return
        self._failed(self._over, ready)

    async def _until_over(self, client: "ServerClient", settings: ServerSettings) -> None:
        while not self._over:
            await self._wake.wait()
            self._wake.clear()
            if self._stale and not self._over:
                await asyncio.sleep(_SETTLED)
                self._stale, before = False, self.listing
                try:
                    async with asyncio.timeout(settings.startup_timeout):
                        await self._take(client, settings)
                except TimeoutError:
                    self._log.append("It did not say in time what it offers now.")
                    continue
                if self.listing != before:
                    self.on_change(self)

    async def _take(self, client: "ServerClient", settings: ServerSettings) -> None:
        found = await client.listing()
        tools = tuple(tool for tool in found.tools if settings.offers(tool.name))
        self.listing = Listing(tools, found.prompts, found.resources, found.problems)

    def _failed(self, why: str, ready: "asyncio.Future[ServerClient]") -> None:
        self._problems.append(why)
        pause = min(FIRST_PAUSE * 2**self._failures, LONGEST_PAUSE)
        self._not_before = asyncio.get_running_loop().time() + pause
        self._failures += 1
        self._set("failed")
        if not ready.done():
            ready.set_exception(ConnectionError(why))
            ready.exception()  # it need not be asked for

    @property
    def _last_problem(self) -> str:
        return self._problems[-1] if self._problems else "it ended"

    def _set(self, state: ServerState) -> None:
        self._state = state
        self.on_change(self)

    def _callbacks(self, patience: asyncio.Timeout) -> ServerCallbacks:
        def patient(seconds: float) -> None:
            if self._state == "starting":
                patience.reschedule(asyncio.get_running_loop().time() + seconds)

        def ask() -> AskUser | None:
            # What is started to see what it offers must not ask anything of its own accord.
            return self._ask() if self._wanted or self._state != "starting" else None

        return ServerCallbacks(
            self._wrote, self._heard_log, self._changed, self._closed, ask, patient
        )

    def _changed(self) -> None:
        self._stale = True
        self._wake.set()

    def _closed(self, why: str) -> None:
        self._over = self._over or why
        self._wake.set()

    def _wrote(self, text: str) -> None:
        *lines, self._unfinished = (self._unfinished + text)[-64_000:].split("\n")
        self._log.extend(one_line(line, _LONGEST_LINE) for line in lines[-_LOG_LINES:] if line)

    async def _heard_log(self, level: str, text: str) -> None:
        self._log.append(one_line(f"{level}: {text}", _LONGEST_LINE))
        now = asyncio.get_running_loop().time()
        since, count = self._logged
        if now - since >= 1:
            since, count = now, 0
        self._logged = since, count + 1
        if count < _LOGS_A_SECOND:
            await self._emit_log(level, clean(text[:10_000]))


def has_key(headers: Mapping[str, str]) -> bool:
    """Whether headers authorize requests already."""
    return any(name.lower() == "authorization" for name in headers)


def _protocol() -> ModuleType:
    """Import the SDK, which takes a while."""
    from amplifier_tui.modules.tool_mcp import protocol

    return protocol
