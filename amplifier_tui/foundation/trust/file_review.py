"""One file whose owner is not trusted: what of it and of others may be used is asked here."""

import hashlib
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from amplifier_tui.base.files import read_regular
from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.secrets import replace_secrets
from amplifier_tui.base.text import shortened
from amplifier_tui.foundation.io import Keys
from amplifier_tui.foundation.mentions.secrets import NO_MODEL, holds_users_secrets
from amplifier_tui.foundation.paths import enclosing_bundle_folder, is_there, is_within
from amplifier_tui.foundation.report import ReportItem
from amplifier_tui.foundation.settings.expand import expand_variables
from amplifier_tui.foundation.trust.code import publisher
from amplifier_tui.foundation.trust.items import TrustGroup, make_item
from amplifier_tui.foundation.trust.owners import Owner
from amplifier_tui.foundation.trust.review import TrustReview

_LONGEST_PATH: Final = 4_096
_SCRIPTS: Final = frozenset(
    (".py", ".pyz", ".js", ".mjs", ".cjs", ".ts", ".mts", ".sh", ".rb", ".pl", ".php", ".lua")
)
"""Endings of files that something else runs."""
_SHOWN: Final = 1_000
"""Characters of a setting that are shown; an answer is for all of them."""


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

    def file_allowed(self, path: Path, why: str, keys: Keys = ()) -> bool:
        """Whether a file outside of what the owner brings may be read."""
        if not is_there(path):
            return False
        if holds_users_secrets(path):
            self.leave_out("files", str(path), keys, NO_MODEL)
            return False
        return self.allowed("files", str(path), (*keys, str(path)), str(path), why)

    def may_read(self, why: str) -> bool:
        """Whether the file itself may be read, which somebody with less power chose."""
        owner = self.review.places.owner_of(self.path)
        return not owner.is_trusted or owner is Owner.PROGRAM or self.file_allowed(self.path, why)

    def leads_out(self, text: str) -> bool:
        """Whether a text is a path that leads out of what the owner brings."""
        if len(text) > _LONGEST_PATH or "\n" in text or "\0" in text:
            return False
        if "://" in text or text.startswith("//"):  # an address
            return False
        expanded = str(expand_variables(text, self.review.environ))
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
        expanded = os.path.expanduser(str(expand_variables(text, self.review.environ)))
        return any(map(holds_users_secrets, self._places(expanded)))

    def programs(self, words: Sequence[str], folder: str) -> str:
        """Return the files of the owner's that a command line runs, each with its digest.

        What they load in turn is not looked at.

        Args:
            words: Program and arguments.
            folder: Where it runs; relative to the project.
        """
        found: dict[str, str] = {}
        for at, word in enumerate(words):
            written = word.rpartition("=")[2] if word.startswith("-") else word
            for place in self._places(os.path.join(folder, os.path.expanduser(written))):
                runs = at == 0 or place.suffix in _SCRIPTS or os.access(place, os.X_OK)
                if runs and self.is_own(place) and is_there(place) and not place.is_dir():
                    found[str(place)] = f" · {written} is {_digest(place)}"
        return "".join(found.values())

    def _places(self, path: str) -> list[Path]:
        """Where a path may lead, taken from this file and from the project."""
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

    def allowed(self, group: TrustGroup, title: str, keys: Keys, content: str, detail: str) -> bool:
        """Whether something that the file says may count.

        Args:
            keys: Where it stands.
            content: What the answer is good for.
            detail: What is shown of it.
        """
        return self.review.allows(
            make_item(
                group,
                title,
                subject=(str(self.path), *_identity(keys), title if group == "power" else ""),
                content=content,
                owner=publisher(self.uri) if self.uri else str(self.root),
                detail=shortened(replace_secrets(detail, lambda secret, kind: "…"), _SHOWN),
                where=self.where(keys),
            )
        )

    def leave_out(self, group: TrustGroup, what: str, keys: Keys, why: str) -> None:
        """Have something that the file says not count, whoever would allow it.

        Args:
            keys: Where it stands.
        """
        item = ReportItem(
            what=what,
            kind="skipped",
            part=group,
            why=why,
            asked_by=self.name,
            owner=self.owner,
            where=self.where(keys),
        )
        self.review.leave_out(item)

    def where(self, keys: Keys) -> str:
        """Return the file, and the line of a path of keys."""
        line = self.line_of(keys)
        return str(self.path) if line is None else f"{self.path}:{line}"


def _digest(path: Path) -> str:
    try:
        return f"sha256:{hashlib.sha256(read_regular(path)).hexdigest()[:32]}"
    except OSError as error:
        return f"a file that can't be read ({error.strerror})"


def _identity(keys: Keys) -> tuple[str, ...]:
    """A path of keys by which a setting is known; its place in a list may change."""
    return tuple(str(key) for key in keys if not isinstance(key, int))
