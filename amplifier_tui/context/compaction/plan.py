"""What to shorten and what to leave out, so that a request fits. Pure, hence previewable.

`plan` decides and `project` shows the result. Decisions are kept by the key of a row, so they can
be applied again as the conversation grows. Never touched are system rows, the user's first and
last message, and what the assistant said and called in the current turn.

In this order, until the target is reached:

1. results of old tool calls are truncated, and what providers added is squeezed;
2. old messages of the user that take more than a quarter of the window are cut to stubs, then old
   answers are left out, with their calls and results, and then the user's other old messages cut;
3. results of the current turn are squeezed, and then truncated, but for the latest three calls.

Answers stay where the target is missed without them, too, and leaving them out would save little.

Only a request that does not fit the window at all goes further: results that take more than a
quarter of it are cut first of all, and if the steps above are not enough, old messages of the
user and earlier answers of the current turn are left out and the latest results are cut.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import field
from typing import Final, Literal, NamedTuple

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.tokens import MESSAGE_TOKENS
from amplifier_tui.context.compaction.decisions import Summary
from amplifier_tui.context.compaction.outline import MARKER, MARKER_TOKENS, Outline, Settled
from amplifier_tui.context.entries import Decision, Entry, Row
from amplifier_tui.context.request.budget import Budget

ActionKind = Literal["truncate", "stub", "squeeze", "drop", "summary"]
Reason = Literal["fits", "trigger", "forced", "floor", "overflow"]
"""Why a plan is as it is: nothing to do; over the trigger; asked for; as far down as it goes, and
that is above the target; even that does not fit the window."""

_OVERSIZED: Final = 4
"""A row larger than this part of the limit is cut before anything is left out."""

_WORTH: Final = 10
"""Where the target can't be reached, answers are left out for this part of what is missing."""


class PlanAction(NamedTuple):
    """One thing a plan does.

    Attributes:
        rows: Positions in the conversation that was planned for.
        kind: What is done to them.
        before: Their tokens before.
        after: Their tokens after.
        source: Who put them there; the answer's for a group.
    """

    rows: tuple[int, ...]
    kind: ActionKind
    before: int
    after: int
    source: str


Action = PlanAction
"""Its name in the public API."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a compaction does.

    Attributes:
        actions: What is new in it, in the order of the rows.
        decisions: By key, everything that is decided now, old and new.
        before: Tokens of the request without the new actions.
        after: Tokens with them.
        floor: Tokens that stay however often it is compacted; 0 where there was nothing to plan.
        reason: Why it is as it is.
        level: Strongest measure that was taken, 0 to 4; see the module's docstring.
        biggest: At the end of compaction, the source that takes most of what stays, and its tokens.
        summaries: What comes in the place of rows.
    """

    actions: tuple[PlanAction, ...] = ()
    decisions: Mapping[str, Decision] = field(default_factory=dict)
    before: int = 0
    after: int = 0
    floor: int = 0
    reason: Reason = "fits"
    level: int = 0
    biggest: tuple[str, int] = ("", 0)
    summaries: tuple[Summary, ...] = ()

    @property
    def saved(self) -> int:
        """Tokens the request has less."""
        return self.before - self.after

    def count(self, *kinds: ActionKind) -> int:
        """Return how many rows get one of these actions."""
        return sum(len(action.rows) for action in self.actions if action.kind in kinds)

    def describe(self) -> str:
        """Return the plan as a sentence: "-41.2k; 14 results shortened (tool:bash 14), …"."""
        if not self.actions:
            return "Nothing to compact"
        parts = [f"-{self.saved / 1000:.1f}k" if self.saved >= 1000 else f"-{self.saved}"]
        cut = Counter(a.source for a in self.actions if a.kind in ("truncate", "squeeze"))
        if cut:
            sources = ", ".join(f"{source} {n}" for source, n in cut.most_common())
            parts.append(f"{sum(cut.values())} results shortened ({sources})")
        for kind, what in (
            ("drop", "answers left out"),
            ("stub", "messages of the user shortened"),
            ("summary", "summary"),
        ):
            number = sum(action.kind == kind for action in self.actions)
            if number:
                parts.append(f"{number} {what}")
        return "; ".join(parts)


def plan(
    entries: Sequence[Entry],
    budget: Budget,
    decisions: Mapping[str, Decision],
    *,
    overhead: int = 0,
    force: bool = False,
    protected: Collection[str] = (),
    settled: Settled | None = None,
) -> Plan:
    """Decide how to get a request down to its target.

    Args:
        entries: The request's rows, calls and results paired.
        budget: Its budget.
        decisions: By key, what was decided before; it stays.
        overhead: Tokens of the request that are no rows, such as tool schemas.
        force: Go down to the target also where the trigger is not reached.
        protected: Keys of rows that stay whole.
        settled: The finished turns under these decisions, where they are known.

    Returns:
        The plan. ``after`` is the target at most, or the floor where that is higher; it exceeds
        the limit only if nothing that may be cut is left.
    """
    settled = settled or Settled(decisions, protected)
    work = _Work(entries, settled, overhead)
    before = work.total
    if before <= budget.trigger and not force:
        return Plan(decisions=decisions, before=before, after=before)
    parts = Outline(entries, settled, work.sizes)
    work.decisions = dict(decisions)
    large = budget.limit // _OVERSIZED
    floor = _floor(entries, parts, work)
    if before > budget.limit:
        work.cut("squeeze", (i for i in parts.results if work.sizes[i] > large), budget.limit, 4)
    kept = _with_answers(entries, parts, work, budget.target) if floor > budget.target else 0
    _compact(work, parts, budget.target, large, worth_it=not kept)
    if work.total > budget.limit:
        _make_it_fit(work, parts, budget)
    reason: Reason = "forced" if before <= budget.trigger else "trigger"
    if work.total > budget.limit:
        reason = "overflow"
    elif work.total > budget.target:
        reason = "floor"
    return Plan(
        actions=tuple(work.actions()),
        decisions=work.decisions,
        before=before,
        after=work.total,
        # Only a request that does not fit gets below it, by measures that it does not reckon with.
        floor=min(kept or floor, work.total),
        reason=reason if work.changed or reason in ("overflow", "floor") else "fits",
        level=work.level,
        biggest=_biggest(work) if reason in ("floor", "overflow") else ("", 0),
    )


def project(
    entries: Sequence[Entry], decisions: Mapping[str, Decision], settled: Settled | None = None
) -> list[Row]:
    """Return the messages as the decisions leave them; none of them is changed.

    One line stands where the first row was left out.
    """
    view: list[Row] = list(settled.view) if settled is not None else []
    marked = settled is not None and settled.marked
    for entry in entries[len(settled.entries) :] if settled is not None else entries:
        decision = decisions.get(entry.key)
        if decision != "drop":
            view.append(entry.under(decision))
        elif not marked:
            view.append(MARKER)
            marked = True
    return view


class _Work:
    """A plan in the making."""

    def __init__(self, entries: Sequence[Entry], settled: Settled, overhead: int) -> None:
        self.entries = entries
        self.decisions: dict[str, Decision] = {}
        self.level = 0
        decided = settled.decisions.get
        tail = entries[len(settled.entries) :]
        sizes = [entry.tokens_under(decided(entry.key)) for entry in tail]
        self.sizes = [*settled.sizes, *sizes]
        self.marked = settled.marked or any(decided(entry.key) == "drop" for entry in tail)
        self._before: dict[int, int] = {}
        self._groups: dict[int, tuple[int, ...]] = {}
        self.total = overhead + settled.total + sum(sizes) + (MARKER_TOKENS if self.marked else 0)

    @property
    def changed(self) -> bool:
        return bool(self._before)

    def cut(self, decision: Decision, rows: Iterable[int], target: int, level: int) -> None:
        """Cut rows, the first ones first, until the target is reached."""
        for index in rows:
            if self.total <= target:
                return
            entry = self.entries[index]
            self._decide(index, decision, entry.tokens_under(decision), level)

    def drop(self, groups: Iterable[Sequence[int]], target: int, level: int) -> None:
        """Leave groups of rows out, the first ones first, until the target is reached."""
        groups = list(groups)
        if self.total <= target or not self.is_worth_it(groups):
            return
        self.mark()
        for rows in groups:
            if self.total <= target:
                return
            for index in rows:
                self._decide(index, "drop", 0, level)
            self._groups[rows[0]] = tuple(rows)

    def mark(self) -> None:
        """Count the line that stands where something is left out."""
        if not self.marked:
            self.marked = True
            self.total += MARKER_TOKENS

    def is_worth_it(self, groups: Sequence[Sequence[int]]) -> bool:
        """Whether leaving groups out saves more than the line that says so takes."""
        return self.marked or sum(self.sizes[i] for g in groups for i in g) > MARKER_TOKENS

    def _decide(self, index: int, decision: Decision, after: int, level: int) -> None:
        size = self.sizes[index]
        if after >= size:
            return
        self._before.setdefault(index, size)
        self.total += after - size
        self.sizes[index] = after
        self.decisions[self.entries[index].key] = decision
        self.level = max(self.level, level)

    def actions(self) -> Iterable[PlanAction]:
        """The new actions: one for each group that is left out, one for every other row."""
        grouped: set[int] = set()
        for index in sorted(self._before):
            if index in grouped:
                continue
            decision = self.decisions[self.entries[index].key]
            rows = self._groups.get(index, (index,)) if decision == "drop" else (index,)
            grouped.update(rows)
            before = sum(self._before.get(i, self.sizes[i]) for i in rows)
            after = sum(self.sizes[i] for i in rows)
            yield PlanAction(rows, decision, before, after, self.entries[index].source)


def _compact(work: _Work, parts: Outline, target: int, large: int, *, worth_it: bool) -> None:
    work.cut("truncate", parts.finished.old_results, target, 1)
    work.cut("squeeze", parts.provided, target, 1)
    work.cut("stub", (i for i in parts.finished.long_words if work.sizes[i] > large), target, 2)
    if worth_it:
        work.drop(parts.finished.answers, target, 2)
    work.cut("stub", parts.finished.long_words, target, 2)
    settled = (*parts.provided, *parts.settled_results)
    work.cut("squeeze", settled, target, 3)
    work.cut("truncate", settled, target, 3)


def _make_it_fit(work: _Work, parts: Outline, budget: Budget) -> None:
    first = [*parts.finished.answers, *([row] for row in parts.finished.old_words)]
    if work.is_worth_it([*first, *parts.settled_groups]):
        work.mark()
        work.drop(first, budget.limit, 4)
        if work.total > budget.limit:
            work.drop(parts.settled_groups, budget.target, 4)
    work.cut("squeeze", parts.latest, budget.limit, 4)
    work.cut("truncate", parts.latest, budget.limit, 4)
    if work.marked:
        # Now that something is left out anyway, the smallest answers are worth it, too.
        work.drop(parts.finished.answers, budget.target, 2)


def _floor(entries: Sequence[Entry], parts: Outline, standing: _Work) -> int:
    """The tokens that are left when every measure but the last was taken on every row."""
    results = (*parts.provided, *parts.settled_results)
    total = standing.total - parts.finished.stub_savings
    total -= _saved_by_cutting(entries, standing, results)
    if standing.marked:
        return total - parts.finished.answer_tokens
    cut = 0
    if parts.finished.answer_rows * MESSAGE_TOKENS <= MARKER_TOKENS:
        # So few that, once their results are cut, leaving them out may not be worth it.
        cut = _saved_by_cutting(entries, standing, parts.finished.old_results)
    return total - cut - max(0, parts.finished.answer_tokens - cut - MARKER_TOKENS)


def _with_answers(entries: Sequence[Entry], parts: Outline, work: _Work, target: int) -> int:
    """The tokens left when everything is cut and no answer left out; 0 if that is too many.

    Reckoned with everything cut, it is the same when that was done.
    """
    old = parts.finished.old_results
    results = (*parts.provided, *parts.settled_results)
    cut = _saved_by_cutting(entries, work, old)
    left = work.total - parts.finished.stub_savings
    left -= cut + _saved_by_cutting(entries, work, results)
    answers = sum(work.sizes[row] for group in parts.finished.answers for row in group) - cut
    gain = answers - (0 if work.marked else MARKER_TOKENS)
    return left if gain * _WORTH < left - target else 0


def _saved_by_cutting(entries: Sequence[Entry], work: _Work, rows: Iterable[int]) -> int:
    sizes = work.sizes
    return sum(max(0, sizes[i] - entries[i].tokens_under("truncate")) for i in rows)


def _biggest(work: _Work) -> tuple[str, int]:
    by_source: dict[str, int] = {}
    for entry, size in zip(work.entries, work.sizes, strict=True):
        for source, tokens in entry.parts or ((entry.source, size),):
            by_source[source] = by_source.get(source, 0) + tokens
    return max(by_source.items(), key=lambda item: item[1], default=("", 0))
