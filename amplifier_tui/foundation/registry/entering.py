"""Entering loaded bundles into the registry."""

import logging
from collections.abc import Sequence
from datetime import datetime

from amplifier_tui.foundation.bundle.model import BundleData
from amplifier_tui.foundation.paths import (
    ResolvedSource,
    is_subdirectory_uri,
    parse_uri,
    redact_uri,
    without_fragment,
)
from amplifier_tui.foundation.registry.includes import BundleNames
from amplifier_tui.foundation.registry.roots import Root
from amplifier_tui.foundation.registry.state import BundleState

_log = logging.getLogger(__name__)


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
    """Enter a bundle that was loaded, and the root in whose tree it lies.

    Args:
        names: Has the registry's entries.
        bundle: Loaded, its includes not yet composed.
        uri: What it was loaded by.
        source: Where that is on this machine.
        root: The bundle in whose tree it lies.
        nested: It is a part of `root`.
        requested: It was asked for itself, not included by another one.
    """
    states = names.states
    if not names.lists(source.active_path):
        return
    if root is not None and root.bundle.name and root.bundle.name not in states:
        # In a clone the root is what the URI names without its subdirectory.
        fetched = parse_uri(uri).is_git and root.folder == source.source_root
        states[root.bundle.name] = BundleState(
            uri=without_fragment(uri) if fetched else f"file://{root.folder}",
            name=root.bundle.name,
            version=root.bundle.version,
            local_path=str(root.folder),
        )
    for alias in states.values():
        if alias.uri == uri and alias.name != bundle.name:
            _stamp(alias, bundle, source)
    if not bundle.name:
        return
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
