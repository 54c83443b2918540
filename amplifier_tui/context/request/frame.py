"""A request in the making: what would be in it if nothing had to be compacted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Final

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.context.compaction.choices import Changed, Choices
from amplifier_tui.context.compaction.decisions import Summary
from amplifier_tui.context.compaction.outline import MARKER_TOKENS, Settled
from amplifier_tui.context.entries import COMPACTION, Entry, is_from_hook_or_file, read_entry
from amplifier_tui.context.ledger import Ledger
from amplifier_tui.context.request.pairs import repaired
from amplifier_tui.context.request.shares import Shares, SourceLine
from amplifier_tui.context.request.system_prompt import AttributedPrompt, Part

_NONE: Final = Choices()


@dataclass(slots=True)
class LentTurn:
    """What the pipeline lends the context for a turn.

    Attributes:
        start: Ledger row the turn begins with.
        context: What comes before the turn's own rows: the history and what providers added.
        past_rows: How many of them, from the first, are the first rows of the ledger.
        instructions: What providers add to the system prompt.
        history: Source id of the history.
        service: Whether the model's service keeps the history: nothing is compacted.
    """

    start: int = 0
    context: Sequence[Entry] = ()
    past_rows: int = 0
    instructions: list[Part] = field(default_factory=list)
    history: str = "history"
    service: bool = False


@dataclass(slots=True)
class Frame:
    """A request in the making.

    Attributes:
        entries: Its rows, calls and results paired.
        tools: By source, how many tools are offered, and their tokens.
        protected: Keys of rows that stay whole.
        settled: How many of the rows are of finished turns.
    """

    entries: Sequence[Entry]
    tools: Mapping[str, tuple[int, int]]
    protected: frozenset[str] = frozenset()
    lent: LentTurn = field(default_factory=LentTurn)
    settled: int = 0

    @property
    def overhead(self) -> int:
        """Tokens that are no rows."""
        return sum(tokens for _, tokens in self.tools.values())

    def shares(self, settled: Settled) -> tuple[SourceLine, ...]:
        """Return the estimated shares of the sources, in order.

        ``settled`` are the finished turns, under the decisions that hold.
        """
        shares, known = Shares(), settled.shares.copy()
        past, present = (known, Shares()) if self.lent.start else (Shares(), known)
        for row in settled.with_parts:
            shares.add_parts(self.entries[row].parts)
        marked = settled.marked
        tail = self.entries[len(settled.entries) :]
        for entry in tail:
            if entry.parts:
                shares.add_parts(entry.parts)
        if marked:
            shares.add(COMPACTION, MARKER_TOKENS)
        for entry in tail:
            if entry.parts:
                continue
            decision = settled.decisions.get(entry.key)
            if decision == "drop" and not marked:
                marked = True
                shares.add(COMPACTION, MARKER_TOKENS)
            into = past if self._is_past(entry) else present
            count = 0 if decision == "drop" else 1
            tokens = entry.tokens_under(decision)
            into.add(entry.source, tokens, count, compacted=decision is not None)
        for source, (number, tokens) in self.tools.items():
            shares.add(source, tokens, number)
        history = past.as_one(self.lent.history)
        return (*shares.lines(), *((history,) if history else ()), *present.lines())

    def _is_past(self, entry: Entry) -> bool:
        return not entry.provided and entry.seq < self.lent.start


class FrameMaker:
    """Assembles requests of a ledger; finished turns are put right once and then kept."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._prompt = AttributedPrompt()
        self._system: Entry | None = None
        self._shown = _Shown()
        self._given: list[Entry] = []
        self._made: list[Entry] = []
        self._told: set[str] = set()

    def make(
        self,
        prompt: AttributedPrompt,
        lent: LentTurn | None,
        tools: Mapping[str, tuple[int, int]],
        summaries: Sequence[Summary] = (),
        choices: Choices = _NONE,
    ) -> Frame:
        """Assemble a request of the ledger's rows, what was lent, and the tools on offer.

        The prompt takes the place of stored system messages, but for those of hooks and files.
        """
        ledger = self._ledger
        rows: Sequence[Entry] = ledger.entries
        if lent is None:
            lent = LentTurn()
            start = max(ledger.last_own, 0)
            past, rest = rows[:start], rows[start:]
        else:
            past, rest = rows[: lent.past_rows], lent.context[lent.past_rows :]
            rest = [*rest, *rows[lent.start :]]
        own_prompt = bool(prompt.text and ledger.system_rows)
        shown = _Shown(tuple(summaries), own_prompt, choices.changes, choices)
        past_made = self._past_until(past, shown)
        names = ledger.tool_names
        if past_made is None:
            body = repaired(self._shown.of([*past, *rest], set()), names)
        else:
            body = [*past_made, *repaired(self._shown.of(rest, set(self._told)), names)]
        settled = len(past_made or ())
        system = self._system_entry(prompt.extended(lent.instructions))
        if system is not None:
            # Without a prompt of its own, what providers add comes after the stored one.
            place = 0
            while not prompt.text and place < len(body) and body[place].role == "system":
                place += 1
            body = [*body[:place], system, *body[place:]]
            settled += 1 if place < settled else 0
        return Frame(
            entries=body,
            tools=tools,
            protected=choices.pins | {summary.key for summary in summaries},
            lent=lent,
            settled=settled,
        )

    def _system_entry(self, prompt: AttributedPrompt) -> Entry | None:
        """The system message; the very same one as long as it says the same."""
        if prompt != self._prompt:
            self._prompt, self._system = prompt, prompt.entry()
        return self._system

    def _past_until(self, rows: Sequence[Entry], shown: _Shown) -> list[Entry] | None:
        """Return finished turns as they are in requests; None where calls lack their results."""
        known = len(self._given)
        if shown != self._shown or list(rows[:known]) != self._given:
            self._shown, self._given, self._made, self._told = shown, [], [], set()
            known = 0
        if len(rows) > known:
            told = set(self._told)
            new = shown.of(rows[known:], told)
            if repaired(new, {}) is not new:
                return None
            self._told = told
            self._given += rows[known:]
            self._made += new
        return self._made


@dataclass(frozen=True, slots=True)
class _Shown:
    """Which rows of a conversation are shown, before they are put right."""

    summaries: tuple[Summary, ...] = ()
    no_system: bool = False
    changes: tuple[Changed, ...] = ()
    choices: Choices = field(default=_NONE, compare=False)

    def of(self, rows: Sequence[Entry], told: set[str]) -> Sequence[Entry]:
        """Return rows of the ledger, each summary where the first of its rows was.

        ``told`` are the ids of the summaries in the rows before; those of these are added.
        """
        if self.no_system:
            rows = [
                e
                for e in rows
                if e.role != "system" or e.provided or is_from_hook_or_file(e.message)
            ]
        rows = self.choices.applied(rows)
        if not self.summaries:
            return rows
        owner = {key: summary for summary in self.summaries for key in summary.keys}
        body: list[Entry] = []
        for entry in rows:
            summary = owner.get(entry.base)
            if summary is None:
                body.append(entry)
            elif summary.summary_id not in told:
                told.add(summary.summary_id)
                row = summary.row()
                body.append(read_entry(row, summary.key, {}, turn=entry.turn, seq=entry.seq))
        return body


def with_summaries(frame: Frame, summaries: Sequence[Summary]) -> Frame:
    """Return a frame in which summaries stand for some of the rows."""
    if not summaries:
        return frame
    return replace(
        frame,
        entries=_Shown(tuple(summaries)).of(frame.entries, set()),
        settled=0,
        protected=frame.protected | {summary.key for summary in summaries},
    )
