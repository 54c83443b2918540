"""What a command in the sandbox had git take up that would take effect where it is checked out.

In a commit or in the index it does nothing yet, and no look at the files finds it. So it is told,
the index is put back, and such a commit never counts as what somebody else made.
"""

import logging
import os
from collections.abc import Callable, Iterator, Set
from pathlib import Path
from typing import Final

from amplifier_tui.base.files import read_regular
from amplifier_tui.base.git import TIMEOUT, change_now, git_bytes_now
from amplifier_tui.base.protected import configuring
from amplifier_tui.base.repositories import places_of_hooks
from amplifier_tui.modules.tool_bash.sandbox.tracked import (
    Commits,
    Version,
    asked,
    changes,
    commits_here,
    stands,
    tips_of,
)

logger = logging.getLogger(__name__)

_MOST_BYTES: Final = 4_000_000
_MOST_CHANGES: Final = 2_000
"""Of more it is not looked which they are."""
_FORGIVEN: Final = "-"
_FILE: Final = "1"
"""How the mode of a file or of a link begins; that of a submodule is `160000`."""


class Distrusted:
    """The commits of which that is so, for all sessions. Blocking.

    Args:
        file: Where they stand, a line each; it is made with the first.
    """

    def __init__(self, file: Path) -> None:
        self._file = file

    def all(self) -> frozenset[str]:
        """Return them."""
        try:
            rows = read_regular(self._file, _MOST_BYTES).decode("ascii").split()
        except (OSError, ValueError):
            return frozenset()
        forgiven = {row[1:] for row in rows if row.startswith(_FORGIVEN)}
        return frozenset(rows) - forgiven - {_FORGIVEN + each for each in forgiven}

    def add(self, commits: Set[str]) -> None:
        """Add some; where they can't be kept, that is in the log."""
        self._write(sorted(commits))

    def forgive(self, checkout: Path) -> None:
        """Take away those whose files somebody else has put into the checkout, as they have them.

        Args:
            checkout: The folder of a repository.
        """
        takes_effect = _takes_effect(checkout)
        for commit in commits_here(checkout, self.all()):
            listed = git_bytes_now(checkout, "diff-tree", "-r", "--root", "-m", *_RAW, commit)
            files = [
                (file, version)
                for _, file, version in changes(checkout, listed or b"")
                if takes_effect(file)
            ]
            if files and all(stands(file, version) for file, version in files):
                self._write([_FORGIVEN + commit])

    def _write(self, rows: list[str]) -> None:
        try:
            self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with self._file.open("a") as file:
                file.writelines(f"{row}\n" for row in rows)
        except OSError:
            logger.exception("The commits of commands can't be kept")


Staged = frozenset[tuple[Path, Version]]
"""What of an index would take effect, and is not so in HEAD."""


def staged(checkout: Path) -> Staged:
    """Return that of a repository.

    Args:
        checkout: The folder of the repository.
    """
    listed = git_bytes_now(checkout, "diff", "--cached", *_RAW)
    return frozenset(
        (file, version) for _, file, version in _taking_effect(checkout, listed or b"")
    )


def committed(
    checkout: Path, tips: Set[str], before: Commits, was: Staged
) -> tuple[frozenset[str], dict[str, list[Path]]]:
    """Return the commits that came since, and what of them would take effect, with these files.

    Args:
        checkout: The folder of the repository.
        tips: Its newest commits before.
        before: The commits that were there before.
        was: What was staged before.
    """
    new = tips_of(checkout) - tips
    if not new:
        return frozenset(), {}
    given = (*new, *(f"^{each}" for each in tips))
    listed = asked(checkout, given, "log", "--stdin", "-m", "--root", *_RAW, "--format=%H") or b""
    found: dict[str, list[Path]] = {}
    for commit, file, version in _taking_effect(checkout, listed):
        if (file, version) not in was and not before.know(file, version):
            found.setdefault(commit, []).append(file)
    names = (row for row in listed.split(b"\n") if row and not row.startswith(b":"))
    return frozenset(row.decode("ascii", "replace") for row in names), found


def unstage(checkout: Path, before: Commits, was: Staged) -> list[Path]:
    """Take what came into the index and would take effect out of it again, and return it.

    Args:
        checkout: The folder of the repository.
        before: The commits that were there before.
        was: What was staged before.
    """
    new = staged(checkout) - was
    found = sorted(file for file, version in new if not before.know(file, version))
    if found:
        names = (f":(top,literal){file.relative_to(checkout)}" for file in found)
        change_now(checkout, "reset", "-q", "--", *names, timeout=TIMEOUT)
    return found


_RAW: Final = ("--raw", "--no-abbrev", "--no-renames", "--no-ext-diff", "--no-textconv")


def _taking_effect(checkout: Path, listed: bytes) -> Iterator[tuple[str, Path, Version]]:
    takes_effect = _takes_effect(checkout)
    for count, (commit, file, version) in enumerate(changes(checkout, listed)):
        if count == _MOST_CHANGES:
            break
        mode, _ = version
        if mode.startswith(_FILE) and not mode.startswith("16") and takes_effect(file):
            yield commit, file, version


def _takes_effect(checkout: Path) -> Callable[[Path], bool]:
    hooks = places_of_hooks(checkout)

    def takes_effect(file: Path) -> bool:
        return any(map(configuring, file.relative_to(checkout).parts)) or any(
            file.is_relative_to(folder) for folder in hooks if os.path.isabs(folder)
        )

    return takes_effect
