"""The files of a folder, without what is ignored (gitignore(5)).

A command that runs may put a link in the place of a folder while its parent is walked. So folders
and files are opened by their open folder, and never by a path.

The searching process imports this: nothing but the standard library, and pathspec for the rules.
"""

import os
import re
import stat
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import field
from typing import Final

from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.opened.folders import FILE, HAS_FOLDERS, HERE, open_folder, spot_of

_DEEPEST: Final = 200
_LARGEST: Final = 512 * 1024
_HEAD: Final = 8 * 1024
_LISTED: Final = os.O_RDONLY | HERE
_IGNORE_FILES: Final = (".gitignore", ".ignore")

_ALWAYS: Final = frozenset({".git", ".hg", ".svn"})
"""Folders that are never searched."""

_USUALLY: Final = frozenset(
    {
        *("node_modules", "__pycache__", ".venv", "venv", ".tox", ".nox"),
        *(".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis", ".gradle", ".terraform"),
    }
)
"""Folders that are left out with or without an ignore file."""


class IgnoreRules:
    """The rules of one folder's ignore files.

    Args:
        lines: Of the files.
        below: What leads from that folder down to where the search starts, ending in a slash;
            empty where the folder is not above that.
        prefix: What leads from where the search starts down to that folder, likewise.
    """

    def __init__(self, lines: list[str], below: str = "", prefix: str = "") -> None:
        self._below, self._skip = below, len(prefix)
        self._rules = [rule for line in lines if (rule := _rule(line)) is not None]
        # Most paths are met by no rule, and one expression finds that out faster than many.
        every = "|".join(f"(?:{expression.pattern})" for expression, _ in self._rules)
        self._any = re.compile(every or "(?!)", re.DOTALL)

    def verdict(self, path: str, is_folder: bool) -> bool | None:
        """Whether a path below the start is ignored; None when no rule speaks of it."""
        local = f"{self._below}{path[self._skip :]}{'/' if is_folder else ''}"
        if self._any.fullmatch(local) is None:
            return None
        return next(
            (ignored for rule, ignored in reversed(self._rules) if rule.fullmatch(local)), None
        )


def _rule(line: str) -> tuple[re.Pattern[str], bool] | None:
    """What a line fully matches, folders ending in a slash, and whether that is ignored.

    pathspec's expressions match what is in an ignored folder, too; here each folder is decided
    before what is in it, so that only the folder itself may match. It marks the slash of a folder
    with a group; what has no group (``a/**``) speaks of everything below.
    """
    try:
        pattern = GitIgnoreSpecPattern(line)
    except (ValueError, re.error):
        return None  # git passes over it, too
    if pattern.regex is None or pattern.include is None:
        return None
    text = re.sub(r"\(\?P<\w+>", "(?:", pattern.regex.pattern)
    if not pattern.regex.groups:
        text = ".+" if text == "." else f"{text}.+"
    elif not text.startswith("^"):
        text = f".*{text}"
    return re.compile(text, re.DOTALL), pattern.include


Found = tuple[str, os.DirEntry[str], int | None]
"""Path below the start (with `/`), entry, and the open folder it is in: its `path` is from there.

The folder is open until the next one is asked for; None where the system has no open folders.
"""


@dataclass
class Walk:
    """Walks below a folder; links are not followed.

    Attributes:
        start: The folder, absolute, links resolved.
        denied: Files and folders that are left out whatever else is said, the same way.
        everything: Whether what is ignored is walked too.
        unreadable: Folders that could not be read.
    """

    start: str
    denied: tuple[str, ...] = ()
    everything: bool = False
    unreadable: int = 0
    _denied: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        self._denied = frozenset(path.casefold() for path in self.denied)

    def entries(self, *, folders: bool = False) -> Iterator[Found]:
        """Yield each file, sorted within its folder."""
        if self._is_denied(self.start):
            return
        rules = [] if self.everything else _rules_above(self.start)
        try:
            handle = open_folder(self.start, listed=True) if HAS_FOLDERS else None
        except OSError:
            self.unreadable += 1
            return
        yield from self._below(self.start, handle, "", rules, folders)

    def _below(
        self,
        folder: str,
        handle: int | None,
        prefix: str,
        rules: list[IgnoreRules],
        folders: bool,
        depth: int = 0,
    ) -> Iterator[Found]:
        """Go through a folder that is open, which is closed, or is named where nothing is."""
        try:
            entries = self._listed(folder if handle is None else handle)
            if not self.everything and (lines := _lines_in(folder, handle)):
                rules = [*rules, IgnoreRules(lines, prefix=prefix)]
            for entry in entries:
                path = prefix + entry.name
                is_folder = _is(entry, os.DirEntry.is_dir)
                if self._left_out(entry, path, is_folder, rules):
                    continue
                if not is_folder:
                    if _is(entry, os.DirEntry.is_file):
                        yield path, entry, handle
                    continue
                if folders:
                    yield path, entry, handle
                if depth == _DEEPEST:
                    continue
                try:
                    inner = None if handle is None else os.open(entry.path, _LISTED, dir_fd=handle)
                except OSError:
                    self.unreadable += 1
                else:
                    yield from self._below(entry.path, inner, f"{path}/", rules, folders, depth + 1)
        finally:
            if handle is not None:
                os.close(handle)

    def _listed(self, folder: str | int) -> list[os.DirEntry[str]]:
        try:
            with os.scandir(folder) as found:
                return sorted(found, key=lambda entry: entry.name)
        except OSError:
            self.unreadable += 1
            return []

    def _left_out(
        self, entry: os.DirEntry[str], path: str, is_folder: bool, rules: list[IgnoreRules]
    ) -> bool:
        if entry.name in _ALWAYS:
            return True
        if self._denied and self._is_denied(os.path.join(self.start, path)):
            return True
        if self.everything:
            return False
        for each in reversed(rules):
            verdict = each.verdict(path, is_folder)
            if verdict is not None:
                return verdict
        return is_folder and entry.name in _USUALLY

    def _is_denied(self, path: str) -> bool:
        return bool(self._denied) and path.casefold() in self._denied


def _is(entry: os.DirEntry[str], kind: Callable[..., bool]) -> bool:
    try:
        return kind(entry, follow_symlinks=False)
    except OSError:
        return False


def _rules_above(start: str) -> list[IgnoreRules]:
    """The rules of the folders above and of the repository itself, outermost first."""
    root = start
    while not os.path.exists(os.path.join(root, ".git")):
        parent = os.path.dirname(root)
        if parent == root:
            return []
        root = parent
    parts = [] if root == start else os.path.relpath(start, root).split(os.sep)
    # Git's own folder may be a link.
    found = [(_lines_at(os.path.realpath(os.path.join(root, ".git", "info")), ("exclude",)), parts)]
    found += [
        (_lines_at(os.path.join(root, *parts[:depth])), parts[depth:])
        for depth in range(len(parts))
    ]
    return [
        IgnoreRules(lines, below="".join(f"{part}/" for part in rest))
        for lines, rest in found
        if lines
    ]


def _lines_at(folder: str, names: tuple[str, ...] = _IGNORE_FILES) -> list[str]:
    """Return the lines of ignore files of a folder that is named by its path, without links."""
    with suppress(OSError), spot_of(os.path.join(folder, names[0])) as spot:
        return _lines_in(folder, spot.folder, names)
    return []


def _lines_in(folder: str, handle: int | None, names: tuple[str, ...] = _IGNORE_FILES) -> list[str]:
    return [
        line
        for name in names
        for line in _lines_of(name if handle is not None else os.path.join(folder, name), handle)
    ]


def _lines_of(name: str, folder: int | None) -> list[str]:
    try:
        data = read_file(name, folder, _LARGEST)
    except OSError:
        return []
    text = (data or b"").decode("utf-8", "replace").removeprefix("\ufeff")
    return re.sub(r"\r\n?", "\n", text).splitlines()


def read_file(
    name: str, folder: int | None, largest: int, text_at: Callable[[bytes], bool] | None = None
) -> bytes | None:
    """Read a file, but no link, pipe or device.

    Args:
        name: In the folder, or a path where that is None.
        folder: An open one.
        largest: Bytes beyond which it is not read.
        text_at: Says by the first bytes whether the rest is read.

    Returns:
        The content; None where it is not read.

    Raises:
        OSError: It can't be read.
    """
    if folder is None and os.path.islink(name):
        return None
    handle = os.open(name, FILE, dir_fd=folder)
    try:
        found = os.fstat(handle)
        if found.st_size > largest or not stat.S_ISREG(found.st_mode):
            return None
        data = os.read(handle, _HEAD)
        if text_at is not None and not text_at(data):
            return None
        # One that grows meanwhile, or whose size the system does not tell, is read on.
        while len(data) <= largest and (
            more := os.read(handle, max(found.st_size - len(data), 0) + 1)
        ):
            data += more
        return data if len(data) <= largest else None
    finally:
        os.close(handle)
