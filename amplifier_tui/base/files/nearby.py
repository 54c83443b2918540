"""What lies in a folder, as far as a look of a tenth of a second goes."""

import os
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Final

from amplifier_tui.base.homes import user_home
from amplifier_tui.base.lazy.pattern import lazy_pattern
from amplifier_tui.base.opened.folders import files_below
from amplifier_tui.base.protected import configuring, holds_secrets_at

_MOST_ENTRIES: Final = 16_000
_MOST_PLACES: Final = 200
_MOST_FOLDERS: Final = 500
_MOST_STEPS: Final = 400
"""Names on the way of a link: they may lead in a circle."""
_PASSED_OVER: Final = frozenset({"node_modules", ".venv", "site-packages", "__pycache__"})
"""Folders of installed packages: large, and made anew by commands all the time."""
_MAY_BE_PASSED_OVER: Final = frozenset({"venv", "env"})
"""The same where they are environments of Python."""
_LEFT_OUT: Final = _PASSED_OVER | _MAY_BE_PASSED_OVER
_MADE_FOLDERS: Final = frozenset(
    {
        *("venv", "bower_components", "jspm_packages", "vendor", "pods", ".pnpm-store", ".eggs"),
        *(
            ".gradle",
            ".terraform",
            "build",
            "dist",
            "target",
            "out",
            "bin",
            "obj",
            "debug",
            "release",
        ),
        *("cmakefiles", "deriveddata", "_build", "dist-newstyle", ".stack-work", ".dart_tool"),
        *(
            "zig-out",
            "zig-cache",
            ".zig-cache",
            ".bloop",
            ".metals",
            ".expo",
            ".serverless",
            ".next",
        ),
        *(".nuxt", ".output", ".svelte-kit", ".angular", ".turbo", ".parcel-cache", ".docusaurus"),
        *("_site", ".cache", "tmp", "temp", "logs", "coverage", "htmlcov", ".nyc_output", ".tox"),
        *(".nox", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis"),
    }
)
_MADE_NAMES: Final = lazy_pattern(
    r".*\.(?:py[cod]|o|a|so|obj|class|dll|exe|egg|whl|d|gcda|gcno|log|tmp|swp|pid|prof"
    r"|egg-info|tsbuildinfo)|.*~|cmake-build-.*|\.coverage(?:\..*)?|coverage\.(?:xml|json|out)"
    r"|\.(?:eslint|stylelint)cache|\.ds_store|thumbs\.db|a\.out"
)
_ENVIRONMENT: Final = "pyvenv.cfg"


_Mark = tuple[int, int, int]
"""Tells whether anything came into a folder or went: nobody can set that time."""
_SETTLED: Final = 200_000_000
"""Nanoseconds after which a change is certain to get another time than the one before."""
_SECOND: Final = 1_000_000_000

Entries = dict[Path, tuple[_Mark, list["os.DirEntry[str]"]]]
"""What was in folders when they were listed."""


class FolderListing:
    """Lists folders, and keeps in mind which.

    Args:
        counts: Says by its name and its folder which file to tell of; all without it. Of what is no
            file all are told.
        earlier: What earlier ones with the same `counts` found, to which this one adds: a folder
            that has not changed since is not listed again.
        most: How many entries `nearby` looks at.

    Attributes:
        listed: Folders all of whose entries are known.
        inodes: What tells each of these from others of its name: its device and its number there.
        unknown: Folders that can't be listed, or were left out.
        is_full: Whether some were left out for lack of room.
    """

    def __init__(
        self,
        counts: Callable[[str, Path], bool] | None = None,
        earlier: Entries | None = None,
        most: int = _MOST_ENTRIES,
    ) -> None:
        self.listed: set[Path] = set()
        self.inodes: dict[Path, tuple[int, int]] = {}
        self.unknown: set[Path] = set()
        self.is_full = False
        self.most = most
        self._counts = counts
        self._earlier = earlier

    def entries(self, folder: Path) -> list["os.DirEntry[str]"]:
        """Return what is in a folder; nothing where it is none, or can't be looked into."""
        try:
            # What is in a folder that may not be searched can't be looked at.
            found = os.stat(f"{folder}/.")
            entries = self._entries(folder, found)
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError:
            self.unknown.add(folder)
            return []
        self.listed.add(folder)
        self.inodes[folder] = (found.st_dev, found.st_ino)
        return entries

    def _entries(self, folder: Path, found: os.stat_result) -> list["os.DirEntry[str]"]:
        mark = (found.st_dev, found.st_ino, found.st_ctime_ns)
        if self._earlier is not None:
            known, entries = self._earlier.get(folder, (None, []))
            if known == mark:
                return entries
        began = time.time_ns()
        with os.scandir(folder) as listed:
            entries = [each for each in listed if self._tells_of(each, folder)]
        # Some file systems know the time by the second only, or not at all.
        sure = found.st_ctime_ns + _SETTLED < began and found.st_ctime_ns % _SECOND
        if self._earlier is not None and sure:
            self._earlier[folder] = (mark, entries)
        return entries

    def _tells_of(self, entry: "os.DirEntry[str]", folder: Path) -> bool:
        return (
            self._counts is None
            or not entry.is_file(follow_symlinks=False)
            or self._counts(entry.name, folder)
        )

    def knew(self, place: Path) -> bool:
        """Whether a place would have been come across, had it been there."""
        if place in self.listed:
            return True
        for folder in place.parents:
            if place in self.unknown:
                return False
            if folder in self.listed:
                return True
            place = folder
        return False


def nearby(
    folder: Path, listing: FolderListing | None = None
) -> Iterator[tuple["os.DirEntry[str]", Path]]:
    """Yield what is in a folder and below it, the nearest first, with the folder it is in.

    As many as the listing looks at, sixteen thousand without one. Into what configures programs it
    does not go. Blocking.

    Args:
        listing: Lists the folders.
    """
    listing = listing or FolderListing()
    seen = 0
    folders = deque((folder,))
    while folders and seen < listing.most:
        at = folders.popleft()
        entries = listing.entries(at)
        for entry in entries:
            # A command makes as many links as it takes to hide something.
            seen += not entry.is_symlink()
            yield entry, at
            if goes_on(entry):
                folders.append(Path(entry))
    listing.unknown.update(folders)
    listing.is_full = listing.is_full or bool(folders)


def goes_on(entry: "os.DirEntry[str]") -> bool:
    """Whether such a look goes into a folder."""
    return (
        entry.is_dir(follow_symlinks=False)
        and not is_passed_over(Path(entry))
        and not configuring(entry.name, Path(entry).parent.name)
    )


def links_below(folder: Path) -> list[Path]:
    """Return the links below a folder, as far as a look at a few hundred files goes. Blocking."""
    return [each for each in islice(files_below(folder), _MOST_FOLDERS) if each.is_symlink()]


def links_behind(link: Path) -> list[Path]:
    """Return the links by which one leads on, those to folders among them. Blocking.

    Args:
        link: Absolute; the folder that it is in without links.
    """
    found: list[Path] = []
    at, left = link.parent, [link.name]
    for _ in range(_MOST_STEPS):
        if not left:
            break
        name = left.pop()
        at = at.parent if name == ".." else at / name
        try:
            target = Path(os.readlink(at))
        except OSError:
            continue
        if at != link:
            found.append(at)
        at = Path(target.anchor) if target.anchor else at.parent
        left += reversed(target.parts[1:] if target.anchor else target.parts)
    return found


def target_of(place: Path) -> Path | None:
    """Return where a link leads in the end; None for what is none. Blocking."""
    with suppress(OSError, RuntimeError):
        return place.resolve() if place.is_symlink() else None
    return None


def leads_past(link: Path) -> bool:
    """Whether a link leads into a folder into which such a look does not go. Blocking."""
    try:
        named = os.readlink(link)
    except OSError:
        return False
    if not _LEFT_OUT.intersection(named.split("/")):
        # There may be very many.
        return False
    target = Path(link.parent, named)
    return any(is_passed_over(each) for each in (target, *target.parents))


def marks_environment(name: str, folder: Path) -> bool:
    """Whether a file only says where an environment of Python comes from. Blocking.

    Only programs of that environment obey it. In a folder that a look passes over because of it,
    it does more.
    """
    return (
        name == _ENVIRONMENT
        and folder.name not in _MAY_BE_PASSED_OVER
        and any(os.path.isdir(folder / each) for each in ("bin", "Scripts"))
    )


def is_passed_over(folder: Path) -> bool:
    """Whether such a look does not go into a folder: what is installed lies there. Blocking."""
    return folder.name in _PASSED_OVER or (
        folder.name in _MAY_BE_PASSED_OVER and os.path.lexists(folder / _ENVIRONMENT)
    )


def is_made_anew(parts: Sequence[str]) -> bool:
    """Whether the names that lead to a file say that tools make it, and make it again: no work."""
    plain = [part.lower() for part in parts]
    made = _PASSED_OVER | _MADE_FOLDERS
    return any(part in made or _MADE_NAMES.fullmatch(part) is not None for part in plain)


def secrets_nearby(folder: Path) -> list[Path]:
    """Return where keys and passwords are kept in a folder, as far as such a look goes. Blocking.

    Links are left out; at most two hundred.
    """
    found = (
        Path(entry)
        for entry, _ in nearby(folder)
        if holds_secrets_at((entry.name,)) and not entry.is_symlink()
    )
    return list(islice(found, _MOST_PLACES))


_CONFIGURED: Final = (
    *(".ssh", ".gnupg", ".vim", ".emacs.d", ".zsh", ".claude", ".codex"),
    *(".cursor", ".gemini", ".config", "bin", ".local/bin", ".local/share/applications"),
    *(".local/share/systemd", ".bashrc.d", ".zshrc.d", ".oh-my-zsh/custom", ".ipython"),
)
"""Folders of the home in which each program looks for files, however deep."""
_MOST_OF_OTHERS: Final = 50
_DEEP: Final = 2
"""Folders that are gone into in all others of the home that begin with a dot."""
_NOT_OBEYED: Final = frozenset({".cache", ".local", ".npm", ".rustup", ".git"})


def obeyed_from_home(folder: Path) -> tuple[Path, ...]:
    """Return the files and folders below a folder to which links lead that programs look for.

    As where a repository of dotfiles is linked into the home. Looked at are names in the home that
    begin with a dot, what is in folders of configuration there, as far as a look into a few hundred
    of each goes, and what is nearest in others whose names begin with a dot. Blocking.

    Args:
        folder: Absolute, without links.
    """
    home = user_home()
    if home.is_relative_to(folder):
        # There each file counts by its own name.
        return ()
    links = [entry for entry in _entries(home) if entry.name.startswith(".")]
    names = [each.name for each in links if each.is_dir(follow_symlinks=False)]
    others = (name for name in names if name not in {*_CONFIGURED, *_NOT_OBEYED})
    for name in _CONFIGURED:
        links += _entries_below(home / name, _MOST_FOLDERS, deep=_MOST_FOLDERS)
    for name in others:
        links += _entries_below(home / name, _MOST_OF_OTHERS, deep=_DEEP)
    found = (Path(os.path.realpath(link)) for link in links if link.is_symlink())
    inside = (each for each in found if folder in each.parents)
    # What is installed there is made anew by commands all the time.
    return tuple(
        dict.fromkeys(each for each in inside if not any(map(is_passed_over, each.parents)))
    )


def _entries_below(folder: Path, most: int, *, deep: int) -> Iterator["os.DirEntry[str]"]:
    folders = deque([(folder, 1)])
    for _ in range(most):
        if not folders:
            break
        at, depth = folders.popleft()
        for entry in _entries(at):
            yield entry
            if depth < deep and entry.is_dir(follow_symlinks=False):
                folders.append((Path(entry), depth + 1))


def _entries(folder: Path) -> list["os.DirEntry[str]"]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []
