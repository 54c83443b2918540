"""Rows that only make sense together: a tool call and its results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Row = Mapping[str, Any]
Kind = Literal["system", "user", "assistant", "tools"]


@dataclass
class Group:
    """Rows that are kept or left out together.

    Attributes:
        kind: "tools" is an answer with tool calls and their results.
        rows: Indices of its rows in the conversation.
    """

    kind: Kind
    rows: list[int] = field(default_factory=list)


def group_rows(rows: Sequence[Row]) -> list[Group]:
    """Put a conversation's rows into groups, in the order of their first rows.

    A result belongs to the answer that made its call, however far away it is; a result without a
    call stands alone, as part of what the assistant said.
    """
    groups: list[Group] = []
    callers: dict[str, Group] = {}
    for index, row in enumerate(rows):
        role = row.get("role")
        if role in ("tool", "function"):
            caller = callers.get(str(row.get("tool_call_id")))
            if caller is not None:
                caller.rows.append(index)
            else:
                groups.append(Group("assistant", [index]))
        elif role == "assistant":
            ids = call_ids(row)
            group = Group("tools" if ids else "assistant", [index])
            callers.update(dict.fromkeys(ids, group))
            groups.append(group)
        else:
            kind: Kind = "system" if role in ("system", "developer") else "user"
            groups.append(Group(kind, [index]))
    return groups


def call_ids(row: Row) -> list[str]:
    """Return the ids of the tool calls of an assistant's row."""
    ids: dict[str, None] = {}
    content, calls = row.get("content"), row.get("tool_calls")
    for block in content if isinstance(content, list) else []:
        if isinstance(block, Mapping) and block.get("type") == "tool_call":
            ids[str(block.get("id"))] = None
    for call in calls if isinstance(calls, list) else []:
        if isinstance(call, Mapping):
            ids[str(call.get("id"))] = None
    return list(ids)


def is_users_own(row: Row) -> bool:
    """Whether a row holds the user's own words, not those of a hook."""
    metadata = row.get("metadata")
    by_hook = isinstance(metadata, Mapping) and metadata.get("source") == "hook"
    return row.get("role") == "user" and not by_hook
