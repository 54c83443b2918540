"""What a front end has a part of the open session do, and asks it."""

import asyncio
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Literal

from amplifier_tui.host.client import (
    CompactionPreview,
    ModelChoice,
    RewindPreview,
    SpendLimit,
    WorktreeCard,
    WorktreeMerge,
)
from amplifier_tui.host.door.commands.holder import NO_SESSION, SessionHolder
from amplifier_tui.host.door.commands.passing import asked, told
from amplifier_tui.host.events import HostEvent
from amplifier_tui.host.gate.approvals.queue import ApprovalQueue
from amplifier_tui.host.models.limits import SpendGuard
from amplifier_tui.host.models.models import Models
from amplifier_tui.host.questions import UserQuestions
from amplifier_tui.host.session.cleanup.ending import unsaved_words
from amplifier_tui.host.session.compacting import Compactor
from amplifier_tui.host.session.item_choices import ItemChoices
from amplifier_tui.host.session.live import LiveSession
from amplifier_tui.host.session.memories import Memories
from amplifier_tui.host.session.modules.manager import ModuleManager
from amplifier_tui.host.session.modules.mcp_servers import McpServerList
from amplifier_tui.host.session.permissions import Permissions
from amplifier_tui.host.session.places import merging, worktrees
from amplifier_tui.host.session.places.set_aside import SetAsideFiles
from amplifier_tui.host.session.rewinding.rewinder import Rewinder
from amplifier_tui.host.shell.commands import ShellCommands
from amplifier_tui.host.shell.jobs import BackgroundJobs
from amplifier_tui.host.store.listing.changes import set_title
from amplifier_tui.host.store.turns.prompts import NoSuchTurnError
from amplifier_tui.host.turns.agents import RunningAgents
from amplifier_tui.host.turns.control import TurnControl
from amplifier_tui.host.turns.queue import WaitingPrompts


class SessionCommands(SessionHolder):
    """Passes on what concerns one part of the open session; see `SessionClient`."""

    def __init__(self, put: Callable[[HostEvent], None]) -> None:
        super().__init__(put)
        self.chosen: dict[str, ModelChoice] = {}
        """Which models the user chose, by bundle; sessions beside each other have one."""
        self.named: dict[str, str] = {}
        """The same for those that are named for this run and still being looked up."""
        self._limit: SpendLimit | None = None

    compact = told(Compactor.compact, lambda live: live.compactor)
    items = asked(ItemChoices.list, lambda live: live.items)
    undo_item = told(ItemChoices.undo, lambda live: live.items)
    remember = told(Memories.remember, lambda live: live.memories)
    forget = told(Memories.forget, lambda live: live.memories)
    memories = asked(Memories.list, lambda live: live.memories)
    unqueue = told(WaitingPrompts.drop, lambda live: live.turns.queue, quiet=True)
    edit_queued = told(WaitingPrompts.edit, lambda live: live.turns.queue, quiet=True)
    move_queued = told(WaitingPrompts.move, lambda live: live.turns.queue, quiet=True)
    send_queued = told(TurnControl.send_queued, lambda live: live.turns, quiet=True)
    shell = told(ShellCommands.take, lambda live: live.shell)
    stop_shell = told(ShellCommands.stop, lambda live: live.shell, quiet=True)
    note_shell = told(ShellCommands.note, lambda live: live.shell)
    models = asked(Models.cards, lambda live: live.models)
    answer_limit = told(SpendGuard.answer, lambda live: live.spending, quiet=True)
    tell_agent = told(RunningAgents.tell, lambda live: live.agents)
    job_text = asked(BackgroundJobs.text, lambda live: live.jobs)
    stop_job = told(BackgroundJobs.stop, lambda live: live.jobs)
    mount = told(ModuleManager.mount, lambda live: live.modules)
    unmount = told(ModuleManager.unmount, lambda live: live.modules)
    reload = told(ModuleManager.reload, lambda live: live.modules)
    switch_module = told(ModuleManager.switch, lambda live: live.modules)
    configure = told(ModuleManager.configure, lambda live: live.modules)
    stop_change = told(ModuleManager.stop_change, lambda live: live.modules, quiet=True)
    setting_problem = asked(ModuleManager.setting_problem, lambda live: live.modules)
    module_details = asked(ModuleManager.details, lambda live: live.modules)
    mcp_servers = asked(McpServerList.list, lambda live: live.mcp_servers)
    restart_mcp_server = asked(McpServerList.restart, lambda live: live.mcp_servers)
    rewind_points = asked(Rewinder.points, lambda live: live.rewinder)
    rewind_diff = asked(Rewinder.diff, lambda live: live.rewinder)
    rewind = told(Rewinder.rewind, lambda live: live.rewinder)
    undo_rewind = told(Rewinder.undo, lambda live: live.rewinder)
    decide = told(ApprovalQueue.decide, lambda live: live.approvals, quiet=True)
    hold = told(ApprovalQueue.hold, lambda live: live.approvals, quiet=True)
    answer_questions = told(UserQuestions.answer, lambda live: live.questions, quiet=True)
    rules = asked(Permissions.rules, lambda live: live.gating.permissions)
    add_rule = asked(Permissions.add, lambda live: live.gating.permissions)
    change_rule = asked(Permissions.change, lambda live: live.gating.permissions)
    remove_rule = asked(Permissions.remove, lambda live: live.gating.permissions)
    explain_call = asked(Permissions.explain, lambda live: live.gating.permissions)
    audit = asked(Permissions.audit, lambda live: live.gating.permissions)
    set_aside = asked(SetAsideFiles.list, lambda live: live.gating.set_aside)
    put_back = asked(SetAsideFiles.put_back, lambda live: live.gating.set_aside)

    async def choose_item(self, key: str, choice: Literal["pin", "drop", "shorten", ""]) -> None:
        if (live := self._opened()) is not None:
            await live.items.choose(key, choice or None)

    async def keep_draft(self, text: str) -> None:
        if (live := self._live) is not None:
            live.store.draft.save(live.sender.redactor.text(text))

    async def withhold_shell(self) -> None:
        if (live := self._opened()) is not None and not live.shell.withhold():
            self._say("info", "No output of a command waits for your next prompt")

    async def switch_model(self, model: str, provider: str = "") -> None:
        if (live := self._opened()) is not None:
            self._chose(live, await live.models.switch(provider, model))

    async def switch_model_back(self) -> None:
        if (live := self._opened()) is not None:
            self._chose(live, live.models.switch_back())

    async def set_effort(self, effort: str) -> None:
        if (live := self._opened()) is not None:
            self._chose(live, live.models.set_effort(effort))

    def _chose(self, live: LiveSession, choice: ModelChoice | None) -> None:
        if choice is not None:
            self.chosen[live.bundle] = choice
            self.named.pop(live.bundle, None)
            live.model_changed()

    async def set_limit(self, limit: SpendLimit) -> None:
        self._limit = limit
        if self._live is not None:
            self._live.spending.set(limit, self._live.models.facts.model)
            self._look_at_price(self._live)

    def _look_at_price(self, live: LiveSession) -> None:
        """Say where a limit in dollars can't hold, as no price of the model is known."""
        live.spending.look_ahead(live.models.facts.model, live.models.provider)

    async def whole_diff(self, diff: str, *, made: bool) -> str:
        from amplifier_tui.host.stream.whole_files import whole_files

        live = self._session
        masked = live.sender.redactor.text
        return await asyncio.to_thread(whole_files, diff, live.workspace, masked, made=made)

    async def stop_agent(self, lane: str, immediate: bool = False) -> None:
        if (live := self._opened()) is not None:
            await live.agents.stop(lane, immediate=immediate)

    async def save_again(self) -> str:
        if (live := self._live) is None:
            return ""
        live.store.save_again()
        await live.save_state()
        return unsaved_words(live.store, live.begun)

    async def rename(self, title: str) -> None:
        if self._live is not None:
            self._live.rename(title)
        elif (viewed := self._viewed) is not None:
            warn = partial(self._say, "warning", source="store")
            try:
                await asyncio.to_thread(set_title, viewed.folder, title, warn)
            except OSError as error:
                self._say("warning", f"It can't be renamed: {error}")

    async def compaction(self) -> CompactionPreview:
        if self._live is None:
            return CompactionPreview(possible=False, reason=self._missing)
        return await self._live.compactor.preview()

    async def history(self, before: int, limit: int = 200) -> tuple[HostEvent, ...]:
        stored = self._stored
        if stored is None or before <= 0 or limit <= 0:
            return ()
        replay = await asyncio.to_thread(stored.replay)
        return tuple(await asyncio.to_thread(replay.events, before - limit, before))

    async def payload(self, seq: int) -> str:
        if (stored := self._stored) is None:
            raise KeyError(NO_SESSION)
        return await asyncio.to_thread(stored.log.payload, seq)

    async def call_arguments(self, request_id: str) -> str:
        return self._live.approvals.arguments(request_id) if self._live is not None else ""

    async def change_call(self, request_id: str, arguments: str) -> str:
        if self._live is None:
            return self._missing
        return self._live.approvals.change(request_id, arguments)

    async def rule_reach(self, request_id: str) -> int:
        return await self._live.gating.permissions.reach(request_id) if self._live else 0

    async def preview_rewind(self, turn: int) -> RewindPreview:
        try:
            return await self._session.rewinder.preview(turn)
        except NoSuchTurnError as error:
            raise RuntimeError(str(error)) from error

    async def make_worktree(self, name: str) -> WorktreeCard:
        live = self._session
        bundle = live.modules.sources.prepared.bundle.source_file
        return await asyncio.to_thread(worktrees.make_worktree, live.workspace, name, bundle)

    async def worktree(self) -> WorktreeCard:
        return await asyncio.to_thread(worktrees.find_worktree, self._session.workspace)

    async def worktree_diff(self) -> str:
        live = self._session
        diff = await asyncio.to_thread(merging.worktree_diff, live.workspace)
        return await asyncio.to_thread(live.sender.redactor.text, diff)

    async def merge_worktree(self) -> WorktreeMerge:
        return await asyncio.to_thread(merging.merge_worktree, self._quiet_workspace())

    async def remove_worktree(self) -> WorktreeCard:
        return await asyncio.to_thread(worktrees.remove_worktree, self._quiet_workspace())

    def _quiet_workspace(self) -> Path:
        """Return the folder that the session works in, where nothing of it runs just now."""
        live = self._session
        if live.work:
            raise RuntimeError(f"{live.work} is running in the worktree: stop it first")
        return live.workspace
