"""``read_file``."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Final

from amplifier_tui.kernel import events
from amplifier_tui.kernel.models import ToolResult
from amplifier_tui.modules._shared.tool_problem import ToolProblem
from amplifier_tui.modules.tool_filesystem import calls
from amplifier_tui.modules.tool_filesystem.calls import FileTool
from amplifier_tui.modules.tool_filesystem.reading import (
    Page,
    list_folder,
    media_type,
    missing,
    read_image,
    read_page,
)
from amplifier_tui.modules.tool_filesystem.workspace import FilesystemSettings, ToolWorkspace

DEFAULT_LINES: Final = 2_000


class ReadFileTool(FileTool):
    """Reads text files and images, and lists folders."""

    name = "read_file"
    verb = "read"
    description = (
        "Read a file of the workspace. Text comes with line numbers (the number and the tab "
        f"are not part of the file), at most {DEFAULT_LINES} lines at once: continue with "
        "`offset`. Images are shown. A folder is listed. Read several files in parallel."
    )
    parameters: ClassVar[Mapping[str, Any]] = {
        "offset": {
            "type": "integer",
            "minimum": 1,
            "description": "Number of the first line to read. Default 1.",
        },
        "limit": {
            "type": "integer",
            "minimum": 1,
            "description": f"How many lines to read. Default {DEFAULT_LINES}.",
        },
        "line_numbers": {
            "type": "boolean",
            "description": "Whether to number the lines.",
        },
    }

    def __init__(self, workspace: ToolWorkspace, settings: FilesystemSettings) -> None:
        super().__init__(workspace)
        self._settings = settings

    async def _execute(self, given: calls.Input) -> ToolResult:
        path = await asyncio.to_thread(self._workspace.resolve, calls.file_path(given), "read")
        offset = calls.number(given, "offset", 1)
        limit = calls.number(given, "limit", DEFAULT_LINES)
        numbers = calls.flag(given, "line_numbers", self._settings.line_numbers)
        result, facts = await asyncio.to_thread(self._read, path, offset, limit, numbers)
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
        kind = media_type(path)
        if kind is not None:
            if not self._settings.images:
                raise ToolProblem(f"{shown} is an image; this session shows none.", "binary")
            return read_image(path, kind, shown), {
                "bytes": path.stat().st_size,
                "media_type": kind,
            }
        page = read_page(path, offset, limit, self._settings.max_read_bytes)
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
