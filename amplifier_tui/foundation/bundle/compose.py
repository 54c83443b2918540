"""Composition: bundles in, one new bundle out (spec 003, "Merge Rules"; foundation a.4)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from amplifier_tui.base.plain import copy_plain
from amplifier_tui.foundation.bundle.model import BundleData, Origin, Origins
from amplifier_tui.foundation.dicts import deep_merge, merge_module_lists, module_key

B = TypeVar("B", bound=BundleData)


def compose(base: B, others: Sequence[BundleData]) -> B:
    """Layer `others` over `base`, later ones overriding; no argument is changed.

    Args:
        base: The lowest layer; `includes` and `namespace_root` come from it alone.
        others: What goes on top, in order.

    Returns:
        A new bundle that shares no dict or list with the arguments.
    """
    result = _copy(base)
    for other in others:
        _layer(result, other)
    return result


def _copy(base: B) -> B:
    result = type(base)(
        name=base.name,
        version=base.version,
        description=base.description,
        includes=copy_plain(base.includes or []),
        namespace_root=base.namespace_root,
        session=copy_plain(base.session or {}),
        providers=copy_plain(base.providers or []),
        tools=copy_plain(base.tools or []),
        hooks=copy_plain(base.hooks or []),
        spawn=copy_plain(base.spawn or {}),
        agents=copy_plain(base.agents or {}),
        context=qualified_context(base),
        instruction=base.instruction,
        base_path=base.base_path,
        source_base_paths=dict(base.source_base_paths),
        _pending_context=dict(base._pending_context),
        origins=origins_of(base),
        skipped=list(base.skipped),
        confined_roots=base.confined_roots,
        source_file=base.source_file,
    )
    if base.name and base.base_path is not None:
        result.source_base_paths.setdefault(base.name, base.base_path)
    return result


def _layer(result: BundleData, other: BundleData) -> None:
    result.name = other.name or result.name
    result.version = other.version or result.version
    result.description = other.description or result.description
    result.session = deep_merge(result.session, other.session)
    result.spawn = deep_merge(result.spawn, other.spawn)
    result.providers = merge_module_lists(result.providers, other.providers)
    result.tools = merge_module_lists(result.tools, other.tools)
    result.hooks = merge_module_lists(result.hooks, other.hooks)
    result.agents.update(copy_plain(other.agents or {}))
    result.context.update(qualified_context(other))
    result._pending_context.update(other._pending_context)
    result.instruction = other.instruction or result.instruction
    result.origins = merge_origins(result.origins, origins_of(other))
    result.skipped.extend(entry for entry in other.skipped if entry not in result.skipped)
    result.confined_roots = tuple(dict.fromkeys((*result.confined_roots, *other.confined_roots)))
    if other.base_path is not None:
        result.base_path, result.source_file = other.base_path, other.source_file
    for namespace, path in other.source_base_paths.items():
        result.source_base_paths.setdefault(namespace, path)
    if other.name and other.base_path is not None:
        result.source_base_paths.setdefault(other.name, other.base_path)


def origins_of(bundle: BundleData) -> Origins:
    """Return the origins of every entry; an entry nobody tagged is the bundle's own."""
    found: Origins = {}
    name = bundle.name or str(bundle.source_file or bundle.base_path or "")
    own = Origin(name, path=bundle.source_file)
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
    """Mark what an included bundle contributes itself as come through `include`."""
    return {
        key: [
            entry if entry.via_behavior is not None else replace(entry, via_behavior=include)
            for entry in entries
        ]
        for key, entries in origins.items()
    }


def qualified_context(bundle: BundleData) -> dict[str, Path]:
    """Return the context map with the bundle's name before every key that has no namespace."""
    return {_qualified(key, bundle.name): path for key, path in bundle.context.items()}


def _qualified(key: str, name: str) -> str:
    return key if ":" in key or not name else f"{name}:{key}"


def _entry_keys(bundle: BundleData) -> Iterable[str]:
    for category, modules in (
        ("provider", bundle.providers),
        ("tool", bundle.tools),
        ("hook", bundle.hooks),
    ):
        yield from (f"{category}:{key}" for key in _module_keys(modules))
    for category, mapping in (
        ("agent", bundle.agents),
        ("session", bundle.session),
        ("spawn", bundle.spawn),
    ):
        yield from (f"{category}:{key}" for key in mapping)
    yield from (f"context:{_qualified(key, bundle.name)}" for key in bundle.context)
    yield from (f"context:{key}" for key in bundle._pending_context)
    if bundle.instruction:
        yield "instruction"


def _module_keys(modules: Iterable[Mapping[str, Any]]) -> Iterable[str]:
    return (key for key in map(module_key, modules) if key)
