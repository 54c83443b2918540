"""JSON on disk: files of rows, one object a line, and small files of one object."""

import json
import logging
import os
from array import array
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from pathlib import Path
from typing import Any, Final

from amplifier_tui.base.files import (
    MOST_BYTES,
    append,
    free_name,
    open_regular,
    read_regular,
    write_atomic,
)
from amplifier_tui.base.lazy.dataclass import dataclass

logger = logging.getLogger(__name__)

Row = dict[str, Any]

_TAIL: Final = 256 * 1024


def encode_row(row: Mapping[str, Any]) -> bytes:
    """Return a row as a line with its end.

    Raises:
        TypeError: It holds something that JSON has no form for.
    """
    # A lone surrogate has no UTF-8 form; its JSON escape is what backslashreplace writes.
    return json.dumps(row, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n"


def decode_row(line: bytes | str) -> Row | None:
    """Return the row of a line, or None when it is none."""
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return row if isinstance(row, dict) else None


def append_rows(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Append rows to a file, all or none; it and its folder are made if need be.

    Raises:
        OSError: The file can't be written; it is as it was.
        TypeError: A row holds something that JSON has no form for; nothing was written.
    """
    append(path, b"".join(map(encode_row, rows)))


def write_rows(path: Path, rows: Iterable[Mapping[str, Any]], *, durable: bool = False) -> None:
    """Replace a file by rows in one step; only its owner may read it.

    Raises:
        OSError: The file can't be written; it is as it was.
        TypeError: A row holds something that JSON has no form for; the file is as it was.
    """
    write_atomic(path, b"".join(map(encode_row, rows)), mode=0o600, durable=durable)


class StoredRows:
    """The rows in a file, by index from 0; blank lines are no rows.

    Reading the file finds where the rows are; each is parsed when it is asked for.

    Args:
        path: The file; one that does not exist has no rows.
        more: Rows that are to be behind those of the file, in place of a torn end of it.

    Raises:
        OSError: It can't be read.
    """

    def __init__(self, path: Path, more: Iterable[Mapping[str, Any]] = ()) -> None:
        try:
            self._data = path.read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            self._data = b""
        if added := b"".join(map(encode_row, more)):
            good = _end_of_last_row(self._data, whole=True)
            self._data = b"\n".join((self._data[:good].removesuffix(b"\n"), added))
        self._starts = array("Q", _starts(self._data))
        self._path = path

    def __len__(self) -> int:
        return len(self._starts)

    def line(self, index: int) -> bytes:
        """Return a row's line, without its end."""
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


def _starts(data: bytes) -> Iterator[int]:
    position = 0
    while position < len(data):
        end = data.find(b"\n", position)
        end = len(data) if end < 0 else end
        blank = data[position : position + 1].isspace() and not data[position:end].strip()
        if end > position and not blank:
            yield position
        position = end + 1


def each_row(path: Path, longest: int = MOST_BYTES) -> Iterator[tuple[int, Row | None]]:
    """Yield the rows in a file, each with its index from 0; one line at a time is in memory.

    Args:
        path: The file; blank lines are no rows, and one that does not exist has none.
        longest: Bytes of a line. Of a longer one, and of one that can't be read, None comes.

    Raises:
        OSError: It can't be read, or is no file.
    """
    try:
        file = open_regular(path)
    except FileNotFoundError:
        return
    with file:
        index = 0
        while line := file.readline(longest + 1):
            whole = len(line) <= longest or line.endswith(b"\n")
            rest = line
            while rest and not rest.endswith(b"\n"):
                rest = file.readline(longest)
            if whole and not line.strip():
                continue
            yield index, decode_row(line) if whole else None
            index += 1


@dataclass(slots=True)
class RowReport:
    """What was wrong with a file of rows.

    Attributes:
        skipped: Positions (from 0, blank lines not counted) of rows that could not be read.
        torn: Where a torn end went; None when there was none.
    """

    skipped: list[int] = field(default_factory=list)
    torn: Path | None = None


def read_rows(path: Path, *, repair: bool = True) -> tuple[list[Row], RowReport]:
    """Read a file of rows.

    Args:
        path: The file; one that does not exist has no rows.
        repair: Move a torn end aside first, see `mend`.

    Returns:
        The rows that can be read, and what was wrong with the others.

    Raises:
        OSError: The file can't be read, or its torn end can't be moved aside.
    """
    report = RowReport(torn=mend(path) if repair else None)
    stored = StoredRows(path)
    found = dict(stored.read())
    report.skipped = [index for index in range(len(stored)) if index not in found]
    return list(found.values()), report


def mend(path: Path) -> Path | None:
    """Move a torn end of a file of rows aside, so that the next row starts on a line of its own.

    Torn is everything after the last row that can be read: half a line of a killed process, the
    zeros a power cut leaves.

    Args:
        path: The file. It is changed only when its end is no complete row.

    Returns:
        Where the torn part went; None when there was none.

    Raises:
        OSError: The file can't be read or written.
    """
    if not path.exists():
        return None
    with path.open("r+b") as file:
        size, reach = file.seek(0, os.SEEK_END), _TAIL
        while True:
            start = max(0, size - reach)
            file.seek(start)
            tail = file.read()
            good = _end_of_last_row(tail, whole=not start)
            if good or not start:
                break
            reach *= 8
        torn, aside = tail[good:], None
        if torn.strip():
            aside = free_name(path, "torn")
            append(aside, torn)
            file.truncate(start + good)
            logger.warning("%s had a torn end (%d bytes), now in %s", path, len(torn), aside.name)
            tail = tail[:good]
        if tail and not tail.endswith(b"\n"):
            # All of the last row is there, only its line end is not.
            file.seek(0, os.SEEK_END)
            file.write(b"\n")
    return aside


def _end_of_last_row(tail: bytes, *, whole: bool) -> int:
    """Where the last readable row ends, its line end included; 0 when there is none.

    Args:
        tail: The end of a file.
        whole: Whether it is all of the file; else its first line may be the rest of one.
    """
    good = len(tail)
    while good:
        start = tail.rfind(b"\n", 0, good - 1) + 1
        line = tail[start:good]
        if line.strip() and (start or whole) and decode_row(line) is not None:
            return good
        good = start
    return 0


def read_object(path: Path) -> Row:
    """Read a file of one JSON object; one that does not exist is empty.

    Raises:
        OSError: It can't be read.
        ValueError: It holds no JSON object.
    """
    try:
        data = json.loads(read_regular(path))
    except FileNotFoundError:
        return {}
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    if not isinstance(data, dict):
        raise ValueError("must hold a JSON object")
    return data


def write_object(path: Path, data: Mapping[str, Any], *, mode: int | None = None) -> None:
    """Replace a file of one JSON object in one step, indented for people.

    Raises:
        OSError: The file can't be written; it is as it was.
        TypeError: It holds something that JSON has no form for; the file is as it was.
    """
    text = json.dumps(data, ensure_ascii=False, indent=2)
    write_atomic(path, text.encode("utf-8", "backslashreplace") + b"\n", mode=mode)
