"""``write_file`` and ``edit_file``: finding a passage exactly, and what a change changes."""

import asyncio
import re
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Final

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.kernel import events
from amplifier_tui.kernel.models import ToolResult
from amplifier_tui.modules._shared.changes import Change, compare
from amplifier_tui.modules._shared.client_text import load_unsaved, save_text
from amplifier_tui.modules._shared.text_file import UNREADABLE, TextFile, load
from amplifier_tui.modules._shared.tool import ToolProblem, argument
from amplifier_tui.modules._shared.workspace import (
    FILE_PATH,
    FileTool,
    file_path,
    flag,
    missing,
    text,
)

_COMPARED: Final = 2_000
"""Words of a passage up to which a similar one is looked for."""

_LISTED: Final = 8
"""How many places are named when a passage occurs too often."""


@dataclass(frozen=True)
class PassageReplacement:
    """An edit: the new text, how many passages it changed, and in which old lines."""

    text: str
    count: int
    lines: list[int]


def replace_passage(file: TextFile, old: str, new: str, *, everywhere: bool) -> PassageReplacement:
    """Replace a passage of a file, one that occurs once unless `everywhere` is set.

    Line ends need not match: a line end of `old` finds any, and those of `new` become what the file
    has at that place. Everything outside of the passage stays byte for byte.

    Raises:
        ToolProblem: The passage does not occur, or more than once, or would not change.
    """
    old, new = _plain(old), _plain(new)
    if not old:
        raise ToolProblem(
            "`old_string` is empty. Give the passage to replace, or use write_file to write the "
            "whole file.",
            "invalid_arguments",
        )
    if old == new:
        raise ToolProblem(
            "`old_string` and `new_string` are the same: nothing would change.",
            "invalid_arguments",
        )
    pattern = re.compile(r"\r?\n".join(map(re.escape, old.split("\n"))))
    found = list(pattern.finditer(file.text))
    if not found:
        raise ToolProblem(_not_found(file.text, old), "no_match")
    lines = [file.text.count("\n", 0, match.start()) + 1 for match in found[:_LISTED]]
    if len(found) > 1 and not everywhere:
        places = ", ".join(map(str, lines)) + (", …" if len(found) > _LISTED else "")
        raise ToolProblem(
            f"`old_string` occurs {len(found)} times (lines {places}). Add lines around it to make "
            "it unique, or set `replace_all` to true.",
            "many_matches",
        )
    default = file.newline

    def replacement(match: re.Match[str]) -> str:
        newline = default
        if "\n" in match.group():
            newline = "\r\n" if "\r\n" in match.group() else "\n"
        return new.replace("\n", newline)

    return PassageReplacement(pattern.sub(replacement, file.text), len(found), lines)


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n")


def _not_found(text: str, old: str) -> str:
    """Say that a passage does not occur, and where one is that differs only in white space."""
    said = "`old_string` was not found. It must match the file exactly, white space included"
    if re.match(r"\s*\d+\t", old):
        return f"{said}, and without the line numbers that read_file shows."
    words = [re.escape(word) for word in old.split()]
    if 0 < len(words) <= _COMPARED:
        loose = re.search(r"\s+".join(words), text)
        if loose is not None:
            line = text.count("\n", 0, loose.start()) + 1
            return f"{said}: the passage at line {line} differs in its white space. Read it again."
    return f"{said}. Read the file again: it may have changed."


class WriteFileTool(FileTool):
    """Writes whole files."""

    name = "write_file"
    verb = "write"
    access = "write"
    description = (
        "Create a file of the workspace, or replace everything in it. Missing folders are "
        "made. To change a part of a file use edit_file."
    )
    parameters: ClassVar[Mapping[str, Any]] = {
        "file_path": FILE_PATH,
        "content": argument("string", "The whole new content."),
    }
    required = ("file_path", "content")

    async def _run(self, given: Mapping[str, Any]) -> ToolResult:
        content = text(given, "content")
        path = await asyncio.to_thread(self._workspace.resolve, file_path(given), self.access)
        async with self._workspace.lock(path):
            before = await self._existing(path)
            text_file, facts, change = await asyncio.to_thread(self._write, path, before, content)
            await save_text(self._workspace.client_files, path, text_file)
        await self._workspace.emit(events.ARTIFACT_WRITE, path, self.name, facts)
        shown = self._workspace.shown(path)
        # One that is no text came as an empty one.
        if before is not None and before.text and before.to_bytes() == text_file.to_bytes():
            return ToolResult(output=f"{shown} has this content already: nothing changed.")
        verb = "Created" if facts["created"] else "Replaced"
        return ToolResult(output=f"{verb} {shown}: {facts['bytes']} bytes{change}.")

    async def _existing(self, path: Path) -> TextFile | None:
        """The text that is replaced; an empty one for no text, None for no file."""
        unsaved = await load_unsaved(self._workspace.client_files, path, to_change=True)
        return unsaved or await asyncio.to_thread(_existing, path)

    def _write(
        self, path: Path, before: TextFile | None, content: str
    ) -> tuple[TextFile, dict[str, Any], Change]:
        kind = before or TextFile()
        text = content
        if before is not None and before.newline == "\r\n" and "\r" not in content:
            text = content.replace("\n", "\r\n")
        after = replace(kind, text=text)
        size = len(after.to_bytes())
        change = compare(before.text if before else "", text, self._workspace.shown(path))
        return after, {"bytes": size, "created": not before, **change.facts()}, change


def _existing(path: Path) -> TextFile | None:
    """The text that is replaced; an empty one for a file that is no text, None for no file."""
    if not path.exists():
        return None
    try:
        return load(path)
    except ToolProblem as problem:
        if problem.kind in UNREADABLE:
            return TextFile()
        raise


class EditFileTool(FileTool):
    """Replaces passages of files."""

    name = "edit_file"
    verb = "change"
    access = "write"
    description = (
        "Replace a passage of a file in the workspace. `old_string` must match the file "
        "exactly, indentation included, without line numbers, and be unique unless "
        "`replace_all` is set. Read the file first."
    )
    parameters: ClassVar[Mapping[str, Any]] = {
        "file_path": FILE_PATH,
        "old_string": argument("string", "The passage to replace."),
        "new_string": argument("string", "What to put in its place."),
        "replace_all": argument("boolean", "Whether to replace every occurrence. Default false."),
    }
    required = ("file_path", "old_string", "new_string")

    async def _run(self, given: Mapping[str, Any]) -> ToolResult:
        old = text(given, "old_string")
        new = text(given, "new_string")
        everywhere = flag(given, "replace_all", False)
        path = await asyncio.to_thread(self._workspace.resolve, file_path(given), self.access)
        async with self._workspace.lock(path):
            client = self._workspace.client_files
            file = await load_unsaved(client, path, to_change=True)
            edited = partial(self._edit, path, file, old, new, everywhere=everywhere)
            after, facts, change, lines = await asyncio.to_thread(edited)
            await save_text(client, path, after)
        await self._workspace.emit(events.ARTIFACT_WRITE, path, self.name, facts)
        count = facts["replacements"]
        where = (
            f"line {lines[0]}" if count == 1 else f"{count} places, the first in line {lines[0]}"
        )
        return ToolResult(output=f"Edited {self._workspace.shown(path)}: {where}{change}.")

    def _edit(
        self, path: Path, file: TextFile | None, old: str, new: str, *, everywhere: bool
    ) -> tuple[TextFile, dict[str, Any], Change, list[int]]:
        shown = self._workspace.shown(path)
        if file is None and not path.exists():
            raise missing(path, shown)
        file = file or load(path)
        outcome = replace_passage(file, old, new, everywhere=everywhere)
        after = replace(file, text=outcome.text)
        change = compare(file.text, outcome.text, shown)
        facts = {
            "bytes": len(after.to_bytes()),
            "created": False,
            "replacements": outcome.count,
            **change.facts(),
        }
        return after, facts, change, outcome.lines
