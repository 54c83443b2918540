"""ADR strategies as plans: previewable, and the ledger stays as it is."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from uuid import uuid4

from amplifier_tui.context.adr.groups import (
    SUMMARIZED_BY_SUMMARY_ID_KEY,
    TokenizerProtocol,
    annotate_message_groups,
    is_excluded,
)
from amplifier_tui.context.adr.message import Message
from amplifier_tui.context.adr.strategies import CompactionStrategy
from amplifier_tui.context.compaction.decisions import Summary
from amplifier_tui.context.compaction.outline import group_entries
from amplifier_tui.context.compaction.plan import Plan, PlanAction, Reason, plan
from amplifier_tui.context.entries import Decision
from amplifier_tui.context.request.budget import Budget
from amplifier_tui.context.request.frame import Frame, with_summaries


class StrategyPlanner:
    """Plans with a strategy, within the rules of every plan.

    The strategy works on copies. What it excludes is left out, whole groups only and never a
    system message or the user's first or last one; what it puts in becomes a summary. If that is
    not enough for the window, the built-in plan goes on from there.
    """

    def __init__(
        self, strategy: CompactionStrategy, tokenizer: TokenizerProtocol | None = None
    ) -> None:
        self._strategy = strategy
        self._tokenizer = tokenizer

    async def __call__(
        self, frame: Frame, budget: Budget, decisions: Mapping[str, Decision], *, force: bool
    ) -> Plan:
        """Plan; see `plan`."""
        standing = _plan(frame, replace(budget, trigger=_NEVER), decisions)
        if standing.before <= budget.trigger and not force:
            return standing
        excluded, summaries = await self._run(frame, decisions)
        decided = dict(decisions)
        actions: list[PlanAction] = []
        entries = frame.entries
        for rows in excluded:
            before = sum(entries[i].tokens_under(decisions.get(entries[i].key)) for i in rows)
            decided.update((entries[i].key, "drop") for i in rows)
            actions.append(PlanAction(rows, "drop", before, 0, entries[rows[0]].source))
        summed = with_summaries(frame, summaries)
        for summary in summaries:
            keys = frozenset(summary.keys)
            rows = tuple(i for i, e in enumerate(entries) if e.base in keys)
            before = sum(entries[i].tokens_under(decisions.get(entries[i].key)) for i in rows)
            after = next(e.tokens for e in summed.entries if e.key == summary.key)
            actions.append(PlanAction(rows, "summary", before, after, entries[rows[0]].source))
        rest = _plan(summed, replace(budget, trigger=budget.limit, target=budget.limit), decided)
        floor = _plan(frame, budget, decisions, force=True).floor
        changed = bool(actions or rest.actions)
        return Plan(
            actions=(*sorted(actions), *rest.actions),
            decisions=rest.decisions,
            before=standing.before,
            after=rest.after,
            floor=floor,
            reason=_reason(rest.after, budget, changed, force),
            level=rest.level or int(bool(actions)),
            biggest=rest.biggest,
            summaries=tuple(summaries),
        )

    async def _run(
        self, frame: Frame, decisions: Mapping[str, Decision]
    ) -> tuple[list[tuple[int, ...]], list[Summary]]:
        """The groups of rows that the strategy leaves out, and what it puts in for others."""
        entries = frame.entries
        shown = [i for i, entry in enumerate(entries) if decisions.get(entry.key) != "drop"]
        copies = [
            Message.from_kernel(entries[i].under(decisions.get(entries[i].key))) for i in shown
        ]
        place = {id(message): i for message, i in zip(copies, shown, strict=True)}
        messages = list(copies)
        annotate_message_groups(messages, self._tokenizer)
        await self._strategy(messages)
        out = {place[id(message)]: message for message in copies if is_excluded(message)}
        new = [m for m in messages if id(m) not in place and not is_excluded(m)]
        groups = [tuple(group.rows) for group in group_entries(entries)]
        kept = _protected(frame)
        gone = [rows for rows in groups if kept.isdisjoint(rows) and all(i in out for i in rows)]
        summaries = [
            Summary(uuid4().hex[:12], m.text, tuple(entries[i].base for i in rows), role=m.role)
            for m, rows in _summed_rows(messages, new, gone, out, place)
            if rows
        ]
        summed = {key for summary in summaries for key in summary.keys}
        dropped = [rows for rows in gone if entries[rows[0]].base not in summed]
        return dropped, summaries


_NEVER = 2**62


def _summed_rows(
    messages: list[Message],
    new: list[Message],
    gone: list[tuple[int, ...]],
    out: Mapping[int, Message],
    place: Mapping[int, int],
) -> Iterator[tuple[Message, list[int]]]:
    """What each new message stands for: the rows marked so, else all before it that are gone."""
    left = list(gone)
    for message in new:
        linked = [rows for rows in left if _is_marked(out[rows[0]], message)]
        if not linked:
            earlier = messages[: next(i for i, m in enumerate(messages) if m is message)]
            last = max((place[id(m)] for m in earlier if id(m) in place), default=-1)
            linked = [rows for rows in left if rows[0] <= last]
        left = [rows for rows in left if rows not in linked]
        yield message, [i for rows in linked for i in rows]


def _is_marked(message: Message, summary: Message) -> bool:
    mark = message.additional_properties.get(SUMMARIZED_BY_SUMMARY_ID_KEY)
    return mark is not None and mark == summary.message_id


def _plan(
    frame: Frame, budget: Budget, decisions: Mapping[str, Decision], *, force: bool = False
) -> Plan:
    return plan(
        frame.entries,
        budget,
        decisions,
        overhead=frame.overhead,
        force=force,
        protected=frame.protected,
    )


def _protected(frame: Frame) -> set[int]:
    own = [i for i, entry in enumerate(frame.entries) if entry.own]
    kept = {own[0], own[-1]} if own else set()
    return kept | {
        i
        for i, entry in enumerate(frame.entries)
        if entry.role == "system" or entry.key in frame.protected
    }


def _reason(after: int, budget: Budget, changed: bool, force: bool) -> Reason:
    if after > budget.limit:
        return "overflow"
    if after > budget.trigger:
        return "floor"
    if not changed:
        return "fits"
    return "forced" if force else "trigger"
