"""One file whose owner is not trusted: what of it and of others may be used is asked here."""

import hashlib
import os
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Final

from amplifier_tui.base.files import read_regular
from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.secrets import find_secrets, replace_secrets
from amplifier_tui.base.text import shortened
from amplifier_tui.foundation.io import Keys
from amplifier_tui.foundation.mentions.secrets import NO_MODEL, holds_users_secrets
from amplifier_tui.foundation.paths import (
    enclosing_bundle_folder,
    home_expanded,
    is_there,
    is_within,
)
from amplifier_tui.foundation.report import ReportItem
from amplifier_tui.foundation.settings.expand import expand_variables
from amplifier_tui.foundation.trust.code import publisher
from amplifier_tui.foundation.trust.items import TrustGroup, TrustItem, make_item
from amplifier_tui.foundation.trust.owners import Owner
from amplifier_tui.foundation.trust.review import TrustReview

_LONGEST_PATH: Final = 4_096
_SCRIPTS: Final = frozenset(
    (".py", ".pyz", ".js", ".mjs", ".cjs", ".ts", ".mts", ".sh", ".rb", ".pl", ".php", ".lua")
)
"""Endings of files that something else runs."""
_SHOWN: Final = 10_000
"""Most characters of what can be asked about: all of it is shown."""
_TOO_LONG: Final = "it is too long to be shown when it is asked about"
_HIDDEN: Final = "a part of it looks like a key, which is not shown, and may be more than that"
_IS_ONE_WORD: Final = re.compile(r"[^\s\\\"'`$;&|<>(){}]+")


@dataclass(frozen=True)
class FileReview:
    """One file whose owner is not trusted, under review.

    Attributes:
        owner: The weakest of the file's owner and of those who chose it.
        path: The file.
        line_of: Gives the line of a path of keys.
        name: What the file is called: the bundle's name.
        uri: Where it was fetched from; empty for a file of this machine.
    """

    review: TrustReview
    owner: Owner
    path: Path
    line_of: Callable[[Keys], int | None]
    name: str = ""
    uri: str = ""

    def file_allowed(self, path: Path, why: str, keys: Keys = (), place: str = "") -> Path | None:
        """Return a file outside of what the owner brings if it may be read.

        Links are followed here, once: another file that they lead to later was not asked about.

        Args:
            keys: Where it stands.
            place: File and line, where no path of keys leads there.
        """
        if not is_there(path):
            return None
        real = path.resolve()
        if holds_users_secrets(real):
            self.leave_out("files", str(path), keys, NO_MODEL, place)
            return None
        shown = str(path) if str(real) == os.path.abspath(path) else f"{path} → {real}"
        asked = self.allowed("files", shown, (*keys, str(path)), shown, why, place)
        return real if asked else None

    def may_read(self, why: str) -> bool:
        """Whether the file itself may be read, which somebody with less power chose."""
        owner = self.review.places.owner_of(self.path)
        if owner is Owner.PROGRAM or not owner.is_trusted:
            return True
        return self.file_allowed(self.path, why) is not None

    def leads_out(self, text: str) -> bool:
        """Whether a text is a path that leads out of what the owner brings."""
        expanded = self.expanded(text)
        if not self._may_be_path(expanded):
            return False
        if expanded.startswith("~") or (expanded.startswith("$") and "/" in expanded):
            return True
        candidates = self._places(expanded)
        if not expanded.startswith(("/", "\\")) and ".." not in Path(expanded).parts:
            candidates = [each for each in candidates if is_there(each)]
        own = [each for each in candidates if self.is_own(each)]
        # Which of the places is meant, only the module knows.
        if any(is_there(each) for each in candidates if each not in own):
            return True
        return bool(candidates) and not own

    def leads_to_secrets(self, text: str) -> bool:
        """Whether a text is a path to the user's keys or the program's own state."""
        return any(map(holds_users_secrets, self._places(home_expanded(self.expanded(text)))))

    def programs(self, words: Sequence[str], folder: str) -> str:
        """Return the files of the owner's that a command line runs, each with its digest.

        What they load in turn is not looked at.

        Args:
            words: Program and arguments.
            folder: Where it runs; relative to the project.
        """
        found: dict[str, str] = {}
        for at, word in enumerate(words):
            written, path = self._path_in(word)
            # Some programs take a `~` for the home, and some for a folder of that name.
            paths = dict.fromkeys((home_expanded(path), path))
            for place in (place for each in paths for place in self._places(folder, each)):
                runs = at == 0 or place.suffix in _SCRIPTS or os.access(place, os.X_OK)
                if runs and self.is_own(place) and is_there(place) and not place.is_dir():
                    found[str(place)] = f" · {written} is {_digest(place)}"
        return "".join(found.values())

    def ends(self, texts: Iterable[str], folder: str = "") -> str:
        """Return where links lead that paths among some texts go through, to be shown.

        Args:
            folder: What relative paths start from; relative to the project or the file.
        """
        found: dict[str, None] = {}
        for text in texts:
            written, path = self._path_in(text)
            path = home_expanded(path)
            if not self._may_be_path(path):
                continue
            for place in self._places(folder):
                plain = os.path.join(os.path.realpath(place), path)
                if (real := os.path.realpath(plain)) != os.path.normpath(plain):
                    found[f" · {written} → {real}"] = None
        return "".join(found)

    def expanded(self, text: str) -> str:
        """Return a text of a configuration as modules get it."""
        return str(expand_variables(text, self.review.environ))

    def _path_in(self, word: str) -> tuple[str, str]:
        """Return what of a word may be a path, the value of an option: as written, as expanded."""
        given = self.expanded(word)
        if not given.startswith("-"):
            return word, given
        return word.rpartition("=")[2], given.rpartition("=")[2]

    def _may_be_path(self, text: str) -> bool:
        if len(text) > _LONGEST_PATH or not _is_encodable(text):
            return False
        # An address or prose; but a folder of the owner's can be called like the begin of one.
        other = "://" in text or text.startswith("//") or "\n" in text
        return not other or any(map(is_there, self._places(home_expanded(text))))

    def _places(self, *parts: str) -> list[Path]:
        """Where a path may lead, taken from this file and from the project."""
        path = os.path.join(*parts)
        if not _is_encodable(path):
            return []
        return [base / path for base in (self.path.parent, self.review.places.project)]

    def is_own(self, path: Path) -> bool:
        """Whether a file belongs to what the owner brings itself."""
        return is_within(path, self.root)

    @property
    def root(self) -> Path:
        """The folder that holds what the owner brings: the project, or what was fetched."""
        places = self.review.places
        if self.owner is Owner.PROJECT:
            return places.project
        folder, cache = self.path.resolve().parent, (places.home / "cache").resolve()
        if folder != cache and folder.is_relative_to(cache):
            return cache / folder.relative_to(cache).parts[0]
        return enclosing_bundle_folder(folder) or folder

    def allowed(
        self,
        group: TrustGroup,
        title: str,
        keys: Keys,
        content: str,
        detail: str,
        place: str = "",
    ) -> bool:
        """Whether something that the file says may count.

        Args:
            keys: Where it stands.
            content: What the answer is good for.
            detail: What is shown of it.
            place: File and line, where the keys do not lead there.
        """
        text = f"{title}\n{detail}"
        hidden = (text[start:end] for start, end, _ in find_secrets(text))
        # Nobody can say yes to what they do not see.
        why = _TOO_LONG if len(text) > _SHOWN else ""
        if not all(map(_IS_ONE_WORD.fullmatch, hidden)):
            why = _HIDDEN
        if why:
            self.leave_out(group, shortened(title, _LONGEST_PATH), keys, why, place)
            return False
        return self.review.allows(self.item(group, title, keys, content, detail, place))

    def item(
        self,
        group: TrustGroup,
        title: str,
        keys: Keys,
        content: str,
        detail: str,
        place: str = "",
    ) -> TrustItem:
        """Return what is asked about something that the file says; see `allowed`."""
        return make_item(
            group,
            title,
            subject=(str(self.path), *_identity(keys), title if group == "power" else ""),
            content=content,
            owner=publisher(self.uri) if self.uri else str(self.root),
            detail=replace_secrets(detail, lambda secret, kind: "…"),
            where=place or self.where(keys),
        )

    def leave_out(
        self, group: TrustGroup, what: str, keys: Keys, why: str, place: str = ""
    ) -> None:
        """Have something that the file says not count, whoever would allow it.

        Args:
            keys: Where it stands.
            place: File and line, where the keys do not lead there.
        """
        item = ReportItem(
            what=what,
            kind="skipped",
            part=group,
            why=why,
            asked_by=self.name,
            owner=self.owner,
            where=place or self.where(keys),
        )
        self.review.leave_out(item)

    def where(self, keys: Keys) -> str:
        """Return the file, and the line of a path of keys."""
        line = self.line_of(keys)
        return str(self.path) if line is None else f"{self.path}:{line}"


def may_read_links(review: TrustReview, path: Path, file: Path) -> bool:
    """Whether a bundle of the project may be read, which can be a link that leads out of it.

    Args:
        path: Where it is, as it is written.
        file: What would be read.
    """
    project = review.places.project
    inside = Path(os.path.abspath(path)).is_relative_to(os.path.abspath(project))
    if not inside or is_within(path, project) or review.places.owner_of(project).is_trusted:
        return True
    named = review.named.get(path.resolve())
    if named is not None:
        return named
    asked = FileReview(review, Owner.PROJECT, path, lambda keys: None)
    found = asked.file_allowed(path, "a bundle of the project that is a link")
    return found is not None and is_within(file, found)


def _is_encodable(path: str) -> bool:
    """Whether there can be a path of these characters."""
    try:
        return b"\0" not in os.fsencode(path)
    except UnicodeEncodeError:
        return False


def _digest(path: Path) -> str:
    try:
        return f"sha256:{hashlib.sha256(read_regular(path)).hexdigest()[:32]}"
    except OSError as error:
        return f"a file that can't be read ({error.strerror})"


def _identity(keys: Keys) -> tuple[str, ...]:
    """A path of keys by which a setting is known; its place in a list may change."""
    return tuple(str(key) for key in keys if not isinstance(key, int))
