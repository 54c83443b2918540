"""Brings the index up to date with what is on disk: only what is new is read."""

import logging
import os
import sqlite3
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, Final

from amplifier_tui.base.files import FileLock, FileLockedError, open_regular
from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.text import encodable
from amplifier_tui.host.store.lanes import TRANSCRIPT
from amplifier_tui.host.store.metadata import FILE_NAME
from amplifier_tui.host.store.search.database import (
    OtherVersionError,
    changing,
    index_path,
    is_damaged,
    throw_away,
    writing,
)
from amplifier_tui.host.store.search.saying import Said, SessionReader
from amplifier_tui.host.store.search.words import spaced
from amplifier_tui.paths import amplifier_home

logger = logging.getLogger(__name__)

_PIECE: Final = 4 * 1024 * 1024
"""Bytes of transcripts that are indexed in one go."""
_LONGEST_LINE: Final = 8 * 1024 * 1024
"""A longer line, which is most likely what a tool gave back, is not read."""

Report = Callable[[int, int], None]
"""Gets how many of the changed sessions are indexed, and how many there are."""


@dataclass(frozen=True, slots=True)
class _Stored:
    """A session on disk: its folder, and what tells that its files changed."""

    folder: str
    file: int
    size: int
    changed: int
    card: str


@dataclass(slots=True)
class _Indexed:
    """How far a session is indexed: `size` bytes, with `rows` rows and `turns` prompts."""

    id: int
    file: int
    size: int
    rows: int
    turns: int
    card: str


def update_index(report: Report = lambda done, of: None, *, anew: bool = False) -> bool:
    """Index what came since the last time; forget sessions that are gone.

    A broken index, and one of another version of the program, is made anew.

    Args:
        anew: Throw away what is there first.

    Returns:
        False where another process is doing it at this moment.

    Raises:
        OSError: The index can't be written.
        sqlite3.Error: The same; what was indexed before can still be searched.
    """
    path = index_path()
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    lock = FileLock(path.with_suffix(".lock"))
    try:
        lock.acquire()
    except FileLockedError:
        return False
    try:
        if anew:
            throw_away(path)
        try:
            _update(path, report)
        except (sqlite3.DatabaseError, OtherVersionError) as error:
            if isinstance(error, sqlite3.DatabaseError) and not is_damaged(error):
                raise
            logger.warning("The search index is made anew: %s", error or type(error).__name__)
            throw_away(path)
            _update(path, report)
    finally:
        lock.release()
    return True


def _update(path: Path, report: Report) -> None:
    with writing(path) as connection:
        indexed = {
            row[1]: _Indexed(row[0], *row[2:])
            for row in connection.execute(
                "SELECT id, path, file, size, rows, turns, card FROM sessions"
            )
        }
        stored = {each.folder: each for each in _stored()}
        for folder in indexed.keys() - stored.keys():
            with changing(connection):
                _forget(connection, indexed[folder].id)
                connection.execute("DELETE FROM sessions WHERE id = ?", (indexed[folder].id,))
        changed = [each for each in stored.values() if _is_new(each, indexed.get(each.folder))]
        # The newest last: what was added last is found first.
        changed.sort(key=lambda each: each.changed)
        reader = SessionReader()
        report(0, len(changed))
        for done, each in enumerate(changed, 1):
            try:
                _index(connection, reader, each, indexed.get(each.folder))
            except OSError as error:
                logger.warning("%s can't be read for the search: %s", each.folder, error)
            report(done, len(changed))


def _stored() -> Iterator[_Stored]:
    for project in _folders(amplifier_home() / "projects"):
        for folder in _folders(Path(project, "sessions")):
            # Sub-agents' sessions have an underscore in their names. A path that is no UTF-8 has
            # no place in the index.
            if "_" in os.path.basename(folder) or encodable(folder) != folder:
                continue
            try:
                found = os.stat(os.path.join(folder, TRANSCRIPT))
            except OSError:
                # Nothing was said in it.
                continue
            try:
                card = os.stat(os.path.join(folder, FILE_NAME))
                stamp = f"{card.st_mtime_ns}:{card.st_size}"
            except OSError:
                stamp = ""
            yield _Stored(folder, found.st_ino, found.st_size, found.st_mtime_ns, stamp)


def _folders(path: Path) -> list[str]:
    try:
        with os.scandir(path) as entries:
            return [entry.path for entry in entries if entry.is_dir()]
    except OSError:
        return []


def _is_new(stored: _Stored, known: _Indexed | None) -> bool:
    now = (stored.file, stored.size, stored.card)
    return known is None or (known.file, known.size, known.card) != now


def _index(
    connection: sqlite3.Connection, reader: SessionReader, stored: _Stored, known: _Indexed | None
) -> None:
    folder = Path(stored.folder)
    if known is None:
        add = (
            "INSERT INTO sessions (path, file, size, rows, turns, card) VALUES (?, ?, 0, 0, 0, '')"
        )
        made = connection.execute(add, (stored.folder, stored.file)).lastrowid
        assert made is not None
        known = _Indexed(made, stored.file, 0, 0, 0, "")
    elif known.file != stored.file or known.size > stored.size:
        # It was written anew, as it is when somebody goes back in it.
        with changing(connection):
            _forget(connection, known.id)
            known = _Indexed(known.id, stored.file, 0, 0, 0, "")
            _note(connection, known)
    if known.card != stored.card:
        with changing(connection):
            _forget(connection, known.id, 0)
            _add(connection, known.id, reader.card(folder))
            known.card = stored.card
            _note(connection, known)
    with open_regular(folder / TRANSCRIPT) as file:
        file.seek(known.size)
        more = True
        while more:
            with changing(connection):
                more = _read_piece(connection, reader, file, known)
                _note(connection, known)


def _read_piece(
    connection: sqlite3.Connection, reader: SessionReader, file: BinaryIO, known: _Indexed
) -> bool:
    """Index the next lines of a transcript; False when its end is reached."""
    end = known.size + _PIECE
    while known.size < end:
        line = file.readline(_LONGEST_LINE)
        size = len(line)
        while line and not line.endswith(b"\n"):
            line = file.readline(_LONGEST_LINE)
            size += len(line)
        if not line:
            # Of what is being written at this moment the rest is still to come.
            return False
        if size == len(line) and line.strip():
            for said in reader.row(line, known.rows, known.turns):
                known.turns = said.turn
                _add(connection, known.id, [said])
        known.rows += bool(line.strip()) or size > len(line)
        known.size += size
    return True


def _add(connection: sqlite3.Connection, session: int, texts: Iterator[Said] | list[Said]) -> None:
    for said in texts:
        row = connection.execute(
            "INSERT INTO said (session, kind, row, turn, call_id, text) VALUES (?, ?, ?, ?, ?, ?)",
            (session, said.kind, said.row, said.turn, encodable(said.call_id), said.text),
        ).lastrowid
        connection.execute(
            "INSERT INTO words (rowid, text) VALUES (?, ?)", (row, spaced(said.text))
        )


def _forget(connection: sqlite3.Connection, session: int, below: int = sys.maxsize) -> None:
    """Take the texts of a session out, those of rows before row `below`."""
    which = (session, below)
    rows = connection.execute("SELECT id, text FROM said WHERE session = ? AND row < ?", which)
    connection.executemany(
        "INSERT INTO words (words, rowid, text) VALUES ('delete', ?, ?)",
        ((row, spaced(text)) for row, text in rows.fetchall()),
    )
    connection.execute("DELETE FROM said WHERE session = ? AND row < ?", which)


def _note(connection: sqlite3.Connection, known: _Indexed) -> None:
    connection.execute(
        "UPDATE sessions SET file = ?, size = ?, rows = ?, turns = ?, card = ? WHERE id = ?",
        (known.file, known.size, known.rows, known.turns, known.card, known.id),
    )
