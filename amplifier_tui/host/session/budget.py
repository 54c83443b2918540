"""The context budget: how full the window is, and who filled it.

A context manager with a `report()`, or a capability `context.report`, tells it itself. For any
other it is computed here: estimates by source, scaled to the provider's own count as soon as there
is one.
"""

import asyncio
import inspect
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from amplifier_tui.base.tokens import message_tokens, schema_tokens, text_tokens
from amplifier_tui.base.tool_calls import tool_names_of
from amplifier_tui.context.entries import source_of
from amplifier_tui.host.events import BudgetChanged, PlanStep, SourceUsage
from amplifier_tui.host.session.module_facts import ModuleFacts, ProviderFacts
from amplifier_tui.host.stream.sender import Sender, Stamp
from amplifier_tui.kernel.coordinator import ModuleCoordinator

logger = logging.getLogger(__name__)

THRESHOLD: Final = 0.85
TARGET: Final = 0.5
MARGIN: Final = 1_000
"""Tokens of a window kept free beside the answer's (spec 000, context contract)."""
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


@dataclass(frozen=True, slots=True)
class Limits:
    """When compaction starts and where it goes down to, in tokens; 0 for never."""

    trigger: int = 0
    target: int = 0


def limits_of(config: Mapping[str, Any], provider: ProviderFacts) -> Limits:
    """Return the limits of a context manager, from its configuration in the usual words.

    Args:
        provider: Whose window is filled.
    """
    most = config.get("max_tokens")
    budget = most if isinstance(most, int) and not isinstance(most, bool) and most > 0 else 0
    if provider.window:
        room = max(provider.window - provider.reserve - MARGIN, provider.window // 4)
        budget = min(budget, room) if budget else room
    threshold = _part(config.get("compaction_threshold", config.get("compact_threshold")))
    target = _part(config.get("compaction_target"))
    return Limits(
        round(budget * (THRESHOLD if threshold is None else threshold)),
        round(budget * (TARGET if target is None else target)),
    )


def context_config(plan: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the context module's configuration in a mount plan."""
    session = plan.get("session")
    entry = session.get("context") if isinstance(session, Mapping) else None
    config = entry.get("config") if isinstance(entry, Mapping) else None
    if not isinstance(config, Mapping):
        section = plan.get("context")
        config = section.get("config") if isinstance(section, Mapping) else None
    return config if isinstance(config, Mapping) else {}


def _part(value: Any) -> float | None:
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= 1:
        return float(value)
    return None


class BudgetMeter:
    """Computes the budget of one session.

    Args:
        provider: Tells whose window is filled.
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
        self._facts = facts
        self._provider = provider
        self._parts = parts
        self._config = config
        self._window = window
        self._sender = sender
        self._measuring: asyncio.Task[None] | None = None
        self._measure_again = False
        self._fixed: Counter[str] | None = None
        self._sizes: list[tuple[Any, int]] = []
        self._told = 0
        self._ratio: tuple[int, int, int] | None = None
        self._turn_totals: list[int] = []

    def counted(self, tokens: int) -> None:
        """The provider counted what is in the conversation, its latest answer included."""
        self._told = tokens

    def prompt_may_differ(self) -> None:
        """Measure the system prompt and the tools anew next time."""
        self._fixed = None

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
        except Exception:
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
            found = await found if inspect.isawaitable(found) else found
            event = _from_report(found, stamp, self._provider())
            if event is not None:
                return event
        return await self._computed(context, stamp)

    async def _computed(self, context: Any, stamp: Stamp) -> BudgetChanged:
        if self._fixed is None:
            self._fixed = await self._measure_fixed()
        messages = await self._messages(context)
        sources: Counter[str] = Counter(self._fixed)
        rows: Counter[str] = Counter()
        names = tool_names_of(messages)
        sizes = self._sizes_of(messages)
        for index, message in enumerate(messages):
            source = source_of(message, names)
            if source == "system" and self._parts is not None:
                sizes[index] = 0  # The prompt that is made anew takes its place.
                continue
            sources[source] += sizes[index]
            rows[source] += 1
        estimated = sum(sources.values())
        kind: Literal["usage", "estimated"] = "estimated"
        total = estimated
        if self._told:
            self._anchor(messages, sizes, sum(self._fixed.values()))
        if self._ratio is not None:
            told, covered, count = self._ratio
            if count <= len(messages):
                kind = "usage"
                total = told + max(0, estimated - covered)
        return self._event(stamp, kind, total, sources, rows)

    def _anchor(self, messages: list[Mapping[str, Any]], sizes: list[int], fixed: int) -> None:
        """Tie the provider's count to the rows it covers: up to the latest answer."""
        for index in range(len(messages) - 1, -1, -1):
            if messages[index].get("role") == "assistant":
                covered = fixed + sum(sizes[: index + 1])
                self._ratio = (self._told, covered, index + 1)
                self._told = 0
                return

    def _event(
        self,
        stamp: Stamp,
        kind: Literal["usage", "estimated"],
        total: int,
        sources: Counter[str],
        rows: Counter[str],
    ) -> BudgetChanged:
        provider = self._provider()
        limits = limits_of(self._config, provider)
        scaled = scale(sources, total)
        fixed = self._fixed or Counter()
        floor = sum(scaled[source] for source in fixed)
        warning = ""
        if limits.target and floor >= limits.target:
            biggest = max(fixed, key=lambda source: fixed[source])
            warning = f"No compaction can reach its target: {biggest} alone fills the window"
        return BudgetChanged(
            **stamp,
            total=total,
            window=provider.window,
            trigger=limits.trigger,
            target=limits.target,
            reserve=provider.reserve,
            floor=floor,
            kind=kind,
            sources=tuple(
                SourceUsage(source=source, tokens=tokens, messages=rows.get(source, 0))
                for source, tokens in sorted(scaled.items(), key=lambda item: -item[1])
                if tokens
            ),
            turns_left=self._turns_left(total, limits.trigger),
            warning=warning,
        )

    def _turns_left(self, total: int, trigger: int) -> int | None:
        totals = self._turn_totals
        if not trigger or len(totals) < 2:
            return None
        growth = (totals[-1] - totals[0]) / (len(totals) - 1)
        return max(0, int((trigger - total) / growth)) if growth > 0 else None

    async def _measure_fixed(self) -> Counter[str]:
        found: Counter[str] = Counter()
        if self._parts is not None:
            try:
                for source, text in await self._parts():
                    found[source] += text_tokens(text)
            except Exception:
                logger.exception("The system prompt could not be measured")
        for name, tool in dict(self._coordinator.get("tools") or {}).items():
            module = self._facts.module_of_tool(name) or name
            found[f"tools:{module}"] += schema_tokens(_tool_schema(name, tool))
        return found

    async def _messages(self, context: Any) -> list[Mapping[str, Any]]:
        if context is None:
            return []
        messages = context.get_messages()
        messages = await messages if inspect.isawaitable(messages) else messages
        return [message for message in messages if isinstance(message, Mapping)]

    def _sizes_of(self, messages: list[Mapping[str, Any]]) -> list[int]:
        """Return the size of each message; rows measured before are not measured again."""
        known = self._sizes
        sizes: list[tuple[Any, int]] = []
        for index, message in enumerate(messages):
            content = message.get("content")
            if index < len(known) and known[index][0] is content and content is not None:
                sizes.append(known[index])
            else:
                sizes.append((content, message_tokens(message)))
        self._sizes = sizes
        return [size for _, size in sizes]


def scale(sources: Mapping[str, int], total: int) -> dict[str, int]:
    """Return the sources scaled so that they sum to `total`; rounding goes to the largest."""
    estimated = sum(sources.values())
    if not estimated:
        return {"unattributed": total} if total else {}
    scaled = {source: tokens * total // estimated for source, tokens in sources.items()}
    largest = max(scaled, key=lambda source: scaled[source])
    scaled[largest] += total - sum(scaled.values())
    return scaled


def _tool_schema(name: str, tool: Any) -> dict[str, Any]:
    try:
        schema = getattr(tool, "input_schema", None) or {}
        description = str(getattr(tool, "description", "") or "")
    except Exception as error:
        logger.debug("Tool %s does not describe itself: %s", name, error)
        schema, description = {}, ""
    return {"name": name, "description": description, "parameters": schema}


def _takes_provider(report: Callable[..., Any]) -> bool:
    try:
        return "provider" in inspect.signature(report).parameters
    except (TypeError, ValueError):
        return False


def _from_report(report: Any, stamp: Stamp, provider: ProviderFacts) -> BudgetChanged | None:
    """Read a context manager's own report (context reference, section d); None if it is none."""
    total = getattr(report, "total", None)
    leaves = getattr(report, "leaves", None)
    lines = leaves() if callable(leaves) else getattr(report, "by_source", None)
    if not isinstance(total, int) or lines is None:
        return None
    sources = [_source_usage(line) for line in lines]
    turns_left = getattr(report, "turns_left", None)
    return BudgetChanged(
        **stamp,
        total=total,
        window=_whole(report, "window") or provider.window,
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
    """Return what a compaction's plan does (context reference, section d); none for no plan."""
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
    for name in names:
        value = getattr(holder, name, None)
        if isinstance(value, int) and not isinstance(value, bool):
            return value
    return 0
