"""What git itself brought or changed while a command ran: what was committed before is nobody's."""

import os
import stat
import time
from collections.abc import Iterable, Iterator
from hashlib import sha1, sha256
from pathlib import Path
from tempfile import TemporaryFile
from typing import Final

from amplifier_tui.base.files import read_regular
from amplifier_tui.base.files.nearby import files_below
from amplifier_tui.base.git import git_bytes_now, git_output_now

_MOST_BYTES: Final = 1_000_000
_MOST_FILES: Final = 1_000
_MOST_NAMES: Final = 500
_MOST_COMMITS: Final = 200
_PATIENCE: Final = 3.0
"""Seconds in which a checkout that goes on may end: it names what it brings at its end."""

Tracked = dict[Path, tuple[str, str]]
"""Mode and blob of files in the index of git."""


def repository_around(place: Path) -> Path | None:
    """Return the nearest folder around a place that holds `.git`; None if there is none."""
    return next((each for each in place.parents if os.path.lexists(each / ".git")), None)


def tips_of(checkout: Path) -> tuple[str, ...]:
    """Return the newest commits of a repository's branches, tags and remotes. Blocking."""
    told = git_output_now(
        checkout,
        *("for-each-ref", "--sort=-committerdate", f"--count={_MOST_COMMITS}"),
        "--format=%(objectname)",
    )
    head = git_output_now(checkout, "rev-parse", "--verify", "--quiet", "HEAD")
    return tuple(dict.fromkeys(f"{head or ''}\n{told or ''}".split()))


def tracked(checkout: Path, places: Iterable[Path]) -> Tracked:
    """Return what the index of git has of files, and of all that is below folders. Blocking.

    Args:
        checkout: The folder of the repository.
        places: Absolute, without links, in this folder.
    """
    found: Tracked = {}
    asked = ("--literal-pathspecs", "ls-files", "-z", "--stage", "--")
    names = [str(place) for place in places]
    for at in range(0, len(names), _MOST_NAMES):
        listed = git_bytes_now(checkout, *asked, *names[at : at + _MOST_NAMES])
        found.update(_rows(listed or b"", checkout))
    return found


def is_as_tracked(place: Path, checkout: Path, tips: Iterable[str] = ()) -> bool:
    """Whether a file, and all that is in a folder, is as the index of git has it. Blocking.

    Args:
        place: Absolute, without links.
        checkout: The folder of the repository that holds it.
        tips: Where given, one of these commits has to have it so, too.
    """
    end = time.monotonic() + _PATIENCE
    while os.path.lexists(checkout / ".git/index.lock") and time.monotonic() < end:
        time.sleep(0.05)
    known = tracked(checkout, [place])
    files = [place] if place.is_symlink() or not place.is_dir() else list(files_below(place))
    if not 0 < len(files) <= _MOST_FILES:
        return False
    if not all(each in known and _is_blob(each, *known[each]) for each in files):
        return False
    tips = tuple(tips)
    return not tips or all(
        known[each][1] in _committed(each.relative_to(checkout), checkout, tips) for each in files
    )


def _committed(name: Path, checkout: Path, tips: Iterable[str]) -> set[str]:
    """Return the blobs that commits have of a file."""
    with TemporaryFile() as wanted:
        for tip in tips:
            wanted.write(f"{tip}:".encode() + os.fsencode(name) + b"\n")
        wanted.seek(0)
        asked = ("cat-file", "--batch-check=%(objectname)")
        told = git_bytes_now(checkout, *asked, given=wanted.fileno())
    return {row.decode("ascii", "replace") for row in (told or b"").split(b"\n")}


def _rows(listed: bytes, checkout: Path) -> Iterator[tuple[Path, tuple[str, str]]]:
    for row in filter(None, listed.split(b"\0")):
        facts, _, name = row.partition(b"\t")
        mode, blob, _ = facts.decode("ascii").split(" ")
        yield checkout / os.fsdecode(name), (mode, blob)


def _is_blob(file: Path, mode: str, blob: str) -> bool:
    try:
        found = file.lstat().st_mode
        if stat.S_ISLNK(found):
            kind, data = "120000", os.fsencode(os.readlink(file))
        else:
            kind = "100755" if found & stat.S_IXUSR else "100644"
            data = read_regular(file, _MOST_BYTES)
    except OSError:
        return False
    # The names of git's objects.
    digest = sha1(usedforsecurity=False) if len(blob) == sha1().digest_size * 2 else sha256()
    digest.update(b"blob %d\0" % len(data) + data)
    return kind == mode and digest.hexdigest() == blob
