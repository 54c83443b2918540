"""`file://`, absolute and relative paths (foundation reference c.3)."""

from pathlib import Path
from urllib.parse import unquote

from amplifier_tui.foundation.exceptions import BundleNotFoundError
from amplifier_tui.foundation.paths.discovery import enclosing_bundle_folder
from amplifier_tui.foundation.paths.resolution import (
    ParsedURI,
    ResolvedSource,
    describe_cross_platform_path_mismatch,
    is_there,
    strip_uri_drive_prefix,
)
from amplifier_tui.foundation.sources.context import join_subpath


class FileSourceHandler:
    """Finds what is on this machine already.

    Args:
        base_path: Folder that relative paths are in; default the working directory.
    """

    def __init__(self, base_path: Path | None = None) -> None:
        self._base_path = base_path

    def can_handle(self, parsed: ParsedURI) -> bool:
        """Whether the URI is a path."""
        return parsed.is_file

    async def resolve(self, parsed: ParsedURI, cache_dir: Path) -> ResolvedSource:
        """Return the path.

        Raises:
            BundleNotFoundError: Nothing is there, or the subdirectory leaves it.
        """
        text = strip_uri_drive_prefix(parsed.path)
        mismatch = describe_cross_platform_path_mismatch(text)
        if mismatch:
            raise BundleNotFoundError(mismatch)
        base = self._base_path or Path.cwd()
        path = base / text
        if not is_there(path) and "%" in text:
            path = base / unquote(text)
        if not is_there(path):
            raise BundleNotFoundError(f"File not found: {path}")
        path = path.resolve()
        active = join_subpath(path, parsed.subpath)
        return ResolvedSource(active, _source_root(path, active, parsed.subpath, cache_dir))


def _source_root(path: Path, active: Path, subpath: str, cache_dir: Path) -> Path:
    cache = cache_dir.resolve()
    if active != cache and active.is_relative_to(cache):
        return cache / active.relative_to(cache).parts[0]
    if subpath:
        return path
    folder = active if active.is_dir() else active.parent
    return enclosing_bundle_folder(folder) or folder
