"""What the model sees of a ledger: assembled, measured, planned, and only then projected."""

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Any, Final

from amplifier_tui.base.capabilities.context_items import ItemCard
from amplifier_tui.base.text import short_count
from amplifier_tui.context.compaction.choices import Choice
from amplifier_tui.context.compaction.decisions import Decisions, ModelDecisions
from amplifier_tui.context.compaction.outline import Settled, group_entries
from amplifier_tui.context.compaction.plan import Plan, plan, project
from amplifier_tui.context.entries import Decision, Entry, Row
from amplifier_tui.context.ledger import Ledger
from amplifier_tui.context.request.budget import Budget, BudgetPolicy
from amplifier_tui.context.request.frame import Frame, FrameMaker, LentTurn, with_summaries
from amplifier_tui.context.request.items import items_of, refusal
from amplifier_tui.context.request.meter import Meter
from amplifier_tui.context.request.report import ContextEvents, ContextReport
from amplifier_tui.context.request.shares import SourceLine, fitted
from amplifier_tui.context.request.system_prompt import SystemPrompt, tool_schema_tokens
from amplifier_tui.kernel.llm_errors import ContextLengthError

logger = logging.getLogger(__name__)

_PAUSE: Final = 0.1
"""Part of the limit a conversation grows by before it is compacted again, where compaction could
not reach its target. Without a pause every step would compact, and so rewrite the request."""

_TURNS: Final = 3
"""Turns whose growth tells how many more fit."""


Planner = Callable[..., Awaitable[Plan]]
"""Decides how to get a frame down to a budget, given the decisions so far; see `plan`."""


class ContextView:
    """Makes requests of a ledger, and reports on them.

    Attributes:
        prompt: Where the system prompt comes from.
        lent: What the pipeline adds in this turn; None without one.
        meter: Corrects the estimates.
        decisions: What was compacted so far.
        beginnings: How often it began anew, with other rows.
        refused: Row of the user's words that nobody answered, as they don't fit; -1 for none.
        before_request: Called before each request is made; None for nothing.
        before_frame: Called before the rows are put together, for reports too; None for nothing.
    """

    def __init__(
        self,
        ledger: Ledger,
        policy: BudgetPolicy,
        events: ContextEvents,
        tools: Callable[[], Mapping[str, Any]] | None = None,
        planner: Planner | None = None,
    ) -> None:
        self.ledger = ledger
        self.prompt = SystemPrompt()
        self.lent: LentTurn | None = None
        self.meter = Meter()
        self.decisions = Decisions()
        self.beginnings = 0
        self.refused = -1
        self.before_request: Callable[[], Awaitable[None]] | None = None
        self.before_frame: Callable[[], None] | None = None
        self.events = events
        self._policy = policy
        self._tools = tools
        self._planner = planner
        self._provider: Any | None = None
        self._budget: Budget | None = None
        self._frames = FrameMaker(ledger)
        self._settled = Settled({})

    async def messages(
        self, token_budget: int | None = None, provider: Any | None = None
    ) -> list[Row]:
        """Return the messages for the next request, compacted if they would not fit.

        They are the ledger's own, and not to be changed: a message is the very same object in
        every request that shows it in the same way. See `get_messages_for_request`.
        """
        if self.before_request is not None:
            await self.before_request()
        self._provider = provider or self._provider
        budget = self._policy.budget(token_budget, self._provider)
        if budget != self._budget:
            self._budget = budget
            await self.events.budget(budget)
        decided = self.decisions.of(budget.key)
        frame = await self.frame(decided)
        made = await self._plan(frame, budget, decided)
        self._check(made, budget)
        frame = await self._commit(made, frame, budget, decided)
        self.meter.sent(made.after, budget.key)
        return self._projected(frame, made.decisions)

    async def preview(self, provider: Any | None = None) -> Plan:
        """Return what a compaction for a provider's window would do now; nothing changes.

        Without a provider it is the window of the last request, here and in the methods below.
        """
        budget = self.budget(provider)
        decided = self.decisions.peek(budget.key)
        return await self._plan(await self.frame(decided), budget, decided, force=True)

    async def compact(self, provider: Any | None = None) -> Plan:
        """Compact now, whether or not the trigger is reached; the ledger stays as it is."""
        budget = self.budget(provider)
        decided = self.decisions.of(budget.key)
        frame = await self.frame(decided)
        made = await self._plan(frame, budget, decided, force=True)
        await self._commit(made, frame, budget, decided)
        return made

    async def report(self, provider: Any | None = None) -> ContextReport:
        """Return the budget of the next request by source.

        The system prompt is taken as it was in the last request: this is asked often.
        """
        budget = self.budget(provider)
        decided = self.decisions.peek(budget.key)
        frame = await self.frame(decided, fresh_prompt=False)
        preview = await self._plan(frame, budget, decided, force=True)
        kind = self.meter.kind(budget.key)
        total = self.meter.real(preview.before, budget.key)
        ephemeral = self.meter.ephemeral
        total += self.meter.added if kind == "usage" else sum(ephemeral.values())
        lines = (
            *frame.shares(self._settle(frame, decided.rows)),
            *(SourceLine(source, 1, tokens, "ephemeral") for source, tokens in ephemeral.items()),
        )
        floor = self.meter.real(preview.floor, budget.key)
        service = frame.lent.service
        return ContextReport(
            total=total,
            limit=budget.limit,
            trigger=0 if service else budget.trigger,
            target=budget.target,
            floor=floor,
            by_source=fitted(lines, total),
            kind=kind,
            preview=preview,
            window=budget.window,
            output_reserve=budget.output_reserve,
            provenance=budget.provenance,
            model=budget.model,
            turns_left=None if service else self._turns_left(budget.trigger - total),
            warning=_warning(preview, floor > budget.trigger, service),
        )

    async def frame(
        self, decided: ModelDecisions | None = None, *, fresh_prompt: bool = True
    ) -> Frame:
        """Return the request before anything is cut, with the summaries among the decisions."""
        if self.before_frame is not None:
            self.before_frame()
        prompt = await (self.prompt.make() if fresh_prompt else self.prompt.known())
        tools = tool_schema_tokens(self._tools()) if self._tools is not None else {}
        summaries = (*self.decisions.summaries, *(decided.summaries if decided else ()))
        return self._frames.make(prompt, self.lent, tools, summaries, self.decisions.choices)

    async def items(self, provider: Any | None = None) -> tuple[ItemCard, ...]:
        """Return the items of the next request, the biggest first."""
        decided = self.decisions.peek(self.budget(provider).key)
        frame = await self.frame(decided, fresh_prompt=False)
        entries, choices = self.ledger.entries, self.decisions.choices
        return items_of(frame.entries, frame.tools, decided.rows, choices, entries)

    def choose(self, key: str, choice: Choice | None) -> str:
        """Pin, drop or shorten a row from the next request on, or take that back with None.

        Returns:
            Why not; empty where it was done.
        """
        rows = self.ledger.entries
        entry = rows[int(key)] if key.isdecimal() and int(key) < len(rows) else None
        reason = refusal(entry, choice, self.ledger.last_own)
        if not reason:
            self.decisions.choices.choose(key, choice)
            self._chosen()
        return reason

    def asked(self) -> None:
        """Leave the words out that were refused, now that the user said something else."""
        if 0 <= self.refused < self.ledger.last_own:
            self.choose(str(self.refused), "drop")
        self.refused = -1

    def undo_choice(self) -> str | None:
        """Take the last of these back; returns the row's key, None where there is none."""
        key = self.decisions.choices.undo()
        if key is not None:
            self._chosen()
        return key

    def _chosen(self) -> None:
        pins = self.decisions.choices.pins
        kept: set[str] = set()
        if pins:
            rows = self.ledger.entries
            for group in group_entries(rows):
                if not pins.isdisjoint(keys := {rows[row].key for row in group.rows}):
                    kept |= keys
        self.decisions.chosen(kept)

    def budget(self, provider: Any | None = None) -> Budget:
        """Return the budget of the next request."""
        return self._policy.budget(None, provider or self._provider)

    async def announce(
        self, made: Plan, budget: Budget, before: int, after: int, entries: Sequence[Entry]
    ) -> None:
        """Tell of a compaction, its totals on the scale of the provider's count.

        Before and after are the messages of the request, ``entries`` those it was planned for.
        """
        real = self.meter.real
        counted = replace(
            made,
            before=real(made.before, budget.key),
            after=real(made.after, budget.key),
            floor=real(made.floor, budget.key),
        )
        await self.events.compaction(counted, budget, before, after, entries)

    def to_dict(self) -> dict[str, Any]:
        """Return what was decided and counted, as JSON-native data."""
        saved = {"decisions": self.decisions.to_dict(), "anchor": self.meter.to_dict()}
        return {**saved, "refused": self.refused} if self.refused >= 0 else saved

    def restore(self, data: Any) -> None:
        """Take over what `to_dict` returned, once the ledger has its rows."""
        known = data if isinstance(data, Mapping) else {}
        self.decisions.restore(known.get("decisions"))
        self.meter.restore(known.get("anchor"))
        refused = known.get("refused")
        last = isinstance(refused, int) and refused == self.ledger.last_own
        self.refused = self.ledger.last_own if last else -1

    def forget(self) -> None:
        """Begin anew: the rows are others now."""
        self.decisions.clear()
        self.meter.clear()
        self.refused = -1
        self.beginnings += 1

    async def _plan(
        self, frame: Frame, budget: Budget, decided: ModelDecisions, *, force: bool = False
    ) -> Plan:
        if frame.lent.service:
            budget = replace(budget, trigger=_NEVER, limit=_NEVER)
            return plan(frame.entries, budget, {}, overhead=frame.overhead)
        trigger = max(budget.trigger, min(decided.resume_at, budget.limit))
        # What hooks add to each request needs room; `_check` refuses none for what may not come.
        limit, trigger, target = (
            self.meter.estimate(max(0, each - self.meter.recurring), budget.key)
            for each in (budget.limit, trigger, budget.target)
        )
        estimated = replace(budget, limit=limit, trigger=trigger, target=target)
        if self._planner is not None:
            return await self._planner(frame, estimated, decided.rows, force=force)
        return plan(
            frame.entries,
            estimated,
            decided.rows,
            overhead=frame.overhead,
            force=force,
            protected=frame.protected,
            settled=self._settle(frame, decided.rows),
        )

    def _settle(self, frame: Frame, decisions: Mapping[str, Decision]) -> Settled:
        """What is known of the finished turns in a request under the decisions."""
        self._settled = self._settled.grown(
            frame.entries, frame.settled, decisions, frame.protected
        )
        return self._settled

    def _projected(self, frame: Frame, decisions: Mapping[str, Decision]) -> list[Row]:
        return project(frame.entries, decisions, self._settle(frame, decisions))

    async def _commit(
        self, made: Plan, frame: Frame, budget: Budget, decided: ModelDecisions
    ) -> Frame:
        """Keep what was decided, and tell; returns the frame with its summaries."""
        shown = with_summaries(frame, made.summaries)
        if made.reason != "fits":
            after = self.meter.real(made.after, budget.key)
            over = after > budget.target
            resume_at = after + int(budget.limit * _PAUSE) if over else 0
            decided.pause(resume_at, len(self.ledger), alone=not made.actions)
        if made.actions:
            before = len(self._projected(frame, decided.rows))
            decided.take(made.decisions, made.summaries, len(self.ledger))
            after = len(self._projected(shown, decided.rows))
            await self.announce(made, budget, before, after, frame.entries)
        if made.reason in ("floor", "overflow") and not decided.warned:
            decided.warned = True
            logger.warning("%s", _end_of_compaction(made))
            await self.events.notice(_end_of_compaction(made))
        return shown

    def _check(self, made: Plan, budget: Budget) -> None:
        after = self.meter.real(made.after, budget.key)
        self.refused = -1
        if not budget.ceiling or after <= budget.ceiling:
            return
        asked = self.ledger.entries[max(self.ledger.last_own, 0) :]
        answered = any(entry.answers or entry.role == "assistant" for entry in asked)
        if asked and not answered and after - asked[0].tokens <= budget.ceiling:
            self.refused = self.ledger.last_own
        source, tokens = made.biggest
        error = ContextLengthError(
            f"The request takes about {short_count(after)} tokens and the model takes "
            f"{short_count(budget.ceiling)}. Most of it is '{source}' with about "
            f"{short_count(tokens)}, which can't be compacted. {_REMEDY}",
            model=budget.model or None,
        )
        error.remedy = _REMEDY
        raise error

    def _turns_left(self, room: int) -> int | None:
        """How many turns like the last ones fit until compaction."""
        last = self.ledger.turn
        recent = takewhile(lambda e: e.turn > last - _TURNS, reversed(self.ledger.entries))
        grown = sum(entry.tokens for entry in recent)
        turns = min(last, _TURNS)
        return max(0, room) * turns // grown if grown and turns else None


_NEVER: Final = 2**62

_REMEDY: Final = "Shorten it, start a new session, or use a model with a larger window."


def _end_of_compaction(made: Plan) -> str:
    source, tokens = made.biggest
    return (
        f"For now the conversation can't be compacted below about {short_count(made.after)} tokens:"
        f" most of it is '{source}' with about {short_count(tokens)}. A new session, or a model"
        " with a larger window, has more room."
    )


def _warning(preview: Plan, stuck: bool, service: bool) -> str:
    if service:
        return "History kept by the service"
    return _end_of_compaction(preview) if stuck else ""
