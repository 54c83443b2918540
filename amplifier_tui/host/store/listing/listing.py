"""The list of stored sessions, page by page.

Without a filter it is what is on disk at this moment. With one, the index says which sessions
match; their cards are read from disk all the same.
"""

import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Final

from amplifier_tui.host.store.lanes import TRANSCRIPT
from amplifier_tui.host.store.listing.filters import Condition, condition
from amplifier_tui.host.store.listing.pins import pinned
from amplifier_tui.host.store.listing.scan import Scan, all_folders, scan
from amplifier_tui.host.store.search.database import index_path, reading
from amplifier_tui.host.store.search.indexing import update_index
from amplifier_tui.host.store.sessions import card_of
from amplifier_tui.host.stored_cards import SessionCard, SessionList
from amplifier_tui.paths import sessions_dir

MOST: Final = 200
"""Sessions of a page, unless more are asked for."""

_MATCHING: Final = "FROM sessions WHERE root = '' AND (stored = ? OR ?)"
_AGENTS: Final = "SELECT count(*) FROM sessions WHERE root = ?"


def list_sessions(
    typed: str = "", cwd: Path | None = None, *, here: bool = True, most: int = MOST
) -> SessionList:
    """Return the sessions that match what is typed.

    Args:
        typed: As in `SessionClient.sessions`.
        cwd: The working directory; None for the current one.
        here: Only sessions of that directory.
        most: Cards, at most.
    """
    cwd = cwd or Path.cwd()
    stored = str(sessions_dir(cwd))
    wanted = condition(typed, datetime.now().astimezone())
    found = scan([stored] if here else all_folders())
    pins = pinned()
    problem = wanted.problem
    try:
        with reading(index_path()) as connection:
            if connection is None:
                paths, elsewhere = _paths(found, pins), 0
                if wanted.sql:
                    paths, problem = [], problem or "The sessions have not been read yet."
            else:
                elsewhere = _elsewhere(connection, stored) if here else 0
                scope = (stored, not here)
                paths = (
                    _matching(connection, wanted, scope, pins)
                    if wanted.sql
                    else _paths(found, pins)
                )
            cards = tuple(_cards(paths, most, pins, connection))
    except sqlite3.Error as error:
        paths, elsewhere = ([] if wanted.sql else _paths(found, pins)), 0
        cards = tuple(_cards(paths, most, pins, None))
        problem = f"The index can't be read: {error}"
    return SessionList(
        cards=cards,
        matching=len(paths),
        elsewhere=elsewhere,
        agents=found.agents,
        filtered=max(0, len(found.sessions) - len(paths)),
        broken=found.broken,
        cwd=str(cwd),
        problem=problem,
    )


def list_now(typed: str, cwd: Path, *, here: bool, most: int) -> SessionList:
    """Return the sessions that match, after what is new was read."""
    problem = ""
    try:
        if not update_index():
            problem = "Another window is indexing: the newest may be missing."
    except (OSError, sqlite3.Error) as error:
        problem = f"The newest may be missing: {error}"
    listed = list_sessions(typed, cwd, here=here, most=most)
    return replace(listed, problem=listed.problem or (problem if typed.strip() else ""))


def _paths(found: Scan, pins: frozenset[str]) -> list[str]:
    """Return the folders of sessions: pinned ones first, then the newest."""
    paths = [path for _, path in found.sessions]
    if not pins:
        return paths
    return sorted(paths, key=lambda path: path.rpartition("/")[2] not in pins)


def _matching(
    connection: sqlite3.Connection,
    wanted: Condition,
    scope: tuple[str, bool],
    pins: frozenset[str],
) -> list[str]:
    query = f"SELECT path {_MATCHING} AND {wanted.sql} ORDER BY changed DESC"
    rows = connection.execute(query, (*scope, *wanted.values))
    return _paths(Scan(sessions=[(0.0, path) for (path,) in rows]), pins)


def _elsewhere(connection: sqlite3.Connection, stored: str) -> int:
    query = "SELECT count(*) FROM sessions WHERE root = '' AND stored != ?"
    count: int = connection.execute(query, (stored,)).fetchone()[0]
    return count


def _cards(
    paths: list[str], most: int, pins: frozenset[str], connection: sqlite3.Connection | None
) -> Iterator[SessionCard]:
    for path in paths[:most]:
        folder = Path(path)
        try:
            updated = (folder / TRANSCRIPT).stat().st_mtime
        except OSError:
            # Deleted a moment ago.
            continue
        agents = connection.execute(_AGENTS, (path,)).fetchone()[0] if connection else 0
        card = card_of(folder, updated)
        yield replace(card, agent_count=agents, pinned=folder.name in pins)
