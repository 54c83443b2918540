"""Root and nested bundles, and the namespaces they bring (foundation reference b.4)."""

import logging
from dataclasses import dataclass
from pathlib import Path

from amplifier_tui.foundation.bundle.bundle import Bundle
from amplifier_tui.foundation.bundle.loading import load_bundle_path
from amplifier_tui.foundation.exceptions import BundleError
from amplifier_tui.foundation.paths import ResolvedSource, bundle_file_in, is_within

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Root:
    """The bundle in whose tree another one lies.

    Attributes:
        folder: The tree.
        bundle: Read without its includes.
    """

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


def confine(bundle: Bundle, source: ResolvedSource, cache_dir: Path) -> None:
    """Keep a fetched bundle inside what was fetched; context files outside are dropped."""
    cache = cache_dir.resolve()
    path = source.active_path.resolve()
    if path == cache or not path.is_relative_to(cache):
        return
    first = cache / path.relative_to(cache).parts[0]
    root = first if first.is_dir() else cache
    bundle.confined_roots = (root,)
    for name, file in list(bundle.context.items()):
        if not is_within(file, root):
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
