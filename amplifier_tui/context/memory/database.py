"""The SQLite file of memories: opened, checked, and moved aside where it can't be used."""

import contextlib
import logging
import os
import sqlite3
from pathlib import Path
from typing import Final

from amplifier_tui.base.files import free_name
from amplifier_tui.context.errors import MemoryUnavailableError

logger = logging.getLogger(__name__)

VERSION: Final = 1
_APPLICATION: Final = 0x414D454D
"""Marks the file as one of ours (SQLite ``application_id``)."""

_WAIT: Final = 2.0
"""Seconds to wait for another process that writes."""

_SCHEMA: Final = (
    """
    CREATE TABLE memories (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        text TEXT NOT NULL,
        cjk TEXT NOT NULL,
        scope TEXT NOT NULL,
        session_id TEXT NOT NULL,
        created TEXT NOT NULL,
        UNIQUE (scope, text)
    )
    """,
    """
    CREATE VIRTUAL TABLE memory_index USING fts5 (
        text, cjk, content = 'memories', content_rowid = 'id', tokenize = 'porter unicode61'
    )
    """,
    """
    CREATE TRIGGER memory_added AFTER INSERT ON memories BEGIN
        INSERT INTO memory_index (rowid, text, cjk) VALUES (new.id, new.text, new.cjk);
    END
    """,
    """
    CREATE TRIGGER memory_removed AFTER DELETE ON memories BEGIN
        INSERT INTO memory_index (memory_index, rowid, text, cjk)
        VALUES ('delete', old.id, old.text, old.cjk);
    END
    """,
    f"PRAGMA application_id = {_APPLICATION}",
    f"PRAGMA user_version = {VERSION}",
)


def open_database(path: Path) -> tuple[sqlite3.Connection, str]:
    """Open the file of memories; it and its folder are made if need be.

    A file of another version, and one that is damaged, is moved aside: what to tell the user is
    returned, too. One that is locked or another program's raises `MemoryUnavailableError`.
    """
    notice = ""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        why = _unusable(path)
        if why:
            notice = set_aside(path, why)
        connection = _connect(path)
        try:
            if not _is_made(connection):
                _make(connection)
        except BaseException:
            connection.close()
            raise
    except (sqlite3.OperationalError, OSError) as error:
        raise unavailable(path, error) from error
    except sqlite3.DatabaseError as error:
        raise MemoryUnavailableError(f"The memories in {path} can't be used: {error}") from error
    return connection, notice


def set_aside(path: Path, why: str) -> str:
    """Move a database aside with what belongs to it; returns what to tell the user."""
    aside = free_name(path, why.split()[0])
    path.rename(aside)
    for suffix in ("-wal", "-shm"):
        companion = path.with_name(path.name + suffix)
        if companion.exists():
            companion.rename(aside.with_name(aside.name + suffix))
    notice = f"The memory database is {why}; it was moved to {aside} and a new one is used."
    logger.warning("%s", notice)
    return notice


def unavailable(path: Path, error: Exception) -> MemoryUnavailableError:
    """Return the error for a database that can't be used now."""
    if "locked" in str(error) or "busy" in str(error):
        return MemoryUnavailableError(
            f"The memories in {path} are locked by another process; try again later."
        )
    return MemoryUnavailableError(f"The memories in {path} can't be used: {error}")


def is_damaged(error: sqlite3.DatabaseError) -> bool:
    """Whether an error says that the file itself is broken, and not that a call was wrong."""
    code: int = getattr(error, "sqlite_errorcode", 0)
    # The lower byte is the error, the rest says more about it.
    return code & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def _connect(path: Path) -> sqlite3.Connection:
    # SQLite makes its files readable for whoever may read this one.
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    connection = sqlite3.connect(path, timeout=_WAIT, check_same_thread=False, isolation_level=None)
    # Readers need not wait for a writer. Where the file is in use at this moment it stays as it is.
    with contextlib.suppress(sqlite3.OperationalError):
        connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    return connection


def _unusable(path: Path) -> str:
    """Why a file can't be used, "" if it can or is not there."""
    if not path.exists() or path.stat().st_size == 0:
        return ""
    connection = sqlite3.connect(path, timeout=_WAIT, isolation_level=None)
    try:
        # One look at all of it: another process may be making the tables right now.
        connection.execute("BEGIN")
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        application = connection.execute("PRAGMA application_id").fetchone()[0]
        tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if tables and application != _APPLICATION:
            raise MemoryUnavailableError(
                f"{path} is the database of another program: set another `path` for memories."
            )
        if tables and version != VERSION:
            return f"version-{version} instead of {VERSION}"
        if connection.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
            return "corrupt"
    except sqlite3.DatabaseError as error:
        if not is_damaged(error):
            raise
        return "corrupt"
    finally:
        connection.close()
    return ""


def _is_made(connection: sqlite3.Connection) -> bool:
    found = connection.execute(
        "SELECT count(*) FROM sqlite_master WHERE name = 'memory_index'"
    ).fetchone()
    return bool(found[0])


def _make(connection: sqlite3.Connection) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Another process may have been faster.
        if not _is_made(connection):
            for statement in _SCHEMA:
                connection.execute(statement)
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


def memory_path(configured: str | None = None) -> Path:
    """Return the file of memories: ``configured``, or the one in the Amplifier home."""
    if configured:
        return Path(configured).expanduser()
    home = os.environ.get("AMPLIFIER_HOME") or "~/.amplifier"
    return Path(home).expanduser() / "memory.sqlite3"
