"""Sources on this machine: paths, and names of installed packages."""

import importlib.metadata
import importlib.util
import re
from pathlib import Path
from urllib.parse import unquote

from amplifier_tui.foundation.exceptions import BundleNotFoundError
from amplifier_tui.foundation.paths import (
    ParsedURI,
    ResolvedSource,
    enclosing_bundle_folder,
    is_there,
    local_path,
)
from amplifier_tui.foundation.sources.context import join_subpath


class FileSourceHandler:
    """Finds what is on this machine; relative paths are in `base_path`, else in this folder."""

    def __init__(self, base_path: Path | None = None) -> None:
        self._base_path = base_path

    def can_handle(self, parsed: ParsedURI) -> bool:
        """Whether the URI is a path."""
        return parsed.is_file

    async def resolve(self, parsed: ParsedURI, cache_dir: Path) -> ResolvedSource:
        """Return the path; raises `BundleNotFoundError`."""
        if not parsed.path:
            raise BundleNotFoundError("The source file:// names no path")
        given = local_path(parsed.path)
        base = self._base_path or Path.cwd()
        path = base / given
        if not is_there(path) and "%" in parsed.path:
            path = base / unquote(str(given))
        if not is_there(path):
            raise BundleNotFoundError(f"File not found: {path}")
        path = path.resolve()
        active = join_subpath(path, parsed.subpath)
        return ResolvedSource(active, _source_root(path, active, parsed.subpath, cache_dir))


def _source_root(path: Path, active: Path, subpath: str, cache: Path) -> Path:
    if active != cache and active.is_relative_to(cache):
        return cache / active.relative_to(cache).parts[0]
    if subpath:
        return path
    folder = active if active.is_dir() else active.parent
    return enclosing_bundle_folder(folder) or folder


_NAME = re.compile(r"^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$")


class PackageSourceHandler:
    """Finds the folder of a package that is installed in this environment; imports nothing."""

    def can_handle(self, parsed: ParsedURI) -> bool:
        """Whether the URI is a plain name."""
        return parsed.is_package

    async def resolve(self, parsed: ParsedURI, cache_dir: Path) -> ResolvedSource:
        """Return the folder of an installed package; raises `BundleNotFoundError`."""
        folder = package_folder(parsed.path)
        if folder is None:
            raise BundleNotFoundError(
                f"No handler for URI: {parsed.path} (no bundle or installed package has that name)",
                remedy="Check the spelling, or give a path or a URI such as git+https://….",
            )
        return ResolvedSource(join_subpath(folder, parsed.subpath), folder)


def package_folder(name: str) -> Path | None:
    """Return the folder of an installed package, or None.

    The name is that of a package, of a distribution, or of a module: `tool-x` also finds
    `amplifier-module-tool-x`.
    """
    if not _NAME.match(name):
        return None
    plain = name.replace("-", "_").replace(".", "_")
    candidates = [plain, f"amplifier_module_{plain}", *_packages_of(name)]
    candidates += _packages_of(f"amplifier-module-{name}")
    for candidate in dict.fromkeys(candidates):
        try:
            spec = importlib.util.find_spec(candidate)
        except (ImportError, ValueError):
            continue
        if spec is not None and spec.origin and spec.submodule_search_locations:
            return Path(spec.origin).parent
    return None


def _packages_of(distribution: str) -> list[str]:
    try:
        files = importlib.metadata.distribution(distribution).files or []
    except (importlib.metadata.PackageNotFoundError, ValueError):
        return []
    return sorted(
        {file.parts[0] for file in files if file.name == "__init__.py" and len(file.parts) == 2}
    )
