"""Looking for files and bundles in folders."""

import asyncio
from pathlib import Path

BUNDLE_FILES = ("bundle.md", "bundle.yaml")
"""Names of a folder's bundle file, the first one found wins."""


async def find_files(base: Path, pattern: str, recursive: bool = True) -> list[Path]:
    """Return the files that match a glob pattern, sorted; empty when `base` is missing."""

    def search() -> list[Path]:
        if not base.is_dir():
            return []
        found = base.rglob(pattern) if recursive else base.glob(pattern)
        return sorted(path for path in found if path.is_file())

    return await asyncio.to_thread(search)


async def find_bundle_root(start: Path) -> Path | None:
    """Return the nearest folder, from `start` upwards, that has a bundle file."""
    return await asyncio.to_thread(enclosing_bundle_folder, start)


def bundle_file_in(folder: Path) -> Path | None:
    """Return the bundle file of a folder: `bundle.md`, else `bundle.yaml`, else None."""
    for name in BUNDLE_FILES:
        if (folder / name).is_file():
            return folder / name
    return None


def enclosing_bundle_folder(start: Path, stop: Path | None = None) -> Path | None:
    """Return the nearest folder with a bundle file, going up from `start`.

    Args:
        start: A file or folder.
        stop: Last folder that is looked at. Without it the search ends below the user's home
            when `start` is inside it, else below the filesystem's root.
    """
    folder = start if start.is_dir() else start.parent
    folder = folder.resolve()
    home = Path.home().resolve()
    last = None if stop is None else stop.resolve()
    while True:
        if last is None and (folder == home or folder == folder.parent):
            return None
        if bundle_file_in(folder) is not None:
            return folder
        if folder in (last, folder.parent):
            return None
        folder = folder.parent
