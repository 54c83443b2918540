"""The files of a session's turns, as the checkpoints of hooks-checkpoint have them."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Collection, Iterable
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from amplifier_tui.base.diffs import unified_diff
from amplifier_tui.host.rewind_cards import RewindFile
from amplifier_tui.host.session.rewinding.git_moves import GitMove, git_move
from amplifier_tui.host.stream.diffs import Snapshot, changes, snapshot, snapshot_of
from amplifier_tui.kernel.coordinator import ModuleCoordinator

COPIES: Final = "checkpoints"
"""The folder in a session's own with what they are kept in, unless a bundle says another."""
NONE_KEPT: Final = "No copies of files are kept in this session: hooks-checkpoint is not mounted"
_DAMAGED: Final = "The record of what changed is damaged"
_UNKNOWN_TIME: Final = "It is not known when this prompt was sent"
_SET_BACK: Final = "The clock was set back between these prompts"
_MOST_COUNTED: Final = 200
"""Files whose lines are counted."""

Call = Callable[..., Awaitable[Any]]


class FilesError(Exception):
    """Files can't be put back; the message is one sentence."""


class FileHistory:
    """What a session did to files, and putting them back."""

    def __init__(self, coordinator: ModuleCoordinator, workspace: Path) -> None:
        self._coordinator = coordinator
        self._workspace = workspace

    async def times(self) -> list[tuple[float, int]]:
        """Return when files were first changed in each turn, in Unix seconds, and how many."""
        if self._coordinator.get_capability("checkpoint.list") is None:
            return []
        return [(_when(each), len(each["files"])) for each in await self._call("list")]

    async def find(self, since: float, earlier: Collection[float], later: Collection[float]) -> str:
        """Return the id of the first change since a prompt was sent; empty for none.

        Args:
            since: When that was, in Unix seconds, by a clock that may have been set back.
            earlier: When the prompts before it were sent, and `later` those after it.

        Raises:
            FilesError: There is no record of it.
        """
        listed = await self._call("list")
        if not since:
            raise FilesError(_UNKNOWN_TIME)
        ahead = [time for time in earlier if time > since]
        if ahead:
            # Changes of earlier turns seem to be newer; what is older than the prompt is before it.
            before = [place for place, each in enumerate(listed) if _when(each) < since]
            listed = listed[before[-1] + 1 if before else 0 :]
        since_then = (each for each in listed if _when(each) >= since)
        # Of a turn that changed no file, where git stood may still be another place.
        counts = (e for e in since_then if e["files"] or e["unseen"] or e.get("git"))
        found = next(counts, None)
        back_again = any(0 < time < since for time in later)
        if found is not None and ahead and (back_again or _when(found) >= min(ahead)):
            raise FilesError(_SET_BACK)
        return "" if found is None else str(found["id"])

    async def known(self) -> set[Path]:
        """Return every file that there is a copy of, or a record that it did not exist."""
        if self._coordinator.get_capability("checkpoint.list") is None:
            return set()
        listed = await self._call("list")
        paths = [file["path"] for each in listed for file in each["files"]]
        paths += [path for each in listed for path in each["taken_back"]]
        # One that is a link is not what it leads to.
        return {self._workspace.resolve() / path for path in paths}

    async def preview(self, change: str) -> tuple[list[RewindFile], list[str], GitMove | None]:
        """Return what going back before a change does to files, what was not seen, and git's move.

        Raises:
            FilesError: The record is damaged, or there is none.
        """
        try:
            found = await self._call("preview", change)
        except KeyError as error:
            raise FilesError(_DAMAGED) from error
        if found["damaged"]:
            raise FilesError(_DAMAGED)
        files: list[RewindFile] = []
        for each in found["files"]:
            if each["action"] == "unchanged" and not each["problem"]:
                continue
            there = await asyncio.to_thread(os.path.lexists, self._workspace / each["path"])
            file = RewindFile(
                path=each["path"],
                gone=not there,
                action="removed" if each["action"] == "removed" else "restored",
                conflict=each["conflict"],
                perhaps=bool(each.get("perhaps")),
                problem=each["problem"],
                command=each["command"],
                together=int(each.get("together") or 0),
                note=each["note"],
            )
            counted = not file.problem and len(files) < _MOST_COUNTED
            files.append(await self._counted(change, file) if counted else file)
        return files, list(found["unseen"]), git_move(found.get("git"))

    async def diff(self, change: str, path: str) -> str:
        """Return what going back does to a file, as a unified diff."""
        now, then = await self._states(change, path)
        found = await asyncio.to_thread(changes, path, now, then)
        # Of its permissions alone no line tells.
        return found or await self._noted(change, path)

    async def _noted(self, change: str, path: str) -> str:
        files = (await self._call("preview", change))["files"]
        note = next((file["note"] for file in files if file["path"] == path), "")
        return f"--- {path}\n+++ {path}\n@@ {note} @@\n" if note else ""

    async def restore(self, change: str, force: Iterable[str]) -> dict[str, Any]:
        """Put files back; see `checkpoint.restore` of hooks-checkpoint.

        Raises:
            FilesError: There is no such change on record.
        """
        try:
            report: dict[str, Any] = await self._call("restore", change, force=list(force))
        except KeyError as error:
            raise FilesError(_DAMAGED) from error
        return report

    async def _counted(self, change: str, file: RewindFile) -> RewindFile:
        now, then = await self._states(change, file.path)
        if now.note or then.note:
            return file
        texts = now.text or "", then.text or ""
        found = await asyncio.to_thread(unified_diff, (file.path, file.path), *texts)
        return replace(file, added=found.added, removed=found.removed)

    async def _states(self, change: str, path: str) -> tuple[Snapshot, Snapshot]:
        then = snapshot_of(await self._call("content", change, path))
        return await asyncio.to_thread(_now, self._workspace / path), then

    async def _call(self, name: str, *arguments: Any, **named: Any) -> Any:
        call: Call | None = self._coordinator.get_capability(f"checkpoint.{name}")
        if call is None:
            raise FilesError(NONE_KEPT)
        return await call(*arguments, **named)


def _now(path: Path) -> Snapshot:
    # Of a link, as in git: where it leads, not what is there.
    return snapshot_of(os.fsencode(os.readlink(path))) if path.is_symlink() else snapshot(path)


def _when(change: dict[str, Any]) -> float:
    return datetime.fromisoformat(change["at"]).timestamp()
