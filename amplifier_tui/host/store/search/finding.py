"""Looks words up in the index."""

import sqlite3
import time
from dataclasses import replace
from pathlib import Path
from typing import Final

from amplifier_tui.base.text import one_line
from amplifier_tui.host.redaction import Redactor
from amplifier_tui.host.store.imported.origins import file_at, is_transcript
from amplifier_tui.host.store.imported.reading import stored_card
from amplifier_tui.host.store.lanes import TRANSCRIPT
from amplifier_tui.host.store.search.database import index_path, is_damaged, reading
from amplifier_tui.host.store.search.indexing import update_index
from amplifier_tui.host.store.search.words import fts_query, places
from amplifier_tui.host.store.sessions import card_of
from amplifier_tui.host.stored_cards import SearchFound, SearchHit, SessionCard
from amplifier_tui.paths import sessions_dir

MOST_HITS: Final = 100
_MOST_OF_ONE: Final = 5
"""Hits of one session, so that a long one does not hide the others."""
_BEFORE: Final = 12
"""Characters in front of the first word found: it is to be seen in a narrow list, too."""
_AROUND: Final = 240
_TIME: Final = 1.0
"""Seconds a search takes at most."""
_ENOUGH: Final = 0.1
"""The same where there is something to show while somebody types."""
_STEPS: Final = 1_000

_QUERY: Final = """
    SELECT
        sessions.path, sessions.root, sessions.lane,
        said.id, said.kind, said.row, said.turn, said.call_id
    FROM words JOIN said ON said.id = words.rowid JOIN sessions ON sessions.id = said.session
    WHERE words MATCH ? ORDER BY words.rowid DESC
"""

_TASK: Final = """
    SELECT tasks.row, tasks.turn, tasks.call_id
    FROM tasks JOIN sessions ON sessions.id = tasks.session
    WHERE sessions.path = ? AND tasks.lane = ?
"""


def find(
    typed: str, cwd: Path | None = None, most: int = MOST_HITS, *, enough: float = _ENOUGH
) -> SearchFound:
    """Return where the words are, what was indexed last first.

    Args:
        typed: As in `SessionClient.search`.
        cwd: Only sessions of this directory; None for all.
        most: Hits. At most some of one session, and what is found within a second.
        enough: Seconds after which it looks no further where it has hits to show.

    Raises:
        sqlite3.Error: The index can't be read.
    """
    query = fts_query(typed)
    with reading(index_path()) as connection:
        if connection is None or not query:
            return SearchFound()
        wanted = str(sessions_dir(cwd)) if cwd is not None else ""
        cards: dict[str, SessionCard | None] = {}
        counts: dict[str, int] = {}
        hits: list[SearchHit] = []
        more = False
        begun = time.monotonic()
        connection.set_progress_handler(lambda: time.monotonic() > begun + _TIME, _STEPS)
        try:
            for own, root, lane, said, kind, *at in connection.execute(_QUERY, (query,)):
                path = root or own
                foreign = is_transcript(Path(path))
                if wanted and not foreign and str(Path(path).parent) != wanted:
                    continue
                if path not in cards:
                    cards[path] = _card(Path(path))
                card = cards[path]
                if card is None or (wanted and foreign and card.cwd != str(cwd)):
                    continue
                counts[path] = counts.get(path, 0) + 1
                if len(hits) == most or (hits and time.monotonic() > begun + enough):
                    more = True
                    break
                if counts[path] > _MOST_OF_ONE:
                    more = True
                    continue
                shown, marks = _around(_text(connection, said), typed)
                row, turn, call_id = _task(connection, root, lane) if lane else at
                hits.append(
                    SearchHit(
                        card=card,
                        kind=kind,
                        row=row,
                        turn=turn,
                        call_id=call_id,
                        agent=Path(own).name.partition("_")[2] if lane else "",
                        text=shown,
                        marks=marks,
                    )
                )
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_INTERRUPT:
                raise
            more = True
    return SearchFound(hits=tuple(hits), more=more)


def search_now(typed: str, cwd: Path | None = None, most: int = MOST_HITS) -> SearchFound:
    """Index what is new, then search; a broken index is made anew.

    What can't be indexed is said in `SearchFound.problem`, and the rest is searched.

    Raises:
        OSError: There is no index that can be read.
    """
    problem = ""
    try:
        if not update_index():
            problem = "Another window is indexing: the newest may be missing."
    except (OSError, sqlite3.Error) as error:
        problem = f"The newest may be missing: {error}"
    try:
        try:
            found = find(typed, cwd, most, enough=_TIME)
        except sqlite3.DatabaseError as error:
            if not is_damaged(error):
                raise
            update_index(anew=True)
            found = find(typed, cwd, most, enough=_TIME)
    except sqlite3.Error as error:
        raise OSError(f"The index can't be read: {error}") from error
    return replace(found, problem=problem)


def _card(folder: Path) -> SessionCard | None:
    """Return a session's card; None where it is gone, also when it was deleted a moment ago."""
    try:
        if is_transcript(folder):
            return stored_card(file_at(folder), Redactor())
        return card_of(folder, (folder / TRANSCRIPT).stat().st_mtime)
    except OSError:
        return None


def _task(connection: sqlite3.Connection, root: str, lane: str) -> tuple[int, int, str]:
    """Return row, turn and call with which a session gave a sub-agent its task."""
    found: tuple[int, int, str] | None = connection.execute(_TASK, (root, lane)).fetchone()
    return found or (-1, 0, "")


def _text(connection: sqlite3.Connection, said: int) -> str:
    text: str = connection.execute("SELECT text FROM said WHERE id = ?", (said,)).fetchone()[0]
    return text


def _around(text: str, typed: str) -> tuple[str, tuple[tuple[int, int], ...]]:
    """Return what stands around the words in a text as one line, and where in it they are."""
    first = next(places(text, typed), (0, 0))[0]
    start = max(0, first - _BEFORE) if first > 2 * _BEFORE else 0
    line = one_line(text[start : start + 2 * _AROUND], _AROUND)
    shown = f"…{line}" if start else line
    return shown, tuple(places(shown, typed))
