"""Composition: bundles in, one new bundle out (spec 003, "Merge Rules"; foundation a.4)."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from amplifier_tui.base.plain import copy_plain
from amplifier_tui.foundation.bundle.model import (
    INSTRUCTION,
    SECTIONS,
    BundleData,
    Origin,
    Origins,
)
from amplifier_tui.foundation.dicts import deep_merge, merge_module_lists, module_key

B = TypeVar("B", bound=BundleData)

_COPIED = ("includes", "session", *SECTIONS, "spawn", "agents")


def compose(bundle: B, *others: BundleData) -> B:
    """Return a new bundle with `others` layered over this one, later overriding earlier.

    `includes` and `namespace_root` are the lowest layer's. No dict or list is shared with it.
    """
    result = replace(
        bundle,
        **{name: copy_plain(getattr(bundle, name)) for name in _COPIED},
        context=qualified_context(bundle),
        source_base_paths=dict(bundle.source_base_paths),
        _pending_context=dict(bundle._pending_context),
        origins=origins_of(bundle),
        skipped=list(bundle.skipped),
    )
    if bundle.name and bundle.base_path is not None:
        result.source_base_paths.setdefault(bundle.name, bundle.base_path)
    if not others:
        result._source_uri = bundle._source_uri
    for other in others:
        _layer(result, other)
    return result


def _layer(result: BundleData, other: BundleData) -> None:
    result.name = other.name or result.name
    result.version = other.version or result.version
    result.description = other.description or result.description
    result.session = deep_merge(result.session, other.session)
    result.spawn = deep_merge(result.spawn, other.spawn)
    for section in SECTIONS:
        merged = merge_module_lists(getattr(result, section), getattr(other, section))
        setattr(result, section, merged)
    result.agents.update(copy_plain(other.agents or {}))
    result.context.update(qualified_context(other))
    result._pending_context.update(other._pending_context)
    result.instruction = other.instruction or result.instruction
    result.origins = merge_origins(result.origins, origins_of(other))
    result.skipped.extend(entry for entry in other.skipped if entry not in result.skipped)
    result.confined_roots = tuple(dict.fromkeys((*result.confined_roots, *other.confined_roots)))
    result.granted = tuple(dict.fromkeys((*result.granted, *other.granted)))
    if other.base_path is not None:
        result.base_path, result.source_file = other.base_path, other.source_file
    for namespace, path in other.source_base_paths.items():
        result.source_base_paths.setdefault(namespace, path)
    if other.name and other.base_path is not None:
        result.source_base_paths.setdefault(other.name, other.base_path)


def origins_of(bundle: BundleData) -> Origins:
    """Return the origins of every entry; an entry without one is the bundle's own."""
    found: Origins = {}
    name = bundle.name or str(bundle.source_file or bundle.base_path or "")
    own = Origin(name, path=bundle.source_file, owner=bundle.owner)
    for key in _entry_keys(bundle):
        found[key] = list(bundle.origins.get(key) or [own])
    return found


def merge_origins(first: Origins, second: Origins) -> Origins:
    """Return both, contributors of `second` after those of `first`."""
    merged = {key: list(entries) for key, entries in first.items()}
    for key, entries in second.items():
        known = merged.setdefault(key, [])
        # With the file: a bundle that takes another one's name must not disappear behind it.
        seen = {(entry, entry.path) for entry in known}
        known.extend(entry for entry in entries if (entry, entry.path) not in seen)
    return merged


def tag_origins(origins: Origins, include: str) -> Origins:
    """Return origins that say they come through `include` as well."""
    return {
        key: [
            replace(
                entry,
                via_behavior=include if entry.via_behavior is None else entry.via_behavior,
                chain=(include, *entry.chain),
            )
            for entry in entries
        ]
        for key, entries in origins.items()
    }


def tag_container_provenance(bundle: BundleData, include: str) -> None:
    """Mark everything in a bundle as come through `include`, by which another bundle has it."""
    bundle.origins = tag_origins(origins_of(bundle), include)


def qualified_context(bundle: BundleData) -> dict[str, Path]:
    """Return the context map with the bundle's name before every key that has no namespace."""
    return {_qualified(key, bundle.name): path for key, path in bundle.context.items()}


def _qualified(key: str, name: str) -> str:
    return key if ":" in key or not name else f"{name}:{key}"


def _entry_keys(bundle: BundleData) -> Iterable[str]:
    for section, kind in SECTIONS.items():
        keys = map(module_key, getattr(bundle, section))
        yield from (f"{kind}:{key}" for key in keys if key)
    for category, mapping in (
        ("agent", bundle.agents),
        ("session", bundle.session),
        ("spawn", bundle.spawn),
    ):
        yield from (f"{category}:{key}" for key in mapping)
    yield from (f"context:{_qualified(key, bundle.name)}" for key in bundle.context)
    yield from (f"context:{key}" for key in bundle._pending_context)
    for part in ("orchestrator", "context"):
        module = bundle.session.get(part)
        module = module.get("module") if isinstance(module, dict) else module
        if isinstance(module, str) and module:
            yield f"session.{part}:{module}"
    if bundle.instruction:
        yield INSTRUCTION
