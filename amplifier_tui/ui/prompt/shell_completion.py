"""Programs and paths that a word of a command line can be completed to; for a thread."""

import os
import re
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

SHOWN: Final = 200
"""Candidates at most."""
_LISTED: Final = 20_000
"""Entries of one folder that are looked at."""
_WORD: Final = re.compile(r"(?:\\.|[^\s|;&()<>'\"\\=])+")
_PROGRAM_NEXT: Final = re.compile(r"(?:^|[|;&(])\s*\Z")
_SPECIAL: Final = re.compile(r"[^\w./~+,:@%-]")


class TypedWord(NamedTuple):
    """The word before the cursor: as it is meant, where it begins, whether it names a program."""

    word: str
    start: int
    program: bool


def typed_word(line: str, column: int, *, first: bool) -> TypedWord:
    """Return the word of a command line that is being written.

    Args:
        first: The line is the draft's first one, which begins with `!`.
    """
    head = len(line) - len(line.lstrip("!")) if first else 0
    before = line[head:column]
    # From the left: a search for the end of the line takes the square of its length.
    last = deque(_WORD.finditer(before), maxlen=1)
    raw = last[0][0] if last and last[0].end() == len(before) else ""
    start = len(before) - len(raw)
    quote = before[start - 1 : start]
    rest = before[: start - 1] if quote in ("'", '"') and quote else before[:start]
    word = re.sub(r"\\(.)", r"\1", raw)
    program = _PROGRAM_NEXT.search(rest) is not None and "/" not in word
    return TypedWord(word, head + start, program)


def complete_word(asked: TypedWord, root: Path) -> list[tuple[str, str]]:
    """Return what a word may become, each as it is shown and as it is written into the line."""
    found = list(_programs(asked.word)) if asked.program and asked.word else []
    found += _paths(asked.word, root)
    return found[:SHOWN]


def _programs(word: str) -> Iterator[tuple[str, str]]:
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    names = {
        entry.name
        for folder in folders
        for entry in _entries(Path(folder or "."))
        if entry.name.startswith(word)
        and entry.name.isprintable()
        and os.access(entry.path, os.X_OK)
        and entry.is_file()
    }
    yield from ((name, f"{_escaped(name)} ") for name in sorted(names))


def _paths(word: str, root: Path) -> list[tuple[str, str]]:
    folder, _, begun = word.rpartition("/")
    shown = word[: len(word) - len(begun)]
    try:
        where = root / Path(folder + "/").expanduser() if shown else root
    except RuntimeError:
        return []  # Nobody knows that `~user`.
    found = []
    for entry in _entries(where):
        name = entry.name
        if not name.startswith(begun) or not name.isprintable():
            continue
        if name.startswith(".") and not begun.startswith("."):
            continue
        mark = "/" if entry.is_dir() else ""
        path = f"{shown}{name}{mark}"
        found.append((path, f"{_escaped(path)}{'' if mark else ' '}"))
    return sorted(found)


def _entries(folder: Path) -> list["os.DirEntry[str]"]:
    try:
        with os.scandir(folder) as entries:
            return [entry for entry, _ in zip(entries, range(_LISTED), strict=False)]
    except (OSError, ValueError):
        return []


def _escaped(text: str) -> str:
    return _SPECIAL.sub(lambda found: f"\\{found[0]}", text)
