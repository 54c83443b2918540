"""The sub-agents of a session on disk, so that they can be asked again after a restart.

Each has a folder beside the session's, `sessions/<span>-<span>_<agent>/`, with the files the
Amplifier CLI has there: `transcript.jsonl` and `metadata.json`. What it was mounted from is not
written, since that has keys in it; it is made anew from the session's own plan.
"""

import asyncio
import logging
import re
from pathlib import Path
from typing import Any, Final

from amplifier_tui.base.jsonl import StoredRows, read_object, write_object, write_rows
from amplifier_tui.base.plain import plain
from amplifier_tui.foundation.spawn.capability import ChildRecord, MemoryRecords
from amplifier_tui.host.redaction import Redactor
from amplifier_tui.host.store.metadata import FILE_NAME, now
from amplifier_tui.host.store.replay import TRANSCRIPT

logger = logging.getLogger(__name__)

_ID: Final = re.compile(r"[0-9a-f]{16}-[0-9a-f]{16}_[a-z0-9-]{1,200}")
_LEFT_OUT: Final = frozenset({"system", "developer"})
_DEEPEST: Final = 10


class ChildStore:
    """Keeps the records of a session's sub-agents, and of theirs; a `RecordStore`."""

    def __init__(self, folder: Path, bundle: str, redactor: Redactor) -> None:
        self._folder = folder
        self._bundle = bundle
        self._redactor = redactor
        self._memory = MemoryRecords()

    async def save(self, record: ChildRecord) -> None:
        """Keep a record; a disk that does not take it costs the memory after a restart only."""
        await self._memory.save(record)
        if _ID.fullmatch(record.session_id) is None:
            return
        try:
            await asyncio.to_thread(self._write, record)
        except OSError as error:
            logger.warning("Sub-agent %s was not saved: %s", record.session_id, error)

    async def load(self, session_id: str) -> ChildRecord | None:
        """Return a record, or None. One that comes from the disk has no plan."""
        known = await self._memory.load(session_id)
        if known is not None or _ID.fullmatch(session_id) is None:
            return known
        return await asyncio.to_thread(self._read, session_id)

    def _write(self, record: ChildRecord) -> None:
        folder = self._folder.parent / record.session_id
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        rows = [
            self._redactor.values(plain(message))
            for message in record.messages
            if message.get("role") not in _LEFT_OUT
        ]
        write_rows(folder / TRANSCRIPT, rows)
        card = {
            **_card(folder),
            "session_id": record.session_id,
            "parent_id": record.parent_id,
            "agent_name": record.agent_name,
            "bundle": self._bundle,
            "updated": now(),
            "turn_count": sum(row.get("role") == "user" for row in rows),
            "working_dir": record.working_dir,
            "self_delegation_depth": record.self_delegation_depth,
            "session_metadata": record.metadata,
        }
        card.setdefault("created", card["updated"])
        write_object(folder / FILE_NAME, card, mode=0o600)

    def _read(self, session_id: str) -> ChildRecord | None:
        folder = self._folder.parent / session_id
        card = _card(folder)
        if not card or not self._is_own(card):
            return None
        messages = [row for _, row in StoredRows(folder / TRANSCRIPT).read()]
        metadata, depth = card.get("session_metadata"), card.get("self_delegation_depth")
        return ChildRecord(
            session_id=session_id,
            parent_id=str(card.get("parent_id")),
            agent_name=str(card.get("agent_name") or session_id.partition("_")[2]),
            plan={},
            instruction=None,
            messages=messages,
            working_dir=str(card.get("working_dir") or ""),
            self_delegation_depth=depth if isinstance(depth, int) else 0,
            metadata=metadata if isinstance(metadata, dict) else {},
        )

    def _is_own(self, card: dict[str, Any]) -> bool:
        """Whether a sub-agent is one of this session's, directly or through others."""
        parent = card.get("parent_id")
        for _ in range(_DEEPEST):
            if parent == self._folder.name:
                return True
            if not isinstance(parent, str) or _ID.fullmatch(parent) is None:
                return False
            parent = _card(self._folder.parent / parent).get("parent_id")
        return False


def _card(folder: Path) -> dict[str, Any]:
    try:
        return read_object(folder / FILE_NAME)
    except (OSError, ValueError) as error:
        logger.warning("%s can't be read: %s", folder / FILE_NAME, error)
        return {}
