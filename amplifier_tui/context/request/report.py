"""What a host and a screen are told about the budget of the next request."""

from __future__ import annotations

from dataclasses import dataclass, field

from amplifier_tui.context.compaction.plan import Plan
from amplifier_tui.context.request.budget import Provenance
from amplifier_tui.context.request.meter import Kind
from amplifier_tui.context.request.shares import SourceLine


@dataclass(frozen=True, slots=True)
class ContextReport:
    """The budget of the next request by source.

    Attributes:
        total: Tokens of the request.
        limit: Most tokens it may have.
        trigger: Compaction starts above this; 0 when it is off.
        target: Compaction goes down to this.
        floor: What no compaction can remove.
        by_source: In the order of the request; they sum to the total.
        kind: Whether the total rests on a provider's count or is estimated.
        preview: What a compaction would do now; its numbers are estimates.
        window: The model's whole window; 0 when unknown.
        output_reserve: Part of the window kept for the answer.
        provenance: Who says what fits.
        model: Id of the model; empty when unknown.
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
    return SourceLine(
        one.source,
        one.messages + other.messages,
        one.tokens + other.tokens,
        "compacted" if compacted else one.state,
    )
