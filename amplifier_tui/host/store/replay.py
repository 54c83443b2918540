"""Stored rows, given back: to a context as messages, to a screen as the events they once were."""

import json
import logging
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, Final, TypedDict

from amplifier_tui.base.jsonl import Row, StoredRows
from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.messages.tool_calls import RecordedCall, answer_calls, calls_of, unanswered
from amplifier_tui.host.events import (
    MAIN_LANE,
    BlockEnded,
    BlockKind,
    Failed,
    HostEvent,
    ImagesAdded,
    ShellEnded,
    SteerApplied,
    TodoChanged,
    ToolEnded,
    ToolStarted,
    TurnEnded,
    TurnStarted,
    Usage,
)
from amplifier_tui.host.messages import (
    INTERRUPTED,
    attachments_of,
    commands_of,
    is_from_hook,
    is_steering,
    mentioned_files,
    metadata_of,
    text_of,
    thinking_of,
    typed_prompt,
)
from amplifier_tui.host.store.lanes import TRANSCRIPT, LaneRun, StoredLanes, looks_like_prompt
from amplifier_tui.host.store.turns.images import beside_images, images_in
from amplifier_tui.host.store.turns.outcomes import DISPLAY, Outcomes, read_outcomes
from amplifier_tui.host.store.turns.prompts import PromptRow
from amplifier_tui.host.stream.results import is_todo_tool, read_plan

logger = logging.getLogger(__name__)

_DEEPEST: Final = 10
TAIL: Final = 200
"""Rows that are shown at once when a session is resumed."""
OUTPUT_LIMIT: Final = 64 * 1024
_PLANNING: Final = (b"odo", b"_plan", b"-plan")
"""What stands in the line of each row that calls a tool of the plan."""


_NO_RESULT: Final = (
    "No result: the session ended before the call did. It may have done nothing, a part, or all of "
    "it: look before you call the tool again."
)


def messages_of(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """Return rows as messages; a tool call without a result gets one that says so."""
    told = [
        {key: value for key, value in row.items() if key != "timestamp"}
        for row in rows
        if row.get("role")
    ]
    ids = {call.call_id for call in unanswered(told)}
    return answer_calls(told, ids, _NO_RESULT, mark=INTERRUPTED)


def turns_before(stored: StoredRows, index: int) -> int:
    """Return how many rows before row `index` look like a user's prompt; none is parsed."""
    return sum(looks_like_prompt(stored.line(i)) for i in range(min(index, len(stored))))


class _Stamp(TypedDict):
    session_id: str
    agent: str
    at: float
    replayed: bool


@dataclass(frozen=True, slots=True)
class _Place:
    """Where rows belong: in a lane, `depth` calls below the main one.

    `row` is the session's own row they hang from; None for the session's own rows.
    """

    lane: str = MAIN_LANE
    depth: int = 0
    row: int | None = None


_OWN_ROWS: Final = _Place()


class Replay:
    """Turns rows of one session into events, those of its sub-agents below the calls of them."""

    def __init__(
        self,
        session_id: str,
        stored: StoredRows,
        outcomes: Outcomes,
        lanes: StoredLanes,
        place: _Place = _OWN_ROWS,
    ) -> None:
        self._session_id = session_id
        self._stored = stored
        self._outcomes = outcomes
        self._lanes = lanes
        self._place = place

    def events(self, start: int, stop: int) -> list[HostEvent]:
        """Return the events of rows `start <= index < stop`, marked as replayed.

        A tool's result comes with its call, wherever its row is: pages hang together.
        """
        start, stop = max(0, start), min(stop, len(self._stored))
        turn = turns_before(self._stored, start)
        rows = dict(self._stored.read(start, stop))
        found: list[HostEvent] = []
        at = 0.0
        # What came before the first row belongs to the first page.
        first = start if start else -1
        others = [item for item in self._outcomes.others if first < item[0] <= stop]
        for index, row in rows.items():
            while others and others[0][0] <= index:
                found.append(self._retold(others.pop(0)[1]))
            at = time_of(row) or at
            if row.get("role") == "user" and not is_from_hook(row):
                turn += 1
            found += self._row(index, row, turn, at, rows)
        found += [self._retold(event) for _, event in others]
        return found

    @property
    def notes(self) -> int:
        """How many outcomes were noted that belong to no call."""
        return len(self._outcomes.others)

    def later_notes(self, told: int, start: int) -> list[HostEvent]:
        """Return the events of those noted after the first `told`, of rows before row `start`."""
        noted = self._outcomes.others[told:]
        return [self._retold(event) for rows, event in noted if rows <= start]

    def usages(self) -> tuple[Usage, ...]:
        """Return what was used, as far as it was noted; all of it together is the sum."""
        return tuple(self._outcomes.spent)

    def unsent_commands(self) -> tuple[ShellEnded, ...]:
        """Return the user's commands that wait for the next prompt to go along with."""
        ended = [(rows, e) for rows, e in self._outcomes.others if isinstance(e, ShellEnded)]
        if not ended:
            return ()
        last = self._last_prompt()
        sent = {
            command for _, row in self._stored.read(max(0, last)) for command in commands_of(row)
        }
        return tuple(
            event
            for rows, event in ended
            if event.told and rows > last and event.command_id not in sent
        )

    def failed_prompt(self) -> PromptRow | None:
        """Return the last prompt, where its turn failed; None where it was answered or stopped."""
        index = self._last_prompt()
        row = dict(self._stored.read(index, index + 1)).get(index) if index >= 0 else None
        if row is None:
            return None
        noted = self._outcomes.others
        later = [event for rows, event in noted if rows > index and event.agent == MAIN_LANE]
        ends = {event.status for event in later if isinstance(event, TurnEnded)}
        # A prompt after it may have failed, too, before it was a row.
        failed = {event.prompt for event in later if isinstance(event, Failed)}
        if ends != {"error"} or failed - {"", typed_prompt(beside_images(row))}:
            return None
        return PromptRow(turns_before(self._stored, index + 1), index, index, row)

    def plan(self) -> tuple[TodoChanged, ...]:
        """Return the event of the agent's plan as it was last, none where it has no plan."""
        for index in reversed(range(len(self._stored))):
            line = self._stored.line(index)
            if not any(mark in line for mark in _PLANNING):
                continue
            rows = dict(self._stored.read(index, index + 1))
            calls = calls_of(rows[index]) if index in rows else []
            planning = [call for call in calls if is_todo_tool(call.name)]
            results = self._results(index, rows) if planning else {}
            for call in reversed(planning):
                result = results.get(call.call_id)
                if result is None or metadata_of(result).get("is_error") is True:
                    continue
                items = read_plan(call.arguments, _parsed(text_of(result.get("content"))))
                if items is not None:
                    return (TodoChanged(**self._stamp(time_of(result)), items=items),)
        return ()

    def _last_prompt(self) -> int:
        """Return the row of the last prompt; -1 where there is none."""
        found = reversed(range(len(self._stored)))
        return next((i for i in found if looks_like_prompt(self._stored.line(i))), -1)

    def _results(self, index: int, rows: dict[int, Row]) -> dict[str, Row]:
        """Return the results of the calls in row `index`, by call id.

        They follow the calls. Ids may be used again by later answers, so the search ends with the
        next words of anybody.
        """
        wanted = {call.call_id for call in calls_of(rows[index]) if call.call_id}
        found: dict[str, Row] = {}
        place = index + 1
        while wanted - found.keys() and place < len(self._stored):
            row = rows.get(place)
            if row is None:
                row = dict(self._stored.read(place, place + 1)).get(place, {})
            place += 1
            role = row.get("role")
            if role == "tool":
                found.setdefault(str(row.get("tool_call_id")), row)
            elif role == "assistant" or (role == "user" and not is_from_hook(row)):
                break
        return found

    def _row(
        self, index: int, row: Row, turn: int, at: float, rows: dict[int, Row]
    ) -> Iterator[HostEvent]:
        match row.get("role"):
            case "user" if is_steering(row):
                yield SteerApplied(**self._stamp(at), text=typed_prompt(beside_images(row)))
            case "user" if not is_from_hook(row):
                yield TurnStarted(
                    **self._stamp(at),
                    turn=turn,
                    prompt=typed_prompt(beside_images(row)),
                    attachments=attachments_of(row),
                )
                yield from self._images(row, at)
            case "assistant":
                yield from self._answer(index, row, at, rows)

    def _answer(self, index: int, row: Row, at: float, rows: dict[int, Row]) -> Iterator[HostEvent]:
        interrupted = metadata_of(row).get(INTERRUPTED) is True
        blocks = list(_blocks(row.get("content")))
        times = self._thinking_times(index, sum(kind == "thinking" for kind, _ in blocks))
        for number, (kind, text) in enumerate(blocks):
            yield BlockEnded(
                **self._stamp(at),
                block_id=f"r{index}.{number}",
                kind=kind,
                text=text,
                interrupted=interrupted,
                duration_ms=next(times, 0.0) if kind == "thinking" else 0.0,
            )
        calls = [call for call in calls_of(row) if call.call_id and call.name]
        results = self._results(index, rows) if calls else {}
        above = index if self._place.row is None else self._place.row
        for call in calls:
            yield from self._decided(index, call)
            arguments, by = self._outcomes.ran_with(self._place.lane, call, above)
            yield ToolStarted(
                **self._stamp(at),
                call_id=call.call_id,
                tool=call.name,
                arguments=arguments,
                changed_by=by,
            )
            result = results.get(call.call_id)
            yield from self._task(index, call, result, at)
            if result is not None:
                yield self._ended(index, call, result)
                yield from self._images(result, at, call.call_id)

    def _thinking_times(self, index: int, blocks: int) -> Iterator[float]:
        """Yield how long each block of thinking in a row took, as far as that was noted."""
        # Only of the session's own rows; where one was not noted, nobody knows which.
        noted = self._outcomes.thinking.get(index + 1, ()) if self._place.row is None else ()
        if len(noted) == blocks:
            yield from (event.duration_ms for event in noted)

    def _decided(self, index: int, call: RecordedCall) -> Iterator[HostEvent]:
        """Tell which rule or mode let a call through, or that nobody answered about it."""
        notes = self._outcomes.decisions.get((self._place.lane, call.call_id), ())
        above = index if self._place.row is None else self._place.row
        noted = next((event for rows, event in notes if rows > above), None)
        if noted is not None:
            yield self._retold(noted)

    def _task(
        self, index: int, call: RecordedCall, result: Row | None, at: float
    ) -> Iterator[HostEvent]:
        """Tell what a sub-agent did for a call."""
        place = self._place
        row = index if place.row is None else place.row
        run = self._lanes.find(call, place.lane, row, result)
        if run is None or place.depth >= _DEEPEST:
            return
        below = _Place(run.opened.lane, place.depth + 1, row)
        child = Replay(self._session_id, run.rows, self._outcomes, self._lanes, below)
        yield replace(run.opened, **child._stamp(run.opened.at or at))
        yield from child._answers(run, at)
        yield replace(run.closed, **child._stamp(run.closed.at or at))

    def _answers(self, run: LaneRun, at: float) -> Iterator[HostEvent]:
        rows = dict(run.rows.read(run.start, run.stop))
        for index, row in rows.items():
            at = time_of(row) or at
            if row.get("role") == "assistant" or is_steering(row):
                yield from self._row(index, row, 0, at, rows)
        if not rows and run.closed.result:
            yield BlockEnded(
                **self._stamp(run.closed.at or at),
                block_id=f"answer:{run.opened.call_id}",
                kind="text",
                text=run.closed.result,
            )

    def _ended(self, index: int, call: RecordedCall, row: Row) -> ToolEnded:
        output = text_of(beside_images(row).get("content")) or text_of(row.get("content"))
        metadata = metadata_of(row)
        notes = self._outcomes.tools.get((self._place.lane, call.call_id), ())
        above = index if self._place.row is None else self._place.row
        noted = next((event for rows, event in notes if rows > above), None)
        failed = metadata.get("is_error") is True
        event = noted or ToolEnded(
            session_id=self._session_id,
            call_id=call.call_id,
            tool=call.name,
            ok=not failed,
            denied=metadata.get("denied") is True,
            interrupted=metadata.get(INTERRUPTED) is True,
            error=output.strip().split("\n")[0][:500] if failed else "",
        )
        stamp = self._stamp(time_of(row) or event.at)
        return replace(event, **stamp, output=output[:OUTPUT_LIMIT], output_size=len(output))

    def _images(self, row: Row, at: float, call_id: str = "") -> Iterator[HostEvent]:
        images, files = images_in(row), mentioned_files(row)
        if images or files:
            at = time_of(row) or at
            yield ImagesAdded(**self._stamp(at), images=images, call_id=call_id, files=files)

    def _retold(self, event: HostEvent) -> HostEvent:
        return replace(event, session_id=self._session_id, replayed=True)

    def _stamp(self, at: float) -> _Stamp:
        lane = self._place.lane
        return {"session_id": self._session_id, "agent": lane, "at": at, "replayed": True}


def replay_of(folder: Path, stored: StoredRows | None = None) -> Replay:
    """Return what turns the rows of the session in a folder into events.

    Args:
        stored: The rows, when they have been read already.
    """
    rows = stored if stored is not None else StoredRows(folder / TRANSCRIPT)
    noted = read_outcomes(folder / DISPLAY)
    return Replay(folder.name, rows, noted, StoredLanes(folder, noted.lanes))


def _blocks(content: Any) -> Iterator[tuple[BlockKind, str]]:
    for block in content if isinstance(content, list) else [{"text": text_of(content)}]:
        if not isinstance(block, dict):
            continue
        thinking, text = thinking_of(block), text_of(block)
        if thinking.strip():
            yield "thinking", thinking
        elif text.strip():
            yield "text", text


def time_of(row: Row) -> float:
    """Return when a row was written, in Unix seconds; 0 when that is not known."""
    stamp = row.get("timestamp")
    try:
        known = datetime.fromisoformat(stamp).timestamp() if isinstance(stamp, str) else stamp
        return float(known) if isinstance(known, int | float) else 0.0
    except (ValueError, OverflowError):
        return 0.0


def _parsed(text: str) -> Any:
    """Return what a result says, which may be JSON."""
    try:
        return json.loads(text)
    except ValueError:
        return text
