"""Composition: bundles in, one new bundle out (spec 003, "Merge Rules"; foundation a.4)."""

from collections.abc import Iterable, Sequence
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
from amplifier_tui.foundation.paths import construct_context_path, parse_uri

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
        _pending_context=dict(bundle._pending_context),
        origins=origins_of(bundle),
        skipped=list(bundle.skipped),
    )
    folders = _namespaces((bundle, *others))
    result.source_base_paths = {name: first for name, (first, *_) in folders.items()}
    result.covered_base_paths = {name: rest for name, (_, *rest) in folders.items() if rest}
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
    _keep_context(result, other)
    result.context.update(qualified_context(other))
    result._pending_context.update(other._pending_context)
    result.instruction = other.instruction or result.instruction
    result.origins = merge_origins(result.origins, origins_of(other))
    result.skipped.extend(entry for entry in other.skipped if entry not in result.skipped)
    result.confined_roots = tuple(dict.fromkeys((*result.confined_roots, *other.confined_roots)))
    result.granted = tuple(dict.fromkeys((*result.granted, *other.granted)))
    if other.base_path is not None:
        result.base_path, result.source_file = other.base_path, other.source_file


def _keep_context(result: BundleData, other: BundleData) -> None:
    """Give context files another name before a bundle that is only called the same takes theirs.

    Each includer meant its own file to be read, and a name is no choice between the two. Two
    versions of one bundle are none: of these the later file is the one.
    """
    later = origins_of(other)
    for key in (*qualified_context(other), *other._pending_context):
        origin = f"context:{key}"
        ours, theirs = result.origins.get(origin), later.get(origin)
        if not ours or not theirs or not ours[-1].is_other_of_name(theirs[-1]):
            continue
        namespace, _, _ = key.partition(":")
        file = _context_file(result, key)
        if namespace != ours[-1].bundle or file in (None, _context_file(other, key)):
            continue
        if _without_version(ours[-1]) == _without_version(theirs[-1]):
            continue
        name = f"{namespace}:{file}"
        result.context = {name if each == key else each: at for each, at in result.context.items()}
        result.context[name] = file
        result._pending_context.pop(key, None)
        result.origins[f"context:{name}"] = result.origins.pop(origin)


def _context_file(bundle: BundleData, key: str) -> Path | None:
    reference = bundle._pending_context.get(key)
    if reference is None:
        return qualified_context(bundle).get(key)
    namespace, _, path = reference.partition(":")
    base = bundle.folder_of(namespace, path, f"context:{key}")
    file = None if base is None else construct_context_path(base, path)
    return file if file is not None and base is not None and bundle.allows(file, base) else None


def _without_version(origin: Origin) -> str:
    """Return the include that has a bundle; of a repository's without the branch, tag or commit."""
    include = origin.chain[-1] if origin.chain else str(origin.path)
    parsed = parse_uri(include)
    return f"{parsed.scheme}:{parsed.host}{parsed.path}#{parsed.subpath}" if parsed.ref else include


def _namespaces(layers: Sequence[BundleData]) -> dict[str, list[Path]]:
    """Return the folders of every namespace: those of lower layers first.

    But for the last name, which is the result's: a bundle may be named as a part that it includes,
    and means its own folder by it.
    """
    folders: dict[str, list[Path]] = {}
    for layer in layers:
        for name in (*layer.source_base_paths, layer.name):
            folders.setdefault(name, []).extend(layer.folders_of(name))
    last = next((layer for layer in reversed(layers) if layer.name), layers[-1])
    folders[last.name] = [*last.folders_of(last.name), *folders.pop(last.name)]
    return {name: list(dict.fromkeys(each)) for name, each in folders.items() if name and each}


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
