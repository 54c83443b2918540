"""Text files as they are: encoding, byte order mark, line ends and mode survive a change.

What can't be read or written is a `ToolProblem`.
"""

from __future__ import annotations

import codecs
import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final, Literal

from amplifier_tui.base.files import (
    NotRegularFileError,
    open_resolved,
    require_regular,
    write_atomic,
)
from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.modules._shared.tool import ToolProblem
from amplifier_tui.modules._shared.workspace import from_os_error

Newline = Literal["\n", "\r\n"]

MAX_TEXT_BYTES: Final = 16 * 1024 * 1024
"""Largest file that is read or edited as a whole."""

UNREADABLE: Final = ("binary", "too_large", "encoding")
"""Kinds of problems of `load` with a file that is no text, or too much of it."""

_SNIFFED: Final = 8 * 1024
_BOMS: Final[tuple[tuple[bytes, str], ...]] = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


@dataclass(frozen=True)
class TextFile:
    """A text and how it is written to disk.

    The text has its own line ends; bytes that are not UTF-8 are lone surrogates and come out as
    they went in. `bom` is the byte order mark in front.
    """

    text: str = ""
    encoding: str = "utf-8"
    bom: bytes = b""

    @property
    def newline(self) -> Newline:
        """The line end most lines have."""
        crlf = self.text.count("\r\n")
        return "\r\n" if crlf and crlf * 2 > self.text.count("\n") else "\n"

    def to_bytes(self) -> bytes:
        """Return the content of the file, which the encoding must have a form for."""
        errors = "surrogateescape" if self.encoding == "utf-8" else "strict"
        try:
            return self.bom + self.text.encode(self.encoding, errors)
        except UnicodeEncodeError as error:
            broken = self.text[error.start : error.start + 1]
            raise ToolProblem(
                f"The text holds a character that can't be written as {self.encoding}: {broken!r}.",
                "encoding",
            ) from error


def is_binary(head: bytes) -> bool:
    """Whether a file that begins so is no text."""
    return b"\0" in head[:_SNIFFED] and not any(head.startswith(bom) for bom, _ in _BOMS)


def decode(data: bytes, *, lossy: bool = False) -> TextFile:
    """Return a file's content as text; `lossy` replaces what the encoding can't read."""
    for bom, encoding in _BOMS:
        if not data.startswith(bom):
            continue
        if encoding == "utf-8":
            return TextFile(data[len(bom) :].decode("utf-8", "surrogateescape"), encoding, bom)
        try:
            text = data[len(bom) :].decode(encoding, "replace" if lossy else "strict")
        except UnicodeDecodeError as error:
            raise ToolProblem(
                f"The file claims to be {encoding} and is not: {error}.", "encoding"
            ) from error
        return TextFile(text, encoding, bom)
    return TextFile(data.decode("utf-8", "surrogateescape"))


def open_file(path: Path) -> BinaryIO:
    """Open a regular file for reading.

    Args:
        path: Resolved: no link that appeared on it in the meantime is followed.
    """
    with _told("read", path):
        return open_resolved(path)


@contextlib.contextmanager
def _told(verb: str, path: Path) -> Iterator[None]:
    try:
        yield
    except IsADirectoryError as error:
        raise ToolProblem(f"{path} is a folder, not a file.", "is_folder") from error
    except NotRegularFileError as error:
        raise ToolProblem(
            f"{path} is not a regular file (a device or pipe).", "not_a_file"
        ) from error
    except OSError as error:
        raise from_os_error(error, verb, path) from error


def load(path: Path) -> TextFile:
    """Read a text file as a whole, unless it is too large or no text."""
    with open_file(path) as file, _told("read", path):
        size = os.fstat(file.fileno()).st_size
        if size > MAX_TEXT_BYTES:
            raise ToolProblem(
                f"{path} is too large to be edited as a whole ({size} bytes, the limit is "
                f"{MAX_TEXT_BYTES}). Change it with a command instead.",
                "too_large",
            )
        data = file.read(MAX_TEXT_BYTES + 1)
    if is_binary(data):
        raise ToolProblem(f"{path} is a binary file ({len(data)} bytes), not text.", "binary")
    return decode(data)


def save(path: Path, data: bytes) -> None:
    """Replace a file's content in one step: readers see the old or the new one, nothing else.

    Folders on the way are made; the mode of an existing file stays.

    Args:
        path: Resolved: no link that appeared on it in the meantime is followed.
    """
    require_writable(path)
    with _told("write", path):
        write_atomic(path, data, durable=True, links="refuse")


def require_writable(path: Path) -> None:
    """Refuse what is there and is no file, or a file that is write-protected."""
    with _told("write", path):
        if os.path.lexists(path):
            require_regular(path, path.lstat().st_mode)
            if not os.access(path, os.W_OK):
                raise ToolProblem(f"Can't write {path}: it is write-protected.", "os_error")
