"""The list of stored sessions, page by page.

The index says which sessions match a filter, and in a window, where it is brought up to date at the
same time, when they changed. Their cards are read from disk.
"""

import logging
import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Final

from amplifier_tui.host.store.lanes import TRANSCRIPT
from amplifier_tui.host.store.listing.filters import Condition, condition
from amplifier_tui.host.store.listing.pins import pinned
from amplifier_tui.host.store.listing.scan import all_folders, scan
from amplifier_tui.host.store.search.database import index_path, reading
from amplifier_tui.host.store.search.indexing import update_index
from amplifier_tui.host.store.sessions import card_of
from amplifier_tui.host.stored_cards import SessionCard, SessionList
from amplifier_tui.paths import sessions_dir

logger = logging.getLogger(__name__)

MOST: Final = 100
"""Sessions of a page, unless more are asked for."""

_SCOPE: Final = "FROM sessions WHERE root = '' AND (stored = ? OR ?)"
_AGENTS: Final = "SELECT count(*) FROM sessions WHERE root = ?"


def list_sessions(
    typed: str = "",
    cwd: Path | None = None,
    *,
    here: bool = True,
    most: int = MOST,
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
    scope = (str(sessions_dir(cwd)), not here)
    problem = wanted.problem
    try:
        with reading(index_path()) as connection:
            listed = _listed(connection, wanted, scope, most, look=look)
            if connection is None and wanted.sql:
                problem = problem or "The sessions have not been read yet."
    except sqlite3.Error as error:
        listed = _listed(None, wanted, scope, most, look=True)
        problem = f"The index can't be read: {error}"
    return replace(listed, cwd=str(cwd), problem=problem)


def _listed(
    connection: sqlite3.Connection | None,
    wanted: Condition,
    scope: tuple[str, bool],
    most: int,
    *,
    look: bool,
) -> SessionList:
    stored, everywhere = scope
    known: dict[str, float] = {}
    if connection is not None and not look:
        known = dict(connection.execute(f"SELECT path, changed / 1e9 {_SCOPE}", scope))
    found = scan(all_folders() if everywhere else [stored], known)
    pins = pinned()
    paths = [path for _, path in found.sessions]
    elsewhere = 0
    if connection is None:
        paths = [] if wanted.sql else paths
    else:
        paths = _matching(connection, wanted, scope) if wanted.sql else paths
        elsewhere = 0 if everywhere else _elsewhere(connection, stored)
    if pins:
        paths.sort(key=lambda path: path.rpartition("/")[2] not in pins)
    cards = list(_cards(paths[:most], pins, connection))
    cards.sort(key=lambda card: (not card.pinned, -card.updated))
    return SessionList(
        cards=tuple(cards),
        matching=len(paths),
        elsewhere=elsewhere,
        agents=found.agents,
        filtered=max(0, len(found.sessions) - len(paths)),
        broken=found.broken,
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


def indexed_agents(folder: Path) -> list[Path]:
    """Return the folders of a session's sub-agents, as far as they are indexed."""
    try:
        with reading(index_path()) as connection:
            if connection is None:
                return []
            rows = connection.execute("SELECT path FROM sessions WHERE root = ?", (str(folder),))
            return [Path(path) for (path,) in rows]
    except sqlite3.Error as error:
        logger.warning("The index can't be read: %s", error)
        return []


def _matching(
    connection: sqlite3.Connection, wanted: Condition, scope: tuple[str, bool]
) -> list[str]:
    query = f"SELECT path {_SCOPE} AND {wanted.sql} ORDER BY changed DESC"
    return [path for (path,) in connection.execute(query, (*scope, *wanted.values))]


def _elsewhere(connection: sqlite3.Connection, stored: str) -> int:
    query = "SELECT count(*) FROM sessions WHERE root = '' AND stored != ?"
    count: int = connection.execute(query, (stored,)).fetchone()[0]
    return count


def _cards(
    paths: list[str], pins: frozenset[str], connection: sqlite3.Connection | None
) -> Iterator[SessionCard]:
    for path in paths:
        folder = Path(path)
        try:
            updated = (folder / TRANSCRIPT).stat().st_mtime
        except OSError:
            # Deleted a moment ago.
            continue
        agents = connection.execute(_AGENTS, (path,)).fetchone()[0] if connection else 0
        card = card_of(folder, updated)
        yield replace(card, agent_count=agents, pinned=folder.name in pins)
