"""The parts of the session that is open: context, queue, shell, models, agents, modules."""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Literal

from amplifier_tui.host.client import (
    CompactionPreview,
    ItemCard,
    MemoryCard,
    ModelCard,
    ModelChoice,
    ModuleDetails,
    ServerStatus,
    SpendLimit,
)
from amplifier_tui.host.door.commands.holder import NO_SESSION
from amplifier_tui.host.door.commands.permissions import PermissionCommands
from amplifier_tui.host.door.commands.work import WorkCommands
from amplifier_tui.host.events import HostEvent
from amplifier_tui.host.session.live import LiveSession
from amplifier_tui.host.store.listing.changes import set_title


class SessionCommands(PermissionCommands, WorkCommands):
    """Passes on what concerns one part of the open session."""

    def __init__(self, put: Callable[[HostEvent], None]) -> None:
        super().__init__(put)
        self._models: dict[str, ModelChoice] = {}
        """What the user chose, by bundle."""
        self._limit: SpendLimit | None = None

    async def compact(self, instructions: str | None = None) -> None:
        """Make the view of the conversation smaller."""
        if (live := self._opened()) is not None:
            await live.compactor.compact(instructions)

    async def items(self) -> tuple[ItemCard, ...]:
        """List the items of the next request."""
        return await self._session.items.list()

    async def choose_item(self, key: str, choice: Literal["pin", "drop", "shorten", ""]) -> None:
        """Decide about an item."""
        if (live := self._opened()) is not None:
            await live.items.choose(key, choice or None)

    async def undo_item(self) -> None:
        """Take the last decision back."""
        if (live := self._opened()) is not None:
            await live.items.undo()

    async def remember(self, text: str, *, everywhere: bool = False) -> None:
        """Store a memory."""
        if (live := self._opened()) is not None:
            await live.memories.remember(text, everywhere=everywhere)

    async def forget(self, memory_id: int) -> None:
        """Delete a memory."""
        if (live := self._opened()) is not None:
            await live.memories.forget(memory_id)

    async def unqueue(self, prompt_id: str) -> None:
        """Take a waiting prompt back."""
        if self._live is not None:
            self._live.turns.queue.drop(prompt_id)

    async def edit_queued(self, prompt_id: str, text: str) -> None:
        """Give a waiting prompt other words."""
        if self._live is not None:
            self._live.turns.queue.edit(prompt_id, text)

    async def move_queued(self, prompt_id: str, to: int) -> None:
        """Give a waiting prompt another place."""
        if self._live is not None:
            self._live.turns.queue.move(prompt_id, to)

    async def keep_draft(self, text: str) -> None:
        """Store what was written and not sent."""
        if (live := self._live) is not None:
            live.store.draft.save(live.sender.redactor.text(text))

    async def send_queued(self, prompt_id: str = "") -> None:
        """Send a waiting prompt now."""
        if self._live is not None:
            self._live.turns.send_queued(prompt_id)

    async def shell(self, command: str, *, tell: bool = True, in_terminal: bool = False) -> None:
        """Run a command of the user, or have it run in the terminal."""
        if (live := self._opened()) is not None:
            await live.shell.take(command, tell=tell, in_terminal=in_terminal)

    async def stop_shell(self) -> None:
        """End the command that was started last."""
        if self._live is not None:
            self._live.shell.stop()

    async def note_shell(
        self, command: str, *, exit_code: int, seconds: float, tell: bool = True
    ) -> None:
        """Take note of a command that ran in the terminal."""
        if (live := self._opened()) is not None:
            live.shell.note(command, exit_code=exit_code, seconds=seconds, tell=tell)

    async def withhold_shell(self) -> None:
        """Send no output along."""
        if (live := self._opened()) is not None and not live.shell.withhold():
            self._say("info", "No output of a command waits for your next prompt")

    async def models(self) -> tuple[ModelCard, ...]:
        """List the models of every provider."""
        return await self._session.models.cards()

    async def switch_model(self, model: str, provider: str = "") -> None:
        """Have another model answer."""
        if (live := self._opened()) is not None:
            self._chose(live, await live.models.switch(provider, model))

    async def switch_model_back(self) -> None:
        """Undo the last switch."""
        if (live := self._opened()) is not None:
            self._chose(live, live.models.switch_back())

    async def set_effort(self, effort: str) -> None:
        """Have the model think so hard."""
        if (live := self._opened()) is not None:
            self._chose(live, live.models.set_effort(effort))

    def _chose(self, live: LiveSession, choice: ModelChoice | None) -> None:
        if choice is not None:
            self._models[live.bundle] = choice
            live.model_changed()

    async def set_limit(self, limit: SpendLimit) -> None:
        """Ask before more than that is used."""
        self._limit = limit
        if self._live is not None:
            self._live.spending.set(limit)

    async def answer_limit(self, request_id: str, *, go: bool) -> None:
        """Let a request go, or stop."""
        if self._live is not None:
            self._live.spending.answer(request_id, go=go)

    async def whole_diff(self, diff: str, *, made: bool) -> str:
        """Return a diff with all lines of its files."""
        from amplifier_tui.host.stream.whole_files import whole_files

        live = self._session
        masked = live.sender.redactor.text
        return await asyncio.to_thread(whole_files, diff, live.workspace, masked, made=made)

    async def tell_agent(self, lane: str, text: str) -> None:
        """Give a sub-agent a message."""
        if (live := self._opened()) is not None:
            live.agents.tell(lane, text)

    async def stop_agent(self, lane: str, immediate: bool = False) -> None:
        """Stop a sub-agent."""
        if (live := self._opened()) is not None:
            await live.agents.stop(lane, immediate=immediate)

    async def job_text(self, job_id: str) -> str:
        """Return what a command in the background printed."""
        return await self._session.jobs.text(job_id)

    async def stop_job(self, job_id: str) -> None:
        """End a command in the background."""
        if (live := self._opened()) is not None:
            await live.jobs.stop(job_id)

    async def rename(self, title: str) -> None:
        """Give the session a title."""
        if self._live is not None:
            self._live.rename(title)
        elif (viewed := self._viewed) is not None:
            warn = partial(self._say, "warning", source="store")
            try:
                await asyncio.to_thread(set_title, viewed.folder, title, warn)
            except OSError as error:
                self._say("warning", f"It can't be renamed: {error}")

    async def compaction(self) -> CompactionPreview:
        """Describe what compacting would do."""
        if self._live is None:
            return CompactionPreview(possible=False, reason=self._missing)
        return await self._live.compactor.preview()

    async def memories(self) -> tuple[MemoryCard, ...]:
        """List the memories that hold here."""
        return await self._session.memories.list()

    async def history(self, before: int, limit: int = 200) -> tuple[HostEvent, ...]:
        """Return the events of the `limit` stored rows before row `before`."""
        stored = self._stored
        if stored is None or before <= 0 or limit <= 0:
            return ()
        replay = await asyncio.to_thread(stored.replay)
        return tuple(await asyncio.to_thread(replay.events, before - limit, before))

    async def payload(self, seq: int) -> str:
        """Return the payload of an event log row."""
        if (stored := self._stored) is None:
            raise KeyError(NO_SESSION)
        return await asyncio.to_thread(stored.log.payload, seq)

    async def mount(self, wanted: str) -> None:
        """Mount a module."""
        if (live := self._opened()) is not None:
            await live.modules.mount(wanted)

    async def unmount(self, key: str) -> None:
        """Take a module out."""
        if (live := self._opened()) is not None:
            await live.modules.unmount(key)

    async def reload(self, key: str) -> None:
        """Run a module's source anew."""
        if (live := self._opened()) is not None:
            await live.modules.reload(key)

    async def switch_module(self, key: str, *, on: bool) -> None:
        """Switch a module on or off."""
        if (live := self._opened()) is not None:
            await live.modules.switch(key, on=on)

    async def configure(self, key: str, setting: str, value: str) -> None:
        """Give a module another value of a setting."""
        if (live := self._opened()) is not None:
            await live.modules.configure(key, setting, value)

    async def mcp_servers(self) -> tuple[ServerStatus, ...]:
        """List the MCP servers."""
        return await self._session.mcp_servers.list()

    async def restart_mcp_server(self, name: str) -> str:
        """Start an MCP server again."""
        return await self._session.mcp_servers.restart(name)

    async def module_details(self, key: str) -> ModuleDetails:
        """Describe a module."""
        return await self._session.modules.details(key)
