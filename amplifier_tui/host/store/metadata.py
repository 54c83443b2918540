"""`metadata.json`: what is known of a session. Other programs write it too: it is merged by key."""

import logging
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import field, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, TypedDict

from amplifier_tui import __version__
from amplifier_tui.base.files import (
    FileLockedError,
    FileTooLargeError,
    NotRegularFileError,
    locked,
    move_aside,
)
from amplifier_tui.base.jsonl import Row, read_object, write_object
from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.host.redaction import Redactor

logger = logging.getLogger(__name__)

FILE_NAME: Final = "metadata.json"
BACKUP_NAME: Final = "metadata.json.backup"
"""The copy the Amplifier CLI keeps of what it replaced."""

LOCK_TIME: Final = 1.0
"""Seconds to wait for another program that is changing the file."""
_READ_TIMES: Final = 3
_READ_PAUSE: Final = 0.02
_UNUSABLE: Final = (ValueError, NotRegularFileError, IsADirectoryError, FileTooLargeError)
_LONGEST_LINE: Final = 20
_EMPTY: Final[tuple[str | list[str] | dict[str, str], ...]] = ("", [], {})
_SET_ONCE: Final = frozenset({"created", "first_prompt", "parent_id"})
_PROGRAM: Final = {"program": "amplifier-tui", "program_version": __version__}

Tell = Callable[[str], None]
"""Gets a sentence for the user."""


def now() -> str:
    """Return the present moment as ISO text with its zone."""
    return datetime.now(UTC).isoformat()


class Called(TypedDict):
    """What a session is called, as events say it."""

    title: str
    description: str
    tags: tuple[str, ...]


@dataclass(slots=True)
class Metadata:
    """What is known of a session; the names are those of the Amplifier CLI where it has one.

    Attributes:
        created: ISO time.
        updated: ISO time of the last turn.
        bundle: The bundle as the Amplifier CLI finds it: a name or a URI.
        opened_with: `bundle` as it was written here, and the `reference` it was opened by, where
            that is another.
        turn_count: Prompts answered so far.
        name: The title; empty until somebody gave one.
        first_prompt: Shortened.
        working_dir: Where its tools work.
        project_dir: The folder it was started in, whose sessions it is listed with.
        parent_id: The session its conversation was taken from.
        workspace: Folder of its own scratch workspace, if it has one.
        unattended: Nobody has looked on so far: scripts alone opened it.
        mode: What goes through unasked.
        model_choice: The model the user chose, and its effort.
        branch: The branch that was checked out at the end of the last turn.
        cost: US dollars it used with its sub-agents, as decimal text; empty when unknown.
        unpriced_tokens: Those whose price is not known; `cost` leaves them out.
        limit: What may be used before the user is asked: `cost`, `tokens`.
        disabled: Keys of the modules that are switched off.
        rules: The session's own rules that deny and ask; see `host/gate/rules/of_session.py`.
        mounted: By its key, where a module comes from that the user mounted in it, and its `kind`.
        other: Fields of other programs, and those whose value is of another type than ours.
    """

    session_id: str
    created: str = ""
    updated: str = ""
    bundle: str = ""
    opened_with: dict[str, Any] = field(default_factory=dict)
    model: str = ""
    provider: str = ""
    turn_count: int = 0
    name: str = ""
    description: str = ""
    tags: list[str] = field(default_factory=list)
    first_prompt: str = ""
    working_dir: str = ""
    project_dir: str = ""
    parent_id: str = ""
    workspace: str = ""
    unattended: bool = False
    mode: str = ""
    branch: str = ""
    cost: str = ""
    unpriced_tokens: int = 0
    model_choice: dict[str, Any] = field(default_factory=dict)
    limit: dict[str, Any] = field(default_factory=dict)
    disabled: list[str] = field(default_factory=list)
    rules: dict[str, Any] = field(default_factory=dict)
    mounted: dict[str, Any] = field(default_factory=dict)
    other: dict[str, Any] = field(default_factory=dict)

    def note_bundle(self, reference: str, found_by: str) -> None:
        """Note the bundle of the session, and the name or URI the Amplifier CLI finds it by."""
        self.bundle = found_by
        differs = reference != found_by
        self.opened_with = {"bundle": found_by, "reference": reference} if differs else {}

    @property
    def bundle_reference(self) -> str:
        """What the bundle was opened by, unless another program has opened another one since."""
        reference = self.opened_with.get("reference")
        if isinstance(reference, str) and self.opened_with.get("bundle") == self.bundle:
            return reference
        return self.bundle.removeprefix("bundle:")

    @property
    def shown(self) -> tuple[str, str, tuple[str, ...]]:
        """Title, description and tags."""
        return self.name, self.description, tuple(self.tags)

    @property
    def dollars(self) -> float | None:
        """What it cost; None when that is unknown or no number."""
        try:
            amount = float(self.cost)
        except ValueError:
            return None
        return amount if math.isfinite(amount) else None

    def to_json(self) -> Row:
        """Return the fields, empty ones left out."""
        own = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "other"}
        kept = {name: value for name, value in own.items() if value not in _EMPTY}
        return {**self.other, **kept}

    @classmethod
    def from_json(cls, data: Mapping[str, Any], session_id: str) -> "Metadata":
        """Read metadata."""
        metadata = cls(session_id=session_id)
        for name, value in data.items():
            if name == "session_id":
                continue
            if name in _OWN and _is_like(value, getattr(metadata, name)):
                setattr(metadata, name, value)
            else:
                metadata.other[name] = value
        return metadata


_OWN: Final = frozenset(f.name for f in fields(Metadata)) - {"other", "session_id"}


def _is_like(value: Any, own: Any) -> bool:
    if isinstance(own, list):
        return isinstance(value, list) and all(isinstance(item, str) for item in value)
    return type(value) is type(own)


class TornMetadataError(FileLockedError):
    """The file is no whole one: another program may be writing it just now."""


class MetadataFile:
    """The metadata of one session on disk.

    Args:
        folder: The session's folder; its name is the session's id.
        tell: Told what was wrong with the file and what became of it.

    Attributes:
        metadata: What is known of the session. What is changed here counts once it is saved.
    """

    def __init__(self, folder: Path, tell: Tell = logger.warning) -> None:
        self.path = folder / FILE_NAME
        self.metadata = Metadata(session_id=folder.name)
        self._tell = tell
        self._known: Row = {}
        self._signature = (0, 0, 0)
        self._was_torn = False

    def load(self) -> None:
        """Take up what is on disk; a file that can't be used is kept aside.

        Raises:
            OSError: It can't be read.
        """
        self._take(_read_usable(self.path, self._tell))

    def save(self, wait: float = LOCK_TIME) -> None:
        """Write what changed here since the last `load` or `save`, and take up the rest.

        What others wrote since stays: of keys that changed on both sides it goes before ours only
        where a key is set once.

        Args:
            wait: Seconds to wait for another program that is changing it. Without any, a file that
                is torn is kept aside only if it was torn the last time, too.

        Raises:
            FileLockedError: That program is still at it.
            OSError: The disk does not take it; the old one is still there.
        """
        ours = {**self.metadata.to_json(), **_PROGRAM}
        final, self._was_torn = self._was_torn or wait > 0, False
        try:
            self._take(
                update_metadata(
                    self.path, lambda theirs: self._merged(theirs, ours), self._tell, wait, final
                )
            )
        except TornMetadataError:
            self._was_torn = True
            raise

    def is_changed(self) -> bool:
        """Whether another program has written the file since the last `load` or `save`."""
        return self._sign() != self._signature

    def _take(self, data: Row) -> None:
        self._known = data
        self._signature = self._sign()
        self.metadata = Metadata.from_json(data, self.metadata.session_id)

    def _sign(self) -> tuple[int, int, int]:
        try:
            found = self.path.stat()
        except OSError:
            return 0, 0, 0
        return found.st_mtime_ns, found.st_size, found.st_ino

    def _merged(self, theirs: Row, ours: Row) -> Row:
        known, merged = self._known, dict(theirs)
        for key, value in ours.items():
            present = theirs.get(key)
            if key not in theirs:
                # Taken out by another program, unless only we write it.
                if value != known.get(key) or key in _OWN - {"name", "description", "tags"}:
                    merged[key] = value
            elif key == "turn_count":
                # Another program may have counted on; only our own number may go down.
                if type(present) is int:
                    merged[key] = value if present == known.get(key) else max(value, present)
            elif value != known.get(key) and key not in _SET_ONCE:
                merged[key] = value
        for key in known.keys() - ours.keys():
            if known[key] not in _EMPTY and theirs.get(key) == known[key]:
                merged.pop(key, None)
        return merged


def read_metadata(folder: Path) -> Metadata:
    """Read the metadata of the session in a folder; empty where they can't be read."""
    path = folder / FILE_NAME
    try:
        return Metadata.from_json(read_object(path), folder.name)
    except (OSError, ValueError) as error:
        logger.warning("%s can't be read: %s", path, error)
        return Metadata(session_id=folder.name)


def called_by(shown: tuple[str, str, tuple[str, ...]], redactor: Redactor) -> Called:
    """Return title, description and tags for an event, without secrets."""
    title, description, tags = shown
    text = redactor.text
    return {
        "title": text(title),
        "description": text(description),
        "tags": tuple(map(text, tags)),
    }


def line_of(folder: Path) -> frozenset[str]:
    """Return the id of the session in a folder, and those of the sessions it was taken from."""
    found: set[str] = set()
    name = folder.name
    while name and name not in found and len(found) < _LONGEST_LINE:
        found.add(name)
        # One of another project is not looked into.
        before = folder.parent / Path(name).name
        name = read_metadata(before).parent_id if before.is_dir() else ""
    return frozenset(found)


def update_metadata(
    path: Path,
    change: Callable[[Row], Row],
    tell: Tell = logger.warning,
    wait: float = LOCK_TIME,
    final: bool = True,
) -> Row:
    """Change a session's metadata while no other window does.

    Args:
        path: The file; one that can't be used is kept aside first.
        change: Gets what is there, which it leaves as it is, and returns what is to be there.
        tell: Told what was wrong with the file and what became of it.
        wait: Seconds to wait for another program that is changing it.
        final: Keep one that is torn aside, instead of leaving it to whom may be writing it.

    Returns:
        What is there now.

    Raises:
        TornMetadataError: It is torn, and was not kept aside.
        OSError: It can't be read or written; it is as it was.
    """
    with locked(path, wait):
        there = _read_usable(path, tell, patient=wait > 0, final=final)
        wanted = change(there)
        if wanted != there:
            if path.is_symlink():
                tell(
                    f"{path.name} was a link to {path.readlink()}; it is a file of its own now, "
                    "and what it led to is as it was"
                )
            write_object(path, wanted, mode=0o600)
    return wanted


def _read_usable(path: Path, tell: Tell, *, patient: bool = True, final: bool = True) -> Row:
    """Read the file; one that can't be used is moved aside, and the CLI's copy takes its place.

    Args:
        patient: Look again, some milliseconds later, where it is torn.
    """
    try:
        return _read_patiently(path) if patient else read_object(path)
    except _UNUSABLE as error:
        if not final and isinstance(error, ValueError):
            raise TornMetadataError(path, "") from error
        reason = error.strerror if isinstance(error, OSError) else str(error)
        aside = move_aside(path)
        try:
            copy = read_object(path.with_name(BACKUP_NAME))
        except (OSError, ValueError) as failed:
            logger.warning("The copy of %s can't be read either: %s", path, failed)
            copy = {}
        instead = ""
        if copy:
            write_object(path, copy, mode=0o600)
            instead = f"; {BACKUP_NAME} is used in its place"
        tell(f"{path.name} can't be read ({reason}) and was kept as {aside.name}{instead}")
        return copy


def _read_patiently(path: Path) -> Row:
    """Read a file that another program may be about to write, not always in one step."""
    for _ in range(_READ_TIMES - 1):
        try:
            return read_object(path)
        except ValueError:
            time.sleep(_READ_PAUSE)
    return read_object(path)
