"""Which files commands of git may print the contents of, also of what was committed once."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from amplifier_tui.base.shell import ShellCommand
from amplifier_tui.base.shell.git_contents import GitContents, git_contents
from amplifier_tui.host.gate.calls.whereabouts import Whereabouts
from amplifier_tui.host.gate.places import PathPlace

_OBJECT: Final = re.compile(r"[^:{]*:(?:[0-3]:)?([^:/(!^].*)")
"""A file of a revision, `HEAD:src/a.py`, or of the index, `:src/a.py`."""
_MARKS: Final = re.compile(r"[*?\[\\]")


def git_places(
    command: ShellCommand, heres: Sequence[Whereabouts]
) -> tuple[list[PathPlace], list[PathPlace]]:
    """Return files and folders whose contents git may print, and those it is told to print.

    Args:
        command: A command of git.
        heres: Where it may run.
    """
    contents = git_contents(command)
    if contents is None:
        return [], []
    told = [place for here in heres for place in _told(contents, here)]
    return [*told, *(place for here in heres for place in _shown(contents, here))], told


def _told(contents: GitContents, here: Whereabouts) -> Iterator[PathPlace]:
    folder = Path(contents.folder)
    for found in filter(None, map(_OBJECT.fullmatch, contents.words)):
        beside = found[1].startswith(("./", "../"))
        start = folder if beside else _top(here.locate(str(folder)).path)
        yield here.locate(str(start / found[1]))


def _shown(contents: GitContents, here: Whereabouts) -> Iterator[PathPlace]:
    folder, words = Path(contents.folder), contents.words
    if contents.narrow and not contents.paths and words and all(map(_OBJECT.fullmatch, words)):
        return
    found = [word for word in words if _is_pattern(word) or here.locate(str(folder / word)).exists]
    patterns = (*found, *contents.paths) if contents.narrow else ()
    top = _top(here.locate(str(folder)).path)
    for pattern in patterns or (":/",):
        mark = _MARKS.search(pattern)
        plain = pattern[: mark.start()].rpartition("/")[0] if mark else pattern
        # Behind a colon stands what git reads in its own way.
        yield here.locate(str(top if pattern.startswith(":") else folder / plain))


def _is_pattern(word: str) -> bool:
    """Whether a word may be a pattern of files, and none of a revision: `HEAD^{/words}`."""
    return "{" not in word and (word.startswith(":") or _MARKS.search(word) is not None)


def _top(folder: Path) -> Path:
    """Return the folder of the repository that a folder is in; the folder itself if in none."""
    around = (folder, *folder.parents)
    return next((each for each in around if (each / ".git").exists()), folder)
