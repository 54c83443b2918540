"""All servers of a session, and the tools of theirs that are mounted in it and its children."""

import asyncio
import hashlib
import json
import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Final

from amplifier_tui.base.capabilities.mcp import CAPABILITY, CHANGED, PATIENT, UNSET, ServerStatus
from amplifier_tui.base.capabilities.prompt_commands import COMMANDS_CHANGED, PromptCommand
from amplifier_tui.base.capabilities.questions import CAPABILITY as ASK_USER
from amplifier_tui.base.jsonl import read_object, write_object
from amplifier_tui.base.text import one_line
from amplifier_tui.kernel import events
from amplifier_tui.kernel.coordinator import ModuleCoordinator
from amplifier_tui.modules._shared.session_paths import amplifier_home, working_dir
from amplifier_tui.modules._shared.tool import ToolProblem
from amplifier_tui.modules.tool_mcp.listing import Listing, read_listing
from amplifier_tui.modules.tool_mcp.names import command_name, plain_name
from amplifier_tui.modules.tool_mcp.server import McpServer
from amplifier_tui.modules.tool_mcp.settings import McpSettings, read_server

logger = logging.getLogger(__name__)

LOG_EVENT: Final = "mcp:log"
_LATER: Final = 1.0
"""Seconds until servers are started to see what they offer, unless a prompt comes before."""
_AT_ONCE: Final = 4
"""Servers that are started at once to see what they offer."""
FIRST_WAIT: Final = 5.0
"""Seconds the first prompt waits until it is known what the servers offer."""
_LONGER: Final = "`first_wait` of tool-mcp (`overrides` in settings.yaml) waits longer"
_CHANGED: Final = (
    "changed since you trusted it: /bundle opens the bundle anew, asks, and keeps the conversation"
)


class McpServers:
    """The servers of a session and of the sessions it starts (a `ServersControl`).

    Args:
        coordinator: Of the session that they end with.
    """

    def __init__(self, settings: McpSettings, coordinator: ModuleCoordinator) -> None:
        self.settings = settings
        self._coordinator = coordinator
        self._folder = working_dir(coordinator)
        self._cache = amplifier_home() / "cache" / "mcp"
        self._followers: list[Callable[[], None]] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._room = asyncio.Semaphore(_AT_ONCE)
        self._said: set[str] = set()
        self._unknown: dict[str, asyncio.Task[None]] = {}
        self._wanted = asyncio.Event()
        self.servers: dict[str, McpServer] = {}
        for name, entry in settings.servers.items():
            self._add(str(name), entry)

    def _add(self, name: str, entry: Any) -> None:
        found = read_server(name, entry)
        problem = found if isinstance(found, str) else ""
        if any(plain_name(name) == plain_name(other) for other in self.servers):
            found, problem = "", f"{name} can't be told from another server's name: rename it"

        async def logged(level: str, text: str) -> None:
            data = {"server": name, "level": level, "text": text}
            await self._coordinator.hooks.emit(LOG_EVENT, data)

        settings = None if isinstance(found, str) else found
        ask = self._coordinator.get_capability
        server = McpServer(
            name, settings, self._folder, logged, lambda: ask(ASK_USER), self._refusal, problem
        )
        server.on_change = self._changed
        self.servers[name] = server

    async def begin(self) -> None:
        """Take up what was known of each server, and ask those of which nothing is."""
        usable = [each for each in self.servers.values() if each.settings and each.state == "idle"]
        kept = await asyncio.gather(*(asyncio.to_thread(self._kept, each) for each in usable))
        for server, listing in zip(usable, kept, strict=True):
            server.listing = listing
            if listing is None:
                self._unknown[server.name] = self._begin(self._discover(server))
        for server in self.servers.values():
            # Of variables that are not set the host tells, who looked for them.
            entry = self.settings.servers.get(server.name)
            unset = isinstance(entry, Mapping) and entry.get(UNSET)
            if server.state == "failed" and not unset:
                await self._notify(f"{server.status().problems[-1]}.")

    def _begin(self, work: Any) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _discover(self, server: McpServer) -> None:
        # The session opens first; what the SDK costs would slow that down.
        with suppress(TimeoutError):
            await asyncio.wait_for(self._wanted.wait(), _LATER)
        async with self._room:
            try:
                await server.client(wanted=False)
            except ToolProblem as problem:
                if server.name not in self._said:
                    await self._notify(str(problem))

    async def _refusal(self, name: str) -> str:
        """Return why a server may not be started as it is now, or nothing; told once each time."""
        is_changed: Callable[[str], bool] | None = self._coordinator.get_capability(CHANGED)
        if is_changed is None or not await asyncio.to_thread(is_changed, name):
            self._said.discard(name)
            return ""
        if name not in self._said:
            self._said.add(name)
            await self._notify(f"The MCP server {name} is not started: {_CHANGED}.")
        return _CHANGED

    def begin_now(self) -> None:
        """Start at once the servers of which nothing is known."""
        self._wanted.set()

    async def first_known(self) -> None:
        """Wait, once, until it is known what the servers offer; say which take too long."""
        unknown, self._unknown = self._unknown, {}
        if not unknown:
            return
        self.begin_now()
        given = self.settings.first_wait
        patient = given is None and self._coordinator.get_capability(PATIENT)
        seconds = FIRST_WAIT if given is None else given
        _, late = await asyncio.wait(unknown.values(), timeout=seconds)
        for name in (name for name, task in unknown.items() if task in late):
            starts = f"The MCP server {name} is still starting after {seconds:g} s"
            if patient:
                await self._notify(f"{starts}; it is waited for up to its `startup_timeout`.")
            else:
                goes_without = "the prompt goes without its tools. They follow when it is ready"
                await self._notify(f"{starts}: {goes_without}; {_LONGER}.")
        if late and patient:
            await asyncio.wait(late)

    async def _notify(self, message: str) -> None:
        notice = {"message": one_line(message, 600), "level": "warning", "source": "tool-mcp"}
        await self._coordinator.hooks.emit(events.USER_NOTIFICATION, notice)

    # --- of `ServersControl` ---------------------------------------------------------------

    def statuses(self) -> Sequence[ServerStatus]:
        """Return how it stands with each server."""
        return [server.status() for server in self.servers.values()]

    def follow(self, changed: Callable[[], None]) -> Callable[[], None]:
        """Have a function called at each change; returns what ends that."""
        self._followers.append(changed)

        def stop() -> None:
            with suppress(ValueError):
                self._followers.remove(changed)

        return stop

    async def restart(self, name: str) -> str:
        """End a server and start it again; returns what went wrong, empty for nothing."""
        server = self.servers.get(name)
        return f"There is no MCP server {name}." if server is None else await server.restart()

    async def read(self, name: str, uri: str) -> str:
        """Return a resource of a server as text; see `ServersControl`."""
        client = await self._client(name)
        return await self._asked(name, client.read(uri))

    def commands(self) -> list[PromptCommand]:
        """Return the prompts of all servers, as commands of the user."""
        return [
            PromptCommand(
                plain_name(server.name),
                command_name(info.name),
                info.description,
                " ".join(info.arguments),
                partial(self._expanded, server.name, info.name),
            )
            for server in self.servers.values()
            for info in (server.listing or Listing()).prompts
        ]

    async def _expanded(self, server: str, prompt: str, words: str) -> str:
        # A session may confine what is had of its servers.
        servers = self._coordinator.get_capability(CAPABILITY) or self
        try:
            text: str = await servers.prompt(server, prompt, words.split())
            return text
        except LookupError as error:
            raise ValueError(str(error)) from error

    async def prompt(self, name: str, prompt: str, words: Sequence[str]) -> str:
        """Return the text of a prompt of a server; see `ServersControl`."""
        client = await self._client(name)
        prompts = (self._named(name).listing or Listing()).prompts
        info = next((each for each in prompts if each.name == prompt), None)
        if info is None:
            raise LookupError(f"The MCP server {name} has no prompt {prompt}.")
        if len(words) < info.needed:
            wanted = " ".join(info.arguments[: info.needed])
            raise LookupError(f"{prompt} needs: {wanted}.")
        last = max(0, len(info.arguments) - 1)
        split = [*words[:last], " ".join(words[last:])]
        given = {key: text for key, text in zip(info.arguments, split, strict=False) if text}
        return await self._asked(name, client.prompt(prompt, given))

    def _named(self, name: str) -> McpServer:
        for server in self.servers.values():
            if name in (server.name, plain_name(server.name)):
                return server
        raise LookupError(f"There is no MCP server {name}.")

    async def _client(self, name: str) -> Any:
        try:
            return await self._named(name).client()
        except ToolProblem as problem:
            raise LookupError(str(problem)) from problem

    async def _asked(self, name: str, answer: Any) -> str:
        from amplifier_tui.modules.tool_mcp.protocol import CallFailedError

        settings = self._named(name).settings
        assert settings is not None
        try:
            async with asyncio.timeout(settings.tool_timeout):
                text: str = await answer
        except TimeoutError as error:
            raise LookupError(
                f"The MCP server {name} did not answer within {settings.tool_timeout:g} s."
            ) from error
        except CallFailedError as error:
            raise LookupError(f"The MCP server {name}: {error}.") from error
        return text[: self.settings.max_result_chars]

    # --- what is known ---------------------------------------------------------------------

    def _changed(self, server: McpServer) -> None:
        for follower in tuple(self._followers):
            follower()
        if server.state == "ready" and server.listing is not None:
            self._begin(asyncio.to_thread(self._keep, server, server.listing))
            self._begin(self._coordinator.hooks.emit(COMMANDS_CHANGED, {}))

    def _place(self, server: McpServer) -> Path:
        """Where it is kept what a server offers. Values that may be secret are left out."""
        assert server.settings is not None
        known = server.settings.model_dump(mode="json", exclude={"env", "headers"})
        names = (sorted(server.settings.env), sorted(server.settings.headers))
        text = json.dumps([server.name, str(self._folder), known, names], sort_keys=True)
        digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:32]
        return self._cache / f"{digest}.json"

    def _kept(self, server: McpServer) -> Listing | None:
        try:
            data: Mapping[str, Any] = read_object(self._place(server))
            return read_listing(data) if data else None
        except (OSError, ValueError):
            return None  # then the server is asked

    def _keep(self, server: McpServer, listing: Listing) -> None:
        place = self._place(server)
        try:
            place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_object(place, listing.to_json(), mode=0o600)
        except OSError as error:
            logger.warning("What an MCP server offers could not be kept: %s", error)

    async def end(self) -> None:
        """End all servers for good."""
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*(server.close() for server in self.servers.values()))
        if self._tasks:
            await asyncio.wait(self._tasks)
