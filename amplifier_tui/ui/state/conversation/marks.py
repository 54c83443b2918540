"""Messages without the backticks around what is to be typed: on a screen they are noise.

Every message goes through here on its way into the state, so that errors, report rows and notices
read alike wherever they are shown, and `run` says its lines so. Logs and exports keep them.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final, TypeVar

from amplifier_tui.base.text import without_marks
from amplifier_tui.host.events import (
    ApprovalRequested,
    Failed,
    HostEvent,
    ModuleFailed,
    ModuleMounted,
    Notice,
    OpeningReported,
    ReportItem,
)

Said = TypeVar("Said", HostEvent, ReportItem)

_SAID: Final[Mapping[type[HostEvent], tuple[str, ...]]] = {
    # What is asked about, and the rule that would be kept, are shown as they are.
    ApprovalRequested: ("why",),
    Failed: ("message", "remedy"),
    ModuleFailed: ("error", "remedy"),
    ModuleMounted: ("problems",),
    Notice: ("text",),
}
"""Of which events which fields are sentences for people."""


def as_said(event: HostEvent) -> HostEvent:
    """Return an event with its sentences as the screen says them."""
    if isinstance(event, OpeningReported):
        items = tuple(_bare(item, ("why", "remedy")) for item in event.items)
        return event if items == event.items else replace(event, items=items)
    fields = _SAID.get(type(event))
    return event if fields is None else _bare(event, fields)


def _bare(about: Said, fields: Iterable[str]) -> Said:
    """Return an event or a part of one with these fields bare, or itself where they are."""
    changed: dict[str, Any] = {}
    for name in fields:
        said = getattr(about, name)
        bare = tuple(map(without_marks, said)) if isinstance(said, tuple) else without_marks(said)
        if bare != said:
            changed[name] = bare
    return replace(about, **changed) if changed else about
