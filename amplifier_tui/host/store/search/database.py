"""The SQLite file of the index. It can always be made again: one that is no use is thrown away."""

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from amplifier_tui.paths import amplifier_home

VERSION: Final = 4
"""Of the tables and of how a text is split into words; a file of another is made anew.

Of `sessions`, `root` is the folder of the session a sub-agent worked for, and `lane` the id of the
sub-agent that the root itself called; both are empty for others. What follows them is for the list
of sessions: all of it folded, `tags` one a line. `tasks` are the calls that gave sub-agents work.
`folders` are those of which all sessions are in the index, as of their `stamp`; `broken` of them
can't be read.
"""

_WAIT: Final = 5.0
_SCHEMA: Final = f"""
    CREATE TABLE sessions (
        id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, file INTEGER NOT NULL,
        size INTEGER NOT NULL, rows INTEGER NOT NULL, turns INTEGER NOT NULL, card TEXT NOT NULL,
        changed INTEGER NOT NULL, stored TEXT NOT NULL, root TEXT NOT NULL, lane TEXT NOT NULL,
        called TEXT NOT NULL DEFAULT '', bundle TEXT NOT NULL DEFAULT '',
        model TEXT NOT NULL DEFAULT '', tags TEXT NOT NULL DEFAULT '',
        folder TEXT NOT NULL DEFAULT '', branch TEXT NOT NULL DEFAULT '', cost REAL
    );
    CREATE INDEX sessions_of ON sessions (root, stored, changed);
    CREATE TABLE folders (
        stored TEXT PRIMARY KEY, stamp INTEGER NOT NULL, broken INTEGER NOT NULL
    );
    CREATE TABLE tasks (
        lane TEXT NOT NULL, session INTEGER NOT NULL, row INTEGER NOT NULL, turn INTEGER NOT NULL,
        call_id TEXT NOT NULL
    );
    CREATE INDEX tasks_of ON tasks (session, lane);
    CREATE TABLE said (
        id INTEGER PRIMARY KEY, session INTEGER NOT NULL, kind TEXT NOT NULL,
        row INTEGER NOT NULL, turn INTEGER NOT NULL, call_id TEXT NOT NULL, text TEXT NOT NULL
    );
    CREATE INDEX said_in ON said (session, row);
    CREATE VIRTUAL TABLE words USING fts5 (
        text, content = '', prefix = '1 2 3', tokenize = 'unicode61'
    );
    PRAGMA user_version = {VERSION};
"""


def index_path() -> Path:
    """Return the file of the index."""
    return amplifier_home() / "search" / "sessions.sqlite3"


def is_damaged(error: sqlite3.Error) -> bool:
    """Whether an error says that the file is no use: broken, or no database."""
    code: int = getattr(error, "sqlite_errorcode", 0) & 0xFF
    return code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


@contextlib.contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection | None]:
    """Open the index to look things up; None where it is not there yet, or of another version.

    Raises:
        sqlite3.Error: It can't be read; see `is_damaged`.
    """
    if not path.is_file():
        yield None
        return
    connection = sqlite3.connect(path, timeout=_WAIT, isolation_level=None)
    with contextlib.closing(connection):
        connection.execute("PRAGMA query_only = ON")
        yield connection if _version(connection) == VERSION else None


@contextlib.contextmanager
def writing(path: Path) -> Iterator[sqlite3.Connection]:
    """Open the index to change it; it is made if need be. Only one at a time may have it.

    Raises:
        sqlite3.Error: It can't be used; see `is_damaged`.
        OSError: It can't be made.
    """
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    # SQLite makes its files readable for whoever may read this one.
    path.touch(mode=0o600)
    connection = sqlite3.connect(path, timeout=_WAIT, isolation_level=None)
    with contextlib.closing(connection):
        version = _version(connection)
        # Windows that look something up do not wait for the one that writes.
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA secure_delete = ON")
        if version != VERSION:
            if version:
                raise OtherVersionError(version)
            with changing(connection):
                for statement in _SCHEMA.split(";")[:-1]:
                    connection.execute(statement)
        yield connection


class OtherVersionError(Exception):
    """The index is of another version of the program."""


@contextlib.contextmanager
def changing(connection: sqlite3.Connection) -> Iterator[None]:
    """Make changes that count all or none."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        # A full disk has ended it already.
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def throw_away(path: Path) -> None:
    """Remove the index."""
    for suffix in ("-wal", "-shm", ""):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def _version(connection: sqlite3.Connection) -> int:
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return version
