"""What to shorten and what to leave out, so that a conversation fits. Pure functions.

:func:`plan_compaction` decides, :func:`project` shows the result. Decisions are by row, so they can
be kept and applied again as the conversation grows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from amplifier_tui.modules.context_simple.groups import Group, group_rows, is_users_own
from amplifier_tui.modules.context_simple.shorten import shortened

Row = Mapping[str, Any]
Action = Literal["truncate", "stub", "drop", "squeeze"]
"""Shorten a tool result; shorten an old message of the user; leave out; shorten a tool result of
the current turn, less."""

KEEP: Final[dict[Action, int]] = {"truncate": 300, "stub": 200, "squeeze": 4_000}
"""Characters that stay of a shortened row."""

FRESH: Final = 3
"""Answers with tool calls at the end of the current turn whose results stay whole."""

_MARKER: Final = 30
"""Tokens of the line that stands for what was left out."""


@dataclass
class Plan:
    """What compaction does.

    Attributes:
        actions: By index of the row; rows without one stay as they are.
        after: Tokens with it.
        level: Strongest measure that was tried: 0 none, 1 old tool results shortened, 2 old
            messages left out, 3 tool results of the current turn shortened, 4 even the latest.
    """

    actions: dict[int, Action] = field(default_factory=dict)
    after: int = 0
    level: int = 0

    def count(self, *actions: Action) -> int:
        """Return how many rows get one of these actions."""
        return sum(action in actions for action in self.actions.values())


def plan_compaction(
    rows: Sequence[Row],
    sizes: Sequence[int],
    *,
    target: int,
    limit: int,
    earlier: Mapping[int, Action],
    measure: Callable[[Row], int],
) -> Plan:
    """Decide how to get a conversation down to ``target`` tokens.

    Never touched are system rows, the user's first and last message, and what the assistant said
    and called in the current turn.

    Args:
        rows: The conversation.
        sizes: Tokens of each row.
        target: Tokens to get down to.
        limit: Tokens a request may have at most; only to get below it, the results of the latest
            tool calls are shortened.
        earlier: What was decided before; it stays.
        measure: Tokens of a row, for those that get shorter.
    """
    work = _Work(rows, sizes, earlier, measure)
    groups = group_rows(rows)
    turn = _current_turn(rows)
    old = [group for group in groups if group.rows[0] < turn]
    current = [group for group in groups if group.rows[0] >= turn and group.kind == "tools"]
    latest = current[-FRESH:]
    settled = _results(rows, current[: len(current) - len(latest)])
    if work.total > target:
        work.level = 1
        work.shorten("truncate", _results(rows, old), target)
    if work.total > target:
        work.level = 2
        _leave_out(work, rows, old, target)
    if work.total > target:
        work.level = 3
        work.shorten("squeeze", settled, target)
        work.shorten("truncate", settled, target)
    if work.total > limit:
        work.level = 4
        work.shorten("squeeze", _results(rows, latest), limit)
    return Plan(work.actions, work.total, work.level)


def compacted_size(
    rows: Sequence[Row],
    sizes: Sequence[int],
    actions: Mapping[int, Action],
    measure: Callable[[Row], int],
) -> int:
    """Return the tokens of a conversation under these actions; see :func:`plan_compaction`."""
    return _Work(rows, sizes, actions, measure).total


def project(rows: Sequence[Row], actions: Mapping[int, Action]) -> list[Row]:
    """Return the conversation as the actions leave it; the rows themselves are not changed.

    One line stands where the first row was left out.
    """
    dropped = [index for index, action in sorted(actions.items()) if action == "drop"]
    view: list[Row] = []
    for index, row in enumerate(rows):
        action = actions.get(index)
        if dropped and index == dropped[0]:
            view.append(_marker(len(dropped)))
        if action is None:
            view.append(row)
        elif action != "drop":
            view.append(shortened(row, KEEP[action]))
    return view


class _Work:
    """A plan in the making."""

    def __init__(
        self,
        rows: Sequence[Row],
        sizes: Sequence[int],
        actions: Mapping[int, Action],
        measure: Callable[[Row], int],
    ) -> None:
        self._rows = rows
        self._sizes = list(sizes)
        self._measure = measure
        self.actions = dict(actions)
        self.level = 0
        for index, action in actions.items():
            self._sizes[index] = self._size_under(action, index)
        self.total = sum(self._sizes) + (_MARKER if "drop" in actions.values() else 0)

    def shorten(self, action: Action, indices: Iterable[int], target: int) -> None:
        """Shorten rows, the first ones first, until the target is reached."""
        for index in indices:
            if self.total <= target:
                return
            self.decide(index, action)

    def decide(self, index: int, action: Action) -> None:
        """Take an action on a row, unless it saves nothing."""
        after = self._size_under(action, index)
        if after >= self._sizes[index]:
            return
        if action == "drop" and "drop" not in self.actions.values():
            self.total += _MARKER
        self.total -= self._sizes[index] - after
        self._sizes[index] = after
        self.actions[index] = action

    def _size_under(self, action: Action, index: int) -> int:
        if action == "drop":
            return 0
        return self._measure(shortened(self._rows[index], KEEP[action]))


def _leave_out(work: _Work, rows: Sequence[Row], old: Sequence[Group], target: int) -> None:
    """Leave out old answers with their tools, and shorten what the user said, oldest first."""
    first = next((index for index, row in enumerate(rows) if is_users_own(row)), -1)
    for group in old:
        if work.total <= target:
            return
        if group.kind in ("assistant", "tools"):
            for index in group.rows:
                work.decide(index, "drop")
        elif group.kind == "user" and group.rows[0] != first:
            work.decide(group.rows[0], "stub")


def _current_turn(rows: Sequence[Row]) -> int:
    """Index of the row the current turn begins with."""
    return max((index for index, row in enumerate(rows) if is_users_own(row)), default=0)


def _results(rows: Sequence[Row], groups: Iterable[Group]) -> list[int]:
    return [
        index
        for group in groups
        for index in group.rows
        if rows[index].get("role") in ("tool", "function")
    ]


def _marker(count: int) -> Row:
    return {
        "role": "user",
        "content": (
            f"[{count} earlier messages are left out here to save space. "
            "Read files or run commands again if you need what they said.]"
        ),
        "metadata": {"source": "compaction", "ephemeral": True},
    }
