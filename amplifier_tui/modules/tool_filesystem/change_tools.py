"""``write_file`` and ``edit_file``."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from amplifier_tui.kernel import events
from amplifier_tui.kernel.models import ToolResult
from amplifier_tui.modules._shared.tool_problem import ToolProblem
from amplifier_tui.modules.tool_filesystem import calls
from amplifier_tui.modules.tool_filesystem.calls import FileTool
from amplifier_tui.modules.tool_filesystem.editing import Change, compare, replace_passage
from amplifier_tui.modules.tool_filesystem.reading import missing
from amplifier_tui.modules.tool_filesystem.text_file import TextFile, load, save


class WriteFileTool(FileTool):
    """Writes whole files."""

    name = "write_file"
    verb = "write"
    description = (
        "Create a file of the workspace, or replace everything in it. Missing folders are "
        "made. To change a part of a file use edit_file."
    )
    parameters: ClassVar[Mapping[str, Any]] = {
        "content": {"type": "string", "description": "The whole new content."},
    }
    required = ("content",)

    async def _execute(self, given: calls.Input) -> ToolResult:
        content = calls.text(given, "content")
        path = await asyncio.to_thread(self._workspace.resolve, calls.file_path(given), "write")
        async with self._workspace.lock(path):
            facts, change = await asyncio.to_thread(self._write, path, content)
        await self._workspace.emit(events.ARTIFACT_WRITE, path, self.name, facts)
        verb = "Created" if facts["created"] else "Replaced"
        return ToolResult(
            output=f"{verb} {self._workspace.shown(path)}: {facts['bytes']} bytes{change}."
        )

    def _write(self, path: Path, content: str) -> tuple[dict[str, Any], Change]:
        before = _existing(path)
        kind = before or TextFile()
        text = content
        if before is not None and before.newline == "\r\n" and "\r" not in content:
            text = content.replace("\n", "\r\n")
        data = kind.with_text(text).to_bytes()
        save(path, data)
        change = compare(before.text if before else "", text, self._workspace.shown(path))
        return {"bytes": len(data), "created": not before, **change.facts()}, change


def _existing(path: Path) -> TextFile | None:
    """The text that is replaced; an empty one for a file that is no text, None for no file."""
    if not path.exists():
        return None
    try:
        return load(path)
    except ToolProblem as problem:
        if problem.kind in ("binary", "too_large", "encoding"):
            return TextFile()
        raise


class EditFileTool(FileTool):
    """Replaces passages of files."""

    name = "edit_file"
    verb = "change"
    description = (
        "Replace a passage of a file in the workspace. `old_string` must match the file "
        "exactly, indentation included, without line numbers, and be unique unless "
        "`replace_all` is set. Read the file first."
    )
    parameters: ClassVar[Mapping[str, Any]] = {
        "old_string": {"type": "string", "description": "The passage to replace."},
        "new_string": {"type": "string", "description": "What to put in its place."},
        "replace_all": {
            "type": "boolean",
            "description": "Whether to replace every occurrence. Default false.",
        },
    }
    required = ("old_string", "new_string")

    async def _execute(self, given: calls.Input) -> ToolResult:
        old = calls.text(given, "old_string")
        new = calls.text(given, "new_string")
        everywhere = calls.flag(given, "replace_all", False)
        path = await asyncio.to_thread(self._workspace.resolve, calls.file_path(given), "write")
        async with self._workspace.lock(path):
            facts, change, lines = await asyncio.to_thread(self._edit, path, old, new, everywhere)
        await self._workspace.emit(events.ARTIFACT_WRITE, path, self.name, facts)
        count = facts["replacements"]
        where = (
            f"line {lines[0]}" if count == 1 else f"{count} places, the first in line {lines[0]}"
        )
        return ToolResult(output=f"Edited {self._workspace.shown(path)}: {where}{change}.")

    def _edit(
        self, path: Path, old: str, new: str, everywhere: bool
    ) -> tuple[dict[str, Any], Change, list[int]]:
        shown = self._workspace.shown(path)
        if not path.exists():
            raise missing(path, shown)
        file = load(path)
        outcome = replace_passage(file, old, new, everywhere=everywhere)
        data = file.with_text(outcome.text).to_bytes()
        save(path, data)
        change = compare(file.text, outcome.text, shown)
        facts = {
            "bytes": len(data),
            "created": False,
            "replacements": outcome.count,
            **change.facts(),
        }
        return facts, change, outcome.lines
