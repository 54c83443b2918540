"""The sub-agents of a session on disk, so that they can be asked again after a restart.

Each has a folder beside the session's, `sessions/<span>-<span>_<agent>/`, with the files the
Amplifier CLI has there: `transcript.jsonl` and `metadata.json`. The CLI resumes one with the mount
plan in its metadata, which is written there without secrets; here a plan is made anew from the
session's own.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from amplifier_tui.base.jsonl import Row, StoredRows, append_rows, read_object, write_rows
from amplifier_tui.base.messages.sub_sessions import SUB_SESSION_ID
from amplifier_tui.base.plain import plain
from amplifier_tui.foundation.spawn.capability import ChildRecord, MemoryRecords
from amplifier_tui.foundation.spawn.child import generate_sub_session_id
from amplifier_tui.host.redaction import Redactor
from amplifier_tui.host.store.lanes import TRANSCRIPT
from amplifier_tui.host.store.metadata import FILE_NAME, line_of, now, update_metadata
from amplifier_tui.host.store.replay import messages_of

logger = logging.getLogger(__name__)

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
        if SUB_SESSION_ID.fullmatch(record.session_id) is None:
            return
        try:
            await asyncio.to_thread(self._write, record)
        except OSError as error:
            logger.warning("Sub-agent %s was not saved: %s", record.session_id, error)

    async def load(self, session_id: str) -> ChildRecord | None:
        """Return a record, or None. One that comes from the disk has no plan."""
        known = await self._memory.load(session_id)
        if known is not None or SUB_SESSION_ID.fullmatch(session_id) is None:
            return known
        return await asyncio.to_thread(self._read, session_id)

    def rows_of(self, session_id: str, parent_id: str, agent_name: str) -> "ChildRows":
        """Return where the rows of a sub-agent go while it works: a crash leaves them there."""
        metadata = {"session_id": session_id, "parent_id": parent_id, "agent_name": agent_name}
        folder = self._folder.parent / session_id
        return ChildRows(folder, {**metadata, "bundle": self._bundle}, self._redactor)

    def _write(self, record: ChildRecord) -> None:
        folder = self._folder.parent / record.session_id
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        messages = [
            self._redactor.values(plain(message))
            for message in record.messages
            if message.get("role") not in _LEFT_OUT
        ]
        rows = _stamped(messages, [row for _, row in StoredRows(folder / TRANSCRIPT).read()])
        write_rows(folder / TRANSCRIPT, rows)
        ours = {
            "session_id": record.session_id,
            "parent_id": record.parent_id,
            "agent_name": record.agent_name,
            "bundle": self._bundle,
            "updated": now(),
            "turn_count": sum(row.get("role") == "user" for row in rows),
            "working_dir": record.working_dir,
            "self_delegation_depth": record.self_delegation_depth,
            "session_metadata": record.metadata,
            # The CLI's names for where it is in the tree, and for what it resumes it with.
            "trace_id": self._folder.name,
            "child_span": record.session_id.partition("_")[0].rpartition("-")[2],
            "config": self._redactor.without(plain(record.plan)),
        }
        update_metadata(
            folder / FILE_NAME, lambda theirs: {"created": ours["updated"], **theirs, **ours}
        )

    def _read(self, session_id: str) -> ChildRecord | None:
        folder = self._folder.parent / session_id
        metadata = _metadata_in(folder)
        root = self._root_of(metadata)
        if root not in line_of(self._folder):
            return None
        parent, agent = str(metadata.get("parent_id")), str(metadata.get("agent_name") or "")
        agent = agent or session_id.partition("_")[2]
        if root != self._folder.name:
            # What it did for the session this one was taken from stays as it is.
            parent = self._folder.name
            session_id = generate_sub_session_id(agent, parent, parent.replace("-", ""))
        messages = messages_of(row for _, row in StoredRows(folder / TRANSCRIPT).read())
        given, depth = metadata.get("session_metadata"), metadata.get("self_delegation_depth")
        return ChildRecord(
            session_id=session_id,
            parent_id=parent,
            agent_name=agent,
            plan={},
            instruction=None,
            messages=messages,
            working_dir=str(metadata.get("working_dir") or ""),
            self_delegation_depth=depth if isinstance(depth, int) else 0,
            metadata=given if isinstance(given, dict) else {},
        )

    def _root_of(self, metadata: dict[str, Any]) -> str:
        """Return the session a sub-agent worked for, directly or through others."""
        parent = str(metadata.get("parent_id") or "")
        for _ in range(_DEEPEST):
            if SUB_SESSION_ID.fullmatch(parent) is None:
                break
            parent = str(_metadata_in(self._folder.parent / parent).get("parent_id") or "")
        return parent


class ChildRows:
    """Appends the rows of a sub-agent; the disk may refuse, and the sub-agent goes on.

    Args:
        metadata: What its metadata say from the first row on.
    """

    def __init__(self, folder: Path, metadata: Row, redactor: Redactor) -> None:
        self._folder = folder
        self._metadata = metadata
        self._redactor = redactor
        self._begun = False
        self.on_row: Callable[[Row], None] = lambda _: None
        """Told of every row once it was to be written."""

    def add_row(self, message: Mapping[str, Any], extra: Mapping[str, Any] | None = None) -> None:
        """Append a message."""
        is_kept = SUB_SESSION_ID.fullmatch(self._folder.name) is not None
        if message.get("role") in _LEFT_OUT or not is_kept:
            return
        try:
            if not self._begun:
                self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
                begun = {"created": now()}
                update_metadata(
                    self._folder / FILE_NAME, lambda theirs: {**begun, **theirs, **self._metadata}
                )
                self._begun = True
            row = self._redactor.values(plain(message))
            append_rows(self._folder / TRANSCRIPT, _stamped([row], []))
        except OSError as error:
            logger.warning("A row of sub-agent %s was not saved: %s", self._folder.name, error)
        self.on_row(dict(message))


def _stamped(messages: list[Row], before: list[Row]) -> list[Row]:
    """Return messages as rows, each with the time of when it was first written."""
    rows = []
    for number, message in enumerate(messages):
        old = before[number] if number < len(before) else {}
        same = {**old, "timestamp": None} == {**message, "timestamp": None}
        stamp = message.get("timestamp") or (old.get("timestamp") if same else None)
        rows.append({**message, "timestamp": stamp or now()})
    return rows


def _metadata_in(folder: Path) -> dict[str, Any]:
    try:
        return read_object(folder / FILE_NAME)
    except (OSError, ValueError) as error:
        logger.warning("%s can't be read: %s", folder / FILE_NAME, error)
        return {}
