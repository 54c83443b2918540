"""What stands at a path, and putting it there, without a link ever being followed.

The state of a path is a text, so that it can be stored and compared: `SHA-256:644` for a file with
its permissions, `SHA-256:link` for a link with where it leads, and None where neither stands there.
"""

import hashlib
import os
import stat
from collections.abc import Collection
from pathlib import Path
from typing import Final

from amplifier_tui.base.files import open_resolved

PERMISSIONS: Final = 0o777
_LINK: Final = "link"


def file_state(content: str, mode: int) -> str:
    """Return the state of a file: the SHA-256 of its content, and its permissions."""
    return f"{content}:{mode & PERMISSIONS:o}"


def link_state(target: str) -> str:
    """Return the state of a link: the SHA-256 of where it leads."""
    return f"{target}:{_LINK}"


def state(path: Path) -> str | None:
    """Return what stands at a path; an `OSError` where it can't be read."""
    found = stat_of(path)
    if found is None:
        return None
    if stat.S_ISLNK(found.st_mode):
        return link_state(hashlib.sha256(link_target(path)).hexdigest())
    if not stat.S_ISREG(found.st_mode):
        return None
    # A link put there since it was looked at is not followed.
    with open_resolved(path) as file:
        mode = os.fstat(file.fileno()).st_mode
        return file_state(hashlib.sha256(file.read()).hexdigest(), mode)


def same(one: str | None, other: str | None) -> bool:
    """Whether two states are the same; those of older records have no permissions."""
    if one is None or other is None or one == other:
        return one == other
    (content, _, kind), (others, _, its_kind) = one.partition(":"), other.partition(":")
    return content == others and "" in (kind, its_kind) and _LINK not in (kind, its_kind)


def mode_of(state: str | None) -> str:
    """Return the permissions in a state; empty for a link, and where there are none."""
    kind = (state or "").partition(":")[2]
    return "" if kind == _LINK else kind


def stat_of(path: Path) -> os.stat_result | None:
    """Return what is known of a path; None for nothing, or what is only there behind a link."""
    try:
        found = path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return found if _is_plain(path) else None


def is_placed(path: Path, root: Path) -> bool:
    """Whether no link is on the way to a path in the workspace; the path itself may be one."""
    return path.name != ".." and path != root and path.is_relative_to(root) and _is_plain(path)


def _is_plain(path: Path) -> bool:
    return os.path.realpath(path.parent) == str(path.parent)


def link_target(path: Path) -> bytes:
    """Return where a link leads, as it is written in it."""
    return os.fsencode(os.readlink(path))


def is_blocked(path: Path, going: Collection[Path]) -> bool:
    """Whether something stands at a path that neither a file nor a link takes the place of.

    Args:
        going: What is removed first; a folder with nothing else in it goes, too.
    """
    found = stat_of(path)
    if found is None or stat.S_ISREG(found.st_mode) or stat.S_ISLNK(found.st_mode):
        return False
    if not stat.S_ISDIR(found.st_mode):
        return True
    for folder, folders, names in os.walk(path):
        links = [name for name in folders if os.path.islink(os.path.join(folder, name))]
        if any(Path(folder, name) not in going for name in (*names, *links)):
            return True
    return False


def clear_folder(path: Path) -> None:
    """Remove a folder that has nothing but folders in it, if one is there."""
    if path.is_dir() and not path.is_symlink():
        for folder, _, _ in os.walk(path, topdown=False):
            os.rmdir(folder)


def put_mode(path: Path, mode: int) -> None:
    """Give a file its permissions back."""
    with open_resolved(path) as file:
        os.fchmod(file.fileno(), mode)
