"""`events.jsonl`: every emit on the session's hooks, secrets redacted, nothing cut short."""

import json
import logging
from array import array
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from amplifier_tui.base.jsonl import Row, decode_row
from amplifier_tui.host.store.session_file import OnTrouble, SessionFile

logger = logging.getLogger(__name__)

FILE_NAME: Final = "events.jsonl"
ROW_LIMIT: Final = 8 * 1024 * 1024
"""Characters of one payload on disk; larger ones are data dumps nobody reads here."""
_TAIL: Final = 64 * 1024
_REPLAYED: Final = 2 * 1024 * 1024
"""Bytes of the log that are looked at when a session is resumed."""


class EventLogFile:
    """Appends rows and finds them again by their number.

    The layout is that of the Amplifier CLI's log (`ts`, `lvl`, `event`, `session_id`, `data`),
    with the row's number, lane and handlers added.
    """

    def __init__(self, path: Path, on_trouble: OnTrouble | None = None) -> None:
        self.path = path
        self._file = SessionFile(path, on_trouble)
        self._first = _last_number(path) + 1
        self._offsets = array("Q")

    def append(self, facts: dict[str, Any], data: str, changed: str = "") -> int:
        """Write a row.

        Args:
            facts: `event`, `session_id` and what else is known, JSON-native.
            data: The payload, as JSON text with its secrets replaced.
            changed: The payload after the handlers, if one modified it.

        Returns:
            Its number.
        """
        number = self._first + len(self._offsets)
        head = {"seq": number, "ts": datetime.now(UTC).isoformat(), "lvl": "INFO", **facts}
        text = json.dumps(head, ensure_ascii=False, default=str)[:-1]
        text += f', "data": {_bounded(data)}'
        if changed:
            text += f', "changed": {_bounded(changed)}'
        start = self._file.append((text + "}\n").encode("utf-8", "backslashreplace"))
        self._offsets.append(start or 0)
        return number

    def payload(self, number: int) -> str:
        """Return the payload of a row as JSON text.

        Raises:
            KeyError: There is no such row.
            OSError: The file can't be read.
        """
        index = number - self._first
        known = 0 <= index < len(self._offsets)
        row = self._row_at(self._offsets[index]) if known else None
        if row is None or row.get("seq") != number:
            row = self._search(number)
        if row is None:
            raise KeyError(f"Row {number} is not in {self.path.name}")
        return json.dumps(row.get("data"), ensure_ascii=False, indent=2)

    def tail(self, limit: int) -> list[Row]:
        """Return the last rows, at most so many and those that the end of the file has."""
        try:
            with self.path.open("rb") as file:
                start = max(0, file.seek(0, 2) - _REPLAYED)
                file.seek(start)
                lines = file.read().splitlines()
        except FileNotFoundError:
            return []
        # The first line may have been cut.
        rows = (decode_row(line) for line in lines[1 if start else 0 :][-limit:])
        return [row for row in rows if row is not None]

    def flush(self) -> None:
        """Write the rows that wait for the disk."""
        self._file.flush()

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _row_at(self, offset: int) -> Row | None:
        with self.path.open("rb") as file:
            file.seek(offset)
            return decode_row(file.readline())

    def _search(self, number: int) -> Row | None:
        wanted = b'{"seq": %d,' % number
        with self.path.open("rb") as file:
            for line in file:
                if line.startswith(wanted):
                    return decode_row(line)
        return None


def _bounded(text: str) -> str:
    if len(text) <= ROW_LIMIT:
        return text
    return json.dumps({"cut": True, "size": len(text), "start": text[:_TAIL]}, ensure_ascii=False)


def _last_number(path: Path) -> int:
    """Return the number of the last row, 0 without one; it does not read the whole file."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            reach = _TAIL
            while True:
                start = max(0, size - reach)
                file.seek(start)
                for line in reversed(file.read(size - start).splitlines()):
                    number = _number(line)
                    if number:
                        return number
                if start == 0:
                    return 0
                reach *= 8
    except FileNotFoundError:
        return 0
    except OSError as error:
        logger.warning("%s can't be read: %s", path, error)
        return 0


def _number(line: bytes) -> int:
    # The number comes first, so half a line at either end is told apart.
    start = b'{"seq": '
    if not line.startswith(start):
        return 0
    digits = line[len(start) : len(start) + 20].split(b",")[0]
    return int(digits) if digits.isdigit() else 0
