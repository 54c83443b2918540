"""What others are told about requests: the report on the next one, and the context's events."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, field
from typing import Any, Final

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.context.compaction.plan import Plan
from amplifier_tui.context.entries import Entry, beginning_of
from amplifier_tui.context.request.budget import Budget, Provenance
from amplifier_tui.context.request.meter import Kind
from amplifier_tui.context.request.shares import SourceLine
from amplifier_tui.kernel import events


@dataclass(frozen=True, slots=True)
class ContextReport:
    """The budget of the next request by source; what is not told here is as in `Budget`.

    Attributes:
        total: Tokens of the request.
        trigger: Compaction starts above this; 0 when it is off.
        floor: What no compaction can remove.
        by_source: In the order of the request; they sum to the total.
        kind: Whether the total rests on a provider's count or is estimated.
        preview: What a compaction would do now; its numbers are estimates.
        turns_left: About how many turns fit until compaction; None when unknown.
        warning: What the user should know; may be empty.
    """

    total: int
    limit: int
    trigger: int
    target: int
    floor: int
    by_source: tuple[SourceLine, ...]
    kind: Kind
    preview: Plan = field(default_factory=Plan)
    window: int = 0
    output_reserve: int = 0
    provenance: Provenance = "fallback"
    model: str = ""
    turns_left: int | None = None
    warning: str = ""

    def leaves(self) -> tuple[SourceLine, ...]:
        """Return one line per source, the history's speakers among the others, largest first."""
        merged: dict[str, SourceLine] = {}
        for line in self.by_source:
            for leaf in line.children or (line,):
                known = merged.get(leaf.source)
                merged[leaf.source] = leaf if known is None else _merged(known, leaf)
        return tuple(sorted(merged.values(), key=lambda line: -line.tokens))


def _merged(one: SourceLine, other: SourceLine) -> SourceLine:
    compacted = "compacted" in (one.state, other.state)
    messages, tokens = one.messages + other.messages, one.tokens + other.tokens
    state = "compacted" if compacted else one.state
    return SourceLine(one.source, messages, tokens, state)


_MOST_ROWS: Final = 200
_WORDS: Final = {"drop": "left out · ", "summary": ""}


def _replaced(plan: Plan, entries: Sequence[Entry]) -> list[str]:
    """Return a line for each row that is in the request no more, or not whole."""
    lines = [
        f"{_WORDS.get(action.kind, 'shortened · ')}{entries[row].source} · "
        f"{beginning_of(entries[row].message)}"
        for action in plan.actions
        for row in action.rows
    ]
    more = len(lines) - _MOST_ROWS
    return [*lines[:_MOST_ROWS], *([f"and {more} more"] if more > 0 else [])]


CONTEXT_BUDGET: Final = "context:budget"
"""The budget is another one now; the data are the fields of `Budget`."""

CONTEXT_EVENTS: Final = (
    events.CONTEXT_PRE_COMPACT,
    events.CONTEXT_POST_COMPACT,
    events.CONTEXT_COMPACTION,
    CONTEXT_BUDGET,
)


class ContextEvents:
    """Emits a context's events to ``hooks``, None for nobody; ``source`` is the module's name."""

    def __init__(self, hooks: Any | None, source: str) -> None:
        self._hooks = hooks
        self._source = source

    async def compaction(
        self,
        plan: Plan,
        budget: Budget,
        messages_before: int,
        messages_after: int,
        entries: Sequence[Entry],
    ) -> None:
        """Tell of a compaction, with the number of messages before and after it.

        ``entries`` are the rows that were planned for.
        """
        before = {"message_count": messages_before, "token_count": plan.before}
        after = {"message_count": messages_after, "token_count": plan.after}
        await self._emit(events.CONTEXT_PRE_COMPACT, before)
        await self._emit(events.CONTEXT_POST_COMPACT, after)
        await self._emit(
            events.CONTEXT_COMPACTION,
            {
                "before_tokens": plan.before,
                "after_tokens": plan.after,
                "before_messages": messages_before,
                "after_messages": messages_after,
                "strategy_level": plan.level,
                "budget": budget.limit,
                "target_tokens": budget.target,
                "messages_removed": plan.count("drop"),
                "messages_truncated": plan.count("truncate", "squeeze"),
                "user_messages_stubbed": plan.count("stub"),
                "messages_summarized": plan.count("summary"),
                "reason": plan.reason,
                "floor_tokens": plan.floor,
                "model": budget.model,
                "plan": plan.describe(),
                "summary": "\n\n".join(summary.text for summary in plan.summaries),
                "replaced": _replaced(plan, entries),
            },
        )

    async def budget(self, budget: Budget) -> None:
        """Tell of a new budget."""
        await self._emit(CONTEXT_BUDGET, asdict(budget))

    async def notice(self, message: str) -> None:
        """Warn the user of something."""
        told = {"message": message, "level": "warning", "source": self._source}
        await self._emit(events.USER_NOTIFICATION, told)

    async def notices(self, messages: Iterable[object]) -> None:
        """Tell the user several things."""
        for message in messages:
            await self.notice(str(message))

    async def _emit(self, event: str, data: dict[str, Any]) -> None:
        if self._hooks is not None:
            await self._hooks.emit(event, data)
