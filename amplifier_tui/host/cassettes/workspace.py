"""The copy of a workspace that real tools work in, and what they left there."""

import hashlib
import os
from pathlib import Path
from shutil import copytree, ignore_patterns
from typing import Final

_MADE_ANEW: Final = ("__pycache__", "*.pyc", ".pytest_cache", ".venv", "node_modules")
_SKIPPED: Final = ignore_patterns(*_MADE_ANEW)
_MOST_FILES: Final = 20_000
_LARGEST: Final = 16 * 1024 * 1024
"""Bytes of a file whose content is looked at; of a larger one its size is."""

Digests = dict[str, str]


def copy_workspace(source: Path, target: Path) -> Path:
    """Copy a folder without what is made anew, and return the copy.

    Raises:
        OSError: It can't be copied.
    """
    copytree(source, target, symlinks=True, ignore=_left_out)
    return target.resolve()


def _left_out(folder: str, names: list[str]) -> set[str]:
    found: set[str] = _SKIPPED(folder, names)
    if (Path(folder) / ".git").is_file():
        # It leads to another repository, which is no copy.
        found.add(".git")
    return found


def digests_of(root: Path) -> Digests:
    """Return digests of the files below a folder by their paths; links are not followed."""
    found: Digests = {}
    for folder, folders, names in os.walk(root):
        skipped = _SKIPPED(folder, [*folders, *names]) | {".git"}
        folders[:] = sorted(set(folders) - skipped)
        for name in sorted(set(names) - skipped):
            if len(found) >= _MOST_FILES:
                return found
            path = Path(folder) / name
            found[path.relative_to(root).as_posix()] = _digest(path)
    return found


def changed_files(before: Digests, after: Digests) -> Digests:
    """Return the digests of the files that are new or other ones; empty for those that are gone."""
    return {
        path: after.get(path, "")
        for path in sorted(before.keys() | after.keys())
        if before.get(path) != after.get(path)
    }


def _digest(path: Path) -> str:
    if path.is_symlink():
        return f"link to {os.readlink(path)}"
    try:
        size = path.stat().st_size
        data = path.read_bytes() if path.is_file() and size <= _LARGEST else b""
    except OSError as error:
        return f"unreadable: {error.strerror}"
    return hashlib.sha256(data).hexdigest()[:12] if data else f"{size} bytes"
