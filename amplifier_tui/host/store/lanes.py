"""The sub-agents of a stored session: which of their tasks belongs to which call."""

import logging
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from amplifier_tui.base.jsonl import Row, StoredRows, decode_row
from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.messages.sub_sessions import SUB_SESSION_ID
from amplifier_tui.base.messages.tool_calls import RecordedCall
from amplifier_tui.host.events import HostEvent, LaneClosed, LaneOpened, TurnStatus
from amplifier_tui.host.messages import is_from_hook, metadata_of, text_of, typed_prompt
from amplifier_tui.host.store.metadata import line_of, read_metadata

logger = logging.getLogger(__name__)

TRANSCRIPT: Final = "transcript.jsonl"
MOST_ROWS: Final = 200
"""Rows of a task that are shown, from its end."""


@dataclass(frozen=True, slots=True)
class LaneRun:
    """One task of a sub-agent: how it began and ended, and its rows `start <= index < stop`."""

    opened: LaneOpened
    closed: LaneClosed
    rows: StoredRows
    start: int
    stop: int


class StoredLanes:
    """Finds the tasks of sub-agents.

    Args:
        folder: The session's folder; those of its sub-agents are beside it.
        noted: The lanes that were opened and closed, each with the number of rows there were.
    """

    def __init__(self, folder: Path, noted: Sequence[tuple[int, HostEvent]] = ()) -> None:
        self._folder = folder
        self._opened = [(rows, e) for rows, e in noted if isinstance(e, LaneOpened)]
        self._closed = [e for _, e in noted if isinstance(e, LaneClosed)]
        self._line: frozenset[str] | None = None
        self._rows: dict[str, StoredRows] = {}
        self._prompts: dict[str, list[tuple[int, str]]] = {}

    def find(self, call: RecordedCall, lane: str, index: int, result: Row | None) -> LaneRun | None:
        """Return the task that a call gave to a sub-agent, or None.

        Args:
            lane: Where the call was made.
            index: The row of the session it is in, or that of the call above it.
            result: What the call gave back.
        """
        opened = self._noted(call, lane, index) or self._named(call, lane, result)
        if opened is None:
            return None
        ended = self._end_of(opened)
        rows = self._rows_of(opened.lane)
        start, stop = self._task(rows, opened)
        if ended is None:
            status: TurnStatus = "cancelled"
            if result is not None:
                status = "error" if metadata_of(result).get("is_error") is True else "success"
            words = [text_of(row.get("content")) for row in _answers(rows, start, stop)]
            ended = LaneClosed(
                session_id=opened.session_id,
                lane=opened.lane,
                status=status,
                result=next((text for text in reversed(words) if text), ""),
            )
        first = max(start, stop - MOST_ROWS)
        return LaneRun(replace(opened, earlier=first - start), ended, rows, first, stop)

    def _noted(self, call: RecordedCall, lane: str, index: int) -> LaneOpened | None:
        given = [text for text in call.arguments.values() if isinstance(text, str)]
        found = [
            event
            for rows, event in self._opened
            if rows > index
            and (event.parent, event.call_id) == (lane, call.call_id)
            # Ids may be used again by later answers, for other tasks.
            and any(event.instruction in text for text in given)
        ]
        # One of a session this one was forked from goes on under another id.
        return next(
            (event for event in found if self._has_rows(event)), found[0] if found else None
        )

    def _has_rows(self, opened: LaneOpened) -> bool:
        start, stop = self._task(self._rows_of(opened.lane), opened)
        return start < stop

    def _named(self, call: RecordedCall, lane: str, result: Row | None) -> LaneOpened | None:
        """Find the sub-agent by its id in the result, as other programs' tools give it."""
        text = text_of(result.get("content")) if result is not None else ""
        for found in SUB_SESSION_ID.finditer(text):
            folder = self._folder.parent / found[0]
            if not (folder / TRANSCRIPT).is_file() or not self._is_own(folder, lane):
                continue
            said = call.arguments
            return LaneOpened(
                session_id=self._folder.name,
                agent=found[0],
                lane=found[0],
                name=found[0].partition("_")[2],
                parent=lane,
                instruction=str(said.get("instruction") or said.get("task") or ""),
                call_id=call.call_id,
            )
        return None

    def _is_own(self, folder: Path, lane: str) -> bool:
        """Whether a sub-agent is of a lane, or of a session this one was forked from."""
        parent = read_metadata(folder).parent_id
        if SUB_SESSION_ID.fullmatch(lane):
            return parent == lane
        if self._line is None:
            self._line = line_of(self._folder)
        return parent in self._line

    def _end_of(self, opened: LaneOpened) -> LaneClosed | None:
        times = [event for _, event in self._opened if event.lane == opened.lane]
        ends = [event for event in self._closed if event.lane == opened.lane]
        number = next((n for n, event in enumerate(times) if event is opened), len(ends))
        return ends[number] if number < len(ends) else None

    def _rows_of(self, lane: str) -> StoredRows:
        if lane not in self._rows:
            path = self._folder.parent / lane / TRANSCRIPT
            try:
                self._rows[lane] = StoredRows(path)
            except OSError as error:
                logger.warning("%s can't be read: %s", path, error)
                self._rows[lane] = StoredRows(path.with_name(""))
        return self._rows[lane]

    def _task(self, rows: StoredRows, opened: LaneOpened) -> tuple[int, int]:
        """Return where the rows of a task begin, after its prompt, and end."""
        if opened.lane not in self._prompts:
            self._prompts[opened.lane] = list(_prompts(rows))
        prompts = self._prompts[opened.lane]
        ends = [index for index, _ in prompts[1:]] + [len(rows)]
        # What was mentioned in a task is put before it; a conversation may have come along.
        wanted = opened.instruction.strip()
        fitting = [n for n, (_, text) in enumerate(prompts) if text.endswith(wanted)]
        if not fitting:
            return len(rows), len(rows)
        before = [e for _, e in self._opened if (e.lane, e.instruction) == _identity(opened)]
        number = next((n for n, event in enumerate(before) if event is opened), 0)
        chosen = fitting[min(number, len(fitting) - 1)]
        return prompts[chosen][0] + 1, ends[chosen]


def looks_like_prompt(line: bytes) -> bool:
    """Whether the line of a row looks like a user's prompt; it is not parsed."""
    # Rows are written with the role first; hooks leave their mark in the metadata.
    head = line[:40].replace(b" ", b"")
    return b'"role":"user"' in head and b'"hook_name"' not in line


def _prompts(rows: StoredRows) -> Iterator[tuple[int, str]]:
    for index in range(len(rows)):
        line = rows.line(index)
        # Not every program writes the role first.
        if looks_like_prompt(line) or b'"role"' not in line[:40]:
            row = decode_row(line) or {}
            if row.get("role") == "user" and not is_from_hook(row):
                yield index, typed_prompt(row).strip()


def _identity(opened: LaneOpened) -> tuple[str, str]:
    return opened.lane, opened.instruction


def _answers(rows: StoredRows, start: int, stop: int) -> Iterator[Row]:
    return (row for _, row in rows.read(start, stop) if row.get("role") == "assistant")
