"""What the index holds of a session: its place, its card, its texts."""

import sqlite3
import sys
from collections.abc import Iterable
from pathlib import Path

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.messages.sub_sessions import SUB_SESSION_ID
from amplifier_tui.base.text import encodable
from amplifier_tui.host.store.imported.origins import is_transcript
from amplifier_tui.host.store.listing.filters import folded
from amplifier_tui.host.store.metadata import Metadata, read_metadata
from amplifier_tui.host.store.search.searched_text import Said
from amplifier_tui.host.store.search.words import spaced

_DEEPEST = 20
"""Sub-agents that call sub-agents, at most."""


@dataclass(slots=True)
class Indexed:
    """How far a session is indexed: `size` bytes, with `rows` rows and `turns` prompts."""

    id: int
    file: int
    size: int
    rows: int
    turns: int
    card: str


def enter(connection: sqlite3.Connection, folder: Path, file: int) -> Indexed:
    """Make the entry of a session of which nothing is indexed yet."""
    # Of another program: not in the list of sessions, which has those without a root.
    lane, root = ("", str(folder)) if is_transcript(folder) else _line(folder)
    made = connection.execute(
        "INSERT INTO sessions (path, file, size, rows, turns, card, changed, stored, root, lane)"
        " VALUES (?, ?, 0, 0, 0, '-', 0, ?, ?, ?)",
        (str(folder), file, str(folder.parent), root, lane),
    ).lastrowid
    assert made is not None
    return Indexed(made, file, 0, 0, 0, "-")


def _line(folder: Path) -> tuple[str, str]:
    """Return, of a sub-agent, the id of the one the root called, and the folder of the root."""
    lane, each = "", folder.name
    for _ in range(_DEEPEST):
        if SUB_SESSION_ID.fullmatch(each) is None:
            break
        lane = each
        each = Path(read_metadata(folder.parent / each).parent_id).name
    return lane, str(folder.parent / each) if lane else ""


def describe(
    connection: sqlite3.Connection, session: int, metadata: Metadata, changed: int
) -> None:
    """Note what the list of sessions is filtered by."""
    folder = metadata.project_dir or metadata.working_dir
    tags = "".join(f"\n{tag}" for tag in metadata.tags)
    called = (metadata.name, metadata.description, metadata.first_prompt)
    words = (*called, metadata.bundle, folder, metadata.branch, tags, metadata.session_id)
    texts = ("\n".join(words), metadata.bundle, metadata.model, tags, folder, metadata.branch)
    connection.execute(
        "UPDATE sessions SET called = ?, bundle = ?, model = ?, tags = ?, folder = ?, branch = ?,"
        " cost = ?, changed = ? WHERE id = ?",
        (*(folded(encodable(text)) for text in texts), metadata.dollars, changed, session),
    )


def add(connection: sqlite3.Connection, session: int, texts: Iterable[Said]) -> None:
    """Add texts of a session."""
    for said in texts:
        if said.lane:
            connection.execute(
                "INSERT INTO tasks (lane, session, row, turn, call_id) VALUES (?, ?, ?, ?, ?)",
                (said.lane, session, said.row, said.turn, encodable(said.call_id)),
            )
        row = connection.execute(
            "INSERT INTO said (session, kind, row, turn, call_id, text) VALUES (?, ?, ?, ?, ?, ?)",
            (session, said.kind, said.row, said.turn, encodable(said.call_id), said.text),
        ).lastrowid
        connection.execute(
            "INSERT INTO words (rowid, text) VALUES (?, ?)", (row, spaced(said.text))
        )


def forget(
    connection: sqlite3.Connection,
    session: int,
    below: int = sys.maxsize,
    *,
    rows_only: bool = False,
) -> None:
    """Take the texts of a session out, those of rows before row `below`.

    Args:
        rows_only: The card stays.
    """
    which = (session, 0 if rows_only else -1, below)
    condition = "session = ? AND row >= ? AND row < ?"
    rows = connection.execute(f"SELECT id, text FROM said WHERE {condition}", which)
    connection.executemany(
        "INSERT INTO words (words, rowid, text) VALUES ('delete', ?, ?)",
        ((row, spaced(text)) for row, text in rows.fetchall()),
    )
    connection.execute(f"DELETE FROM said WHERE {condition}", which)
    connection.execute(f"DELETE FROM tasks WHERE {condition}", which)


def note(connection: sqlite3.Connection, known: Indexed) -> None:
    """Note how far a session is indexed."""
    connection.execute(
        "UPDATE sessions SET file = ?, size = ?, rows = ?, turns = ?, card = ? WHERE id = ?",
        (known.file, known.size, known.rows, known.turns, known.card, known.id),
    )
