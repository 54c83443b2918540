"""Compaction by hand: what it would do, and doing it, by rule or with a summary."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any, Final

from amplifier_tui.base.text import short_count
from amplifier_tui.context.compaction.plan import Plan
from amplifier_tui.context.errors import SummaryError
from amplifier_tui.context.request.view import ContextView
from amplifier_tui.host.client import CompactionPreview
from amplifier_tui.host.events import Level, NoticeEnd
from amplifier_tui.host.session.budget import plan_steps
from amplifier_tui.host.session.modules.facts import ProviderFacts
from amplifier_tui.host.stream.sender import Sender
from amplifier_tui.host.turns.control import TurnControl
from amplifier_tui.host.turns.sources import Sources
from amplifier_tui.kernel.coordinator import ModuleCoordinator
from amplifier_tui.kernel.correlation import aside

logger = logging.getLogger(__name__)

KEPT: Final = (
    "The instructions and the tools",
    "Your first message and your latest one",
    "What the assistant said since your latest message",
)
_NOT_BY_HAND: Final = (
    "The context module of this session can't be compacted by hand; context-pipeline can."
)
_NO_SUMMARY: Final = (
    "Only a session with context-pipeline can keep a summary. It can be compacted by rule."
)


class Compactor:
    """Compacts one session's view of its conversation.

    Args:
        window: The provider whose window is to be filled; None for that of the last request.
        done: Called when the view is another one.
    """

    def __init__(
        self,
        coordinator: ModuleCoordinator,
        sources: Sources,
        facts: Callable[[], ProviderFacts],
        window: Callable[[], Any],
        sender: Sender,
        turns: TurnControl,
        done: Callable[[], Awaitable[None]],
    ) -> None:
        self._coordinator = coordinator
        self._sources = sources
        self._facts = facts
        self._window = window
        self._sender = sender
        self._turns = turns
        self._done = done
        self._task: asyncio.Task[Plan] | None = None
        self._stopped = False

    @property
    def running(self) -> bool:
        """Whether a compaction is on its way."""
        return self._task is not None

    async def preview(self) -> CompactionPreview:
        """Return what compacting would do now; nothing changes."""
        view = self._sources.view
        if view is None:
            return CompactionPreview(possible=False, reason=_NOT_BY_HAND)
        provider = self._window()
        plan = await view.preview(provider)
        budget = view.budget(provider)
        possible = plan.saved > 0
        steps = sorted(plan_steps(plan), key=lambda step: step.after - step.before)
        return CompactionPreview(
            possible=possible,
            before=view.meter.real(plan.before, budget.key),
            after=view.meter.real(plan.after, budget.key),
            window=budget.window,
            trigger=budget.trigger,
            target=budget.target,
            floor=view.meter.real(plan.floor, budget.key),
            steps=tuple(steps),
            kept=KEPT,
            reason="" if possible else _why_not(plan, view, provider),
            model=self._writer(),
        )

    async def compact(self, instructions: str | None = None) -> None:
        """Compact, and say what came of it; prompts wait for it, and with a turn it is refused.

        Args:
            instructions: None for by rule; else what the user wants of a summary.
        """
        if self._turns.running:
            self._say("warning", "A turn is running: compact when it has ended")
        elif self._task is not None:
            self._say("warning", "The conversation is being compacted already")
        elif self._turns.is_paused:
            self._say("warning", "The session is going back: compact when it has")
        else:
            with self._turns.paused():
                await self._compact(instructions)

    async def _compact(self, instructions: str | None) -> None:
        view = self._sources.view
        if view is None:
            self._say("warning", _NOT_BY_HAND)
            return
        work = view.compact(self._window()) if instructions is None else self._summary(instructions)
        if work is None:
            return
        self._stopped = False
        self._task = asyncio.ensure_future(work)
        try:
            await asyncio.wait({self._task})
            await self._tell(self._task, view)
        finally:
            self._task = None

    def cancel(self) -> bool:
        """Stop a compaction; False when there is none."""
        if self._task is None or self._task.done():
            return False
        self._stopped = True
        self._task.cancel()
        return True

    async def stop(self, timeout: float) -> None:
        """Stop a compaction and wait for its end at most `timeout` seconds."""
        task = self._task
        if task is not None and self.cancel():
            await asyncio.wait({task}, timeout=timeout)

    def _say(self, level: Level, text: str, until: NoticeEnd = "") -> None:
        self._sender.notice(level, text, "context", until=until)

    def _writer(self) -> str:
        if self._sources.pipeline is None or self._provider() is None:
            return ""
        facts = self._facts()
        return facts.model or facts.name

    def _provider(self) -> Any:
        return (self._coordinator.get("providers") or {}).get(self._facts().name)

    def _summary(self, instructions: str) -> Awaitable[Plan] | None:
        """Begin a summary; None when there can't be one, which has been said."""
        pipeline, provider = self._sources.pipeline, self._provider()
        if pipeline is None:
            self._say("warning", _NO_SUMMARY)
            return None
        if provider is None:
            self._say("warning", "There is no provider that could write a summary.")
            return None
        self._say("info", f"{self._writer()} writes a summary of the earlier turns", "compacted")

        async def summarize() -> Plan:
            with aside():
                return await pipeline.summarize(provider, instructions)

        return summarize()

    async def _tell(self, task: "asyncio.Future[Plan]", view: ContextView) -> None:
        if task.cancelled():
            who = "Compacting was stopped" if self._stopped else "The provider stopped the summary"
            self._say("info", f"{who}; the conversation is as it was")
            return
        error = task.exception()
        if isinstance(error, SummaryError):
            self._say("warning", str(error))
        elif error is not None:
            logger.warning("Compacting failed", exc_info=error)
            words = str(error) or type(error).__name__
            self._say("error", f"Compacting failed: {words}. The conversation is as it was.")
        elif not task.result().actions:
            self._say("info", _why_not(task.result(), view, self._window()))
        else:
            await self._done()


def _why_not(plan: Plan, view: ContextView, provider: Any) -> str:
    budget = view.budget(provider)
    before = view.meter.real(plan.before, budget.key)
    if before <= budget.target:
        return (
            f"Nothing to do yet: the conversation takes {short_count(before)} tokens, and a "
            f"compaction by rule stops at {short_count(budget.target)}."
        )
    source, tokens = plan.biggest
    if source:
        return (
            f"Nothing more can be left out: '{source}' takes {short_count(tokens)} tokens "
            "and has to stay."
        )
    return "There is nothing to leave out yet: no old results or answers."
