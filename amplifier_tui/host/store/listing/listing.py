"""The list of stored sessions, page by page.

The index says which sessions match a filter. In a window, where it is brought up to date at the
same time, it also says when they changed, and which there are in folders to which none came since.
The cards are read from disk.
"""

import json
import logging
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Final, NamedTuple

from amplifier_tui.host.store.lanes import TRANSCRIPT
from amplifier_tui.host.store.listing.filters import Condition, condition
from amplifier_tui.host.store.listing.pins import pinned
from amplifier_tui.host.store.listing.scan import all_folders, scan, stamp_of
from amplifier_tui.host.store.search.database import index_path, reading
from amplifier_tui.host.store.search.indexing import try_to_update
from amplifier_tui.host.store.sessions import card_of, is_held
from amplifier_tui.host.stored_cards import PAGE, SessionCard, SessionList
from amplifier_tui.paths import sessions_dir

logger = logging.getLogger(__name__)

_THESE: Final = "(SELECT value FROM json_each(?))"
"""Paths, as JSON: it takes those that are no UTF-8 too, which are not in the index."""
_IN: Final = f"stored IN {_THESE}"
_SESSIONS: Final = f"FROM sessions WHERE root = '' AND {_IN}"
_OF_AGENTS: Final = f"SELECT count(*) FROM sessions WHERE root NOT IN ('', path) AND {_IN}"
_BROKEN: Final = f"SELECT coalesce(sum(broken), 0) FROM folders WHERE {_IN}"
_PINNED: Final = f"substr(path, length(stored) + 2) IN {_THESE}"
_AGENTS: Final = f"FROM sessions WHERE root IN {_THESE}"


def list_sessions(
    typed: str = "",
    cwd: Path | None = None,
    *,
    here: bool = True,
    most: int = PAGE,
    look: bool = True,
) -> SessionList:
    """Return the sessions that match what is typed.

    Args:
        typed: As in `SessionClient.sessions`.
        cwd: The working directory; None for the current one.
        here: Only sessions of that directory.
        most: Cards, at most.
        look: Find out of each session when it changed, also where the index says so.
    """
    cwd = cwd or Path.cwd()
    wanted = condition(typed, datetime.now().astimezone())
    own = str(sessions_dir(cwd))
    problem = wanted.problem
    try:
        with reading(index_path()) as connection:
            listed = _listed(connection, wanted, own, most, here=here, look=look)
            if connection is None and wanted.sql:
                problem = problem or "The sessions have not been read yet."
    except sqlite3.Error as error:
        listed = _listed(None, wanted, own, most, here=here, look=True)
        problem = f"The index can't be read: {error}"
    return replace(listed, cwd=str(cwd), problem=problem)


def _listed(
    connection: sqlite3.Connection | None,
    wanted: Condition,
    own: str,
    most: int,
    *,
    here: bool,
    look: bool,
) -> SessionList:
    pins = pinned()
    looked = [own] if here else list(all_folders())
    known: list[str] = []
    if connection is not None and wanted.sql:
        looked, known = [], looked
    elif connection is not None and not here and not look:
        known = _unchanged(connection, looked, own)
        looked = [*set(looked).difference(known)]
    found = scan(looked, _changes(connection, looked) if connection and not look else {})
    listed = _Indexed()
    if connection is not None and known:
        listed = _indexed(connection, known, wanted, most, pins)
    sessions = [] if wanted.sql else found.sessions
    total = len(found.sessions) + listed.total
    matching = len(sessions) + listed.matching
    if pins:
        sessions = sorted(sessions, key=lambda each: _name(each[1]) not in pins)
    first = [(_name(path) in pins, changed, path) for changed, path in sessions[:most]]
    page = sorted([*listed.page, *first], reverse=True)[:most]
    cards = list(_cards([path for _, _, path in page], pins, connection))
    cards.sort(key=lambda card: (not card.pinned, -card.updated))
    return SessionList(
        cards=tuple(cards),
        matching=matching,
        elsewhere=_elsewhere(connection, own) if here and connection is not None else 0,
        agents=found.agents + listed.agents,
        filtered=total - matching,
        broken=found.broken + listed.broken,
    )


class _Indexed(NamedTuple):
    """What the index says of folders.

    Attributes:
        page: The first of the sessions that match: whether each is pinned, when it was changed
            last, in Unix seconds, and its folder.
        total: How many sessions there are; `matching`, `agents` and `broken` as of `SessionList`.
    """

    page: Sequence[tuple[bool, float, str]] = ()
    matching: int = 0
    total: int = 0
    agents: int = 0
    broken: int = 0


def _indexed(
    connection: sqlite3.Connection,
    folders: list[str],
    wanted: Condition,
    most: int,
    pins: Collection[str],
) -> _Indexed:
    def count(query: str, *values: str | float) -> int:
        number: int = connection.execute(query, values).fetchone()[0]
        return number

    listed = json.dumps(folders)
    matching = f"{_SESSIONS} AND {wanted.sql or 'TRUE'}"
    # Sorted here, not in Python, which would keep the screen waiting where there are many.
    page = connection.execute(
        f"SELECT {_PINNED} AS pinned, changed / 1e9, path {matching}"
        " ORDER BY pinned DESC, changed DESC LIMIT ?",
        (json.dumps([*pins]), listed, *wanted.values, most),
    )
    return _Indexed(
        [(bool(first), changed, path) for first, changed, path in page],
        count(f"SELECT count(*) {matching}", listed, *wanted.values),
        count(f"SELECT count(*) {_SESSIONS}", listed),
        count(_OF_AGENTS, listed),
        count(_BROKEN, listed),
    )


def _unchanged(connection: sqlite3.Connection, folders: list[str], own: str) -> list[str]:
    """Return the folders of which all sessions are in the index.

    Of the own one that is not relied on: the first words of a session leave no trace in it.
    """
    stamps = dict(connection.execute("SELECT stored, stamp FROM folders"))
    return [each for each in folders if each != own and stamps.get(each) == stamp_of(each)]


def _changes(connection: sqlite3.Connection, folders: list[str]) -> dict[str, float]:
    """Return when sessions changed last, in Unix seconds, by folder."""
    query = f"SELECT path, changed / 1e9 {_SESSIONS}"
    return dict(connection.execute(query, (json.dumps(folders),)))


def list_now(typed: str, cwd: Path, *, here: bool, most: int) -> SessionList:
    """Return the sessions that match, after what is new was read."""
    problem = try_to_update()
    listed = list_sessions(typed, cwd, here=here, most=most)
    return replace(listed, problem=listed.problem or (problem if typed.strip() else ""))


def indexed_agents(folder: Path) -> list[Path]:
    """Return the folders of a session's sub-agents, as far as they are indexed."""
    try:
        with reading(index_path()) as connection:
            if connection is None:
                return []
            rows = connection.execute(f"SELECT path {_AGENTS}", (json.dumps([str(folder)]),))
            return [Path(path) for (path,) in rows]
    except sqlite3.Error as error:
        logger.warning("The index can't be read: %s", error)
        return []


def _elsewhere(connection: sqlite3.Connection, stored: str) -> int:
    query = f"SELECT count(*) FROM sessions WHERE root = '' AND NOT {_IN}"
    count: int = connection.execute(query, (json.dumps([stored]),)).fetchone()[0]
    return count


def _agents(connection: sqlite3.Connection, path: str) -> int:
    count: int = connection.execute(f"SELECT count(*) {_AGENTS}", (json.dumps([path]),)).fetchone()[
        0
    ]
    return count


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _cards(
    paths: Iterable[str], pins: frozenset[str], connection: sqlite3.Connection | None
) -> Iterator[SessionCard]:
    for path in paths:
        folder = Path(path)
        try:
            updated = (folder / TRANSCRIPT).stat().st_mtime
        except OSError:
            # Deleted a moment ago.
            continue
        agents = _agents(connection, path) if connection else 0
        card = card_of(folder, updated)
        pins_it, held = folder.name in pins, is_held(folder)
        yield replace(card, agent_count=agents, pinned=pins_it, held=held)
