"""The context budget: how full the window is, and who filled it.

A context manager with a `report()`, or a capability `context.report`, tells it itself. For any
other one its conversation is mirrored into a context of ours, which tells it.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import Any, ClassVar, Final, Literal

from amplifier_tui.base.python import awaited, signature_of
from amplifier_tui.context.manager import SessionContextManager
from amplifier_tui.context.request.budget import BudgetSettings
from amplifier_tui.context.request.report import ContextReport
from amplifier_tui.host.events import BudgetChanged, PlanStep, SourceUsage
from amplifier_tui.host.session.modules.facts import ModuleFacts, ProviderFacts, section_of
from amplifier_tui.host.stream.sender import Sender, Stamp
from amplifier_tui.kernel.coordinator import ModuleCoordinator

logger = logging.getLogger(__name__)

PAUSE: Final = 0.25
"""Seconds between two measurements."""
_TURNS: Final = 5
"""Turns whose growth says how many fit until compaction."""

_STEPS: Final[dict[str, Literal["truncate", "stub", "drop", "summary"]]] = {
    "truncate": "truncate",
    "squeeze": "truncate",
    "stub": "stub",
    "drop": "drop",
    "summary": "summary",
}

Parts = Callable[[], Awaitable[list[tuple[str, str]]]]
"""Gives the parts of the system prompt, each with its source."""


def context_config(plan: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the context module's configuration in a mount plan."""
    return section_of(plan, "session", "context", "config") or section_of(plan, "context", "config")


class BudgetMeter:
    """Computes the budget of one session.

    Args:
        provider: Returns the one whose window is filled.
        parts: Gives the system prompt's parts; None when there is none.
        window: The provider whose window is to be filled; None for that of the last request.
    """

    def __init__(
        self,
        coordinator: ModuleCoordinator,
        facts: ModuleFacts,
        provider: Callable[[], ProviderFacts],
        parts: Parts | None,
        config: Mapping[str, Any],
        window: Callable[[], Any],
        sender: Sender,
    ) -> None:
        self._coordinator = coordinator
        self._new_mirror = partial(_Mirror, coordinator, facts, parts, config)
        self._provider = provider
        self._window = window
        self._sender = sender
        self._measuring: asyncio.Task[None] | None = None
        self._measure_again = False
        self._mirror: _Mirror | None = None
        self._told = 0
        self._turn_totals: list[int] = []

    def counted(self, tokens: int) -> None:
        """The provider counted what is in the conversation, its latest answer included."""
        self._told = tokens

    def prompt_may_differ(self) -> None:
        """Take the system prompt anew next time."""
        if self._mirror is not None:
            self._mirror.prompt_is_old = True

    def measure_soon(self) -> None:
        """Measure and send the budget, now or right after the measurement that runs."""
        self._measure_again = True
        if self._measuring is None or self._measuring.done():
            self._measuring = asyncio.get_running_loop().create_task(self._keep_measuring())

    async def send(self, *, turn_over: bool = False) -> None:
        """Measure and send the budget.

        Args:
            turn_over: A turn has ended: its growth says how many more fit.
        """
        try:
            event = await self.measure()
        except (Exception, SystemExit):
            logger.exception("The context budget could not be measured")
            return
        if turn_over:
            self._turn_totals = [*self._turn_totals, event.total][-_TURNS - 1 :]
        self._sender.send(event)

    def stop(self) -> None:
        """Measure no more."""
        if self._measuring is not None:
            self._measuring.cancel()

    async def _keep_measuring(self) -> None:
        while self._measure_again:
            self._measure_again = False
            await self.send()
            await asyncio.sleep(PAUSE)

    async def measure(self) -> BudgetChanged:
        """Return the budget now."""
        stamp = self._sender.stamp()
        context = self._coordinator.get("context")
        report = getattr(context, "report", None)
        report = report or self._coordinator.get_capability("context.report")
        if callable(report):
            provider = self._window() if _takes_provider(report) else None
            found = report(provider=provider) if provider is not None else report()
            event = _from_report(await awaited(found), stamp, self._provider())
            if event is not None:
                return event
        return await self._mirrored(context, stamp)

    async def _mirrored(self, context: Any, stamp: Stamp) -> BudgetChanged:
        if self._mirror is None:
            self._mirror = self._new_mirror()
        self._mirror.told, self._told = self._told or self._mirror.told, 0
        provider = self._provider()
        messages = await awaited(context.get_messages()) if context is not None else []
        report = await self._mirror.report(
            [message for message in messages if isinstance(message, Mapping)], provider
        )
        event = _event(report, report.leaves(), stamp, provider)
        known = report.provenance != "fallback"
        return replace(
            event,
            trigger=event.trigger if known else 0,
            target=event.target if known else 0,
            preview=(),  # How a foreign context compacts is not known.
            turns_left=self._turns_left(event.total, event.trigger) if known else None,
        )

    def _turns_left(self, total: int, trigger: int) -> int | None:
        totals = self._turn_totals
        if len(totals) < 2:
            return None
        growth = (totals[-1] - totals[0]) / (len(totals) - 1)
        return max(0, int((trigger - total) / growth)) if growth > 0 else None


class _ForeignSettings(BudgetSettings):
    module: ClassVar[str] = "context"


class _Mirror:
    """The conversation of a foreign context in a context of ours, which can tell its budget.

    Attributes:
        told: Tokens the provider counted, until they are tied to the answer they belong to.
        prompt_is_old: Whether the system prompt is to be taken anew.
    """

    def __init__(
        self,
        coordinator: ModuleCoordinator,
        facts: ModuleFacts,
        parts: Parts | None,
        config: Mapping[str, Any],
    ) -> None:
        self.told = 0
        self.prompt_is_old = True
        if "compact_threshold" in config:
            config = {"compaction_threshold": config["compact_threshold"], **config}
        settings, problems = _ForeignSettings.read_leniently(config)
        for problem in problems:
            logger.info("The context's limits: %s", problem)
        self._coordinator = coordinator
        self._facts = facts
        self._manager = SessionContextManager(settings.policy, tools=self._tools)
        if parts is not None:
            self._manager.set_system_prompt_factory(_Prompt(parts))
        self._last: Any = None

    async def report(
        self, messages: list[Mapping[str, Any]], provider: ProviderFacts
    ) -> ContextReport:
        """Return the budget of a conversation."""
        view = self._manager.view
        told_by: Any = _Told(provider)
        if self.prompt_is_old:
            self.prompt_is_old = False
            try:
                await view.prompt.make()
            except (Exception, SystemExit):
                logger.exception("The system prompt could not be measured")
        answers = [i for i, message in enumerate(messages) if message.get("role") == "assistant"]
        if self.told and answers:
            # The count covers what is there up to the latest answer.
            self._take(messages[: answers[-1] + 1])
            before = (await view.preview(told_by)).before
            key = view.budget(told_by).key
            view.meter.restore({"usage": self.told, "estimate": before, "model": key})
            self.told = 0
        self._take(messages)
        return await view.report(told_by)

    def _take(self, messages: list[Mapping[str, Any]]) -> None:
        """Take over a conversation; rows that are known are not read again."""
        ledger = self._manager.ledger
        known = len(ledger.entries)
        if not 0 < known <= len(messages) or messages[known - 1] is not self._last:
            ledger.clear()
            known = 0
        for message in messages[known:]:
            if message.get("role"):
                ledger.append(message)
        self._last = messages[-1] if messages else None

    def _tools(self) -> dict[str, Any]:
        return {
            name: SimpleNamespace(
                description=getattr(tool, "description", ""),
                input_schema=getattr(tool, "input_schema", None),
                metadata={
                    "context_source": f"tools:{self._facts.module_of_tool(name, tool) or name}"
                },
            )
            for name, tool in dict(self._coordinator.get("tools") or {}).items()
        }


class _Prompt:
    """The system prompt as the parts of it, for `set_system_prompt_factory`."""

    def __init__(self, parts: Parts) -> None:
        self.parts = parts

    async def __call__(self) -> str:
        return "\n\n".join(text for _, text in await self.parts())


class _Told:
    """What is known of a provider, as a provider tells it."""

    def __init__(self, facts: ProviderFacts) -> None:
        self.defaults = {
            "model": facts.model,
            "context_window": facts.window,
            "max_output_tokens": facts.reserve,
        }

    def get_info(self) -> "_Told":
        return self


def _takes_provider(report: Callable[..., Any]) -> bool:
    try:
        return "provider" in signature_of(report).parameters
    except (TypeError, ValueError):
        return False


def _from_report(report: Any, stamp: Stamp, provider: ProviderFacts) -> BudgetChanged | None:
    """Read a context manager's own report; None if it is none."""
    total = getattr(report, "total", None)
    leaves = getattr(report, "leaves", None)
    lines = leaves() if callable(leaves) else getattr(report, "by_source", None)
    if not isinstance(total, int) or lines is None:
        return None
    return _event(report, lines, stamp, provider)


def _event(
    report: Any, lines: Iterable[Any], stamp: Stamp, provider: ProviderFacts
) -> BudgetChanged:
    sources = [_source_usage(line) for line in lines]
    turns_left = getattr(report, "turns_left", None)
    return BudgetChanged(
        **stamp,
        total=report.total,
        window=_whole(report, "window") or provider.window,
        assumed=getattr(report, "provenance", "") == "fallback",
        trigger=_whole(report, "trigger"),
        target=_whole(report, "target"),
        reserve=_whole(report, "output_reserve", "reserve") or provider.reserve,
        floor=_whole(report, "floor"),
        kind="usage" if getattr(report, "kind", "") == "usage" else "estimated",
        sources=tuple(sorted(sources, key=lambda usage: -usage.tokens)),
        preview=tuple(plan_steps(getattr(report, "preview", None))),
        turns_left=turns_left if isinstance(turns_left, int) else None,
        warning=str(getattr(report, "warning", "") or ""),
    )


def _source_usage(line: Any) -> SourceUsage:
    """Read one line of a report: an object, or the tuple `(source, messages, tokens, state)`."""
    if isinstance(line, tuple):
        source, messages, tokens, state = (*line, "full")[:4]
    else:
        source, messages, tokens = line.source, line.messages, line.tokens
        state = getattr(line, "state", "full")
    return SourceUsage(
        source=str(source),
        tokens=int(tokens),
        messages=int(messages),
        state="compacted" if state == "compacted" else "full",
    )


def plan_steps(plan: Any) -> list[PlanStep]:
    """Return what a compaction's plan does; none for no plan."""
    steps = []
    for action in getattr(plan, "actions", None) or ():
        kind = _STEPS.get(str(getattr(action, "kind", None) or getattr(action, "action", None)))
        if kind is None:
            continue
        rows = getattr(action, "rows", 1)
        steps.append(
            PlanStep(
                action=kind,
                source=str(getattr(action, "source", "")),
                rows=rows if isinstance(rows, int) else len(rows),
                before=_whole(action, "before"),
                after=_whole(action, "after"),
            )
        )
    return steps


def _whole(holder: Any, *names: str) -> int:
    found = (getattr(holder, name, None) for name in names)
    return next((n for n in found if isinstance(n, int) and not isinstance(n, bool)), 0)
