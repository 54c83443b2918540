"""Which commands take away what nobody has a copy of, in a workspace of which none is kept."""

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from amplifier_tui.base.files.nearby import is_made_anew
from amplifier_tui.base.git import brings_filters_now, git_output_now
from amplifier_tui.base.text import one_line
from amplifier_tui.host.gate.rules.matching import Part
from amplifier_tui.host.gate.verdicts.lost.taken import Taken, Which, taken_files

_STATUS: Final = (
    *("status", "--porcelain", "-z", "--no-renames", "--ignored", "--untracked-files=normal"),
    # It would run what a repository inside names.
    "--ignore-submodules=all",
)
_NEW: Final = "??"
_IGNORED: Final = "!!"
_SUBMODULE: Final = "160000"
_SKIPPED: Final = "S"
_MOST_BYTES: Final = 16_000_000
_MOST_WORDS: Final = 1_000
_MOST_TEXT: Final = 60


def takes_unkept(parts: Iterable[Part], uncopied: Callable[[], str]) -> str:
    """Return why what a command line takes away would not come back; else empty. Blocking.

    What git has as it is comes back from there.

    Args:
        uncopied: Says why no copies are kept of what commands change; empty where they are.
    """
    asked: dict[tuple[Path, Which], dict[str, str]] = {}
    for part in parts:
        for taken in taken_files(part.command, part.folders) if part.command is not None else ():
            words = asked.setdefault((taken.folder, taken.which), {})
            words |= dict.fromkeys(taken.words, taken.shown)
    why = uncopied() if asked else ""
    if not why:
        return ""
    for (folder, which), words in asked.items():
        if lost := _lost(Taken(folder, which, tuple(words), next(iter(words.values())))):
            file = one_line(lost, _MOST_TEXT)
            return (
                f"no copy is kept here: {why}; what this deletes or overwrites, such as {file}, "
                "can't be brought back"
            )
    return ""


def _lost(taken: Taken) -> str:
    """Return a file of which git does not have what is in it; else empty."""
    folder = taken.folder
    # Filters of a repository's own are programs that `git status` runs.
    if len(taken.words) > _MOST_WORDS or brings_filters_now(folder):
        return taken.shown
    told = git_output_now(folder, *_STATUS, "--", *taken.words, most_bytes=_MOST_BYTES)
    up = git_output_now(folder, "rev-parse", "--show-cdup") if told is not None else None
    if told is None or up is None:
        return taken.shown
    top = Path(os.path.normpath(folder / up.rstrip("\n")))
    for entry in filter(None, told.split("\0")):
        state, name = entry[:2], entry[3:]
        if _is_meant(state, name, taken.which) and os.path.lexists(top / name):
            return os.path.relpath(top / name, folder)
    return _unseen(taken) if taken.which == "all" else ""


def _is_meant(state: str, name: str, which: Which) -> bool:
    if state == _IGNORED:
        meant = which in ("all", "new and ignored", "ignored")
        return meant and not is_made_anew(name.rstrip("/").split("/"))
    if state == _NEW:
        return which in ("all", "new", "new and ignored")
    return which in ("all", "tracked")


def _unseen(taken: Taken) -> str:
    """Return a file that git was told not to look at, or a repository inside; else empty."""
    asked = ("ls-files", "-z", "-v", "--stage", "--", *taken.words)
    told = git_output_now(taken.folder, *asked, most_bytes=_MOST_BYTES)
    if told is None:
        return taken.shown
    for row in filter(None, told.split("\0")):
        about, _, name = row.partition("\t")
        tag, mode, *_ = about.split()
        path = taken.folder / name
        inside = mode == _SUBMODULE and os.path.lexists(path / ".git")
        if inside or ((tag.islower() or tag == _SKIPPED) and os.path.lexists(path)):
            return name
    return ""
