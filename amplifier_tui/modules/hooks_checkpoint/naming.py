"""Which files a command's text names as its own to write."""

import os
import re
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Final

_CHECKS: Final = frozenset(
    {"pytest", "py.test", "unittest", "tox", "nox", "jest", "vitest", "mocha", "rspec", "phpunit"}
    | {"test", "tests", "check", "lint", "mypy", "pyright", "tsc"}
)
"""Words that say a command only checks the files it names: what changes in them then is likely the
user's, who has the same files open."""

_MOST_PLACES: Final = 2_000
_ANEW: Final = frozenset({">", ">|", "&>", ">&"})
"""How a shell writes a file from its beginning."""


def named_files(command: str, paths: Iterable[Path], root: Path) -> set[Path]:
    """Return those of some files that a command's text says it writes, or at least works on.

    Args:
        command: A line of shell.
        paths: Absolute, below `root`.
        root: The folder the command begins in.
    """
    likely = [path for path in paths if path.name in command]
    if not likely:
        return set()
    texts = [*_texts(command)]
    return {path for path in likely if any(_names(text, path, root, command) for text in texts)}


def places_named(command: str, root: Path) -> set[Path]:
    """Return where the words of a command may make files: below a folder, or one it goes to."""
    from amplifier_tui.base.shell import read_shell_line

    words: dict[str, None] = {}
    folders = {"": None}
    for each in read_shell_line(command).commands:
        words |= dict.fromkeys(each.words)
        words |= dict.fromkeys(to.target for to in each.redirections if to.writes)
        if each.words[:1] == ("cd",):
            folders |= dict.fromkeys(each.words[1:])
    pairs = ((folder, word) for folder in folders for word in words if "\0" not in folder + word)
    places = (
        Path(os.path.normpath(root / folder / word)) for folder, word in islice(pairs, _MOST_PLACES)
    )
    return {place for place in places if place != root and place.is_relative_to(root)}


def streamed_files(command: str, paths: Iterable[Path], root: Path) -> set[Path]:
    """Return those of some files that one pipeline, all of a line's work, writes anew.

    It has them open until it ends.
    """
    from amplifier_tui.base.shell import only_looks, read_shell_line

    working = [each for each in read_shell_line(command).commands if not only_looks(each.words)]
    if len({each.pipeline or id(each) for each in working}) != 1:
        return set()
    texts = [to.target for each in working for to in each.redirections if to.operator in _ANEW]
    texts += [each.text for each in working if each.words[:1] == ("tee",) and "-a" not in each.text]
    return {path for path in paths if any(_names(text, path, root, command) for text in texts)}


def _texts(command: str) -> Iterator[str]:
    """Yield the parts of a line in which a file that is named is not merely read."""
    # A session opens without the reader of shell lines, which takes long to import.
    from amplifier_tui.base.shell import only_looks, read_shell_line

    for each in read_shell_line(command).commands:
        yield from (to.target for to in each.redirections if to.writes)
        words = {word.rpartition("/")[2] for word in each.words}
        if _CHECKS.isdisjoint(words) and not only_looks(each.words):
            yield each.text
            yield from (to.target for to in each.redirections if not to.writes)


def _names(text: str, path: Path, root: Path, command: str) -> bool:
    if _has(text, str(path)):
        return True
    parts = PurePosixPath(path.relative_to(root)).parts
    # Behind a `cd` a name is one in that folder.
    return any(
        _has(text, "/".join(parts[at:])) and (not at or _has(command, "/".join(parts[:at])))
        for at in range(len(parts))
    )


def _has(text: str, name: str) -> bool:
    """Whether a text has a name that is no part of a longer one."""
    if name not in text:
        return False
    found = rf"(?<![\w.~/-])(?:\./)*{re.escape(name)}(?![\w-]|[./]\w)"
    return re.search(found, text) is not None
