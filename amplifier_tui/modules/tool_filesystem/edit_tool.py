"""``edit_file``."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from amplifier_tui.kernel import events
from amplifier_tui.kernel.models import ToolResult
from amplifier_tui.modules.tool_filesystem import calls
from amplifier_tui.modules.tool_filesystem.calls import FileTool
from amplifier_tui.modules.tool_filesystem.editing import Change, compare, replace_passage
from amplifier_tui.modules.tool_filesystem.reading import missing
from amplifier_tui.modules.tool_filesystem.text_file import load, save
from amplifier_tui.modules.tool_filesystem.workspace import ToolWorkspace


class EditFileTool(FileTool):
    """Replaces passages of files.

    Args:
        workspace: What may be written.
    """

    name = "edit_file"
    verb = "change"

    def __init__(self, workspace: ToolWorkspace) -> None:
        self._workspace = workspace

    @property
    def description(self) -> str:
        """What it does, for the model."""
        return (
            "Replace a passage of a file in the workspace. `old_string` must match the file "
            "exactly, indentation included, without line numbers, and be unique unless "
            "`replace_all` is set. Read the file first."
        )

    @property
    def input_schema(self) -> dict[str, Any]:
        """JSON schema of the input."""
        return {
            "type": "object",
            "properties": {
                "file_path": calls.FILE_PATH,
                "old_string": {"type": "string", "description": "The passage to replace."},
                "new_string": {"type": "string", "description": "What to put in its place."},
                "replace_all": {
                    "type": "boolean",
                    "description": "Whether to replace every occurrence. Default false.",
                },
            },
            "required": ["file_path", "old_string", "new_string"],
        }

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
