"""What an entry of `includes` means."""

import os
from collections import ChainMap
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.nearest import did_you_mean, nearest
from amplifier_tui.foundation.bundle.model import BundleData
from amplifier_tui.foundation.exceptions import BundleDependencyError
from amplifier_tui.foundation.paths import (
    is_there,
    is_within,
    normalize_path,
    parse_uri,
    with_subdirectory,
)
from amplifier_tui.foundation.registry.state import BundleState
from amplifier_tui.foundation.registry.whose import Whose
from amplifier_tui.foundation.trust.owners import Owner

_SUFFIXES = ("", ".yaml", ".yml", ".md", "/bundle.yaml", "/bundle.md")


@dataclass(frozen=True, slots=True)
class Include:
    """One entry of `includes`, as written, and its place in the list."""

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
    """Find a bundle in a folder, or None; links do not lead out of it.

    Looked for are the exact name, the name with `.yaml`, `.yml` and `.md`, then a bundle file in a
    folder of that name.
    """
    path = path.strip("/")
    for suffix in _SUFFIXES:
        found = folder / f"{path}{suffix}"
        # A folder is only a bundle when it has a bundle file, which a later suffix finds.
        if is_there(found) and found.is_file() and is_within(found, folder):
            return found
    return None


def resolve_namespace(
    source: str, includer: BundleData, states: Mapping[str, BundleState]
) -> str | None:
    """Turn `ns:path` into a URI; None when the namespace is unknown or has no such file.

    The including bundle's own namespaces come before registered ones, so a fork resolves to itself
    whatever the registry calls by its name.
    """
    namespace, _, path = source.partition(":")
    own = includer.folder_of(namespace)
    state = states.get(namespace)
    uri = includer._source_uri or ""
    if own is None:
        if state is None:
            return None
        uri = state.uri
        own = folder_of_state(state)
        if own is None:
            return _git_subdirectory(uri, path) if parse_uri(uri).is_git else None
    found = find_in(own, path)
    if found is None:
        return None
    if parse_uri(uri).is_git:
        root = next((each for each in (own, *own.parents) if (each / ".git").exists()), None)
        if root is not None and found.is_relative_to(root):
            return with_subdirectory(uri, found.relative_to(root).as_posix())
    return f"file://{found}"


def folder_of_state(state: BundleState) -> Path | None:
    """Return the folder on this machine that a registered bundle's paths start in, or None."""
    if state.local_path is None:
        return None
    local = Path(state.local_path)
    return local if local.is_dir() else local.parent


def resolve_path(source: str, includer: BundleData) -> str | None:
    """Turn a relative or plain path into an absolute one that exists, or None.

    It is looked for next to the including file, then in the working folder. Raises
    `BundleDependencyError` when a fetched bundle would leave its source by it.
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


def check_confined(path: Path, includer: BundleData) -> None:
    """Raise `BundleDependencyError` for a path by which a fetched bundle would leave its source.

    Of what a project includes from elsewhere the user is asked.
    """
    if includer.owner is Owner.PROJECT:
        return
    if includer.base_path is not None and not includer.allows(path, includer.base_path):
        raise BundleDependencyError(f"{path} is outside of what was fetched")


def _git_subdirectory(uri: str, path: str) -> str:
    base = PurePosixPath(parse_uri(uri).subpath)
    if base.suffix in (".md", ".yaml", ".yml"):
        base = base.parent
    return with_subdirectory(uri, str(base / path.strip("/")))


IncludeSourceResolver = Callable[[str], str | None]
"""Gets an include as written; returns the source to use, or None for no opinion."""


class BundleNames:
    """What the name of a bundle, a path or an include means.

    `states` is the registry's own dict, with the user's names. `known` names mean something without
    being registered; bundles in `unlisted` folders are not entered. `redirect` may redirect
    includes. What `whose` says is brought along is in `brought`, which only a project's files see.
    """

    def __init__(
        self,
        states: dict[str, BundleState],
        known: Mapping[str, str],
        unlisted: Sequence[Path],
        redirect: IncludeSourceResolver | None,
        whose: Whose,
    ) -> None:
        self.states = states
        self.brought: dict[str, BundleState] = {}
        self.redirect = redirect
        self.whose = whose
        self._known = {
            name: BundleState(uri=source, name=name, local_path=source)
            for name, source in known.items()
        }
        self._unlisted = tuple(folder.resolve() for folder in unlisted)

    def seen_by(self, includer: BundleData) -> Mapping[str, BundleState]:
        """Return what names mean in a bundle's file; in the user's own never what is brought."""
        file = includer.source_file
        if file is not None and self.whose.is_brought(file):
            return ChainMap(self.brought, self.states, self._known)
        return ChainMap(self.states, self._known)

    def entries_for(self, name: str, uri: str, path: Path) -> dict[str, BundleState]:
        """Return where a bundle is entered that was loaded by a URI from a file."""
        for entries in (self.states, self.brought):
            if name in entries and entries[name].uri == uri:
                return entries
        return self.states if self.whose.may_take(name, path) else self.brought

    def nearest(self, source: str, includer: BundleData) -> str:
        """Return the end of a sentence that offers what an include most likely means, or empty.

        It is a name, or `ns:path`, of which there is nothing.
        """
        if is_path(source) or "://" in source:
            return ""
        namespace, separator, path = source.partition(":")
        seen = self.seen_by(includer)
        if not separator:
            return did_you_mean(source, seen)
        if namespace not in seen and includer.folder_of(namespace) is None:
            return did_you_mean(namespace, {*seen, *includer.source_base_paths})
        folder = self._folder_of(namespace, includer)
        if folder is None:
            return ""
        parent = PurePosixPath(path.strip("/")).parent
        try:
            files = sorted((folder / parent).iterdir()) if ".." not in parent.parts else []
        except OSError:
            return ""
        # The folder is right: with it any two names would look much alike.
        near = nearest(PurePosixPath(path).stem, {f.stem for f in files if f.suffix in _SUFFIXES})
        return f"; did you mean '{(parent / near).as_posix()}'?" if near else ""

    def _folder_of(self, namespace: str, includer: BundleData) -> Path | None:
        own = includer.folder_of(namespace)
        state = self.seen_by(includer).get(namespace)
        return own or (None if state is None else folder_of_state(state))

    def lists(self, path: Path) -> bool:
        """Whether a bundle in this place is entered into the registry."""
        return not any(map(path.resolve().is_relative_to, self._unlisted))

    def uri_of(self, name_or_uri: str) -> str:
        """Return where a name, path or URI points; relative paths start at the working folder."""
        state = self.states.get(name_or_uri)
        if state is not None:
            return state.uri
        if name_or_uri.startswith("~"):
            return str(normalize_path(name_or_uri))
        if is_path(name_or_uri):
            return os.path.abspath(name_or_uri)
        if namespace_of(name_or_uri) is not None:
            every = ChainMap(self.states, self._known, self.brought)
            return resolve_namespace(name_or_uri, BundleData(name=""), every) or name_or_uri
        return self._known[name_or_uri].uri if name_or_uri in self._known else name_or_uri

    def resolve_include(self, source: str, includer: BundleData | None = None) -> str | None:
        """Return the absolute source of an include, or None when there is none."""
        includer = includer or BundleData(name="")
        redirected = None
        if self.redirect is not None:
            redirected = self.redirect(source)
        if redirected is not None:
            return self.uri_of(redirected)
        if "://" in source or source.startswith("git+"):
            return source
        if namespace_of(source) is not None:
            return resolve_namespace(source, includer, self.seen_by(includer))
        state, known = self.seen_by(includer).get(source), self._known.get(source)
        state = None if state is known else state
        # A bundle may extend the one whose name it takes.
        if state is not None and (known is None or state.uri != includer._source_uri):
            return state.uri
        found = resolve_path(source, includer)
        if known is not None and (found is None or _is_own(found, includer)):
            return known.uri
        if found is not None or is_path(source):
            return found
        return source


def _is_own(path: str, bundle: BundleData) -> bool:
    return bundle.source_file is not None and Path(path).resolve() == bundle.source_file.resolve()
