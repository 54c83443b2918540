"""Looks words up in the index."""

import sqlite3
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, Final

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.text import one_line
from amplifier_tui.host.redaction import Redactor
from amplifier_tui.host.store.imported.origins import file_at, is_transcript
from amplifier_tui.host.store.imported.reading import stored_card
from amplifier_tui.host.store.lanes import TRANSCRIPT
from amplifier_tui.host.store.search.database import index_path, is_damaged, reading
from amplifier_tui.host.store.search.indexing import try_to_update, update_index
from amplifier_tui.host.store.search.words import fts_query, places
from amplifier_tui.host.store.sessions import card_of, is_held
from amplifier_tui.host.stored_cards import SearchFound, SearchHit, SessionCard
from amplifier_tui.paths import sessions_dir

MOST_HITS: Final = 100
_MOST_OF_ONE: Final = 5
"""Hits of one session, so that a long one does not hide the others."""
_BEFORE: Final = 12
"""Characters in front of the first word found: it is to be seen in a narrow list, too."""
_AROUND: Final = 240
_MOST_PLACES: Final = 300
"""Places of words in one text that are compared."""
_TIME: Final = 1.0
"""Seconds a search takes at most."""
_ENOUGH: Final = 0.1
"""The same where there is something to show while somebody types."""
_STEPS: Final = 1_000

_MATCHING: Final = "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rowid DESC"
_SAID: Final = "SELECT session, kind, row, turn, call_id FROM said WHERE id = ?"
_OWNER: Final = "SELECT path, root, lane FROM sessions WHERE id = ?"
_TEXT: Final = "SELECT text FROM said WHERE id = ?"
_RUN: Final = "SELECT min(id), max(id), count(*) FROM said WHERE session = ?"
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
        return _Search(connection, typed, cwd).look(query, most, enough)


@dataclass(slots=True)
class _Owner:
    """Who said something.

    Attributes:
        path: The folder of the session that the user would open.
        lane: The sub-agent of it that the session itself called; empty for none.
        agent: The name of the sub-agent that said it; empty for none.
        first: Texts from this one on, up to the one at hand, are all of this owner; see `_passed`.
    """

    path: str
    lane: str
    agent: str
    first: int = 0


class _Search:
    """One search, and what it has learned of the sessions so far."""

    def __init__(self, connection: sqlite3.Connection, typed: str, cwd: Path | None) -> None:
        self._connection = connection
        self._typed = typed
        self._cwd = cwd
        self._owners: dict[int, _Owner] = {}
        self._cards: dict[str, SessionCard | None] = {}
        self._counts: Counter[str] = Counter()

    def look(self, query: str, most: int, enough: float) -> SearchFound:
        """Return the hits; arguments as of `find`."""
        hits: list[SearchHit] = []
        more = False
        begun = time.monotonic()
        self._connection.set_progress_handler(lambda: time.monotonic() > begun + _TIME, _STEPS)
        passed = sys.maxsize
        try:
            for (said,) in self._connection.execute(_MATCHING, (query,)):
                # Most are of sessions that have shown enough: nothing of these is looked at.
                if said >= passed:
                    continue
                session, *at = self._row(_SAID, said)
                owner = self._owner(session)
                card = self._card(owner)
                full = self._counts[owner.path] == _MOST_OF_ONE
                if card is None or full:
                    more = more or full
                    passed = self._passed(session, said)
                elif len(hits) == most or (hits and time.monotonic() > begun + enough):
                    more = True
                    break
                else:
                    hits.append(self._hit(said, owner, card, at))
                    self._counts[owner.path] += 1
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_INTERRUPT:
                raise
            more = True
        return SearchFound(hits=tuple(hits), more=more)

    def _row(self, query: str, *values: int | str) -> tuple[Any, ...]:
        row: tuple[Any, ...] = self._connection.execute(query, values).fetchone()
        return row

    def _owner(self, session: int) -> _Owner:
        if session not in self._owners:
            own, root, lane = self._row(_OWNER, session)
            agent = Path(own).name.partition("_")[2] if lane else ""
            self._owners[session] = _Owner(root or own, lane, agent)
        return self._owners[session]

    def _card(self, owner: _Owner) -> SessionCard | None:
        """Return the card of the session to open; None where it is gone, or of another folder."""
        if owner.path not in self._cards:
            path = Path(owner.path)
            foreign = is_transcript(path)
            card = None
            if self._cwd is None or foreign or path.parent == sessions_dir(self._cwd):
                card = _read_card(path)
            if card is not None and foreign and self._cwd and card.cwd != str(self._cwd):
                card = None
            self._cards[owner.path] = card
        return self._cards[owner.path]

    def _passed(self, session: int, said: int) -> int:
        """Return from which text on, up to one that is passed over, all are of its session."""
        owner = self._owners[session]
        if not owner.first:
            first, last, count = self._row(_RUN, session)
            # A session that went on later has texts of others between its own.
            owner.first = first if last - first < count else sys.maxsize
        return min(owner.first, said)

    def _hit(self, said: int, owner: _Owner, card: SessionCard, at: Sequence[Any]) -> SearchHit:
        shown, marks = _around(self._row(_TEXT, said)[0], self._typed)
        kind, row, turn, call_id = at
        if owner.lane:
            found = self._connection.execute(_TASK, (owner.path, owner.lane)).fetchone()
            row, turn, call_id = found or (-1, 0, "")
        return SearchHit(
            card=card,
            kind=kind,
            row=row,
            turn=turn,
            call_id=call_id,
            agent=owner.agent,
            text=shown,
            marks=marks,
        )


def search_now(typed: str, cwd: Path | None = None, most: int = MOST_HITS) -> SearchFound:
    """Index what is new, then search; a broken index is made anew.

    What can't be indexed is said in `SearchFound.problem`, and the rest is searched.

    Raises:
        OSError: There is no index that can be read.
    """
    problem = try_to_update()
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


def _read_card(folder: Path) -> SessionCard | None:
    """Return a session's card; None where it is gone, also when it was deleted a moment ago."""
    try:
        if is_transcript(folder):
            return stored_card(file_at(folder), Redactor())
        card = card_of(folder, (folder / TRANSCRIPT).stat().st_mtime)
        return replace(card, held=is_held(folder))
    except OSError:
        return None


def _closest(text: str, typed: str) -> int:
    """Return where the most of the words stand closest together; of several places the first."""
    found = list(islice(places(text, typed), _MOST_PLACES))
    best, at = (0, 0), 0
    for number, (start, _) in enumerate(found):
        seen: set[str] = set()
        for begin, end in found[number:]:
            if end - start > _AROUND - _BEFORE:
                break
            seen.add(text[begin:end].lower())
            if (len(seen), start - end) > best:
                best, at = (len(seen), start - end), start
    return at


def _around(text: str, typed: str) -> tuple[str, tuple[tuple[int, int], ...]]:
    """Return what stands around the words in a text as one line, and where in it they are."""
    first = _closest(text, typed)
    start = max(0, first - _BEFORE) if first > 2 * _BEFORE else 0
    line = one_line(text[start : start + 2 * _AROUND], _AROUND)
    shown = f"…{line}" if start else line
    return shown, tuple(places(shown, typed))
