"""Copies of files, and the index of what they are copies of.

``index.jsonl`` has one line for each turn in which a file changed or a command ran and each time
files were put back (``turn``, with where git stood), for each file before its first change in that
turn (``file``), for what a tool made of it (``after``), for what somebody else made of it in
between (``hand``) or perhaps while a command ran (``perhaps``), for what could not be seen
(``unseen``), and for a command before it runs (``began``) and once it is noted what it changed
(``ended``): without its end, nobody knows what it changed. The contents are in ``objects/``, each
once, named by their SHA-256. All of it is readable by its owner only.
"""

import hashlib
import logging
import os
import re
import stat
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from amplifier_tui.base.files import MOST_BYTES, open_resolved, write_atomic
from amplifier_tui.base.git import GitPlace
from amplifier_tui.base.jsonl import Row, StoredRows, append_rows, decode_row, mend
from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.modules.hooks_checkpoint.states import (
    PERMISSIONS,
    file_state,
    link_state,
    link_target,
    same,
    stat_of,
    state,
)

logger = logging.getLogger(__name__)

INDEX: Final = "index.jsonl"
OBJECTS: Final = "objects"
_HEAD: Final = 8_192
_COPY: Final = "[0-9a-f]{64}"
_STATE: Final = f"{_COPY}(:link|:[0-7]{{1,3}})?"


@dataclass(frozen=True)
class CopyLimits:
    """How many bytes are kept at most: of a text, of any other file, of all copies together."""

    text: int = MOST_BYTES
    binary: int = MOST_BYTES
    together: int = 1 << 62


@dataclass
class FileEntry:
    """A file, or a link, before a turn changed it.

    Attributes:
        path: Absolute, without links.
        copy: SHA-256 of its content, for a link of where it leads; None when it did not exist, or
            was not copied.
        existed: Whether it existed.
        size: Bytes of its content.
        mode: Its permissions.
        skipped: Why it was not copied; empty when it was.
        after: The state the last tool left (see `states`), None for nothing; empty while unknown.
        command: The command during which it was seen to change; empty for a tool that named it.
        by_hand: Whether somebody else changed it between two calls of the turn.
        link: Whether it was a symbolic link.
        perhaps: The command while which somebody else perhaps changed it; empty for none.
        together: How many commands ran together, any of which may be the one; 0 where it is known.
    """

    path: Path
    copy: str | None = None
    existed: bool = False
    size: int = 0
    mode: int = 0o644
    skipped: str = ""
    after: str | None = ""
    command: str = ""
    by_hand: bool = False
    link: bool = False
    perhaps: str = ""
    together: int = 0

    @property
    def before(self) -> str | None:
        """The state it had; None when it did not exist, or was not copied."""
        if self.copy is None:
            return None
        return link_state(self.copy) if self.link else file_state(self.copy, self.mode)

    def is_other_than(self, state: str | None) -> bool:
        """Whether what the last tool left is known, and is not this state."""
        return self.after != "" and not same(self.after, state)

    @property
    def is_left(self) -> bool:
        """Whether it is as the last tool left it; not where that can't be told."""
        try:
            return self.after != "" and same(self.after, state(self.path))
        except OSError:
            return False

    @property
    def differs(self) -> bool:
        """Whether the file is another one since: the call was not denied, nor its work undone."""
        return bool(self.skipped) or not same(self.after, self.before)


@dataclass
class ChangedTurn:
    """A turn in which files may have changed, or a time when files were put back.

    Attributes:
        number: Of the turn, counted from 1.
        prompt: Its beginning.
        at: ISO time.
        back_to: Where files were put back: the id of the turn whose beginning they went back to.
        files: By their absolute path.
        noted: Why further files may have changed.
        open: The commands whose end is not noted, by their call.
        stood: Where the repository stood when it began; None where there is none, or nobody knows.
    """

    id: str
    number: int
    prompt: str
    at: str
    back_to: str = ""
    files: dict[str, FileEntry] = field(default_factory=dict)
    noted: list[str] = field(default_factory=list)
    open: dict[str, str] = field(default_factory=dict)
    stood: GitPlace | None = None

    @property
    def unseen(self) -> list[str]:
        """Why further files may have changed, each reason once."""
        ends = (f"what `{command}` changed: its end was not seen" for command in self.open.values())
        return list(dict.fromkeys([*self.noted, *ends]))


class CopyStore:
    """The copies of one session, in a folder that is made with the first of them.

    Everything here blocks: call it in a thread. What the disk refuses is an `OSError`.

    Attributes:
        turns: In order.
        size: Bytes of all copies.
        damaged: How many of the first turns may be incomplete: a line can't be read.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.turns: list[ChangedTurn] = []
        self.size = 0
        self.damaged = 0
        self._read()

    def begin(
        self, number: int, prompt: str, back_to: str = "", stood: GitPlace | None = None
    ) -> ChangedTurn:
        """Note a turn; see `ChangedTurn` for the arguments."""
        # Not their number: where one can't be read, its id stays its own.
        last = max((int(each.id) for each in self.turns), default=0)
        name, at = f"{last + 1:04d}", datetime.now(UTC).isoformat()
        turn = ChangedTurn(name, number, prompt, at, back_to, stood=stood)
        row = {"kind": "turn", "id": name, "turn": number, "prompt": prompt, "at": at}
        row |= {"back_to": back_to} if back_to else {}
        self._write(row | ({"git": stood._asdict()} if stood is not None else {}))
        self.turns.append(turn)
        return turn

    def add(
        self,
        turn: ChangedTurn,
        path: Path,
        most: CopyLimits,
        unsaved: bytes | None = None,
        command: str = "",
    ) -> FileEntry:
        """Copy a file that is about to be changed, in place of an earlier copy of this turn.

        Args:
            unsaved: What it holds where that is not on disk yet.
            command: The command whose change of it is taken back.
        """
        if unsaved is None:
            entry = self.copied(path, most)
        else:
            found = stat_of(path)
            mode = stat.S_IMODE(found.st_mode) if found is not None else FileEntry.mode
            entry = self.keep(path, unsaved, mode, most)
        entry.command = command
        self.enter(turn, entry)
        return entry

    def copied(self, path: Path, most: CopyLimits) -> FileEntry:
        """Copy a file; `enter` puts it into a turn."""
        entry = FileEntry(path)
        found = stat_of(path)
        if found is not None:
            entry.existed, entry.size = True, found.st_size
            entry.mode = stat.S_IMODE(found.st_mode)
            entry.link = stat.S_ISLNK(found.st_mode)
            if entry.link:
                self._keep_within(entry, link_target(path), most)
            elif not stat.S_ISREG(found.st_mode):
                entry.skipped = "it is no file"
            elif found.st_size > most.text:
                entry.skipped = f"it is larger than {most.text} bytes"
            else:
                self._keep_within(entry, _content(path), most)
        return entry

    def keep(
        self, path: Path, data: bytes, mode: int, most: CopyLimits, *, link: bool = False
    ) -> FileEntry:
        """Keep what a file held before it changed; `enter` puts it into a turn."""
        entry = FileEntry(path, existed=True, mode=mode, link=link)
        self._keep_within(entry, data, most)
        return entry

    def _keep_within(self, entry: FileEntry, data: bytes, most: CopyLimits) -> None:
        entry.size = len(data)
        if b"\0" in data[:_HEAD] and len(data) > most.binary:
            entry.skipped = f"it is no text and larger than {most.binary} bytes"
        elif len(data) > most.text:
            entry.skipped = f"it is larger than {most.text} bytes"
        elif self.size + len(data) > most.together:
            entry.skipped = f"the copies of this session have {most.together} bytes already"
        else:
            entry.copy = self._keep(data)

    def enter(self, turn: ChangedTurn, entry: FileEntry) -> None:
        """Note a file of a turn as it was before."""
        facts = {**vars(entry), "path": str(entry.path)}
        del facts["after"], facts["by_hand"]
        self._write({"kind": "file", "id": turn.id, **facts})
        turn.files[str(entry.path)] = entry

    def note_by_hand(self, turn: ChangedTurn, path: Path) -> None:
        """Note that somebody else changed a file between two calls of a turn."""
        turn.files[str(path)].by_hand = True
        self._write({"kind": "hand", "id": turn.id, "path": str(path)})

    def note_change(self, turn: ChangedTurn, entry: FileEntry, perhaps: str = "") -> None:
        """Note a file that changed while a command ran.

        Args:
            entry: What it was.
            perhaps: The command, where somebody else may have changed it.
        """
        known = turn.files.get(str(entry.path))
        if known is None:
            entry.perhaps = perhaps
            self.enter(turn, entry)
        elif known.is_left:
            return  # Another call of the turn changed it meanwhile.
        else:
            if entry.copy is not None and known.is_other_than(entry.before):
                self.note_by_hand(turn, entry.path)
            if perhaps and not known.perhaps:
                known.perhaps = perhaps
                row = {"kind": "perhaps", "id": turn.id, "path": str(entry.path)}
                self._write({**row, "command": perhaps})
        self.note_after(turn, entry.path)

    def note_unseen(self, turn: ChangedTurn, why: str) -> None:
        """Note once why further files may have changed in a turn."""
        if why not in turn.noted:
            turn.noted.append(why)
            self._write({"kind": "unseen", "id": turn.id, "why": why})

    def note_began(self, turn: ChangedTurn, call: str, command: str) -> None:
        """Note that a command is about to run: the program may end before it does."""
        if turn.open.get(call) != command:
            self._write({"kind": "began", "id": turn.id, "call": call, "command": command})
            turn.open[call] = command

    def note_ended(self, turn: ChangedTurn, call: str) -> None:
        """Note that all is known of what a command changed, or that it does not run."""
        if call in turn.open:
            self._write({"kind": "ended", "id": turn.id, "call": call})
            del turn.open[call]

    def note_after(self, turn: ChangedTurn, path: Path) -> None:
        """Note what a tool made of a file, so that a later change by another program is seen."""
        entry = turn.files.get(str(path))
        if entry is not None and not entry.skipped:
            try:
                after = state(path)
            except OSError as error:
                # It is no reason to note nothing of the files behind it.
                logger.warning("What became of %s is not known: %s", path, error)
                after = ""
            self._note_state(turn, entry, after)

    def note_untouched(self, turn: ChangedTurn, path: Path) -> None:
        """Note that no tool has changed a file yet, whatever it is by now."""
        entry = turn.files.get(str(path))
        if entry is not None and not entry.skipped and entry.after == "":
            self._note_state(turn, entry, entry.before)

    def _note_state(self, turn: ChangedTurn, entry: FileEntry, after: str | None) -> None:
        entry.after = after
        self._write({"kind": "after", "id": turn.id, "path": str(entry.path), "after": after})

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
            mend(self.folder / INDEX)
            stored = StoredRows(self.folder / INDEX)
        except OSError as error:
            logger.warning("The checkpoints in %s can't be read: %s", self.folder, error)
            self.damaged = sys.maxsize
            return
        turns: dict[str, ChangedTurn] = {}
        for index in range(len(stored)):
            row = decode_row(stored.line(index))
            try:
                self._take(row or {}, turns)
            except (ValueError, KeyError, TypeError) as error:
                logger.warning("A line of %s is ignored: %r", self.folder / INDEX, error)
                # Of a turn that is lost: the next one does not begin where that one did.
                lost = row is not None and str(row.get("id")) not in turns
                self.damaged = max(self.damaged, len(turns) + lost)
        self.turns = list(turns.values())
        with suppress(OSError), os.scandir(self.folder / OBJECTS) as found:
            self.size = sum(entry.stat().st_size for entry in found)

    def _take(self, line: Row, turns: dict[str, ChangedTurn]) -> None:
        match line["kind"]:
            case "turn":
                name, at = f"{int(line['id']):04d}", datetime.fromisoformat(line["at"])
                turns[name] = ChangedTurn(
                    name,
                    int(line["turn"]),
                    str(line["prompt"]),
                    at.isoformat(),
                    str(line.get("back_to") or ""),
                    stood=_place(line.get("git")),
                )
            case "file":
                copy = line["copy"]
                turns[line["id"]].files[str(line["path"])] = FileEntry(
                    path=Path(line["path"]),
                    copy=None if copy is None else _checked(copy),
                    existed=bool(line["existed"]),
                    size=int(line["size"]),
                    mode=int(line["mode"]) & PERMISSIONS,
                    skipped=str(line["skipped"]),
                    command=str(line.get("command") or ""),
                    link=bool(line.get("link")),
                    perhaps=str(line.get("perhaps") or ""),
                    together=int(line.get("together") or 0),
                )
            case "after":
                after = line["after"]
                found = turns[line["id"]].files[str(line["path"])]
                found.after = after if after in (None, "") else _checked(after, _STATE)
            case "hand":
                turns[line["id"]].files[str(line["path"])].by_hand = True
            case "perhaps":
                turns[line["id"]].files[str(line["path"])].perhaps = str(line["command"])
            case "unseen":
                turns[line["id"]].noted.append(str(line["why"]))
            case "began":
                turns[line["id"]].open[str(line["call"])] = str(line["command"])
            case "ended":
                turns[line["id"]].open.pop(str(line["call"]), None)


def _place(given: Any) -> GitPlace | None:
    """Return where git stood, as a row of a turn has it; those of older records have nothing."""
    if not isinstance(given, Mapping):
        return None
    staged = given.get("staged")
    return GitPlace(
        str(given.get("branch") or ""),
        str(given.get("commit") or ""),
        staged if isinstance(staged, str) else None,
    )


def _content(path: Path) -> bytes:
    # A link put there since it was looked at is not followed.
    with open_resolved(path) as file:
        return file.read()


def _checked(text: Any, pattern: str = _COPY) -> str:
    if re.fullmatch(pattern, str(text)) is None:
        raise ValueError("a copy is named by a SHA-256")
    return str(text)


def inside(path: str, root: Path) -> Path | None:
    """Return the file a path means, every link followed; None where it is not in the workspace."""
    try:
        found = (root / os.path.expanduser(path)).resolve()
    except (ValueError, RuntimeError, OSError):
        return None
    return found if found != root and found.is_relative_to(root) else None
