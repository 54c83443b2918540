"""The audit log, read back: who let which call through, who refused it, and why.

Every session notes its decisions beside what its screen knew (`host/store/replay.py`).
"""

import logging
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from amplifier_tui.base.files import changed_at, open_regular
from amplifier_tui.base.jsonl import decode_row
from amplifier_tui.host.cards import AuditCard, RuleCard
from amplifier_tui.host.store.turns.outcomes import DISPLAY
from amplifier_tui.paths import amplifier_home, sessions_dir

logger = logging.getLogger(__name__)

DAYS: Final = 30
MOST: Final = 5_000
"""Decisions that are read back at most, the newest."""
_MARK: Final = b'"approval"'
_MARK_WITHIN: Final = 60
"""Bytes at the beginning of a line that say what it holds."""


def read_audit(project: Path | None, most: int = MOST) -> list[AuditCard]:
    """Return what was decided in the last 30 days, the newest first; not for an event loop.

    Args:
        project: In whose sessions; None for those of every project.
        most: How many decisions at most.
    """
    since = (datetime.now(UTC) - timedelta(days=DAYS)).timestamp()
    found: list[AuditCard] = []
    for path in _files(project, since):
        found += (card for card in _cards(path) if card.at >= since)
        if len(found) >= most:
            break
    found.sort(key=lambda card: card.at, reverse=True)
    return found[:most]


def uses(
    cards: Iterable[AuditCard], rule: RuleCard, project: Path, session_id: str
) -> tuple[int, float]:
    """Return how often a rule decided by itself, and when it last did, in Unix seconds.

    Another session may have had a rule of the same words, and another project: theirs do not count.

    Args:
        cards: Decisions of every project.
        rule: A rule that holds in a session.
        project: Of that session.
        session_id: Its id.
    """
    outcome = {"allow": "allowed", "deny": "denied"}.get(rule.verdict, "")
    here = sessions_dir(project)
    in_project = {path.name for path in here.iterdir()} if here.is_dir() else set()

    def counts(card: AuditCard) -> bool:
        if rule.scope == "session" and rule.owner == "session":
            return card.session_id == session_id and card.scope == "session"
        return rule.scope == "always" or card.session_id in in_project

    times = [
        card.at
        for card in cards
        if card.by == "rule"
        and card.outcome == outcome
        and f", {rule.text}, " in f", {card.rule}, "
        if counts(card)
    ]
    return len(times), max(times, default=0.0)


def _files(project: Path | None, since: float) -> list[Path]:
    """Return the files that changed after a moment, the newest first."""
    if project is not None:
        found = sessions_dir(project).glob(f"*/{DISPLAY}")
    else:
        found = (amplifier_home() / "projects").glob(f"*/sessions/*/{DISPLAY}")
    dated = ((changed_at(path), path) for path in found)
    return [path for at, path in sorted(dated, reverse=True) if at >= since]


def _cards(path: Path) -> Iterator[AuditCard]:
    try:
        with open_regular(path) as file:
            for number, line in enumerate(file):
                # The other lines hold diffs; most of the time would go into them.
                if line.find(_MARK, 0, _MARK_WITHIN) < 0:
                    continue
                entry = (decode_row(line) or {}).get("approval")
                if isinstance(entry, Mapping):
                    yield _card(path.parent.name, number, entry)
    except OSError as error:
        logger.warning("%s can't be read: %s", path, error)


def _card(session_id: str, number: int, entry: Mapping[str, Any]) -> AuditCard:
    def text(name: str) -> str:
        value = entry.get(name)
        return value if isinstance(value, str) else ""

    arguments, reasons = entry.get("arguments"), entry.get("reasons")
    return AuditCard(
        key=f"{session_id}:{number}",
        session_id=session_id,
        at=_time(text("ts")),
        tool=text("tool"),
        arguments=dict(arguments) if isinstance(arguments, Mapping) else {},
        outcome=text("outcome"),
        by=text("by") or "user",
        rule=text("rule"),
        mode=text("mode"),
        scope=text("scope") or "once",
        reason=text("reason"),
        asker=text("asker"),
        prompt=text("prompt"),
        risk=text("risk"),
        reasons=tuple(map(str, reasons)) if isinstance(reasons, list) else (),
        call_id=text("call_id"),
        lane=text("agent") or "main",
    )


def _time(text: str) -> float:
    try:
        return datetime.fromisoformat(text).timestamp()
    except ValueError:
        return 0.0
