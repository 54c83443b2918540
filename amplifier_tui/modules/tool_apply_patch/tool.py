"""``apply_patch``: a patch of several files, applied whole or not at all."""

import asyncio
import os
import stat
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import field, replace
from pathlib import Path
from typing import Any, ClassVar, Final

from amplifier_tui.base.files import NotRegularFileError
from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.patches import FileChange, PatchProblem, apply_hunks, read_patch
from amplifier_tui.kernel import events
from amplifier_tui.kernel.models import ToolResult
from amplifier_tui.modules._shared.changes import compare
from amplifier_tui.modules._shared.client_text import load_unsaved, save_together
from amplifier_tui.modules._shared.places import place_problem
from amplifier_tui.modules._shared.text_file import UNREADABLE, TextFile, load
from amplifier_tui.modules._shared.tool import ModuleTool, ToolProblem, argument
from amplifier_tui.modules._shared.workspace import ToolWorkspace, from_os_error, missing, text

_LETTERS: Final = {"add": "A", "update": "M", "delete": "D"}


@dataclass
class _Files:
    """The files of a patch while it is worked out: as they are, and as they will be.

    None is a file that does not exist. `modes` are the permissions they have, or will have;
    `unsaved` are the texts that only the session's client has.
    """

    unsaved: Mapping[Path, TextFile | None]
    before: dict[Path, TextFile | None] = field(default_factory=dict)
    after: dict[Path, TextFile | None] = field(default_factory=dict)
    modes: dict[Path, int] = field(default_factory=dict)

    def get(self, path: Path) -> TextFile | None:
        if path not in self.before:
            there = path.exists()
            file = self.unsaved.get(path) or (load(path) if there else None)
            self.before[path] = self.after[path] = file
            if there:
                self.modes[path] = stat.S_IMODE(path.stat().st_mode)
        return self.after[path]

    @property
    def changed(self) -> dict[Path, TextFile | None]:
        return {path: file for path, file in self.after.items() if file != self.before[path]}


class ApplyPatchTool(ModuleTool):
    """Applies patches."""

    name = "apply_patch"
    description = """\
Change, add, move and delete files of the workspace by one patch. It is applied whole or not at all.

*** Begin Patch
*** Update File: path/to/file.py
*** Move to: path/to/renamed.py
@@ class Example:
     def method(self):
-        return 1
+        return 2
*** Add File: path/to/new.txt
+each line begins with a plus
*** Delete File: path/to/old.txt
*** End Patch

`Move to` is optional. Give about three unchanged lines around each change, each beginning with a \
space; where they do not make the place unique, put the class or function it is in behind `@@`. \
`*** End of File` behind a passage says that it ends the file."""
    parameters: ClassVar[Mapping[str, Any]] = {
        "input": argument("string", "The patch, from `*** Begin Patch` to `*** End Patch`."),
    }
    required = ("input",)

    def __init__(self, workspace: ToolWorkspace) -> None:
        self._workspace = workspace

    @property
    def input_schema(self) -> dict[str, Any]:
        """JSON schema of the input."""
        return {**super().input_schema, "additionalProperties": False}

    async def run(self, given: Mapping[str, Any]) -> ToolResult:
        """Apply the patch of a call."""
        unknown = [name for name in given if name not in self.parameters]
        if unknown:
            # Whoever judged the call may have taken another argument for the patch.
            raise ToolProblem(
                f"Unknown argument `{unknown[0]}`: give the patch as `input`, and nothing else.",
                "invalid_arguments",
            )
        try:
            changes = read_patch(text(given, "input"))
        except PatchProblem as problem:
            raise ToolProblem(f"The patch can't be read: {problem}.", "invalid_patch") from problem
        places = await asyncio.to_thread(self._places, changes)
        async with AsyncExitStack() as locks:
            # In one order, so that two patches never wait for each other.
            for path in sorted(set(places.values())):
                await locks.enter_async_context(self._workspace.lock(path))
            client = self._workspace.client_files
            files = _Files(
                {
                    path: await load_unsaved(client, path, to_change=True)
                    for path in set(places.values())
                }
            )
            await asyncio.to_thread(self._apply, changes, places, files)
            await self._save(files)
        for path in files.changed:
            await self._tell(path, files.before[path], files.after[path])
        return ToolResult(output=self._summary(changes, files))

    def refused_place(self, arguments: Mapping[str, Any]) -> str:
        """Return why a path of the call's patch would be refused; see `kernel.session.grant`."""
        try:
            changes = read_patch(text(arguments, "input"))
        except (PatchProblem, ToolProblem):
            return ""
        return place_problem(lambda: self._places(changes))

    def _places(self, changes: Sequence[FileChange]) -> dict[str, Path]:
        places = {}
        for change in changes:
            for path in filter(None, (change.path, change.move_to)):
                places[path] = self._workspace.resolve(path, "write")
                self._refuse_link(path, gone=path == change.path and _removes(change))
        return places

    def _refuse_link(self, path: str, *, gone: bool) -> None:
        if gone and (self._workspace.root / os.path.expanduser(path)).is_symlink():
            raise ToolProblem(
                f"{path} is a symbolic link. Remove or rename it with a command instead.",
                "not_a_file",
            )

    def _apply(
        self, changes: Sequence[FileChange], places: Mapping[str, Path], files: _Files
    ) -> None:
        for change in changes:
            try:
                self._change(change, places, files)
            except PatchProblem as problem:
                raise ToolProblem(
                    f"{change.path}: {problem}. Nothing was changed. Read the file again: it may "
                    "have changed.",
                    "no_match",
                ) from problem

    async def _save(self, files: _Files) -> None:
        client = self._workspace.client_files
        try:
            await save_together(client, files.before, files.changed, files.modes)
        except (IsADirectoryError, NotRegularFileError) as error:
            raise ToolProblem(
                f"{error.filename} is no regular file. Nothing was changed.", "not_a_file"
            ) from error
        except OSError as error:
            where = Path(error.filename) if error.filename else self._workspace.root
            told = from_os_error(error, "write", where)
            raise ToolProblem(f"{told} Nothing was changed.", told.kind) from error

    def _change(self, change: FileChange, places: Mapping[str, Path], files: _Files) -> None:
        path = places[change.path]
        if change.kind == "delete":
            self._delete(path, files)
            return
        if change.kind == "add":
            self._require_free(path, change, files)
            content = "".join(f"{line}\n" for line in change.content)
            files.after[path] = TextFile(content)
            return
        file = self._existing(path, files)
        after = replace(file, text=apply_hunks(file.text, change.hunks, file.newline))
        target = places[change.move_to] if change.move_to else path
        if target != path:
            self._require_free(target, change, files)
            files.after[path] = None
            if path in files.modes:
                files.modes[target] = files.modes[path]
        files.after[target] = after

    def _delete(self, path: Path, files: _Files) -> None:
        try:
            self._existing(path, files)
        except ToolProblem as problem:
            if problem.kind not in UNREADABLE:
                raise
            files.before[path] = TextFile()  # What it holds does not matter.
        files.after[path] = None

    def _existing(self, path: Path, files: _Files) -> TextFile:
        file = files.get(path)
        if file is None:
            problem = missing(path, self._workspace.shown(path))
            raise ToolProblem(f"{problem} Nothing was changed.", problem.kind)
        return file

    def _require_free(self, path: Path, change: FileChange, files: _Files) -> None:
        if files.get(path) is not None:
            raise ToolProblem(
                f"{self._workspace.shown(path)} exists already (line {change.line} of the patch). "
                "Nothing was changed. Use `*** Update File:` to change it, or delete it first.",
                "exists",
            )

    async def _tell(self, path: Path, before: TextFile | None, after: TextFile | None) -> None:
        texts = [file.text if file else "" for file in (before, after)]
        change = compare(texts[0], texts[1], self._workspace.shown(path))
        facts = {
            "bytes": len(after.to_bytes()) if after else 0,
            "created": before is None,
            "deleted": after is None,
            **change.facts(),
        }
        await self._workspace.emit(events.ARTIFACT_WRITE, path, self.name, facts)

    def _summary(self, changes: Sequence[FileChange], files: _Files) -> str:
        if not files.changed:
            return "The patch fits, and changes nothing: the files are so already."
        lines = ["Done. The patch changed:"]
        for change in changes:
            moved = f" → {change.move_to}" if change.move_to else ""
            lines.append(f"{_LETTERS[change.kind]} {change.path}{moved}")
        return "\n".join(lines)


def _removes(change: FileChange) -> bool:
    return change.kind == "delete" or bool(change.move_to)
