"""The context budget: how full the window is, and with what."""

from itertools import count
from typing import Literal

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.host.events import BudgetChanged, SessionHeld, SourceUsage, TurnStarted
from amplifier_tui.ui.state.section import FieldSection, on

QUIET_WARNING = 0.70
"""Part of the window from which the number is no longer quiet."""

LOUD_MARGIN = 0.10
"""This part of the window before the trigger, the warning is loud."""

Pressure = Literal["calm", "rising", "near", "over"]

_SYSTEM = ("bundle:", "file:", "agent:", "system")
_CONVERSATION = frozenset({"user", "assistant", "history", "conversation"})


class BudgetState(FieldSection):
    """The latest report of the main lane, and the one the turn began with (None: not known)."""

    def reset(self) -> None:
        """Forget the report."""
        self.report: BudgetChanged | None = None
        self._slots: dict[str, int] = {}
        self.turn_began_with: BudgetChanged | None = None
        self.known = True
        """False for a past moment of which nothing is known."""
        self.elsewhere = False
        """Another window has the session open, and alone knows what is in its context."""

    @on(SessionHeld)
    def _held(self, event: SessionHeld) -> None:
        self.elsewhere = True

    def slot_of(self, label: str) -> int | None:
        """Return the number of a source's look; None where several are put together."""
        return self._slots.get(label)

    @property
    def part(self) -> float | None:
        """How much of the window is used, from 0 up; None when the window is not known."""
        report = self.report
        if report is None or report.window <= 0:
            return None
        return max(0.0, report.total / report.window)

    @property
    def percent(self) -> int | None:
        """The same in percent, never rounded up to 100 before it is reached."""
        part = self.part
        return None if part is None else int(part * 100 + (0.5 if part < 0.99 else 0))

    @property
    def pressure(self) -> Pressure:
        """How near the compaction trigger (or the end of the window) is."""
        report, part = self.report, self.part
        if report is None or part is None:
            return "calm"
        trigger = (report.trigger or report.window) / report.window
        if part >= trigger:
            return "over"
        if part >= trigger - LOUD_MARGIN:
            return "near"
        return "rising" if part >= QUIET_WARNING else "calm"

    @property
    def turn_delta(self) -> int | None:
        """Tokens the running or latest turn has added; None when unknown.

        An estimate and a count differ by more than the turn: the first turn would seem to have
        made the context smaller.
        """
        report, before = self.report, self.turn_began_with
        if report is None or before is None or report.kind != before.kind:
            return None
        return report.total - before.total

    @on(BudgetChanged, main=True)
    def _changed(self, event: BudgetChanged) -> None:
        self.report = event
        for group in source_groups(event.sources, len(event.sources)):
            if group.label not in self._slots:
                self._slots[group.label] = _SLOTS.get(group.label) or self._free_slot()

    @on(TurnStarted, live=True, main=True)
    def _turn_started(self, event: TurnStarted) -> None:
        self.turn_began_with = self.report

    def _free_slot(self) -> int:
        """Return the first slot that no source has, nor is kept for one."""
        taken = {*self._slots.values(), *_SLOTS.values()}
        return next(slot for slot in count() if slot not in taken)


TOOL_SCHEMAS = "tool schemas"
"""The group of what describes the tools to the model."""
CONVERSATION = "conversation"
"""The group of what user and assistant said."""

_SLOTS = {TOOL_SCHEMAS: 1, CONVERSATION: 3}
"""Slots of the groups that every session has; the others get theirs when they first come up."""


@dataclass(frozen=True, slots=True)
class SourceGroup:
    """One segment of the bar and line of the legend."""

    label: str
    tokens: int
    messages: int = 0
    compacted: bool = False
    members: int = 1


def source_groups(sources: tuple[SourceUsage, ...], limit: int) -> list[SourceGroup]:
    """Return at most `limit` groups in the order of a request: system, tools, results, talk.

    Schemas of all tools are one group, and so is what user and assistant said. When there are
    too many, the smallest are put together as the last group.
    """
    members: dict[str, list[SourceUsage]] = {}
    for source in sources:
        if source.tokens > 0:
            members.setdefault(source_label(source.source), []).append(source)
    groups = [_group(label, group) for label, group in members.items()]
    by_size = sorted(groups, key=lambda group: -group.tokens)
    shown = by_size if len(by_size) <= limit else by_size[: limit - 1]
    ordered = sorted(shown, key=lambda group: (_rank(group.label), -group.tokens))
    if rest := by_size[len(shown) :]:
        others = [source for group in rest for source in members[group.label]]
        ordered.append(_group(f"{len(rest)} more", others, len(rest)))
    return ordered


def _group(label: str, sources: list[SourceUsage], members: int = 1) -> SourceGroup:
    return SourceGroup(
        label,
        sum(source.tokens for source in sources),
        sum(source.messages for source in sources),
        any(source.state == "compacted" for source in sources),
        members,
    )


def source_label(source: str) -> str:
    """Return the name a source has in the legend."""
    if source.startswith("tools:") or source == "tools":
        return TOOL_SCHEMAS
    return CONVERSATION if source in _CONVERSATION else source.strip() or "no name given"


def _rank(label: str) -> int:
    if label.startswith(_SYSTEM):
        return 0
    if label == TOOL_SCHEMAS:
        return 1
    if label.startswith("tool:"):
        return 2
    return 4 if label == CONVERSATION else 3


def share_cells(amounts: list[int], whole: int, cells: int) -> list[int]:
    """Divide a bar of `cells` that stands for `whole`: how many of them each amount gets.

    Every amount above zero gets a cell as long as there are enough; the sum never exceeds
    `cells`, and is as near to the true share as whole cells allow.
    """
    whole = max(whole, sum(amounts), 1)
    exact = [amount * cells / whole for amount in amounts]
    given = [int(value) for value in exact]
    wanted = min(cells, round(sum(exact)))
    by_remainder = sorted(range(len(exact)), key=lambda i: given[i] - exact[i])
    for index in by_remainder[: max(0, wanted - sum(given))]:
        given[index] += 1
    for index, amount in enumerate(amounts):
        if amount > 0 and given[index] == 0:
            if sum(given) >= cells:
                largest = max(range(len(given)), key=given.__getitem__)
                if given[largest] <= 1:
                    break
                given[largest] -= 1
            given[index] = 1
    return given
