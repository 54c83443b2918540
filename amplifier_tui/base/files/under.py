"""Whether a path is below another one, whatever the file system makes of its letters."""

import stat
from pathlib import Path


def folder_is_gone(folder: Path) -> bool:
    """Whether there is no such folder any more; one that can't be looked at is not gone."""
    try:
        return not stat.S_ISDIR(folder.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False


def is_under(path: Path, place: Path) -> bool:
    """Whether a file or folder is a place or below it, also under another spelling of its name.

    Args:
        path: Absolute, links followed; it need not exist.
        place: The same.
    """
    if path.is_relative_to(place):
        return True
    # File systems that ignore case give one folder many names.
    parts, wanted = path.parts, place.parts
    if len(parts) >= len(wanted) and all(
        part.casefold() == other.casefold() for part, other in zip(parts, wanted, strict=False)
    ):
        return True
    identity = _identity(place)
    return identity is not None and any(
        _identity(ancestor) == identity for ancestor in (path, *path.parents)
    )


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
