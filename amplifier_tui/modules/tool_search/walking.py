"""The files of a folder, without what is ignored (gitignore(5)).

The searching process imports this: nothing but the standard library, and pathspec for the rules.
"""

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import field
from typing import Final

from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

from amplifier_tui.base.lazy.dataclass import dataclass

_DEEPEST: Final = 200
_LARGEST: Final = 512 * 1024
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

    def entries(self, *, folders: bool = False) -> Iterator[tuple[str, os.DirEntry[str]]]:
        """Yield relative path (with ``/``) and entry of each file, sorted within its folder."""
        if self._is_denied(self.start):
            return
        rules = [] if self.everything else _rules_above(self.start)
        yield from self._below(self.start, "", rules, folders, 0)

    def _below(
        self, folder: str, prefix: str, rules: list[IgnoreRules], folders: bool, depth: int
    ) -> Iterator[tuple[str, os.DirEntry[str]]]:
        try:
            with os.scandir(folder) as found:
                entries = sorted(found, key=lambda entry: entry.name)
        except OSError:
            self.unreadable += 1
            return
        if not self.everything and (lines := _lines_in(folder)):
            rules = [*rules, IgnoreRules(lines, prefix=prefix)]
        for entry in entries:
            path = prefix + entry.name
            is_folder = _is(entry, os.DirEntry.is_dir)
            if self._left_out(entry, path, is_folder, rules):
                continue
            if not is_folder:
                if _is(entry, os.DirEntry.is_file):
                    yield path, entry
                continue
            if folders:
                yield path, entry
            if depth < _DEEPEST:
                yield from self._below(entry.path, f"{path}/", rules, folders, depth + 1)

    def _left_out(
        self, entry: os.DirEntry[str], path: str, is_folder: bool, rules: list[IgnoreRules]
    ) -> bool:
        if entry.name in _ALWAYS or self._is_denied(entry.path):
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
    found = [(_lines_of(os.path.join(root, ".git", "info", "exclude")), parts)]
    found += [
        (_lines_in(os.path.join(root, *parts[:depth])), parts[depth:])
        for depth in range(len(parts))
    ]
    return [
        IgnoreRules(lines, below="".join(f"{part}/" for part in rest))
        for lines, rest in found
        if lines
    ]


def _lines_in(folder: str) -> list[str]:
    return [line for name in _IGNORE_FILES for line in _lines_of(os.path.join(folder, name))]


def _lines_of(path: str) -> list[str]:
    try:
        if os.path.islink(path) or os.path.getsize(path) > _LARGEST:
            return []
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read().removeprefix("\ufeff").splitlines()
    except OSError:
        return []
