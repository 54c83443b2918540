"""New sessions that begin with the conversation of another one, and how sessions descend."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.plain import copy_plain
from amplifier_tui.foundation.session.slice import (
    OrphanRule,
    count_turns,
    find_orphaned_tool_calls,
    get_turn_boundaries,
    get_turn_summary,
    slice_to_turn,
)
from amplifier_tui.foundation.session.store import (
    EVENTS_FILENAME,
    METADATA_FILENAME,
    load_metadata,
    load_transcript,
    read_jsonl,
    write_jsonl,
    write_metadata,
    write_transcript,
)


@dataclass(frozen=True, slots=True)
class ForkResult:
    """A new session.

    Attributes:
        session_dir: Its folder; None where it is only in memory.
        parent_id: The session it comes from.
        forked_from_turn: The last turn it has of it.
        events_count: Events that were copied.
        messages: Its conversation.
    """

    session_id: str
    session_dir: Path | None
    parent_id: str | None
    forked_from_turn: int
    message_count: int
    events_count: int = 0
    messages: list[dict[str, Any]] = field(default_factory=list, repr=False)


def fork_session(
    parent_session_dir: Path,
    *,
    turn: int | None = None,
    new_session_id: str | None = None,
    target_dir: Path | None = None,
    include_events: bool = True,
    handle_orphaned_tools: OrphanRule = "complete",
) -> ForkResult:
    """Write a new session that has the conversation of another one up to a turn.

    Args:
        parent_session_dir: Folder of the other one, which is not changed.
        turn: The last turn that goes along; None for all.
        new_session_id: Default a random one.
        target_dir: Where the new folder is made; default beside the parent's.
        include_events: Copy the events of these turns too.
        handle_orphaned_tools: See `slice_to_turn`.

    Raises:
        FileNotFoundError: The parent has no transcript.
        FileExistsError: The new session is there already.
        ValueError: There is no such turn, or the id is no name of a folder.
    """
    if new_session_id is not None and Path(new_session_id).name != new_session_id:
        raise ValueError(f"No session can be called {new_session_id!r}")
    rows = load_transcript(parent_session_dir)
    fork = fork_session_in_memory(
        rows,
        turn=turn,
        parent_id=parent_session_dir.name,
        handle_orphaned_tools=handle_orphaned_tools,
    )
    session_id = new_session_id or fork.session_id
    folder = (target_dir or parent_session_dir.parent) / session_id
    folder.mkdir(parents=True, mode=0o700)
    write_transcript(folder, fork.messages)
    now = datetime.now(UTC).isoformat()
    own = {
        "session_id": session_id,
        "parent_id": parent_session_dir.name,
        "forked_from_turn": fork.forked_from_turn,
        "forked_at": now,
        "created": now,
        "turn_count": fork.forked_from_turn,
    }
    write_metadata(folder, {**load_metadata(parent_session_dir), **own})
    events: list[dict[str, Any]] = []
    if include_events:
        events = list(_events_until(parent_session_dir, _end_of_turn(rows, fork.forked_from_turn)))
        write_jsonl(folder / EVENTS_FILENAME, events)
    return ForkResult(
        session_id,
        folder,
        parent_session_dir.name,
        fork.forked_from_turn,
        fork.message_count,
        len(events),
        fork.messages,
    )


def fork_session_in_memory(
    messages: Sequence[Mapping[str, Any]],
    *,
    turn: int | None = None,
    parent_id: str | None = None,
    handle_orphaned_tools: OrphanRule = "complete",
) -> ForkResult:
    """Return a new session with copies of messages up to a turn; nothing is written.

    Raises:
        ValueError: There is no such turn.
    """
    turns = count_turns(messages)
    last = turns if turn is None else turn
    if turns or turn is not None:
        kept = slice_to_turn(messages, last, handle_orphaned_tools=handle_orphaned_tools)
    else:
        kept = copy_plain(list(messages))
    return ForkResult(str(uuid4()), None, parent_id, last, len(kept), 0, kept)


def get_fork_preview(parent_session_dir: Path, turn: int) -> dict[str, Any]:
    """Return what a fork at a turn would have: its last turn's summary, `max_turns`, its messages.

    Raises:
        FileNotFoundError: The parent has no transcript.
        ValueError: There is no such turn.
    """
    rows = load_transcript(parent_session_dir)
    summary = get_turn_summary(rows, turn)
    kept = rows[: _end_of_turn(rows, turn)]
    orphans = find_orphaned_tool_calls(kept)
    return {
        **summary,
        "parent_id": parent_session_dir.name,
        "max_turns": count_turns(rows),
        "message_count": len(kept),
        "has_orphaned_tools": bool(orphans),
        "orphaned_tool_count": len(orphans),
    }


def list_session_forks(session_dir: Path) -> list[dict[str, Any]]:
    """Return the sessions forked from one, oldest first; those beside it are looked at.

    Each is `session_id`, `session_dir`, `forked_from_turn` and `forked_at`.
    """
    found = []
    for card, folder in _cards(session_dir.parent):
        if card.get("parent_id") == session_dir.name and "forked_from_turn" in card:
            found.append(
                {
                    "session_id": folder.name,
                    "session_dir": folder,
                    "forked_from_turn": card["forked_from_turn"],
                    "forked_at": card.get("forked_at"),
                }
            )
    return sorted(found, key=lambda each: str(each["forked_at"]))


def get_session_lineage(session_dir: Path) -> dict[str, Any]:
    """Return where a session comes from and what was forked from it.

    That is `session_id`, `parent_id`, `forked_from_turn`, `ancestors` (ids, the nearest first),
    `children` (as `list_session_forks` has them) and `depth`, the number of ancestors.
    """
    card = _card(session_dir)
    ancestors: list[str] = []
    parent = card.get("parent_id")
    while isinstance(parent, str) and parent and parent not in (session_dir.name, *ancestors):
        ancestors.append(parent)
        parent = _card(session_dir.parent / Path(parent).name).get("parent_id")
    return {
        "session_id": session_dir.name,
        "parent_id": card.get("parent_id"),
        "forked_from_turn": card.get("forked_from_turn"),
        "ancestors": ancestors,
        "children": list_session_forks(session_dir),
        "depth": len(ancestors),
    }


def _end_of_turn(rows: Sequence[Mapping[str, Any]], turn: int) -> int:
    starts = get_turn_boundaries(rows)
    return starts[turn] if turn < len(starts) else len(rows)


def _events_until(session_dir: Path, end: int) -> Iterator[dict[str, Any]]:
    """Yield the events of a session before the message at `end` was said."""
    rows = load_transcript(session_dir)
    limit = rows[end].get("timestamp") if end < len(rows) else None
    for event in read_jsonl(session_dir / EVENTS_FILENAME):
        moment = _moment(event.get("timestamp") or event.get("ts"))
        if limit is not None and moment is not None and moment >= (_moment(limit) or moment + 1):
            return
        yield event


def _moment(value: Any) -> float | None:
    """Return a time in seconds: ISO text (without a zone, UTC) or a number."""
    if isinstance(value, int | float):
        return float(value)
    try:
        found = datetime.fromisoformat(str(value))
    except ValueError:
        return None
    return (found if found.tzinfo is not None else found.replace(tzinfo=UTC)).timestamp()


def _cards(folder: Path) -> Iterator[tuple[dict[str, Any], Path]]:
    for path in sorted(folder.glob(f"*/{METADATA_FILENAME}")):
        yield _card(path.parent), path.parent


def _card(session_dir: Path) -> dict[str, Any]:
    """Return a session's card; one that can't be read says nothing."""
    try:
        return load_metadata(session_dir)
    except (OSError, ValueError):
        return {}
