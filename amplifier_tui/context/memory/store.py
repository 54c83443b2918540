"""Memories in one SQLite file with a full-text index: offline, and anybody can look into it."""

import asyncio
import sqlite3
import threading
from collections.abc import Callable, Collection, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, TypeVar

from amplifier_tui.context.errors import MemoryUnavailableError
from amplifier_tui.context.memory.database import (
    is_damaged,
    open_database,
    set_aside,
    unavailable,
)
from amplifier_tui.context.memory.retrieval import Memory, bigrams, match_expression

T = TypeVar("T")

LONGEST: Final = 4_000
"""Characters a memory may have."""

_LARGEST: Final = 2**63 - 1
"""The largest number SQLite knows."""

_COLUMNS: Final = "m.id, m.text, m.scope, m.session_id, m.created"


class MemoryStore:
    """Memories in a file. Reading never makes the file; the first memory does.

    Everything runs in threads and raises `MemoryUnavailableError` where the database can't be
    used now.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._connection: sqlite3.Connection | None = None
        self._lock = threading.Lock()
        self._notices: list[str] = []

    def take_notices(self) -> list[str]:
        """Return what happened to the file since the last call, in words for the user."""
        taken: list[str] = []
        # One after the other: a thread may add one right now.
        while self._notices:
            taken.append(self._notices.pop(0))
        return taken

    async def remember(self, text: str, *, scope: str = "", session_id: str = "") -> Memory:
        """Keep a text of up to `LONGEST` characters for a scope, "" for everywhere.

        Returns the memory, the one there is if the scope has the same already. ``ValueError`` where
        the text is empty or too long.
        """
        text = text.strip()
        if not text:
            raise ValueError("There is nothing to remember: the text is empty")
        if len(text) > LONGEST:
            raise ValueError(
                f"A memory has at most {LONGEST:,} characters, this one has {len(text):,}: "
                "remember what matters of it"
            )
        text, scope, session_id = _storable(text), _storable(scope), _storable(session_id)
        created = datetime.now(UTC).isoformat(timespec="seconds")

        def insert(connection: sqlite3.Connection) -> Memory:
            connection.execute(
                "INSERT OR IGNORE INTO memories (text, cjk, scope, session_id, created) "
                "VALUES (?, ?, ?, ?, ?)",
                (text, bigrams(text), scope, session_id, created),
            )
            found = connection.execute(
                f"SELECT {_COLUMNS} FROM memories m WHERE scope = ? AND text = ?", (scope, text)
            ).fetchone()
            return Memory(*found)

        return await self._run(insert)

    async def forget(self, memory_id: int, *, scopes: Collection[str] | None = None) -> bool:
        """Delete a memory; returns whether there was one that holds in the scopes; see `list`."""
        if not 0 < memory_id <= _LARGEST:
            return False
        condition, values = _in_scopes(scopes)

        def delete(connection: sqlite3.Connection) -> bool:
            cursor = connection.execute(
                f"DELETE FROM memories AS m WHERE id = ? AND {condition}", (memory_id, *values)
            )
            return cursor.rowcount > 0

        return await self._run(delete, default=False)

    async def list(
        self, *, scopes: Collection[str] | None = None, limit: int = 1_000
    ) -> list[Memory]:
        """Return memories that hold in the scopes, None for all of them; the newest first."""
        condition, values = _in_scopes(scopes)

        def select(connection: sqlite3.Connection) -> list[Memory]:
            rows = connection.execute(
                f"SELECT {_COLUMNS} FROM memories m WHERE {condition} ORDER BY m.id DESC LIMIT ?",
                (*values, limit),
            )
            return [Memory(*row) for row in rows]

        return await self._run(select, default=[])

    async def search(
        self, query: str, k: int, *, scopes: Collection[str] | None = None
    ) -> Sequence[Memory]:
        """Return up to ``k`` memories that share most with a query, the best first; see `list`."""
        expression = match_expression(query)
        if not expression:
            return []
        condition, values = _in_scopes(scopes)

        def select(connection: sqlite3.Connection) -> list[Memory]:
            rows = connection.execute(
                f"SELECT {_COLUMNS} FROM memory_index JOIN memories m ON m.id = memory_index.rowid "
                f"WHERE memory_index MATCH ? AND {condition} ORDER BY bm25(memory_index) LIMIT ?",
                (expression, *values, k),
            )
            return [Memory(*row) for row in rows]

        return await self._run(select, default=[])

    async def close(self) -> None:
        """Close the file."""
        await asyncio.to_thread(self._close)

    def _close(self) -> None:
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    async def _run(
        self,
        work: Callable[[sqlite3.Connection], T],
        default: T | None = None,
    ) -> T:
        """Do the work, or return the default where there is one and no file yet."""
        return await asyncio.to_thread(self._locked, work, default)

    def _locked(self, work: Callable[[sqlite3.Connection], T], default: T | None) -> T:
        with self._lock:
            if default is not None and self._connection is None and not self.path.exists():
                return default
            try:
                return work(self._open())
            except sqlite3.DatabaseError as error:
                if not is_damaged(error):
                    raise unavailable(self.path, error) from error
            self._start_over()
            try:
                return work(self._open())
            except sqlite3.DatabaseError as error:
                raise unavailable(self.path, error) from error

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            self._connection, notice = open_database(self.path)
            if notice:
                self._notices.append(notice)
        return self._connection

    def _start_over(self) -> None:
        """The file broke while it was open."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        try:
            self._notices.append(set_aside(self.path, "corrupt"))
        except OSError as error:
            raise MemoryUnavailableError(
                f"The memories in {self.path} are damaged and can't be moved aside: {error}"
            ) from error


def _in_scopes(scopes: Collection[str] | None) -> tuple[str, tuple[str, ...]]:
    if scopes is None:
        return "1", ()
    return f"m.scope IN ({', '.join('?' * len(scopes))})", tuple(map(_storable, scopes))


def _storable(text: str) -> str:
    """The text with escapes for what has no UTF-8 form, as a folder's name may hold it."""
    return text.encode("utf-8", "backslashreplace").decode()
