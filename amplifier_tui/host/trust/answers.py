"""What was answered about projects and strangers, for this program, this session or always."""

import logging
import os
from collections.abc import Iterable, Mapping
from dataclasses import field
from pathlib import Path
from time import time
from typing import Any, Final

from amplifier_tui.base.files import locked
from amplifier_tui.base.jsonl import Row, read_object, write_object
from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.foundation.trust.items import Remember, TrustDecision, TrustItem
from amplifier_tui.paths import user_state_dir

logger = logging.getLogger(__name__)

VERSION: Final = 2
_FORMER: Final = "trusted-sources.json"
_SHOWN: Final = ("group", "owner", "title", "detail", "where", "subject")


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """One line of the file of answers.

    Attributes:
        key: Of the item; see `TrustItem`.
        accepted: Whether it may count.
        at: When that was answered, Unix time in seconds.
    """

    key: str
    accepted: bool
    at: float = 0.0
    group: str = ""
    owner: str = ""
    title: str = ""
    detail: str = ""
    where: str = ""
    subject: str = ""


@dataclass
class _Content:
    answers: dict[str, StoredAnswer] = field(default_factory=dict)
    owners: list[str] = field(default_factory=list)
    folders: list[str] = field(default_factory=list)


class TrustFile:
    """The answers that hold for good, of this program and of every other one that runs.

    A file that can't be read holds no answers; that is said once, and it stays as it is.

    Args:
        path: The file; None for the usual one.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._given = path
        self._read: tuple[tuple[int, int, int] | None, _Content] | None = None
        self.problem = ""

    @property
    def path(self) -> Path:
        """The file."""
        return self._given if self._given is not None else user_state_dir() / "trust.json"

    def notice(self) -> str:
        """Return what the user should know of the file; empty for nothing."""
        self._content()
        former = self.path.with_name(_FORMER)
        if not self.problem and former.is_file() and not self.path.exists():
            return (
                f"{former} is of an older version and no longer counts: what you trusted there is "
                "asked once more"
            )
        return self.problem

    def answers(self) -> list[StoredAnswer]:
        """Return every answer, the oldest first."""
        return sorted(self._content().answers.values(), key=lambda each: each.at)

    def answer(self, key: str) -> bool | None:
        """Return what was answered about an item; None when nothing was."""
        found = self._content().answers.get(key)
        return None if found is None else found.accepted

    def former(self, item: TrustItem) -> StoredAnswer | None:
        """Return the latest answer about the same thing with another content."""
        same = [each for each in self.answers() if each.subject == item.subject]
        others = (each for each in reversed(same) if each.key not in (item.key, item.subject))
        return next(others, None)

    @property
    def owners(self) -> tuple[str, ...]:
        """The publishers that are trusted."""
        return tuple(self._content().owners)

    @property
    def folders(self) -> tuple[Path, ...]:
        """The folders that are the user's own."""
        return tuple(map(Path, self._content().folders))

    def add(
        self,
        items: Mapping[TrustItem, bool] | None = None,
        owners: Iterable[str] = (),
        folders: Iterable[Path] = (),
    ) -> None:
        """Keep answers, publishers and folders for good.

        Raises:
            OSError: The file can't be written, or holds what can't be read.
        """
        now = time()
        with locked(self.path):
            content = self._writable()
            for item, accepted in (items or {}).items():
                shown = {name: getattr(item, name) for name in _SHOWN}
                content.answers[item.key] = StoredAnswer(item.key, accepted, now, **shown)
            content.owners = list(dict.fromkeys((*content.owners, *owners)))
            known = (*content.folders, *(str(folder.resolve()) for folder in folders))
            content.folders = list(dict.fromkeys(known))
            self._write(content)

    def forget(self, what: str) -> int:
        """Forget every answer whose key begins so, and every publisher or folder of that name.

        Returns:
            How many were forgotten.

        Raises:
            OSError: The file can't be written, or holds what can't be read.
        """
        with locked(self.path):
            content = self._writable()
            before = len(content.answers) + len(content.owners) + len(content.folders)
            content.answers = {
                key: each
                for key, each in content.answers.items()
                if not (len(what) >= 6 and key.startswith(what)) and each.owner != what
            }
            content.owners = [owner for owner in content.owners if owner != what]
            content.folders = [folder for folder in content.folders if folder != what]
            after = len(content.answers) + len(content.owners) + len(content.folders)
            if after != before:
                self._write(content)
        return before - after

    def _writable(self) -> _Content:
        content = self._content()
        if self.problem:
            raise OSError(0, self.problem)
        return content

    def _write(self, content: _Content) -> None:
        answers = [
            {name: getattr(each, name) for name in StoredAnswer.__slots__}
            for each in content.answers.values()
        ]
        data = {
            "version": VERSION,
            "owners": content.owners,
            "folders": content.folders,
            "answers": answers,
        }
        write_object(self.path, data, mode=0o600)
        self._read = None

    def _content(self) -> _Content:
        stamp = _stamp(self.path)
        if self._read is None or self._read[0] != stamp:
            self._read = (stamp, self._load())
        return self._read[1]

    def _load(self) -> _Content:
        self.problem = ""
        try:
            if self.path.is_symlink():
                raise ValueError("it is a link")
            data = read_object(self.path)
            return _content(data) if data else _Content()
        except (OSError, ValueError, TypeError, AttributeError) as error:
            reason = getattr(error, "strerror", None) or error
            self.problem = (
                f"{self.path} can't be read ({reason}), so nothing counts as trusted. Remove it to "
                "begin anew"
            )
            logger.warning("%s", self.problem)
            return _Content()


def _content(data: Row) -> _Content:
    if data.get("version") != VERSION:
        raise ValueError(f"it is of version {data.get('version')!r}, and this is {VERSION}")
    content = _Content(owners=_texts(data, "owners"), folders=_texts(data, "folders"))
    for row in data.get("answers", ()):
        if not isinstance(row["accepted"], bool) or not isinstance(row["key"], str):
            raise ValueError("an answer is malformed")
        known = {name: row[name] for name in StoredAnswer.__slots__ if name in row}
        content.answers[row["key"]] = StoredAnswer(**known)
    return content


def _texts(data: Row, key: str) -> list[str]:
    found: Any = data.get(key, [])
    if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
        raise ValueError(f"'{key}' is no list of texts")
    return found


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        status = path.lstat()
    except OSError:
        return None
    return (status.st_mtime_ns, status.st_size, status.st_ino)


def _is_in(owner: str, folders: Iterable[Path]) -> bool:
    """Whether an owner is one of some folders or below one: also where a link in it leads."""
    if not os.path.isabs(owner):
        return False
    try:
        spellings = {Path(os.path.abspath(owner)), Path(owner).resolve()}
    except (OSError, RuntimeError, ValueError):
        return False
    places = {each for folder in folders for each in (folder, folder.resolve())}
    return all(any(each.is_relative_to(place) for place in places) for each in spellings)


class TrustMemory:
    """What was answered: in the file, in this program, and in each of its sessions.

    Args:
        file: The answers for good.
    """

    def __init__(self, file: TrustFile | None = None) -> None:
        self.file = file or TrustFile()
        self._run: dict[str, bool] = {}
        self._sessions: dict[str, dict[str, bool]] = {}
        self._remembered: dict[str, Remember] = {}
        self.nobody: set[str] = set()
        """Keys of the items that nobody was there to be asked about."""

    def known(self, item: TrustItem, session_id: str) -> bool | None:
        """Return what was answered about an item; None when it has to be asked."""
        for answers in (self._sessions.get(session_id, {}), self._run):
            if item.key in answers:
                return answers[item.key]
        stored = self.file.answer(item.key)
        if stored is None:
            own = item.owner in self.file.owners or _is_in(item.owner, self.file.folders)
            return True if own else None
        return stored

    def keep(
        self, items: Iterable[TrustItem], decision: TrustDecision, session_id: str, folder: Path
    ) -> None:
        """Keep a decision for as long as it says; what can't be written holds for this run.

        Raises:
            OSError: The answers could not be written.
        """
        given = {item: item.key in decision.accepted for item in items}
        own = decision.remember == "session"
        answers = self._sessions.setdefault(session_id, {}) if own else self._run
        answers.update({item.key: accepted for item, accepted in given.items()})
        keys = {item.key for item in given}
        self.nobody = self.nobody | keys if decision.unasked else self.nobody - keys
        always = decision.remember == "always"
        self._remembered.update({item.subject: decision.remember for item in given})
        if always or decision.owners or decision.folder:
            folders = (folder,) if decision.folder else ()
            self.file.add(given if always else {}, decision.owners, folders)

    def carry(self, origin: str, session_id: str) -> None:
        """Have what was answered for a session hold for one that goes on with its conversation."""
        self._sessions.setdefault(session_id, {}).update(self._sessions.get(origin, {}))

    def forget(self, items: Iterable[TrustItem]) -> None:
        """Forget what was answered about items, in every session and for good.

        Raises:
            OSError: The answers can't be written.
        """
        keys = {item.key for item in items}
        for answers in (self._run, *self._sessions.values()):
            for key in keys & answers.keys():
                del answers[key]
        for key in keys:
            if self.file.answer(key) is not None:
                self.file.forget(key)

    def bind(self, item: TrustItem, like: TrustItem, session_id: str) -> None:
        """Keep that an item is accepted, for as long as the answer about `like` holds."""
        decision = TrustDecision(
            accepted=frozenset({item.key}), remember=self._remembered.get(like.subject, "run")
        )
        self.keep((item,), decision, session_id, Path())
