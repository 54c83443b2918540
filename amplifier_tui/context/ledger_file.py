"""Rows in a file: one JSON object per line, appended; a torn last line is moved aside."""

from __future__ import annotations

import contextlib
import json
import logging
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import NamedTemporaryFile
from time import strftime
from typing import Any

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class LoadReport:
    """What was wrong with a file of rows.

    Attributes:
        skipped: Positions (from 0, blank lines not counted) of rows that could not be read.
        torn: Where a torn last line went; None when there was none.
    """

    skipped: list[int] = field(default_factory=list)
    torn: Path | None = None


def read_rows(path: Path, *, mend: bool = True) -> tuple[list[dict[str, Any]], LoadReport]:
    """Read a file of rows.

    Args:
        path: The file; one that does not exist has no rows.
        mend: Move a torn last line aside, so that the next row gets a line of its own.

    Returns:
        The rows that can be read, and what was wrong with the others.

    Raises:
        OSError: The file can't be read, or its torn end can't be moved aside.
    """
    report = LoadReport()
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return [], report
    rows: list[dict[str, Any]] = []
    lines = list(_lines(data))
    position = 0
    for number, line in enumerate(lines):
        if line.isspace():
            continue
        row = _decode(line)
        if row is not None:
            rows.append(row)
        elif number == len(lines) - 1 and not line.endswith(b"\n"):
            if mend:
                report.torn = _move_aside(path, len(data) - len(line), line)
        else:
            report.skipped.append(position)
            logger.warning("Row %d of %s can't be read; left out", position, path)
        position += 1
    if mend and report.torn is None and data and not data.endswith(b"\n"):
        # All of the last row is there, only its line end is not.
        with path.open("ab") as file:
            file.write(b"\n")
    return rows, report


def encode_row(row: Any) -> bytes:
    """Return a row as a line with its end.

    Raises:
        TypeError: It holds something that JSON has no form for.
    """
    # A lone surrogate has no UTF-8 form; its JSON escape is what backslashreplace writes.
    return json.dumps(row, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n"


def append_rows(path: Path, rows: list[Any]) -> None:
    """Append rows to a file, all or none; it and its folder are made if need be.

    Raises:
        OSError: The file can't be written; it is as it was.
        TypeError: A row holds something that JSON has no form for; nothing was written.
    """
    data = b"".join(encode_row(row) for row in rows)
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "a+b", buffering=0, opener=_private) as file:
        end = os.fstat(file.fileno()).st_size
        if end and os.pread(file.fileno(), 1, end - 1) != b"\n":
            # Half a row that somebody left must not spoil the next one.
            data = b"\n" + data
        written = 0
        try:
            # A disk that gets full takes a part of it, and says no only to the rest.
            while written < len(data):
                written += file.write(data[written:]) or 0
        except OSError:
            with contextlib.suppress(OSError):
                # What another process appended meanwhile stays.
                if os.fstat(file.fileno()).st_size == end + written:
                    file.truncate(end)
            raise


def write_rows(path: Path, rows: list[Any]) -> None:
    """Replace a file by rows, in one step.

    Raises:
        OSError: The file can't be written; it is as it was.
        TypeError: A row holds something that JSON has no form for; the file is as it was.
    """
    replace_file(path, b"".join(encode_row(row) for row in rows))


def replace_file(path: Path, data: bytes) -> None:
    """Replace a file's content in one step, safe against a crash in between.

    Raises:
        OSError: The file can't be written; it is as it was.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
        try:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
            os.replace(file.name, path)
        except BaseException:
            Path(file.name).unlink(missing_ok=True)
            raise


def fork(path: Path, up_to_row: int, target: Path) -> int:
    """Copy the first rows of a file to a new one.

    Args:
        path: The file; it is not changed.
        up_to_row: How many rows to copy; blank lines are no rows, unreadable ones are.
        target: The new file.

    Returns:
        How many rows were copied.

    Raises:
        FileExistsError: The target exists.
        OSError: A file can't be read or written.
    """
    if target.exists():
        raise FileExistsError(f"{target} exists already; a fork needs a file of its own")
    kept: list[bytes] = []
    for line in _lines(path.read_bytes()):
        if len(kept) >= up_to_row:
            break
        whole = line.endswith(b"\n")
        if not line.isspace() and (whole or _decode(line) is not None):
            kept.append(line if whole else line + b"\n")
    replace_file(target, b"".join(kept))
    return len(kept)


def move_aside(path: Path, why: str) -> Path:
    """Rename a file that can't be used, keeping it for whoever wants to look.

    Args:
        path: The file.
        why: A word for its new name, such as "corrupt".

    Returns:
        Its new path.

    Raises:
        OSError: It can't be renamed.
    """
    aside = free_name(path, why)
    path.rename(aside)
    return aside


def free_name(path: Path, why: str) -> Path:
    """Return a name beside a file that nothing has yet."""
    stamp = strftime("%Y%m%d-%H%M%S")
    number = 0
    while True:
        suffix = f"-{number}" if number else ""
        aside = path.with_name(f"{path.name}.{why}-{stamp}{suffix}")
        if not aside.exists():
            return aside
        number += 1


def _lines(data: bytes) -> Iterator[bytes]:
    """The lines with their ends; only a newline ends one."""
    start = 0
    while start < len(data):
        end = data.find(b"\n", start) + 1 or len(data)
        yield data[start:end]
        start = end


def _decode(line: bytes) -> dict[str, Any] | None:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return row if isinstance(row, dict) else None


def _move_aside(path: Path, good: int, torn: bytes) -> Path:
    aside = free_name(path, "torn")
    with open(aside, "xb", opener=_private) as kept:
        kept.write(torn)
    with path.open("r+b") as file:
        file.truncate(good)
    logger.warning("%s had a torn end (%d bytes), now in %s", path, len(torn), aside.name)
    return aside


def _private(path: str, flags: int) -> int:
    # What was said is nobody else's business.
    return os.open(path, flags, 0o600)
