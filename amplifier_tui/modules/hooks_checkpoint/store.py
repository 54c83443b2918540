"""Copies of files, the index of what they are copies of, and putting them back.

``index.jsonl`` has one line for each turn in which a file changed (``turn``), for each file before
its first change in that turn (``file``) and for what a tool made of it (``after``). The contents
are in ``objects/``, each once, named by their SHA-256. Everything is readable by its owner only.
"""

import hashlib
import logging
import os
import re
import stat
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from amplifier_tui.base.files import open_regular, write_atomic
from amplifier_tui.base.jsonl import append_rows, read_rows
from amplifier_tui.modules._shared.places import shown_path

logger = logging.getLogger(__name__)

INDEX: Final = "index.jsonl"
OBJECTS: Final = "objects"
_HEAD: Final = 8_192


@dataclass
class FileEntry:
    """A file before a turn changed it.

    Attributes:
        path: Absolute, without links.
        copy: SHA-256 of its content; None when it did not exist, or was not copied.
        existed: Whether it existed.
        size: Bytes of its content.
        mode: Its permissions.
        skipped: Why it was not copied; empty when it was.
        after: SHA-256 of what the last tool left, None where it left nothing; empty while unknown.
    """

    path: Path
    copy: str | None = None
    existed: bool = False
    size: int = 0
    mode: int = 0o644
    skipped: str = ""
    after: str | None = ""

    @property
    def differs(self) -> bool:
        """Whether the file is another one since: the call was not denied, nor its work undone."""
        return bool(self.skipped) or self.after != self.copy


@dataclass
class ChangedTurn:
    """A turn in which files changed; `files` by their absolute path."""

    id: str
    number: int
    prompt: str
    at: str
    files: dict[str, FileEntry] = field(default_factory=dict)


class CopyStore:
    """The copies of one session, in a folder that is made with the first copy.

    Everything here blocks: call it in a thread. What the disk refuses is an `OSError`.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.turns: list[ChangedTurn] = []
        self.size = 0
        self._read()

    def begin(self, number: int, prompt: str) -> ChangedTurn:
        """Note a turn."""
        turn = ChangedTurn(
            f"{len(self.turns) + 1:04d}", number, prompt, datetime.now(UTC).isoformat()
        )
        self._write(
            {"kind": "turn", "id": turn.id, "turn": number, "prompt": prompt, "at": turn.at}
        )
        self.turns.append(turn)
        return turn

    def add(
        self, turn: ChangedTurn, path: Path, *, largest: int, largest_binary: int, room: int
    ) -> None:
        """Copy a file that is about to be changed.

        Args:
            turn: The turn in which it happens.
            path: The file.
            largest: Most bytes of a text.
            largest_binary: Most bytes of anything else.
            room: Most bytes of all copies.
        """
        entry = FileEntry(path)
        data = b""
        found = _stat(path)
        if found is not None:
            entry.existed, entry.size = True, found.st_size
            entry.mode = stat.S_IMODE(found.st_mode)
            if not stat.S_ISREG(found.st_mode):
                entry.skipped = "it is no file"
            elif found.st_size > largest:
                entry.skipped = f"it is larger than {largest} bytes"
            else:
                data = _content(path)
                entry.size = len(data)
                if b"\0" in data[:_HEAD] and len(data) > largest_binary:
                    entry.skipped = f"it is no text and larger than {largest_binary} bytes"
                elif self.size + len(data) > room:
                    entry.skipped = f"the copies of this session have {room} bytes already"
                else:
                    entry.copy = self._keep(data)
        facts = {**vars(entry), "path": str(path)}
        del facts["after"]
        self._write({"kind": "file", "id": turn.id, **facts})
        turn.files[str(path)] = entry

    def note_after(self, turn: ChangedTurn, path: Path) -> None:
        """Note what a tool made of a file, so that a later change by another program is seen."""
        entry = turn.files.get(str(path))
        if entry is None or entry.skipped:
            return
        entry.after = digest(path)
        self._write({"kind": "after", "id": turn.id, "path": str(path), "after": entry.after})

    def read(self, copy: str) -> bytes:
        """Return a copy; raise an `OSError` if it is gone, or is not what was copied."""
        data = (self.folder / OBJECTS / copy).read_bytes()
        if hashlib.sha256(data).hexdigest() != copy:
            raise OSError("the copy is damaged")
        return data

    def _keep(self, data: bytes) -> str:
        name = hashlib.sha256(data).hexdigest()
        path = self.folder / OBJECTS / name
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            write_atomic(path, data, mode=0o600)
            self.size += len(data)
        return name

    def _write(self, line: Mapping[str, Any]) -> None:
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        append_rows(self.folder / INDEX, [line])

    def _read(self) -> None:
        try:
            rows, _ = read_rows(self.folder / INDEX, repair=False)
        except OSError as error:
            logger.warning("The checkpoints in %s can't be read: %s", self.folder, error)
            return
        turns: dict[str, ChangedTurn] = {}
        for row in rows:
            try:
                self._take(row, turns)
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                logger.warning("A line of %s is ignored: %s", self.folder / INDEX, error)
        self.turns = list(turns.values())
        with suppress(OSError), os.scandir(self.folder / OBJECTS) as found:
            self.size = sum(entry.stat().st_size for entry in found)

    def _take(self, line: dict[str, Any], turns: dict[str, ChangedTurn]) -> None:
        match line["kind"]:
            case "turn":
                name = str(line["id"])
                turns[name] = ChangedTurn(
                    name, int(line["turn"]), str(line["prompt"]), str(line["at"])
                )
            case "file":
                copy = line["copy"]
                turns[line["id"]].files[str(line["path"])] = FileEntry(
                    path=Path(line["path"]),
                    copy=None if copy is None else _checked(copy),
                    existed=bool(line["existed"]),
                    size=int(line["size"]),
                    mode=int(line["mode"]) & 0o777,
                    skipped=str(line["skipped"]),
                )
            case "after":
                turns[line["id"]].files[str(line["path"])].after = line["after"]


def digest(path: Path) -> str | None:
    """Return the SHA-256 of a file's content, None for no file; an `OSError` if unreadable."""
    try:
        return hashlib.sha256(_content(path)).hexdigest()
    except FileNotFoundError:
        return None


def _stat(path: Path) -> os.stat_result | None:
    try:
        return path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return None


def _content(path: Path) -> bytes:
    # A link put there since it was looked at is not followed.
    with open_regular(path, follow_links=False) as file:
        return file.read()


def _checked(copy: Any) -> str:
    text = str(copy)
    if re.fullmatch("[0-9a-f]{64}", text) is None:
        raise ValueError("a copy is named by a SHA-256")
    return text


def restore(
    store: CopyStore, root: Path, turn_id: str, paths: Collection[str] | None, force: bool
) -> dict[str, Any]:
    """Put files back to what they were when a turn began; see the package's docstring.

    Raises:
        KeyError: There is no such turn.
    """
    first = next((place for place, turn in enumerate(store.turns) if turn.id == turn_id), None)
    if first is None:
        raise KeyError(turn_id)
    report: dict[str, Any] = {
        **{name: [] for name in ("restored", "removed", "unchanged", "conflicts")},
        "failed": {},
    }
    before: dict[str, FileEntry] = {}
    last: dict[str, ChangedTurn] = {}
    for turn in store.turns[first:]:
        for name, entry in turn.files.items():
            before.setdefault(name, entry)
            last[name] = turn
    for name, entry in before.items():
        shown = shown_path(entry.path, root)
        if paths is not None and shown not in paths:
            continue
        try:
            problem = _obstacle(entry, root)
            now = "" if problem else digest(entry.path)
            known = last[name].files[name].after
            if problem:
                report["failed"][shown] = problem
            elif now == entry.copy:
                report["unchanged"].append(shown)
            elif not force and known != "" and now != known:
                report["conflicts"].append(shown)
            else:
                _put_back(entry, store)
                report["removed" if entry.copy is None else "restored"].append(shown)
                store.note_after(last[name], entry.path)
        except OSError as error:
            report["failed"][shown] = error.strerror or str(error)
    return report


def _obstacle(entry: FileEntry, root: Path) -> str:
    # The way to it may have become a link in the meantime, or the workspace another one.
    if inside(str(entry.path), root) != entry.path:
        return "it is not in the workspace, or a link by now"
    return f"there is no copy: {entry.skipped}" if entry.skipped else ""


def _put_back(entry: FileEntry, store: CopyStore) -> None:
    if entry.copy is None:
        entry.path.unlink()
    else:
        write_atomic(entry.path, store.read(entry.copy), mode=entry.mode, durable=True)


def inside(path: str, root: Path) -> Path | None:
    """Return the file a path means, every link followed; None where it is not in the workspace."""
    try:
        found = (root / Path(path).expanduser()).resolve()
    except (ValueError, RuntimeError, OSError):
        return None
    return found if found != root and found.is_relative_to(root) else None
