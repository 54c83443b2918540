"""Rows that only make sense together: a tool call, its results, the reasoning before it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from amplifier_tui.context.entries import Entry

GroupKind = Literal["system", "user", "assistant_text", "tool_call"]


@dataclass(slots=True)
class Group:
    """Rows that are kept or left out together.

    Attributes:
        kind: "tool_call" is an answer with tool calls and their results.
        rows: Positions of its rows, ascending.
    """

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
