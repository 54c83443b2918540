"""``read_file``: pages of text files, images, PDFs, and what is in a folder.

What can't be read is a `ToolProblem`.
"""

import asyncio
import io
import os
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import Any, BinaryIO, ClassVar, Final

from amplifier_tui.base.files import images
from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.opened.folders import listed_folder
from amplifier_tui.base.text import printable
from amplifier_tui.kernel import events
from amplifier_tui.kernel.message_models import ImageBlock, TextBlock
from amplifier_tui.kernel.models import ToolResult
from amplifier_tui.modules._shared.client_text import load_unsaved
from amplifier_tui.modules._shared.text_file import (
    MAX_TEXT_BYTES,
    decode,
    is_binary,
    open_file,
)
from amplifier_tui.modules._shared.tool import ToolProblem, argument
from amplifier_tui.modules._shared.workspace import (
    FILE_PATH,
    FileTool,
    ToolWorkspace,
    file_path,
    flag,
    from_os_error,
    missing,
    number,
)
from amplifier_tui.modules.tool_filesystem.settings import FilesystemSettings

MAX_LINE: Final = 2_000
"""Characters of a line that are shown."""

_BLOCK: Final = 64 * 1024
_COUNTED: Final = 256 * 1024 * 1024
"""Bytes after the page that are looked through for the number of lines."""

_WIDE_BOMS: Final = (b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")


@dataclass
class Page:
    """Lines of a file, from the line with the number `first` on.

    `total` are the lines of the whole file, None where counting would take too long; `full` says
    that the page ends before the file does.
    """

    first: int
    lines: list[str] = field(default_factory=list)
    total: int | None = None
    full: bool = False

    @property
    def last(self) -> int:
        """Number of the last line."""
        return self.first + len(self.lines) - 1


def read_page(path: Path, offset: int, limit: int, max_bytes: int) -> Page:
    """Read at most `limit` lines and `max_bytes` bytes of a text file, from line `offset` on."""
    with open_file(path) as raw:
        return _read(_as_utf8(raw, path), offset, limit, max_bytes)


def _as_utf8(raw: BinaryIO, path: Path) -> BinaryIO:
    head = raw.read(_BLOCK)
    if is_binary(head):
        raise ToolProblem(
            f"{path} is a binary file, not text. Use a command to look into it.", "binary"
        )
    if head.startswith(_WIDE_BOMS):
        rest = raw.read(MAX_TEXT_BYTES)
        return io.BytesIO(decode(head + rest, lossy=True).text.encode("utf-8", "replace"))
    raw.seek(3 if head.startswith(b"\xef\xbb\xbf") else 0)
    return raw


def _read(file: BinaryIO, offset: int, limit: int, max_bytes: int) -> Page:
    page = Page(offset)
    number = used = 0
    while line := file.readline(_BLOCK):
        number += 1
        rest = _skip_rest(line, file)
        if number < offset:
            continue
        shown = _shown(line, rest)
        cost = len(shown.encode("utf-8")) + 1
        if len(page.lines) >= limit or (page.lines and used + cost > max_bytes):
            page.full = True
            break
        page.lines.append(shown)
        used += cost
    page.total = _count(file, number) if page.full else number
    return page


def _skip_rest(line: bytes, file: BinaryIO) -> int:
    """Go to the next line; return how many bytes of this one were left."""
    left = 0
    while line and not line.endswith(b"\n"):
        line = file.readline(_BLOCK)
        left += len(line.rstrip(b"\r\n"))
    return left


def _shown(line: bytes, rest: int) -> str:
    line = line.removesuffix(b"\n").removesuffix(b"\r")
    text = line.decode("utf-8", "replace")
    if len(text) <= MAX_LINE and not rest:
        return text
    text = text[:MAX_LINE]
    more = len(line) - len(text.encode("utf-8")) + rest
    return f"{text}… ({more} more bytes in this line)"


def _count(file: BinaryIO, seen: int) -> int | None:
    """Lines of the file, if the rest of it is not too large."""
    total, last = seen, b"\n"
    for _ in range(_COUNTED // (_BLOCK * 16)):
        block = file.read(_BLOCK * 16)
        if not block:
            return total + (last != b"\n")
        total += block.count(b"\n")
        last = block[-1:]
    return None


def image_type(path: Path) -> str | None:
    """Return the type of an image or a PDF by its first bytes; None for any other file."""
    with open_file(path) as file:
        return images.media_type(file.read(images.HEAD))


def read_image(path: Path, kind: str, shown: str) -> ToolResult:
    """Return an image or a PDF as a tool's result, unless it is too large."""
    with open_file(path) as file:
        data = file.read(images.MAX_BYTES + 1)
    if problem := images.too_large(data):
        raise ToolProblem(
            f"{shown} is {problem}, too large to be looked at. Make a smaller copy of it first.",
            "too_large",
        )
    line = f"{shown}: {kind}, {len(data)} bytes."
    image = ImageBlock(source=images.image_source(data, kind))
    return ToolResult(output=line, content=[TextBlock(text=line), image])


_MAX_ENTRIES: Final = 500


def list_folder(path: Path) -> str:
    """Return the entries of a folder, folders first, one a line.

    Args:
        path: Resolved: no link that appeared on it in the meantime is followed.
    """
    try:
        with listed_folder(path) as folder, os.scandir(folder) as found:
            entries = [(not entry.is_dir(), entry.name, _line(entry)) for entry in found]
    except OSError as error:
        raise from_os_error(error, "list", path) from error
    entries.sort(key=lambda entry: (entry[0], entry[1].casefold()))
    lines = [line for _, _, line in entries[:_MAX_ENTRIES]]
    if len(entries) > _MAX_ENTRIES:
        lines.append(f"[… {len(entries) - _MAX_ENTRIES} more entries]")
    return "\n".join(lines) or "(The folder is empty.)"


def _line(entry: os.DirEntry[str]) -> str:
    # A name is data: it may hold line ends or characters that can't be encoded.
    name = printable(entry.name)
    if entry.is_symlink():
        return f"{name} (link)"
    if entry.is_dir(follow_symlinks=False):
        return f"{name}/"
    try:
        return f"{name}  {entry.stat(follow_symlinks=False).st_size} bytes"
    except OSError:
        return name


DEFAULT_LINES: Final = 2_000


class ReadFileTool(FileTool):
    """Reads text files, images and PDFs, and lists folders."""

    name = "read_file"
    verb = "read"
    access = "read"
    description = (
        "Read a file of the workspace. Text comes with line numbers (the number and the tab "
        f"are not part of the file), at most {DEFAULT_LINES} lines at once: continue with "
        "`offset`. Images are shown. A folder is listed. Read several files in parallel."
    )
    parameters: ClassVar[Mapping[str, Any]] = {
        "file_path": FILE_PATH,
        "offset": argument("integer", "Number of the first line to read. Default 1.", minimum=1),
        "limit": argument(
            "integer", f"How many lines to read. Default {DEFAULT_LINES}.", minimum=1
        ),
        "line_numbers": argument("boolean", "Whether to number the lines."),
    }
    required = ("file_path",)

    def __init__(self, workspace: ToolWorkspace, settings: FilesystemSettings) -> None:
        super().__init__(workspace)
        self._settings = settings

    async def _run(self, given: Mapping[str, Any]) -> ToolResult:
        path = await asyncio.to_thread(self._workspace.resolve, file_path(given), self.access)
        offset = number(given, "offset", 1)
        limit = number(given, "limit", DEFAULT_LINES)
        numbers = flag(given, "line_numbers", self._settings.line_numbers)
        unsaved = await load_unsaved(self._workspace.client_files, path)
        if unsaved is None:
            result, facts = await asyncio.to_thread(self._read, path, offset, limit, numbers)
        else:
            data = io.BytesIO(unsaved.text.encode("utf-8", "replace"))
            most = self._settings.max_read_bytes
            page = await asyncio.to_thread(_read, data, offset, limit, most)
            result, facts = _shown_page(page, self._workspace.shown(path), numbers)
        await self._workspace.emit(events.ARTIFACT_READ, path, self.name, facts)
        return result

    def _read(
        self, path: Path, offset: int, limit: int, numbers: bool
    ) -> tuple[ToolResult, dict[str, Any]]:
        shown = self._workspace.shown(path)
        if path.is_dir():
            listing = list_folder(path)
            return ToolResult(output=listing), {"bytes": len(listing.encode()), "folder": True}
        if not path.exists():
            raise missing(path, shown)
        kind = image_type(path)
        if kind is not None:
            if not self._settings.images:
                raise ToolProblem(f"{shown} is {kind}; this session shows none.", "binary")
            return read_image(path, kind, shown), {
                "bytes": path.stat().st_size,
                "media_type": kind,
            }
        page = read_page(path, offset, limit, self._settings.max_read_bytes)
        return _shown_page(page, shown, numbers)


def _shown_page(page: Page, shown: str, numbers: bool) -> tuple[ToolResult, dict[str, Any]]:
    text = _text(page, shown, numbers)
    return ToolResult(output=text), {"bytes": len(text.encode()), "lines": len(page.lines)}


def _text(page: Page, shown: str, numbers: bool) -> str:
    if not page.lines:
        if page.total == 0:
            return "(The file is empty.)"
        raise ToolProblem(
            f"`offset` is {page.first}, but {shown} has only {page.total} lines.",
            "past_the_end",
        )
    lines = page.lines
    if numbers:
        lines = [f"{number:>6}\t{line}" for number, line in enumerate(lines, page.first)]
    if page.full:
        total = f"{page.total}" if page.total is not None else "many"
        lines = [
            *lines,
            f"[Lines {page.first}–{page.last} of {total}; continue with offset={page.last + 1}]",
        ]
    elif page.first > 1:
        lines = [*lines, f"[Lines {page.first}–{page.last} of {page.total}]"]
    return "\n".join(lines)
