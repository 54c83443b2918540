"""Where a command of a script runs, and what its paths and patterns lead to from there."""

import os
import re
from collections.abc import Iterable
from fnmatch import fnmatchcase
from glob import iglob
from itertools import islice
from pathlib import Path
from typing import Final

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.protected import configuring, holds_secrets_at
from amplifier_tui.host.gate.places import PathPlace, locate

_PATTERN: Final = frozenset("*?[")
_PLAIN_SET: Final = re.compile(r"\[\w+\]", re.ASCII)
_MOST_MATCHES: Final = 200
_MOST_NAMES: Final = 10_000

_PLACES: Final = re.compile(
    r"(?:~\+|\$(?:PWD|\{PWD(?::?\?[^}]*)?\}|\(pwd\))|`pwd`|(\$(?:HOME|\{HOME(?::?\?[^}]*)?\}))"
    r"|(\$\(git rev-parse --show-toplevel\)|`git rev-parse --show-toplevel`))(?=/|\Z)"
)


@dataclass(frozen=True, slots=True)
class Whereabouts:
    """Where a command of a script runs: after every `cd` before it.

    `known` is False after a `cd` to a folder only known when it runs.
    """

    workspace: Path
    folder: Path
    known: bool = True

    def locate(self, text: str) -> PathPlace:
        """Return where a path leads from here."""
        return locate(text, self.workspace, self.folder)

    def named(self, written: str) -> str:
        """Return an argument with the place in it that a shell's own variable, or git, names.

        Empty where none is.
        """
        found = _PLACES.match(written)
        if found is None:
            return ""
        start = "~" if found[1] else str(self.workspace) if found[2] else "."
        return start + written[found.end() :]

    def holds(self, text: str, *, untold: bool = False) -> bool:
        """Whether a place, or all that a pattern stands for, is in the workspace and no secret.

        Args:
            untold: What is in it is not told: it may be a secret.
        """
        found = [self.locate(text)]
        if not _PATTERN.isdisjoint(text):
            # To older shells `.*` is `..` too.
            dotted = (part for part in _widened_parts(text) if part[:1] == "." and part != "..")
            if any(fnmatchcase("..", part) for part in dotted):
                return False
            matches = self.matches(text)
            # Programs take such names for options, or for a file of options.
            if matches is None or any(name.startswith(("-", "@")) for name in matches):
                return False
            found += map(self.locate, matches)
        return not any(place.outside or (place.secret and not untold) for place in found)

    def matches(self, text: str) -> list[str] | None:
        """Return what a pattern stands for, and maybe more; None where that is too much."""
        if _PATTERN.isdisjoint(text):
            return []
        found = iglob("/".join(_widened_parts(text)), root_dir=self.folder)
        names = list(islice(found, _MOST_MATCHES + 1))
        return None if len(names) > _MOST_MATCHES else names

    def secrets(self, text: str) -> list[PathPlace]:
        """Return the files of keys that a place is, or a pattern stands for, and maybe more."""
        names: Iterable[str] = (text,)
        if not _PATTERN.isdisjoint(text):
            pattern = "/".join(_widened_parts(os.path.expanduser(text)))
            names = islice(iglob(pattern, root_dir=self.folder), _MOST_NAMES)
        return [self.locate(name) for name in names if holds_secrets_at(name.split("/"))]

    def configuring_outside(self, pattern: str) -> list[PathPlace]:
        """Return what a pattern stands for outside that configures programs, or holds keys."""
        if _PATTERN.isdisjoint(pattern):
            return []
        wide = "/".join(_widened_parts(os.path.expanduser(pattern)))
        names = (name.split("/") for name in islice(iglob(wide, root_dir=self.folder), _MOST_NAMES))
        marked = (
            "/".join(parts)
            for parts in names
            if holds_secrets_at(parts) or any(map(configuring, parts, ("", *parts)))
        )
        return [place for place in map(self.locate, marked) if place.outside]

    @property
    def elsewhere(self) -> bool:
        """Whether it may be outside the workspace."""
        return not self.known or self.locate(".").outside


def fixed_part(word: str) -> str:
    """Return the folder a pattern like `build/*` lies in."""
    for index, char in enumerate(word):
        if char in "*?[":
            return word[:index].rpartition("/")[0] + "/" if "/" in word[:index] else "."
    return word


def _widened_parts(text: str) -> list[str]:
    return [_widened(part) for part in text.split("/")]


def _widened(part: str) -> str:
    """Return a pattern for a name that fits at least what a shell's pattern fits.

    Only sets of plain letters are read alike by all, not `[^a]`, `[[:lower:]]` or `[a-z]`.
    """
    before, bracket, _ = part.partition("[")
    return f"{before}*" if bracket and "[" in _PLAIN_SET.sub("?", part) else part
