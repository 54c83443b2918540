"""Brings the index up to date with what is on disk: only what is new is read."""

import logging
import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, Final

from amplifier_tui.base.files import FileLock, FileLockedError, open_regular
from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.text import encodable
from amplifier_tui.host.store.imported.origins import file_at, imported_files, is_transcript
from amplifier_tui.host.store.imported.reading import imported_rows
from amplifier_tui.host.store.lanes import TRANSCRIPT
from amplifier_tui.host.store.listing.scan import all_folders, session_folders, stamp_of
from amplifier_tui.host.store.metadata import FILE_NAME
from amplifier_tui.host.store.search.database import (
    OtherVersionError,
    changing,
    index_path,
    is_damaged,
    throw_away,
    writing,
)
from amplifier_tui.host.store.search.entries import Indexed, add, describe, enter, forget, note
from amplifier_tui.host.store.search.searched_text import SessionReader

logger = logging.getLogger(__name__)

_PIECE: Final = 4 * 1024 * 1024
"""Bytes of transcripts that are indexed in one go."""
_CARDS: Final = 200
"""Sessions whose cards are indexed in one go."""
_SMALL: Final = 256 * 1024
"""Bytes of another program's transcript that is read again whenever it grew."""
_QUIET: Final = 60.0
"""Seconds after which a larger one is taken to be at rest, and read again."""
_LONGEST_LINE: Final = 8 * 1024 * 1024
"""A longer line, which is most likely what a tool gave back, is not read."""

Report = Callable[[str, int, int], None]
"""Gets what is indexed (`cards`, then `texts`), and how many of the changed sessions are done."""


@dataclass(frozen=True, slots=True)
class _Stored:
    """A session on disk: its folder, and what tells that its files changed."""

    folder: str
    file: int
    size: int
    changed: int
    card: str


@dataclass(slots=True)
class _Folder:
    """A folder of sessions on disk.

    Attributes:
        stamp: Before it was looked into; see `stamp_of`.
        broken: How many of its sessions can't be read.
        whole: All the others can be in the index.
    """

    stored: str
    stamp: int
    broken: int = 0
    whole: bool = True


def update_index(report: Report = lambda part, done, of: None, *, anew: bool = False) -> bool:
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


def try_to_update() -> str:
    """Index what came since the last time; returns why the newest may be missing, else nothing."""
    try:
        if not update_index():
            return "Another window is indexing: the newest may be missing."
    except (OSError, sqlite3.Error) as error:
        return f"The newest may be missing: {error}"
    return ""


def _update(path: Path, report: Report) -> None:
    with writing(path) as connection:
        indexed = {
            row[1]: Indexed(row[0], *row[2:])
            for row in connection.execute(
                "SELECT id, path, file, size, rows, turns, card FROM sessions"
            )
        }
        folders = [_Folder(each, stamp_of(each)) for each in all_folders()]
        stored = {each.folder: each for each in (*_stored(folders), *_imported())}
        for folder in indexed.keys() - stored.keys():
            with changing(connection):
                forget(connection, indexed[folder].id)
                connection.execute("DELETE FROM sessions WHERE id = ?", (indexed[folder].id,))
        changed = [each for each in stored.values() if _is_new(each, indexed.get(each.folder))]
        # The newest last: what was added last is found first.
        changed.sort(key=lambda each: each.changed)
        reader = SessionReader()
        # All cards first: the list of sessions needs no more, however much was said in them.
        report("cards", 0, len(changed))
        for at in range(0, len(changed), _CARDS):
            piece = changed[at : at + _CARDS]
            with changing(connection):
                for each in piece:
                    known = indexed.get(each.folder)
                    indexed[each.folder] = _index_card(connection, reader, each, known)
            report("cards", at + len(piece), len(changed))
        with changing(connection):
            connection.execute("DELETE FROM folders")
            connection.executemany(
                "INSERT INTO folders (stored, stamp, broken) VALUES (?, ?, ?)",
                (
                    (each.stored, each.stamp, each.broken)
                    for each in folders
                    if each.whole and encodable(each.stored) == each.stored
                ),
            )
        for done, each in enumerate(changed, 1):
            try:
                _index_texts(connection, reader, each, indexed[each.folder])
            except OSError as error:
                logger.warning("%s can't be read for the search: %s", each.folder, error)
            report("texts", done, len(changed))


def _stored(folders: list[_Folder]) -> Iterator[_Stored]:
    for sessions in folders:
        for folder, status in session_folders(sessions.stored):
            # A path that is no UTF-8 has no place in the index.
            if encodable(folder) != folder:
                sessions.whole = False
                continue
            if status is None:
                sessions.broken += 1
                continue
            try:
                card = os.stat(os.path.join(folder, FILE_NAME))
                stamp = f"{card.st_mtime_ns}:{card.st_size}"
            except OSError:
                stamp = ""
            yield _Stored(folder, status.st_ino, status.st_size, status.st_mtime_ns, stamp)


def _imported() -> Iterator[_Stored]:
    """Yield the sessions of other programs."""
    for each in imported_files():
        try:
            status = each.path.stat()
        except OSError:
            # Gone a moment ago.
            continue
        path = str(each.path)
        if encodable(path) == path:
            # What it is called is in the same file.
            stamp = f"{status.st_mtime_ns}:{status.st_size}"
            yield _Stored(path, status.st_ino, status.st_size, status.st_mtime_ns, stamp)


def _is_new(stored: _Stored, known: Indexed | None) -> bool:
    if known is None:
        return True
    if is_transcript(Path(stored.folder)) and stored.file == known.file:
        # It is read as a whole: while it grows, only after every eighth.
        added, quiet = stored.size - known.size, time.time() - stored.changed / 1e9
        if stored.size > _SMALL and 0 <= added < stored.size // 8 and quiet < _QUIET:
            return False
    return (known.file, known.size, known.card) != (stored.file, stored.size, stored.card)


def _index_card(
    connection: sqlite3.Connection, reader: SessionReader, stored: _Stored, known: Indexed | None
) -> Indexed:
    folder = Path(stored.folder)
    if known is None:
        known = enter(connection, folder, stored.file)
    if known.card != stored.card:
        forget(connection, known.id, 0)
        add(connection, known.id, reader.card(folder))
        known.card = stored.card
    describe(connection, known.id, reader.facts(folder), stored.changed)
    note(connection, known)
    return known


def _index_texts(
    connection: sqlite3.Connection, reader: SessionReader, stored: _Stored, known: Indexed
) -> None:
    if known.file != stored.file or known.size > stored.size:
        # It was written anew, as it is when somebody goes back in it.
        with changing(connection):
            forget(connection, known.id, rows_only=True)
            known.file, known.size, known.rows, known.turns = stored.file, 0, 0, 0
            note(connection, known)
    if is_transcript(Path(stored.folder)):
        _index_imported(connection, reader, stored, known)
        return
    with open_regular(Path(stored.folder, TRANSCRIPT)) as file:
        file.seek(known.size)
        more = True
        while more:
            with changing(connection):
                more = _read_piece(connection, reader, file, known)
                note(connection, known)


def _index_imported(
    connection: sqlite3.Connection, reader: SessionReader, stored: _Stored, known: Indexed
) -> None:
    """Index all of another program's transcript anew: a row of ours is made of several of its."""
    with changing(connection):
        forget(connection, known.id, rows_only=True)
        known.turns = 0
        for row, message in enumerate(imported_rows(file_at(Path(stored.folder)))):
            for said in reader.message(message, row, known.turns):
                known.turns = said.turn
                add(connection, known.id, [said])
            known.rows = row + 1
        known.size = stored.size
        note(connection, known)


def _read_piece(
    connection: sqlite3.Connection, reader: SessionReader, file: BinaryIO, known: Indexed
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
                add(connection, known.id, [said])
        known.rows += bool(line.strip()) or size > len(line)
        known.size += size
    return True
