"""A conversation by what compaction may do to its rows: kept up to date as it grows.

Rows only make sense in groups: a tool call, its results, the reasoning before it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import field, replace
from types import MappingProxyType
from typing import Final, Literal

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.tokens import message_tokens
from amplifier_tui.context.entries import COMPACTION, Decision, Entry, Row
from amplifier_tui.context.request.shares import Shares

MARKER: Final[Row] = MappingProxyType(
    {
        "role": "user",
        "content": (
            "[Some earlier messages are left out here to save space. "
            "Read files or run commands again if you need what they said.]"
        ),
        "metadata": {"source": COMPACTION, "ephemeral": True},
    }
)
"""Stands where the first row was left out. It never changes, so that the provider's cache of what
follows holds as long as it can."""

MARKER_TOKENS: Final = message_tokens(MARKER)

FRESH: Final = 3
"""Answers with tool calls at the end of the current turn whose results stay whole."""

GroupKind = Literal["system", "user", "assistant_text", "tool_call"]


@dataclass(slots=True)
class Group:
    """Rows that are kept or left out together, by position; a "tool_call" with its results."""

    kind: GroupKind
    rows: list[int] = field(default_factory=list)


def group_entries(entries: Sequence[Entry]) -> list[Group]:
    """Put a conversation's rows into groups, in the order of their first rows.

    A result belongs to the answer that made its call, however far away it is. A result without a
    call stands alone, as part of what the assistant said.
    """
    groups: list[Group] = []
    callers: dict[str, Group] = {}
    reasoning: Group | None = None
    for index, entry in enumerate(entries):
        if entry.answers:
            reasoning = None
            caller = callers.get(entry.answers[0])
            if caller is not None and len(entry.answers) == 1:
                caller.rows.append(index)
            else:
                _join_callers(groups, callers, entry, index)
            continue
        if entry.role == "assistant":
            if reasoning is None:
                group = Group("assistant_text")
                groups.append(group)
            else:
                group = reasoning
            group.rows.append(index)
            if entry.calls:
                group.kind = "tool_call"
                for call_id in entry.calls:
                    callers[call_id] = group
            reasoning = group if entry.thinks else None
            continue
        reasoning = None
        kind: GroupKind = "system" if entry.role == "system" else "user"
        groups.append(Group(kind, [index]))
    return [group for group in groups if group.rows]


def _join_callers(groups: list[Group], callers: dict[str, Group], entry: Entry, index: int) -> None:
    """Add a result to the group of its call; results of several calls tie their groups."""
    found = [callers[call_id] for call_id in entry.answers if call_id in callers]
    if not found:
        groups.append(Group("assistant_text" if entry.role == "tool" else "user", [index]))
        return
    first, *others = found
    for other in others:
        if other is not first:
            first.rows = sorted({*first.rows, *other.rows})
            other.rows = []
            for call_id, group in callers.items():
                if group is other:
                    callers[call_id] = first
    first.rows.append(index)


@dataclass(slots=True)
class Finished:
    """Rows of finished turns by what may be done to them.

    Attributes:
        old_results: Results that can still be cut.
        answers: Groups that can be left out; those that are gone are not listed.
        old_words: The user's messages that can be left out.
        long_words: Those of them that can be cut to stubs.
        answer_rows: How many rows the groups of answers have, those that are gone included.
        answer_tokens: Tokens of all answers.
        stub_savings: Tokens that cutting all of the user's messages would save.
        has_own: Whether the user's first words, which stay whole, are among them.
    """

    old_results: list[int] = field(default_factory=list)
    answers: list[list[int]] = field(default_factory=list)
    old_words: list[int] = field(default_factory=list)
    long_words: list[int] = field(default_factory=list)
    answer_rows: int = 0
    answer_tokens: int = 0
    stub_savings: int = 0
    has_own: bool = False

    def copy(self) -> Finished:
        """Return the same with lists of its own."""
        return replace(
            self,
            old_results=list(self.old_results),
            answers=list(self.answers),
            old_words=list(self.old_words),
            long_words=list(self.long_words),
        )

    def add(
        self, group: Group, entries: Sequence[Entry], sizes: Sequence[int], settled: Settled
    ) -> None:
        """Add a group of rows of a conversation.

        ``sizes`` are the tokens of its rows under the decisions of ``settled``.
        """
        decided, rows = settled.decisions.get, group.rows
        first = not self.has_own and any(entries[row].own for row in rows)
        self.has_own = self.has_own or first
        if group.kind == "system" or first:
            return
        if settled.protected and any(entries[row].key in settled.protected for row in rows):
            return
        left = [row for row in rows if decided(entries[row].key) != "drop"]
        if group.kind == "user":
            self.old_words += left
            for row in left:
                saved = sizes[row] - entries[row].tokens_under("stub")
                if saved > 0:
                    self.long_words.append(row)
                    self.stub_savings += saved
            return
        self.answer_rows += len(rows)
        self.answer_tokens += sum(sizes[row] for row in left)
        if left:
            self.answers.append(rows)
        self.old_results += [
            row for row in left if entries[row].answers and decided(entries[row].key) != "truncate"
        ]


class Settled:
    """The finished turns at the beginning of a conversation, with everything planning asks of them.

    It grows by whole turns, so that a request costs what is new in it and not what was said before.

    Attributes:
        decisions: By key, what was decided about rows.
        protected: Keys of rows that stay whole.
        sizes: The tokens of the rows under the decisions; ``total`` is their sum.
        marked: Whether one of them is left out.
        view: The messages as the model gets them, one line where the first row is left out.
        finished: What may be done to them.
        with_parts: Rows whose shares are told by their parts.
    """

    def __init__(self, decisions: Mapping[str, Decision], protected: Collection[str] = ()) -> None:
        self.decisions = decisions
        self.protected = protected
        self.entries: list[Entry] = []
        self.sizes: list[int] = []
        self.total = 0
        self.marked = False
        self.view: list[Row] = []
        self.finished = Finished()
        self.shares = Shares()
        self.with_parts: list[int] = []

    def grown(
        self,
        entries: Sequence[Entry],
        until: int,
        decisions: Mapping[str, Decision],
        protected: Collection[str],
    ) -> Settled:
        """Return this, with the turns that ended since, or a new one where the past is another.

        The first ``until`` entries of the conversation are of finished turns.
        """
        same = self.decisions is decisions or not (self.decisions or decisions)
        known = self
        if not (same and self.protected == protected and self._begins(entries)):
            known = Settled(decisions, protected)
        if until > len(known.entries) and any(entry.own for entry in entries[until:]):
            known._settle(entries, until)
        return known

    def _begins(self, entries: Sequence[Entry]) -> bool:
        """Whether a conversation begins with these rows; the system prompt may be another one."""
        known = self.entries
        if not known:
            return True
        if list(entries[1 : len(known)]) != known[1:]:
            return False
        old, new = known[0], entries[0]
        if old is new:
            return True
        if not (old.parts and new.parts):
            return False
        self.total += new.tokens - old.tokens
        known[0], self.sizes[0], self.view[0] = new, new.tokens, new.message
        return True

    def _settle(self, entries: Sequence[Entry], until: int) -> None:
        start = len(self.entries)
        for entry in entries[start:until]:
            decision = self.decisions.get(entry.key)
            tokens = entry.tokens_under(decision)
            self.entries.append(entry)
            self.sizes.append(tokens)
            self.total += tokens
            if decision != "drop":
                self.view.append(entry.under(decision))
            elif not self.marked:
                self.view.append(MARKER)
                self.marked = True
            if entry.parts:
                self.with_parts.append(len(self.entries) - 1)
            else:
                self.shares.add(
                    entry.source,
                    tokens,
                    0 if decision == "drop" else 1,
                    compacted=decision is not None,
                )
        for group in group_entries(entries[start:until]):
            group.rows = [start + row for row in group.rows]
            self.finished.add(group, self.entries, self.sizes, self)


class Outline:
    """The rows of a conversation by what may be done to them.

    Attributes:
        finished: Rows of the turns before this one.
        provided: Rows that context providers added.
        settled_groups: Earlier answers of this turn.
        settled_results: Their results.
        latest: Results of the last answers of this turn.
    """

    def __init__(self, entries: Sequence[Entry], settled: Settled, sizes: Sequence[int]) -> None:
        start = len(settled.entries)
        tail = range(start, len(entries))
        own = [index for index in tail if entries[index].own]
        turn = own[-1] if own else 0
        kept = {i for i in tail if settled.protected and entries[i].key in settled.protected}
        if own:
            kept.add(turn)
        self.finished = settled.finished.copy()
        self.provided = [i for i in tail if entries[i].provided]
        current: list[Group] = []
        for group in group_entries(entries[start:]):
            rows = group.rows = [start + row for row in group.rows]
            if entries[rows[0]].provided:
                continue
            if rows[0] < turn:
                if turn not in rows:
                    self.finished.add(group, entries, sizes, settled)
            elif group.kind not in ("user", "system"):
                current.append(group)
        calling = [place for place, group in enumerate(current) if group.kind == "tool_call"]
        fresh = calling[-FRESH] if len(calling) >= FRESH else 0
        self.settled_groups = [g.rows for g in current[:fresh] if kept.isdisjoint(g.rows)]
        self.settled_results = _results(entries, current[:fresh], kept)
        self.latest = _results(entries, current[fresh:], kept)

    @property
    def results(self) -> Iterable[int]:
        """Every row that holds what a tool or a provider said."""
        old = self.finished.old_results
        return (*self.provided, *old, *self.settled_results, *self.latest)


def _results(entries: Sequence[Entry], groups: Iterable[Group], kept: set[int]) -> list[int]:
    return [
        index
        for group in groups
        for index in group.rows
        if entries[index].answers and index not in kept
    ]
