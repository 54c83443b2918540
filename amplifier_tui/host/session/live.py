"""A session that is open: the kernel's session and everything the host keeps beside it."""

import asyncio
import logging
import os
from collections.abc import Callable
from dataclasses import replace
from time import time
from typing import Any, Final

from amplifier_tui.base.jsonl import Row
from amplifier_tui.base.python import awaited
from amplifier_tui.foundation.trust.keys.addresses import key_variables
from amplifier_tui.host.events import MAIN_LANE, Failed, PlanProposed, SessionClosed, SessionOpened
from amplifier_tui.host.failures import turn_failure
from amplifier_tui.host.gate.approvals.surfaces import ProviderApprovals
from amplifier_tui.host.messages import (
    attachments_of,
    commands_of,
    is_steering,
    last_words,
    text_of,
    typed_prompt,
)
from amplifier_tui.host.models.models import Models
from amplifier_tui.host.session.budget import BudgetMeter, context_config
from amplifier_tui.host.session.carrying import Carried, forked, moved
from amplifier_tui.host.session.cleanup.ending import clean_up, session_closed
from amplifier_tui.host.session.compacting import Compactor
from amplifier_tui.host.session.conversation import SessionConversation
from amplifier_tui.host.session.item_choices import ItemChoices
from amplifier_tui.host.session.memories import Memories
from amplifier_tui.host.session.modules.facts import ProviderFacts
from amplifier_tui.host.session.modules.manager import ModuleManager
from amplifier_tui.host.session.modules.mcp_servers import McpServerList
from amplifier_tui.host.session.opening.telling import session_opened, why_no_provider
from amplifier_tui.host.session.parts import SessionParts
from amplifier_tui.host.session.places.workspaces import git_branch
from amplifier_tui.host.session.rewinding.files import FileHistory
from amplifier_tui.host.session.rewinding.rewinder import Rewinder
from amplifier_tui.host.session.watching import SessionWatch
from amplifier_tui.host.shell.commands import ShellCommands
from amplifier_tui.host.shell.jobs import BackgroundJobs
from amplifier_tui.host.store.metadata import now
from amplifier_tui.host.store.state import StateKeeper
from amplifier_tui.host.store.turns.images import beside_images
from amplifier_tui.host.store.turns.prompts import PromptRow
from amplifier_tui.host.turns.control import TurnControl
from amplifier_tui.host.turns.plan_mode import ModeTeller
from amplifier_tui.host.turns.prompt.commands import PromptCommands
from amplifier_tui.host.turns.prompts import Prompt, PromptPath
from amplifier_tui.host.turns.recorder import ContextRecorder
from amplifier_tui.host.turns.running import Outcome, TurnParts
from amplifier_tui.host.turns.sources import Sources
from amplifier_tui.host.turns.unfinished import (
    answer_dangling_calls,
    keep_answer,
    keep_partial_answer,
)
from amplifier_tui.kernel.mounting.contents import checked_answer
from amplifier_tui.kernel.session import AmplifierSession

logger = logging.getLogger(__name__)

STOP_TIME: Final = 1.3
"""Seconds a turn has to stop when the session is closed."""

CHANGE_TIME: Final = 0.3
"""Seconds a change of a module has to end."""

TITLE_LENGTH: Final = 200


class LiveSession:
    """Runs one open session."""

    def __init__(self, parts: SessionParts, session: AmplifierSession) -> None:
        sender, coordinator = parts.sender, session.coordinator
        self.session = session
        self.sender = sender
        self.store = sender.store
        self.gating = parts.gating
        self.approvals = parts.gating.approvals
        self.questions = parts.questions
        self.agents = parts.agents
        self.facts = parts.facts
        self.bundle = parts.bundle
        self.reference = parts.reference
        self._parts = parts
        self._normalizer = parts.normalizer
        self._recorder = ContextRecorder(sender.store)
        self.models = Models(coordinator, parts.plan, parts.route, sender)
        self.spending = parts.spending
        self.spending.stop = lambda: self.turns.interrupt(immediate=True)
        self._requested = False
        self.begun: dict[int, int] = {}
        """How many rows there were when a turn began, of the turns since it was opened."""
        self.budget = BudgetMeter(
            coordinator,
            parts.facts,
            self._facts,
            parts.prompt_parts,
            context_config(parts.plan),
            self._window,
            sender,
        )
        self._sources = Sources(coordinator, sender)
        self._state = StateKeeper(sender)
        self._teller = ModeTeller(lambda: self.gating.gate.mode)
        self._conversation = SessionConversation(
            coordinator, self._sources, self._state, self._recorder
        )
        self.items = ItemChoices(self._sources, self._window, sender, self._compacted)
        self.memories = Memories(coordinator, sender)
        self.jobs = BackgroundJobs(coordinator, sender)
        self.mcp_servers = McpServerList(coordinator, sender, parts.facts)
        self._last_answer = ""
        self.watch = SessionWatch(sender, parts.workspace)
        self.workspace = parts.workspace
        self.shell = ShellCommands(sender, parts.workspace)
        self.commands = PromptCommands(coordinator, sender)
        self._prompts = PromptPath(
            coordinator, self._recorder, parts.workspace, sender, self.shell, self.commands
        )
        self._detach: list[Callable[[], object]] = []
        self.turns = TurnControl(
            TurnParts(
                hooks=coordinator.hooks,
                token=coordinator.cancellation,
                sender=sender,
                execute=self._execute,
                begins=self._turn_begins,
                settle=self._settle,
                failure=self._failure,
                withdraw=parts.withdraw,
                untouched=lambda: self._sources.asked,
                status=lambda: parts.normalizer.status,
                declined=lambda: parts.normalizer.declined,
                denied=lambda: parts.normalizer.denied,
                usage=lambda: parts.normalizer.usage.turn.as_usage(),
                with_output=self._prompts.with_output,
                over=self._turn_over,
            ),
            self.store.metadata.turn_count,
        )
        self.compactor = Compactor(
            coordinator,
            self._sources,
            self._facts,
            self._window,
            sender,
            self.turns,
            self._compacted,
        )
        self.rewinder = Rewinder(
            sender,
            self._conversation,
            FileHistory(coordinator, parts.workspace),
            parts.workspace,
            self.begun,
            self.turns,
            self.compactor,
            self.shell,
            self.jobs,
            self._restarted,
        )
        self.modules = ModuleManager(
            session,
            parts.facts,
            parts.sources,
            sender,
            running=lambda: self.turns.running,
            paused=self.turns.paused,
            changed=self._modules_changed,
        )

    @property
    def session_id(self) -> str:
        """The session's id."""
        return self.session.session_id

    async def begin(self, messages: list[dict[str, Any]]) -> None:
        """Take the conversation up and listen."""
        coordinator = self.session.coordinator
        await self._conversation.begin(messages)
        self.jobs.take_up(messages)
        self._last_answer = last_words(messages)
        self.store.on_row = self._row_added
        self.approvals.record.on_resolved = self._normalizer.tools.judged
        self.store.on_title = self.watch.title_changed
        self._detach += [self.watch.stop, self.spending.forget, self.mcp_servers.follow()]
        self._normalizer.on_usage = self._usage_known
        self._detach.append(self.turns.steering.attach(coordinator.hooks))
        self._teller.told(messages)
        self._detach.append(self._teller.attach(coordinator.hooks))
        self._detach.append(coordinator.hooks.observe(self._watch))
        self._detach.append(self.commands.attach())
        coordinator.register_capability("session.steer", self.turns.steer)
        register = coordinator.get_capability("approval.register_provider")
        if callable(register):
            await awaited(register(ProviderApprovals(self.approvals, gate=self.gating.main)))

    def take_up_failed(self, stored: PromptRow) -> str:
        """Have `retry` go on with a stored prompt whose turn failed; returns the user's words."""
        row = beside_images(stored.row)
        # What it mentions is in the conversation: a text that only went along names no files now.
        prompt = Prompt(typed_prompt(row), attachments_of(row), typed="")
        self._recorder.take_up(text_of(row.get("content")))
        self.begun[stored.turn] = stored.start
        self.turns.restore_failed(stored.turn, prompt)
        return prompt.text

    def opened(self, *, resumed: bool, earlier: int = 0, failed: str = "") -> SessionOpened:
        """Return the event that says the session is ready."""
        facts = self.models.facts
        return session_opened(self._parts, facts, resumed=resumed, earlier=earlier, failed=failed)

    @property
    def work(self) -> str:
        """What runs, with its article; empty when nothing does."""
        if self.turns.running:
            return "A turn"
        if self.shell.running:
            return "A command of yours"
        return "A command in the background" if self.jobs.running else ""

    def rename(self, title: str) -> None:
        """Give the session a title; none takes it away."""
        name = self.store.metadata.name = " ".join(title.split())[:TITLE_LENGTH]
        self.store.save_metadata()
        said = f"This session is called {name} now" if name else "This session has no title now"
        self.sender.notice("info", said)

    @property
    def has_provider(self) -> bool:
        """Whether there is a provider to talk to."""
        return bool(self.session.coordinator.get("providers"))

    def _turn_begins(self, number: int, prompt: Prompt) -> None:
        self._normalizer.turn_begins()
        self._prompts.turn_begins(prompt)
        self.session.coordinator.reset_turn()
        self.begun.setdefault(number, self.store.rows)
        self.store.draft.save("")
        if not self._prompts.is_taken(prompt):
            text = self.sender.redactor.text(prompt.text)
            self.store.prompt_begins(text, prompt.prompt_id)

    def retry(self, without: str = "") -> None:
        """Go on with the turn that failed.

        Args:
            without: A context source to leave out from now on.
        """
        if self.turns.running:
            self.sender.notice("warning", "A turn is running: there is nothing to try again")
        elif self.rewinder.running:
            self.sender.notice("warning", "The session is going back: try again after it")
        elif self.compactor.running:
            self.sender.notice("warning", "The conversation is being compacted: try again after it")
        elif not self.turns.retry(anew=self._prompts.can_only_repeat):
            self.sender.notice(
                "info", "There is nothing to try again: no turn failed since the last one"
            )
        elif without:
            # The turn has begun, but nothing of it has run.
            self._sources.leave_out(without)

    async def _execute(self, prompt: Prompt) -> str:
        text = await self._prompts.prepare(prompt)
        async with self._sources.around_turn():
            orchestrator = self.session.coordinator.get("orchestrator")
            answer = checked_answer(orchestrator, await self.session.execute(text))
        await self._prompts.complete(prompt, answer)
        return answer

    def _watch(self, trace: Any) -> None:
        if trace.event == "provider:request":
            self._requested = True
        elif trace.event == "context:compaction":
            # What was measured before it would stand until the model has answered.
            self.budget.measure_soon()
        if self.turns.running:
            self.turns.watch(trace.event)
            self._prompts.watch(trace.event)

    async def _settle(self, outcome: Outcome) -> None:
        """Leave a conversation that the next turn can go on with."""
        await self._recorder.catch_up()
        context = self.session.coordinator.get("context")
        unsaid = self._normalizer.returned(outcome.answer)
        broke_off = outcome.status != "success"
        stopped = outcome.status == "cancelled"
        prompted = await self._prompts.keep_prompt(needed=unsaid or stopped, answered=not stopped)
        answered = broke_off and await answer_dangling_calls(context)
        if unsaid:
            kept = await keep_answer(context, outcome.answer)
        else:
            texts = self._normalizer.blocks.unsaved_texts()
            kept = broke_off and await keep_partial_answer(context, texts)
        if prompted or answered or kept:
            await self._recorder.catch_up()

    def _failure(self, error: BaseException, prompt: Prompt) -> Failed:
        prepared = self.modules.sources.prepared
        written = prepared.bundle.providers
        failed = turn_failure(
            error,
            self.sender.stamp(),
            self.sender.redactor,
            prompt=prompt.text,
            missing=self._parts.facts.missing(),
            refused=key_variables(written, getattr(error, "provider", None) or "", os.environ),
        )
        if failed.kind == "no_provider":
            message, remedy = why_no_provider(self._parts, prepared)
            failed = replace(failed, message=message, remedy=remedy)
        return replace(failed, back=self.models.failed())

    async def _turn_over(self, number: int, outcome: Outcome) -> None:
        self._normalizer.turn_over(outcome.status)
        self.gating.turn_over()
        self.sender.turn_over()
        if outcome.answer.strip():
            self._last_answer = outcome.answer
        metadata, usage = self.store.metadata, self._normalizer.usage
        metadata.updated = now()
        metadata.turn_count = max(metadata.turn_count, number)
        facts = self.models.facts
        metadata.provider = usage.provider or facts.name or metadata.provider
        metadata.model = usage.model or facts.model or metadata.model
        metadata.branch = git_branch(self.workspace)
        metadata.cost = usage.session.as_usage().cost or metadata.cost
        metadata.unpriced_tokens = usage.session.unpriced_tokens or metadata.unpriced_tokens
        await self.modules.turn_over()
        self.budget.prompt_may_differ()
        await self.budget.send(turn_over=True)
        await self.save_state()
        self.store.save_metadata()
        if outcome.status == "success" and outcome.answer.strip():
            self.offer_plan()

    def offer_plan(self) -> None:
        """Say that there is a plan, if the mode is the one that ends in one."""
        if self.gating.gate.mode == "plan" and self._last_answer.strip():
            number = self.store.metadata.turn_count
            self.sender.send(PlanProposed(**self.sender.stamp(), turn=number))

    async def save_state(self) -> None:
        """Write what the context and its sources remember."""
        context = self._sources.remembers
        if context is not None and self.store.rows:
            await self._state.save(context)

    def _modules_changed(self) -> None:
        self.mcp_servers.follow()
        self.commands.tell_soon()
        self.budget.prompt_may_differ()
        if self.models.modules_changed():
            self.model_changed()
        self.budget.measure_soon()

    async def _compacted(self) -> None:
        await self.budget.send()
        await self.save_state()

    async def moved(self) -> Carried:
        """Return the conversation, to go on with in another bundle."""
        used = self._normalizer.usage.session.as_usage()
        return await moved(self.store, self._conversation.snapshot(), used)

    async def forked(self, before_turn: int | None) -> Carried:
        """Return a copy of the conversation; see `carrying.forked`."""
        return await forked(self.store, self._conversation.snapshot(), self.begun, before_turn)

    async def _restarted(self, messages: list[dict[str, Any]], turns: int) -> None:
        """Go on from a conversation that was cut, or is whole again."""
        self.begun.clear()
        self.turns.go_on_after(turns)
        self._last_answer = last_words(messages)
        self._teller.told(messages)
        self.store.metadata.turn_count = turns
        self.store.metadata.updated = now()
        self.budget.prompt_may_differ()
        await self.budget.send()
        await self.save_state()
        self.store.save_metadata()

    def _window(self) -> Any:
        """Return the provider whose window counts; None once the context saw a request of one."""
        if self._requested:
            return None
        return (self.session.coordinator.get("providers") or {}).get(self._facts().name)

    def _facts(self) -> ProviderFacts:
        return self.models.facts

    def model_changed(self) -> None:
        """Another model answers: its window counts."""
        self._requested = False
        self.budget.measure_soon()
        self.models.learn_soon(self.model_changed)

    def _row_added(self, row: Row) -> None:
        self._normalizer.row_added(row)
        self.shell.sent(commands_of(row))
        if is_steering(row):
            self.turns.steering.arrived()
        if row.get("role") == "assistant":
            self._last_answer = text_of(row.get("content")) or self._last_answer
        if row.get("role") in ("assistant", "tool"):
            self.budget.measure_soon()

    def _usage_known(self) -> None:
        self.models.answered(self._normalizer.usage.models.get(MAIN_LANE, ""))
        self.budget.counted(self._normalizer.usage.window)
        self.budget.measure_soon()

    def at_close(self, stop: Callable[[], object]) -> None:
        """Have something ended with the session."""
        self._detach.append(stop)

    async def close(self, reason: str = "") -> SessionClosed:
        """Stop the turn, clean up, write everything; takes at most some 2.5 seconds.

        Returns:
            The event that says so; it has been sent.
        """
        began = time()
        # The modules first: a turn that ends makes the changes that wait for its end. Both at once:
        # a change that ends lets the next prompt begin.
        await asyncio.gather(
            self.modules.stop(CHANGE_TIME), self.turns.stop(STOP_TIME), self.shell.close()
        )
        await self.compactor.stop(STOP_TIME)
        await self.save_state()
        self._parts.withdraw("the session was closed")
        self.budget.stop()
        self.models.stop()
        await clean_up(self.session, self.sender)
        for stop in self._detach:
            stop()
        self._recorder.detach()
        self._normalizer.close()
        self.store.close()
        ends, aside = self.gating.ends, await asyncio.to_thread(self.gating.set_aside.left)
        event = session_closed(self.sender, self.begun, reason, self._last_answer, ends, aside)
        self.sender.send(event)
        logger.info("Session %s closed in %.2f s", self.session_id, time() - began)
        return event
