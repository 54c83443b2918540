"""The rows of a stored conversation: one JSON object per line, read without reading them all."""

import json
import logging
from array import array
from collections.abc import Iterator
from pathlib import Path
from time import strftime
from typing import Any

logger = logging.getLogger(__name__)

Row = dict[str, Any]


def encode_row(row: Row) -> bytes:
    """Return a row as a line without its end."""
    # A lone surrogate has no UTF-8 form; its JSON escape is what backslashreplace writes.
    return json.dumps(row, ensure_ascii=False).encode("utf-8", "backslashreplace")


def decode_row(line: bytes) -> Row | None:
    """Return the row of a line, or None when it is none."""
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return row if isinstance(row, dict) else None


class StoredRows:
    """The rows in a file, by index from 0; blank lines are no rows.

    Reading the file finds where the rows are; each is parsed when it is asked for.

    Args:
        path: The file; one that does not exist has no rows.
    """

    def __init__(self, path: Path) -> None:
        try:
            self._data = path.read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            self._data = b""
        self._starts = array("Q", _starts(self._data))
        self._path = path

    def __len__(self) -> int:
        return len(self._starts)

    def line(self, index: int) -> bytes:
        """Return a row's line."""
        start = self._starts[index]
        end = self._data.find(b"\n", start)
        return self._data[start : end if end >= 0 else len(self._data)]

    def read(self, start: int = 0, stop: int | None = None) -> Iterator[tuple[int, Row]]:
        """Yield index and row for `start <= index < stop`; what can't be read is left out."""
        stop = len(self) if stop is None else min(stop, len(self))
        for index in range(max(0, start), stop):
            row = decode_row(self.line(index))
            if row is None:
                logger.warning("Row %d of %s can't be read; left out", index, self._path)
            else:
                yield index, row

    def turns_before(self, index: int) -> int:
        """Return how many rows before `index` look like a user's prompt."""
        return sum(_is_prompt(self.line(i)) for i in range(min(index, len(self))))


def _starts(data: bytes) -> Iterator[int]:
    position = 0
    while position < len(data):
        end = data.find(b"\n", position)
        end = len(data) if end < 0 else end
        blank = data[position : position + 1].isspace() and not data[position:end].strip()
        if end > position and not blank:
            yield position
        position = end + 1


def _is_prompt(line: bytes) -> bool:
    # Rows are written with the role first; hooks leave their mark in the metadata.
    head = line[:40].replace(b" ", b"")
    return b'"role":"user"' in head and b'"hook_name"' not in line


def mend(path: Path) -> Path | None:
    """Move a torn end of a file of rows aside, so that the next row starts on a line of its own.

    Args:
        path: The file. It is changed only when its end is no complete row.

    Returns:
        Where the torn part went; None when there was none.

    Raises:
        OSError: The file can't be read or written.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return None
    good = len(data)
    while good > 0:
        start = data.rfind(b"\n", 0, good - 1) + 1
        line = data[start:good]
        if line.strip() and decode_row(line) is not None:
            break
        good = start
    torn = data[good:]
    if not torn.strip():
        if good and data[good - 1 : good] != b"\n":
            # All of the last row is there, only its line end is not.
            with path.open("ab") as file:
                file.write(b"\n")
        return None
    aside = _free_name(path)
    aside.write_bytes(torn)
    with path.open("r+b") as file:
        file.truncate(good)
        if good and data[good - 1 : good] != b"\n":
            file.seek(good)
            file.write(b"\n")
    logger.warning("%s had a torn end (%d bytes), now in %s", path, len(torn), aside.name)
    return aside


def _free_name(path: Path) -> Path:
    stamp = strftime("%Y%m%d-%H%M%S")
    number = 0
    while True:
        name = f"{path.name}.torn-{stamp}{f'-{number}' if number else ''}"
        if not (path.parent / name).exists():
            return path.parent / name
        number += 1
