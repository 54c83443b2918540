"""What a front end does with the session that is open."""

import asyncio
from collections.abc import Callable
from time import time
from typing import Final, Literal

from amplifier_tui.host.client import (
    AuditCard,
    CallExplanation,
    CompactionPreview,
    Decision,
    ItemCard,
    MemoryCard,
    ModelCard,
    ModelChoice,
    ModuleDetails,
    QuestionsReply,
    RewindPoint,
    RewindPreview,
    RuleCard,
    ServerStatus,
    SpendLimit,
    WorktreeCard,
)
from amplifier_tui.host.events import Failed, HostEvent, Level, Notice, RewindScope, Scope
from amplifier_tui.host.session.live import LiveSession
from amplifier_tui.host.session.opening.opening import Opening
from amplifier_tui.host.session.permissions import Permissions
from amplifier_tui.host.session.places import worktrees
from amplifier_tui.host.store.turns.prompts import NoSuchTurnError
from amplifier_tui.host.stream.sender import Stamp

NO_SESSION: Final = "No session is open"


class SessionCommands:
    """Passes on what concerns one part of the open session.

    Args:
        put: Takes events on their way up.
    """

    def __init__(self, put: Callable[[HostEvent], None]) -> None:
        self._put = put
        self._live: LiveSession | None = None
        self._opening: Opening | None = None
        self._models: dict[str, ModelChoice] = {}
        """What the user chose, by bundle."""
        self._limit: SpendLimit | None = None

    def _stamp(self, session_id: str = "") -> Stamp:
        """Return the fields of an event that happens now, in the session that is open or opens."""
        session = self._live or self._opening
        known = session.session_id if session is not None else ""
        return {"session_id": session_id or known, "agent": "main", "at": time()}

    def _say(self, level: Level, text: str, source: str = "host") -> None:
        self._put(Notice(**self._stamp(), level=level, text=text, source=source))

    def _refuse(self, kind: str, message: str, remedy: str, prompt: str = "") -> None:
        stamp = self._stamp()
        self._put(Failed(**stamp, kind=kind, message=message, remedy=remedy, prompt=prompt))

    def _opened(self) -> LiveSession | None:
        """Return the session; None, which the user is told, when there is none."""
        if self._live is None:
            self._say("warning", NO_SESSION)
        return self._live

    async def compact(self, instructions: str | None = None) -> None:
        """Make the view of the conversation smaller."""
        if (live := self._opened()) is not None:
            await live.compactor.compact(instructions)

    async def items(self) -> tuple[ItemCard, ...]:
        """List the items of the next request."""
        if self._live is None:
            raise RuntimeError(NO_SESSION)
        return await self._live.items.list()

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

    async def decide(self, request_id: str, decision: Decision) -> None:
        """Answer an approval request."""
        if self._live is not None:
            self._live.approvals.decide(request_id, decision)

    async def answer_questions(self, request_id: str, reply: QuestionsReply) -> None:
        """Answer what an agent asks."""
        if self._live is not None:
            self._live.questions.answer(request_id, reply)

    async def models(self) -> tuple[ModelCard, ...]:
        """List the models of every provider."""
        if self._live is None:
            raise RuntimeError(NO_SESSION)
        return await self._live.models.cards()

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

    async def call_arguments(self, request_id: str) -> str:
        """Return the arguments of a call that waits, as JSON."""
        return self._live.approvals.arguments(request_id) if self._live is not None else ""

    async def whole_diff(self, diff: str, *, made: bool) -> str:
        """Return a diff with all lines of its files."""
        from amplifier_tui.host.stream.whole_files import whole_files

        if self._live is None:
            raise RuntimeError(NO_SESSION)
        live = self._live
        masked = live.sender.redactor.text
        return await asyncio.to_thread(whole_files, diff, live.workspace, masked, made=made)

    async def change_call(self, request_id: str, arguments: str) -> str:
        """Put other arguments in place of a call's; return what is wrong with them."""
        if self._live is None:
            return NO_SESSION
        return self._live.approvals.change(request_id, arguments)

    @property
    def _permissions(self) -> Permissions:
        if self._live is None:
            raise RuntimeError(NO_SESSION)
        return self._live.gating.permissions

    async def rule_reach(self, request_id: str) -> int:
        """Count the calls a request's rule would also have allowed."""
        return await self._permissions.reach(request_id) if self._live is not None else 0

    async def rules(self) -> tuple[RuleCard, ...]:
        """List the rules."""
        return await self._permissions.rules()

    async def add_rule(self, line: str, scope: Scope) -> str:
        """Add a rule; return what is wrong with it."""
        return await self._permissions.add(line, scope)

    async def change_rule(self, key: str, line: str) -> str:
        """Put another rule in place of one; return what is wrong with it."""
        return await self._permissions.change(key, line)

    async def remove_rule(self, key: str) -> str:
        """Take a rule out of force; return why that is not possible."""
        return await self._permissions.remove(key)

    async def explain_call(self, text: str) -> CallExplanation:
        """Say what would happen to a call."""
        return await self._permissions.explain(text)

    async def audit(self) -> tuple[AuditCard, ...]:
        """List what was decided."""
        return await self._permissions.audit()

    async def hold(self, request_id: str) -> None:
        """Stop the clock of an approval request."""
        if self._live is not None:
            self._live.approvals.hold(request_id)

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
        if self._live is None:
            raise RuntimeError(NO_SESSION)
        return await self._live.jobs.text(job_id)

    async def stop_job(self, job_id: str) -> None:
        """End a command in the background."""
        if (live := self._opened()) is not None:
            await live.jobs.stop(job_id)

    async def rename(self, title: str) -> None:
        """Give the session a title."""
        if self._live is not None:
            self._live.rename(title)

    async def rewind_points(self) -> tuple[RewindPoint, ...]:
        """List the prompts the session can go back before."""
        if self._live is None:
            raise RuntimeError(NO_SESSION)
        return await self._live.rewinder.points()

    async def preview_rewind(self, turn: int) -> RewindPreview:
        """Describe what going back would do."""
        if self._live is None:
            raise RuntimeError(NO_SESSION)
        try:
            return await self._live.rewinder.preview(turn)
        except NoSuchTurnError as error:
            raise RuntimeError(str(error)) from error

    async def rewind_diff(self, turn: int, path: str) -> str:
        """Return what going back does to a file."""
        if self._live is None:
            raise RuntimeError(NO_SESSION)
        return await self._live.rewinder.diff(turn, path)

    async def rewind(
        self, turn: int, scope: RewindScope = "both", overwrite: tuple[str, ...] = ()
    ) -> None:
        """Go back before a turn."""
        if (live := self._opened()) is not None:
            await live.rewinder.rewind(turn, scope, overwrite)

    async def undo_rewind(self) -> None:
        """Bring back what was taken back."""
        if (live := self._opened()) is not None:
            await live.rewinder.undo()

    async def make_worktree(self, name: str) -> WorktreeCard:
        """Make a worktree of the session's repository."""
        if self._live is None:
            raise RuntimeError(NO_SESSION)
        return await asyncio.to_thread(worktrees.make_worktree, self._live.workspace, name)

    async def worktree(self) -> WorktreeCard:
        """Describe the worktree the session works in."""
        if self._live is None:
            raise RuntimeError(NO_SESSION)
        return await asyncio.to_thread(worktrees.find_worktree, self._live.workspace)

    async def remove_worktree(self) -> WorktreeCard:
        """Remove the worktree the session works in."""
        if self._live is None:
            raise RuntimeError(NO_SESSION)
        if self._live.turns.running or self._live.shell.running:
            raise RuntimeError("Something runs in the worktree: stop it first")
        return await asyncio.to_thread(worktrees.remove_worktree, self._live.workspace)

    async def compaction(self) -> CompactionPreview:
        """Describe what compacting would do."""
        if self._live is None:
            return CompactionPreview(possible=False, reason=NO_SESSION)
        return await self._live.compactor.preview()

    async def memories(self) -> tuple[MemoryCard, ...]:
        """List the memories that hold here."""
        if self._live is None:
            raise RuntimeError(NO_SESSION)
        return await self._live.memories.list()

    async def history(self, before: int, limit: int = 200) -> tuple[HostEvent, ...]:
        """Return the events of the `limit` stored rows before row `before`."""
        live = self._live
        if live is None or before <= 0 or limit <= 0:
            return ()
        replay = await asyncio.to_thread(live.store.replay)
        return tuple(await asyncio.to_thread(replay.events, before - limit, before))

    async def payload(self, seq: int) -> str:
        """Return the payload of an event log row."""
        if self._live is None:
            raise KeyError("No session is open")
        return await asyncio.to_thread(self._live.store.log.payload, seq)

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
        if self._live is None:
            raise RuntimeError(NO_SESSION)
        return await self._live.mcp_servers.list()

    async def restart_mcp_server(self, name: str) -> str:
        """Start an MCP server again."""
        if self._live is None:
            raise RuntimeError(NO_SESSION)
        return await self._live.mcp_servers.restart(name)

    async def module_details(self, key: str) -> ModuleDetails:
        """Describe a module."""
        if self._live is None:
            raise RuntimeError(NO_SESSION)
        return await self._live.modules.details(key)
