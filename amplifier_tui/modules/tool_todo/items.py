"""Reading a list the model wrote."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, TypedDict

STATUSES: Final = ("pending", "in_progress", "completed")
_LONGEST: Final = 500
_SAME: Final = {"todo": "pending", "open": "pending", "done": "completed", "active": "in_progress"}


class Item(TypedDict):
    """One thing to do; the names are the ecosystem's."""

    content: str
    status: str
    activeForm: str


def read_items(value: Any, most: int) -> list[Item]:
    """Return the items of a list as it came from the model.

    Args:
        value: A list of dicts or texts; also as JSON text.
        most: How many there may be.

    Raises:
        ValueError: It is something else; says what is wrong with which item.
    """
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError as error:
            raise ValueError("`todos` must be a list, not a text.") from error
    if not isinstance(value, list):
        raise ValueError("`todos` must be a list of {content, status, activeForm}.")
    if len(value) > most:
        raise ValueError(f"{len(value)} items are too many to work with; at most {most}.")
    return [_item(entry, number) for number, entry in enumerate(value, start=1)]


def _item(entry: Any, number: int) -> Item:
    if isinstance(entry, str):
        entry = {"content": entry}
    if not isinstance(entry, Mapping):
        raise ValueError(f"Item {number} must be {{content, status, activeForm}}.")
    content = _line(entry.get("content"))
    if not content:
        raise ValueError(f"Item {number} has no `content`: say what is to be done.")
    status = str(entry.get("status") or "pending").lower().replace("-", "_")
    status = _SAME.get(status, status)
    if status not in STATUSES:
        raise ValueError(
            f"Item {number} has the status {entry.get('status')!r}; it must be one of "
            f"{', '.join(STATUSES)}."
        )
    active = _line(entry.get("activeForm") or entry.get("active_form")) or content
    return {"content": content, "status": status, "activeForm": active}


def _line(value: Any) -> str:
    text = " ".join(value.split()) if isinstance(value, str) else ""
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
