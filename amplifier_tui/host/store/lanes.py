"""The sub-agents of a stored session: which of their tasks belongs to which call."""

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from amplifier_tui.base.jsonl import Row, StoredRows
from amplifier_tui.base.sub_sessions import SUB_SESSION_ID
from amplifier_tui.base.tool_calls import RecordedCall
from amplifier_tui.host.events import HostEvent, LaneClosed, LaneOpened, TurnStatus
from amplifier_tui.host.messages import is_from_hook, metadata_of, text_of, typed_prompt
from amplifier_tui.host.store.metadata import read_metadata

logger = logging.getLogger(__name__)

TRANSCRIPT: Final = "transcript.jsonl"
MOST_ROWS: Final = 200
"""Rows of a task that are shown, from its end."""
_DEEPEST: Final = 10


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
        self._family: set[str] | None = None
        self._rows: dict[str, StoredRows] = {}

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
        return LaneRun(opened, ended, rows, max(start, stop - MOST_ROWS), stop)

    def _noted(self, call: RecordedCall, lane: str, index: int) -> LaneOpened | None:
        given = [text for text in call.arguments.values() if isinstance(text, str)]
        for rows, event in self._opened:
            asked = (event.parent, event.call_id) == (lane, call.call_id)
            # Ids may be used again by later answers, for other tasks.
            if rows > index and asked and any(event.instruction in text for text in given):
                return event
        return None

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
        return parent in ({lane} if SUB_SESSION_ID.fullmatch(lane) else self._sessions())

    def _sessions(self) -> set[str]:
        if self._family is None:
            self._family = set()
            name = self._folder.name
            while name and name not in self._family and len(self._family) < _DEEPEST:
                self._family.add(name)
                # It may come from a folder of another project, which is not looked into.
                folder = self._folder.parent / Path(name).name
                name = read_metadata(folder).parent_id if folder.is_dir() else ""
        return self._family

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
        prompts = [
            (index, typed_prompt(row).strip())
            for index, row in rows.read()
            if row.get("role") == "user" and not is_from_hook(row)
        ]
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


def _identity(opened: LaneOpened) -> tuple[str, str]:
    return opened.lane, opened.instruction


def _answers(rows: StoredRows, start: int, stop: int) -> Iterator[Row]:
    return (row for _, row in rows.read(start, stop) if row.get("role") == "assistant")
