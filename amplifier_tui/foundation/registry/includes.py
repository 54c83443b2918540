"""What an entry of `includes` means (foundation reference b.3)."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from amplifier_tui.foundation.bundle.model import Bundle
from amplifier_tui.foundation.exceptions import BundleDependencyError
from amplifier_tui.foundation.paths.resolution import (
    is_there,
    is_within,
    normalize_path,
    parse_uri,
    without_fragment,
)
from amplifier_tui.foundation.registry.state import BundleState

_SUFFIXES = ("", ".yaml", ".yml", ".md", "/bundle.yaml", "/bundle.md")


@dataclass(frozen=True, slots=True)
class Include:
    """One entry of `includes`.

    Attributes:
        source: As written.
        index: Its place in the list.
    """

    source: str
    index: int


def parse_includes(entries: list[Any]) -> list[Include]:
    """Return the entries that name a bundle: texts, and mappings with `bundle`."""
    includes: list[Include] = []
    for index, entry in enumerate(entries):
        source = entry.get("bundle") if isinstance(entry, Mapping) else entry
        if isinstance(source, str) and source.strip():
            includes.append(Include(source.strip().removeprefix("@"), index))
    return includes


def namespace_of(source: str) -> str | None:
    """Return the namespace of a `ns:path`, or None for anything else."""
    if "://" in source or source.startswith(("git+", "zip+", "~")) or is_path(source):
        return None
    namespace, separator, _ = source.partition(":")
    return namespace if separator and namespace else None


def is_path(source: str) -> bool:
    """Whether a source is written as a path."""
    return parse_uri(source).is_file and "://" not in source


def find_in(folder: Path, path: str) -> Path | None:
    """Find a bundle below a folder.

    Looked for are the exact name, the name with `.yaml`, `.yml` and `.md`, then a bundle file in a
    folder of that name.

    Returns:
        The first that exists and lies in `folder`, or None.
    """
    path = path.strip("/")
    for suffix in _SUFFIXES:
        found = folder / f"{path}{suffix}"
        # A folder is only a bundle when it has a bundle file, which a later suffix finds.
        if is_there(found) and found.is_file() and is_within(found, folder):
            return found
    return None


def resolve_namespace(
    source: str, includer: Bundle, states: Mapping[str, BundleState]
) -> str | None:
    """Turn `ns:path` into a URI.

    The including bundle's own namespaces come before registered ones, so a fork resolves to
    itself whatever the registry calls by its name.

    Returns:
        The URI, or None when the namespace is unknown or has no such file.
    """
    namespace, _, path = source.partition(":")
    own = includer.source_base_paths.get(namespace)
    if own is None and namespace == includer.name:
        own = includer.base_path
    state = states.get(namespace)
    uri = includer._source_uri or ""
    if own is None:
        if state is None:
            return None
        uri = state.uri
        if state.local_path is None:
            return _git_subdirectory(uri, path) if parse_uri(uri).is_git else None
        local = Path(state.local_path)
        own = local if local.is_dir() else local.parent
    found = find_in(own, path)
    if found is None:
        return None
    if parse_uri(uri).is_git:
        root = _clone_root(own)
        if root is not None and found.is_relative_to(root):
            return f"{without_fragment(uri)}#subdirectory={found.relative_to(root).as_posix()}"
    return f"file://{found}"


def resolve_path(source: str, includer: Bundle) -> str | None:
    """Turn a relative or plain path into an absolute one: next to the including file, else here.

    Returns:
        The path, or None when it does not exist.

    Raises:
        BundleDependencyError: The including bundle was fetched, and the path leaves its source.
    """
    candidates = [folder for folder in (includer.base_path, Path.cwd()) if folder is not None]
    if not is_path(source):
        candidates = candidates[:1]
    for folder in candidates:
        path = normalize_path(source, folder)
        found = path if is_there(path) else find_in(path.parent, path.name)
        if found is not None:
            check_confined(found, includer)
            return str(found)
    return None


def check_confined(path: Path, includer: Bundle) -> None:
    """Refuse a path by which a fetched bundle would leave its source.

    Raises:
        BundleDependencyError: It would.
    """
    if includer.base_path is not None and not includer.allows(path, includer.base_path):
        raise BundleDependencyError(f"{path} is outside of what was fetched")


def _git_subdirectory(uri: str, path: str) -> str:
    base = PurePosixPath(parse_uri(uri).subpath)
    if base.suffix in (".md", ".yaml", ".yml"):
        base = base.parent
    return f"{without_fragment(uri)}#subdirectory={base / path.strip('/')}"


def _clone_root(folder: Path) -> Path | None:
    for candidate in (folder, *folder.parents):
        if (candidate / ".git").exists():
            return candidate
    return None
