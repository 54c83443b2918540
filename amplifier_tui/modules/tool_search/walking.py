"""The files of a folder, without what is ignored.

Standard library only: the searching process imports this.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from amplifier_tui.modules.tool_search.ignore import ALWAYS, USUALLY, Rules, read_rules, rules_above

_DEEPEST: Final = 200


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
        """Yield relative path (with ``/``) and entry of each file, sorted within its folder.

        Args:
            folders: Yield folders too.
        """
        if self._is_denied(self.start):
            return
        rules = [] if self.everything else rules_above(self.start)
        yield from self._below(self.start, "", rules, folders, 0)

    def _below(
        self, folder: str, prefix: str, rules: list[Rules], folders: bool, depth: int
    ) -> Iterator[tuple[str, os.DirEntry[str]]]:
        try:
            with os.scandir(folder) as found:
                entries = sorted(found, key=lambda entry: entry.name)
        except OSError:
            self.unreadable += 1
            return
        own = None if self.everything else read_rules(folder, prefix)
        rules = rules if own is None else [*rules, own]
        for entry in entries:
            path = prefix + entry.name
            is_folder = _is_folder(entry)
            if self._left_out(entry, path, is_folder, rules):
                continue
            if not is_folder:
                if _is_file(entry):
                    yield path, entry
                continue
            if folders:
                yield path, entry
            if depth < _DEEPEST:
                yield from self._below(entry.path, f"{path}/", rules, folders, depth + 1)

    def _left_out(
        self, entry: os.DirEntry[str], path: str, is_folder: bool, rules: list[Rules]
    ) -> bool:
        if entry.name in ALWAYS or self._is_denied(entry.path):
            return True
        if self.everything:
            return False
        for each in reversed(rules):
            verdict = each.verdict(path, is_folder)
            if verdict is not None:
                return verdict
        return is_folder and entry.name in USUALLY

    def _is_denied(self, path: str) -> bool:
        return bool(self._denied) and path.casefold() in self._denied


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False


def _is_file(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_file(follow_symlinks=False)
    except OSError:
        return False
