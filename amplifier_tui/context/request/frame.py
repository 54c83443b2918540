"""A request in the making: what would be in it if nothing had to be compacted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from amplifier_tui.context.attribution import COMPACTION
from amplifier_tui.context.compaction.decisions import Summary
from amplifier_tui.context.compaction.plan import MARKER_TOKENS
from amplifier_tui.context.entries import Decision, Entry, is_from_hook, read_entry
from amplifier_tui.context.ledger import Ledger
from amplifier_tui.context.request.pairs import repaired
from amplifier_tui.context.request.report import Shares, SourceLine
from amplifier_tui.context.request.system_prompt import AttributedPrompt, Part


@dataclass(slots=True)
class LentTurn:
    """What the pipeline lends the context for a turn.

    Attributes:
        start: Ledger row the turn begins with.
        context: What comes before the turn's own rows: what providers added, in their order, the
            history among it.
        instructions: What providers add to the system prompt.
        history: Source id of the history.
        service: Whether the model's service keeps the history: nothing is compacted.
    """

    start: int = 0
    context: list[Entry] = field(default_factory=list)
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
        start: Ledger row the turn begins with.
        history: Source id of what was before.
        service: Whether the model's service keeps the history.
    """

    entries: Sequence[Entry]
    tools: Mapping[str, tuple[int, int]]
    protected: frozenset[str] = frozenset()
    start: int = 0
    history: str = "history"
    service: bool = False

    @property
    def overhead(self) -> int:
        """Tokens that are no rows."""
        return sum(tokens for _, tokens in self.tools.values())

    def shares(self, decisions: Mapping[str, Decision]) -> tuple[SourceLine, ...]:
        """Return the estimated shares of the sources under the decisions, in order."""
        shares, past, present = Shares(), Shares(), Shares()
        marked = False
        for entry in self.entries:
            decision = decisions.get(entry.key)
            tokens = entry.tokens_under(decision)
            if decision == "drop" and not marked:
                marked = True
                shares.add(COMPACTION, MARKER_TOKENS)
            if entry.parts:
                for source, size in entry.parts:
                    shares.add(source, size)
                continue
            into = past if self._is_past(entry) else present
            count = 0 if decision == "drop" else 1
            into.add(entry.source, tokens, count, compacted=decision is not None)
        for source, (count, tokens) in self.tools.items():
            shares.add(source, tokens, count)
        history = past.as_one(self.history)
        return (*shares.lines(), *((history,) if history else ()), *present.lines())

    def _is_past(self, entry: Entry) -> bool:
        return not entry.provided and entry.seq < self.start


def make_frame(
    ledger: Ledger,
    prompt: AttributedPrompt,
    lent: LentTurn | None,
    tools: Mapping[str, tuple[int, int]],
    summaries: Sequence[Summary] = (),
) -> Frame:
    """Assemble a request.

    Args:
        ledger: The session's rows.
        prompt: Its system prompt; it takes the place of stored system messages, but for those of
            hooks.
        lent: What the providers add; None where there are none.
        tools: The tools on offer, measured.
        summaries: What stands for some of the rows.
    """
    rows = ledger.entries
    body = rows if lent is None else [*lent.context, *rows[lent.start :]]
    if prompt.text and ledger.has_system_rows:
        body = [e for e in body if e.role != "system" or e.provided or is_from_hook(e.message)]
    system = prompt.extended(lent.instructions if lent is not None else ()).entry()
    if summaries:
        body = _summarized(body, summaries)
    body = repaired(body, ledger.tool_names)
    if system is not None:
        # Without a prompt of its own, what providers add comes after the stored one.
        place = 0 if prompt.text else _leading_system_rows(body)
        body = [*body[:place], system, *body[place:]]
    return Frame(
        entries=body,
        tools=tools,
        protected=frozenset(summary.key for summary in summaries),
        start=lent.start if lent is not None else 0,
        history=lent.history if lent is not None else "history",
        service=lent is not None and lent.service,
    )


def with_summaries(frame: Frame, summaries: Sequence[Summary]) -> Frame:
    """Return a frame in which summaries stand for some of the rows.

    Args:
        frame: The frame; it is not changed.
        summaries: What stands for which rows.
    """
    if not summaries:
        return frame
    return replace(
        frame,
        entries=_summarized(frame.entries, summaries),
        protected=frame.protected | {summary.key for summary in summaries},
    )


def _leading_system_rows(entries: Sequence[Entry]) -> int:
    return next((i for i, e in enumerate(entries) if e.role != "system"), len(entries))


def _summarized(entries: Sequence[Entry], summaries: Sequence[Summary]) -> list[Entry]:
    """Put each summary where the first of its rows was."""
    owner = {key: summary for summary in summaries for key in summary.keys}
    told: set[str] = set()
    body: list[Entry] = []
    for entry in entries:
        summary = owner.get(entry.base)
        if summary is None:
            body.append(entry)
        elif summary.summary_id not in told:
            told.add(summary.summary_id)
            row = summary.row()
            body.append(read_entry(row, summary.key, {}, turn=entry.turn, seq=entry.seq))
    return body
