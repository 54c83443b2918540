"""Composition: bundles in, one new bundle out (spec 003, "Merge Rules"; foundation a.4)."""

from typing import TYPE_CHECKING

from amplifier_tui.foundation.bundle.provenance import (
    merge_origins,
    origins_of,
    qualified_context,
)
from amplifier_tui.foundation.dicts.merge import copy_plain, deep_merge, merge_module_lists

if TYPE_CHECKING:
    from amplifier_tui.foundation.bundle.model import Bundle


def compose(base: "Bundle", others: "tuple[Bundle, ...]") -> "Bundle":
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


def _copy(base: "Bundle") -> "Bundle":
    from amplifier_tui.foundation.bundle.model import Bundle

    result = Bundle(
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


def _layer(result: "Bundle", other: "Bundle") -> None:
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
