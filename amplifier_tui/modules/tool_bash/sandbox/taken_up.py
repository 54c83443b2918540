"""What a command in the sandbox had git take up that would take effect where it is checked out.

In a commit or in the index it does nothing yet, and no look at the files finds it. So it is told,
the index is put back, and such a commit never counts as what somebody else made.
"""

import logging
from collections.abc import Callable, Iterable, Iterator, Set
from pathlib import Path
from typing import Final

from amplifier_tui.base.files import read_regular
from amplifier_tui.base.protected import configures_as_link, configuring
from amplifier_tui.base.repositories.settings import places_of_hooks
from amplifier_tui.modules.tool_bash.sandbox.git_folders import (
    Named,
    is_head,
    named_beside,
    tips_of,
)
from amplifier_tui.modules.tool_bash.sandbox.seen import SeenContents
from amplifier_tui.modules.tool_bash.sandbox.tracked import (
    RAW,
    Commits,
    ListedChange,
    Version,
    asked,
    changes,
    commits_here,
    repository_around,
    stands,
    wait_for_git,
)

logger = logging.getLogger(__name__)

_MOST_BYTES: Final = 200_000_000
_FORGIVEN: Final = "-"
_FILE: Final = "1"
"""How the mode of a file or of a link begins; that of a submodule is `160000`."""
_LINK: Final = "120000"


class Distrusted:
    """The commits of which that is so, for all sessions. Blocking.

    Args:
        file: Where they stand, a line each; it is made with the first.
    """

    def __init__(self, file: Path) -> None:
        self._file = file

    def all(self) -> frozenset[str]:
        """Return them.

        Raises:
            OSError: They can't be read.
        """
        try:
            rows = read_regular(self._file, _MOST_BYTES).decode("ascii", "replace").split()
        except FileNotFoundError:
            return frozenset()
        forgiven = {row[1:] for row in rows if row.startswith(_FORGIVEN)}
        return frozenset(rows) - forgiven - {_FORGIVEN + each for each in forgiven}

    def add(self, commits: Set[str]) -> None:
        """Add some; where they can't be kept, that is in the log."""
        self._write(sorted(commits))

    def forgive(self, checkout: Path, seen: SeenContents, places: Set[Path]) -> None:
        """Take away those whose files somebody else has put into the checkout, as they have them.

        Args:
            checkout: The folder of a repository.
            seen: What was in files before commands.
            places: What configures programs there.
        """
        takes_effect = _takes_effect(checkout, places)
        here = commits_here(checkout, self.all())
        left = set(here)
        held = set()
        for change in _changes_of(checkout, here):
            if change.commit in left and takes_effect(change):
                held.add(change.commit)
                if not (stands(change.file, change.version) and seen.is_as_it_was(change.file)):
                    left.discard(change.commit)
        if held & left:
            self._write([_FORGIVEN + commit for commit in sorted(held & left)])

    def _write(self, rows: list[str]) -> None:
        try:
            self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with self._file.open("a") as file:
                file.writelines(f"{row}\n" for row in rows)
        except OSError:
            logger.exception("The commits of commands can't be kept")


Staged = frozenset[tuple[Path, Version]]
"""What of an index would take effect, and is not so in HEAD."""


def staged(checkout: Path, made: Set[str], places: Set[Path]) -> Staged:
    """Return that of a repository, as far as somebody else than a command staged it.

    Args:
        checkout: The folder of the repository.
        made: Commits of commands. Where HEAD is moved back behind one, what it holds is staged.
        places: What configures programs there.
    """
    found = frozenset((each.file, each.version) for each in _staged(checkout, places))
    of_commands = commits_here(checkout, made) if found else ()
    return found.difference(
        (each.file, each.version) for each in _changes_of(checkout, of_commands)
    )


def committed(
    checkout: Path, tips: Set[str], named: Named, before: Commits, was: Staged, places: Set[Path]
) -> tuple[frozenset[str], dict[str, list[Path]]]:
    """Return the commits that came since, and what of them would take effect, with these files.

    Also those that have no reference yet, and that git goes on with where it has stopped.

    Args:
        checkout: The folder of the repository.
        tips: Its newest commits before.
        named: What it had named beside these.
        before: The commits that were there before.
        was: What was staged before.
        places: What configures programs there.
    """
    names = named_beside(checkout).since(named)
    beside = commits_here(checkout, {f"{each}^{{commit}}" for each in names})
    tips_now = tips_of(checkout).union(beside) - tips
    if not tips_now:
        return frozenset(), {}
    given = (*tips_now, *(f"^{each}" for each in tips))
    behind = asked(checkout, given, "rev-list", "--stdin")
    new = tips_now if behind is None else frozenset(behind.decode("ascii", "replace").split())
    listed = asked(checkout, given, "log", "--stdin", "-m", "--root", *RAW, "--format=%H")
    found: dict[str, dict[Path, None]] = {}
    try:
        for commit, file, version, _ in _taking_effect(checkout, listed or b"", places):
            if (file, version) not in was and not before.know(file, version):
                # Of a merge it is listed for each of its parents.
                found.setdefault(commit, {})[file] = None
    except Exception:
        logger.exception("The commits of a command can't be looked at")
        listed = None
    if listed is None:
        # What can't be looked at may hold anything.
        return new, {commit: [checkout] for commit in new}
    return new, {commit: list(files) for commit, files in found.items()}


def unstage(
    checkout: Path, before: Commits, was: Staged, places: Set[Path]
) -> tuple[list[Path], bool]:
    """Take what came into the index and would take effect out of it again.

    Args:
        checkout: The folder of the repository.
        before: The commits that were there before.
        was: What was staged before.
        places: What configures programs there.

    Returns:
        What came, and whether it is out again.
    """
    wait_for_git(checkout)
    found = [
        each
        for each in _staged(checkout, places)
        if (each.file, each.version) not in was and not before.know(each.file, each.version)
    ]
    if not found:
        return [], True
    staged_before = dict(was)
    versions = ((each.file, staged_before.get(each.file, each.before)) for each in found)
    rows = (f"{mode} {blob}\t{file.relative_to(checkout)}" for file, (mode, blob) in versions)
    # A reset would read all files anew, by whatever program the repository names for that.
    done = asked(checkout, rows, "update-index", "-z", "--index-info", ends=b"\0")
    return sorted(each.file for each in found), done is not None


def _staged(checkout: Path, places: Set[Path]) -> list[ListedChange]:
    listed = asked(checkout, (), "diff", "--cached", "--ignore-submodules=all", *RAW)
    return list(_taking_effect(checkout, listed or b"", places))


def _changes_of(checkout: Path, commits: Iterable[str]) -> Iterator[ListedChange]:
    commits = tuple(commits)
    asking = ("diff-tree", "--stdin", "-r", "--root", "-m", *RAW)
    return changes(checkout, (asked(checkout, commits, *asking) if commits else None) or b"")


def _taking_effect(checkout: Path, listed: bytes, places: Set[Path]) -> Iterator[ListedChange]:
    takes_effect = _takes_effect(checkout, places)
    for change in changes(checkout, listed):
        mode, _ = change.version
        if mode.startswith(_FILE) and not mode.startswith("16") and takes_effect(change):
            yield change


def _takes_effect(checkout: Path, places: Set[Path]) -> Callable[[ListedChange], bool]:
    # They may be in another worktree of the same repository.
    within = ((each, repository_around(each)) for each in places_of_hooks(checkout))
    hooks = [each.relative_to(around) for each, around in within if around is not None]
    # A link in the place of a folder puts others below it, and a file takes them away.
    leading = {folder for each in hooks for folder in each.parents}
    leading_here = {folder for each in places for folder in each.parents}

    def takes_effect(change: ListedChange) -> bool:
        file = change.file
        inside = file.relative_to(checkout)
        parts = inside.parts
        return (
            any(map(configuring, parts, ("", *parts)))
            or any(map(inside.is_relative_to, hooks))
            or not places.isdisjoint((file, *file.parents))
            or inside in leading
            or file in leading_here
            # Beside it others make a repository of the folder.
            or is_head(file.name)
            or (change.version[0] == _LINK and bool(configures_as_link(file.name)))
        )

    return takes_effect
