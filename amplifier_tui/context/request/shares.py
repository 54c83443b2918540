"""The shares of a request's sources: who takes how many tokens of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Literal

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.context.entries import DIFFERENCE

State = Literal["full", "compacted", "ephemeral"]
"""All of it is in the request; some of it was cut or left out; it was in the last request only."""


@dataclass(frozen=True, slots=True)
class SourceLine:
    """One source's share of a request.

    Attributes:
        source: Its id.
        messages: How many messages (parts, tools) it has there.
        tokens: What they take.
        state: Whether all of it is there.
        children: For the history, the shares of those who speak in it; they sum to its own.
    """

    source: str
    messages: int
    tokens: int
    state: State = "full"
    children: tuple[SourceLine, ...] = ()


@dataclass(slots=True)
class Share:
    """A source's share in the making."""

    messages: int = 0
    tokens: int = 0
    compacted: bool = False


class Shares:
    """Collects shares by source, in the order the sources come up."""

    def __init__(self) -> None:
        self._shares: dict[str, Share] = {}

    def copy(self) -> Shares:
        """Return these shares for somebody who goes on adding to them."""
        other = Shares()
        other._shares = {source: replace(share) for source, share in self._shares.items()}
        return other

    def add(self, source: str, tokens: int, messages: int = 1, *, compacted: bool = False) -> None:
        """Add to a source's share."""
        share = self._shares.get(source)
        if share is None:
            share = self._shares[source] = Share()
        share.tokens += tokens
        share.messages += messages
        share.compacted = share.compacted or compacted

    def add_parts(self, parts: Iterable[tuple[str, int]]) -> None:
        """Add a system prompt's tokens by source."""
        for source, tokens in parts:
            self.add(source, tokens)

    def lines(self) -> tuple[SourceLine, ...]:
        """Return the shares."""
        return tuple(
            SourceLine(source, s.messages, s.tokens, "compacted" if s.compacted else "full")
            for source, s in self._shares.items()
        )

    def as_one(self, source: str) -> SourceLine | None:
        """Return the shares as those of one source; None where there are none."""
        lines = self.lines()
        if not lines:
            return None
        compacted = any(line.state == "compacted" for line in lines)
        return SourceLine(
            source,
            sum(line.messages for line in lines),
            sum(line.tokens for line in lines),
            "compacted" if compacted else "full",
            lines,
        )


def fitted(lines: Sequence[SourceLine], total: int) -> tuple[SourceLine, ...]:
    """Make lines sum to a total: what is missing is a line of its own, else all are scaled."""
    estimated = sum(line.tokens for line in lines)
    if total > estimated:
        return (*lines, SourceLine(DIFFERENCE, 0, total - estimated))
    if total == estimated:
        return tuple(lines)
    return tuple(
        _with_tokens(line, tokens)
        for line, tokens in zip(lines, _scaled([li.tokens for li in lines], total), strict=True)
    )


def _with_tokens(line: SourceLine, tokens: int) -> SourceLine:
    if not line.children:
        return replace(line, tokens=tokens)
    parts = _scaled([child.tokens for child in line.children], tokens)
    children = tuple(
        replace(child, tokens=part) for child, part in zip(line.children, parts, strict=True)
    )
    return replace(line, tokens=tokens, children=children)


def _scaled(amounts: Iterable[int], total: int) -> list[int]:
    """Whole numbers in proportion to the amounts that sum to the total: largest remainders."""
    amounts = list(amounts)
    whole = sum(amounts)
    if whole == 0:
        return amounts
    exact = [amount * total / whole for amount in amounts]
    given = [int(value) for value in exact]
    for index in sorted(range(len(exact)), key=lambda i: given[i] - exact[i])[: total - sum(given)]:
        given[index] += 1
    return given
