"""Root and nested bundles, and entering them into the registry."""

import logging
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.foundation.bundle.bundle import Bundle
from amplifier_tui.foundation.bundle.loading import load_bundle_path
from amplifier_tui.foundation.bundle.model import BundleData
from amplifier_tui.foundation.exceptions import BundleError
from amplifier_tui.foundation.paths import (
    ResolvedSource,
    bundle_file_in,
    is_subdirectory_uri,
    is_within,
    parse_uri,
    redact_uri,
    without_fragment,
)
from amplifier_tui.foundation.registry.includes import BundleNames
from amplifier_tui.foundation.registry.state import BundleState

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Root:
    """The bundle (read without its includes) in whose folder another one lies."""

    folder: Path
    bundle: Bundle


class RootFinder:
    """Finds the root of a bundle; each root file is read once until it changes."""

    def __init__(self) -> None:
        self._read: dict[Path, tuple[int, Bundle | None]] = {}

    def find(self, bundle: Bundle, source: ResolvedSource) -> Root | None:
        """Return the nearest bundle above another one's folder, within its source."""
        folder = bundle.base_path
        if folder is None or folder == source.source_root:
            return None
        while folder != folder.parent:
            folder = folder.parent
            if not is_within(folder, source.source_root):
                return None
            file = bundle_file_in(folder)
            if file is not None:
                root = self._read_once(file)
                return None if root is None else Root(folder, root)
        return None

    def _read_once(self, file: Path) -> Bundle | None:
        changed = file.stat().st_mtime_ns
        known = self._read.get(file)
        if known is None or known[0] != changed:
            try:
                known = changed, load_bundle_path(file)
            except BundleError as error:
                _log.warning("The root bundle above is ignored: %s", error)
                known = changed, None
            self._read[file] = known
        return known[1]


def place(bundle: Bundle, root: Root | None) -> bool:
    """Enter the namespaces of a loaded bundle; whether it is nested in `root`."""
    if root is None or not root.bundle.name:
        return False
    bundle.source_base_paths.setdefault(root.bundle.name, root.folder)
    if root.bundle.name == bundle.name:
        return False
    if bundle.name and bundle.base_path is not None:
        bundle.source_base_paths[bundle.name] = _resource_root(bundle, bundle.base_path)
    return True


def confine(bundle: Bundle, source: ResolvedSource, cache: Path) -> None:
    """Keep a fetched bundle inside what was fetched; context files outside are dropped.

    `cache` is the folder of what is fetched, without symbolic links.
    """
    path = source.active_path.resolve()
    if path == cache or not path.is_relative_to(cache):
        return
    first = cache / path.relative_to(cache).parts[0]
    root = first if first.is_dir() else cache
    bundle.confined_roots = (root,)
    for name, file in list(bundle.context.items()):
        if not bundle.allows(file, root):
            _log.warning(
                "Bundle %s: context file %s leaves its source and is dropped", bundle.name, name
            )
            del bundle.context[name]


def _resource_root(bundle: Bundle, base_path: Path) -> Path:
    if not bundle.namespace_root:
        return base_path
    target = (base_path / bundle.namespace_root).resolve()
    if not bundle.allows(target, base_path):
        _log.warning("Bundle %s: namespace_root leaves its source and is ignored", bundle.name)
        return base_path
    return target


def remember(
    names: BundleNames,
    bundle: BundleData,
    uri: str,
    source: ResolvedSource,
    root: Root | None,
    nested: bool,
    *,
    requested: bool,
) -> None:
    """Enter a bundle that was loaded by a URI, and the root in whose tree it lies.

    Its includes are not composed yet. `requested`: it was asked for itself, not included.
    """
    if not names.lists(source.active_path):
        return
    if root is not None and root.bundle.name:
        # In a clone the root is what the URI names without its subdirectory.
        fetched = parse_uri(uri).is_git and root.folder == source.source_root
        above = without_fragment(uri) if fetched else f"file://{root.folder}"
        names.entries_for(root.bundle.name, above, root.folder).setdefault(
            root.bundle.name,
            BundleState(
                uri=above,
                name=root.bundle.name,
                version=root.bundle.version,
                local_path=str(root.folder),
            ),
        )
    for alias in (*names.states.values(), *names.brought.values()):
        if alias.uri == uri and alias.name != bundle.name:
            _stamp(alias, bundle, source)
    if not bundle.name:
        return
    states = names.entries_for(bundle.name, uri, source.active_path)
    state = states.get(bundle.name)
    if state is None:
        state = states[bundle.name] = BundleState(uri=uri, name=bundle.name)
        state.is_root = not nested
        state.root_name = root.bundle.name if nested and root is not None else None
    elif state.is_root and is_subdirectory_uri(uri) and state.uri != uri:
        return
    elif state.uri != uri and state.local_path is not None and not requested:
        # An include must not take over a name that is registered for another source.
        _log.info(
            "%s is registered as %s; %s keeps its own folder",
            bundle.name,
            state.uri,
            redact_uri(uri),
        )
        return
    state.uri = uri
    _stamp(state, bundle, source)


def relate(
    states: dict[str, BundleState], bundle: BundleData, included: Sequence[BundleData]
) -> None:
    """Note which bundles a bundle includes, on both sides."""
    state = states.get(bundle.name)
    if state is None:
        return
    former, state.includes = state.includes, []
    for child in included:
        if child.name and child.name not in state.includes:
            state.includes.append(child.name)
    for name in {*former, *state.includes}:
        entry = states.get(name)
        if entry is None:
            continue
        if name in state.includes and bundle.name not in entry.included_by:
            entry.included_by.append(bundle.name)
        elif name not in state.includes and bundle.name in entry.included_by:
            entry.included_by.remove(bundle.name)


def _stamp(state: BundleState, bundle: BundleData, source: ResolvedSource) -> None:
    state.version = bundle.version
    state.loaded_at = datetime.now()
    state.local_path = str(source.active_path)
