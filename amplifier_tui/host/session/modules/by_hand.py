"""The modules that the user mounts in a session: it is without them when it goes on.

They are not mounted again by themselves: it may be another folder's code by then.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from amplifier_tui.foundation.report import ReportItem
from amplifier_tui.host.events import OpeningReported
from amplifier_tui.host.session.modules.facts import ModuleFacts, Planned
from amplifier_tui.host.store.metadata import Metadata
from amplifier_tui.host.stream.sender import Sender

BY_HAND: Final = "you"
"""Who asks for a module that the user mounts."""


def note_mounted(metadata: Metadata, planned: Planned) -> None:
    """Note that the user has mounted a module in the session, if it is one of the user's."""
    if planned.origin == BY_HAND:
        known = {"kind": planned.kind, "source": planned.source or planned.module_id}
        metadata.mounted = {**metadata.mounted, planned.key: known}


def forget_mounted(metadata: Metadata, key: str) -> None:
    """Note that the user does not want a module any more that was mounted in the session."""
    metadata.mounted = {name: each for name, each in metadata.mounted.items() if name != key}


def mounted_before(facts: ModuleFacts, sender: Sender) -> Iterator[ReportItem]:
    """Yield what the user mounted in the session and it is without now that it goes on."""
    for key, known in sender.store.metadata.mounted.items():
        if not isinstance(known, Mapping) or facts.find(key) is not None:
            continue
        source, kind = str(known.get("source") or key), str(known.get("kind"))
        where = "" if source == key else f" from {source}"
        why = f"it was mounted in this session{where}, and is not mounted again by itself"
        remedy = f"`/mount {source}` mounts it again, `/unmount {key}` forgets it."
        yield ReportItem(
            what=key,
            kind="skipped",
            part=kind,
            why=why,
            remedy=remedy,
            asked_by=BY_HAND,
            owner="user",
        )


def say_unguarded(report: OpeningReported, sender: Sender) -> None:
    """Warn of the hooks that the user mounted in the session and it does not have any more.

    What they denied or asked about goes through now, and it goes on in the mode it was left in.
    """
    for item in report.items:
        if (item.asked_by, item.part) == (BY_HAND, "hook"):
            text = f"{item.what} judges and guards nothing: {item.why}. {item.remedy}"
            sender.notice("warning", text, "modules")
