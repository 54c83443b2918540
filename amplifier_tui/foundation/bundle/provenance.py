"""Who contributed what: the answer to "where does this tool come from?"."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from amplifier_tui.foundation.dicts.merge import module_key

if TYPE_CHECKING:
    from amplifier_tui.foundation.bundle.model import Bundle

SkipKind = Literal["not_fetched", "refused", "circular", "failed"]

Origins = dict[str, list["Origin"]]
"""`"tool:tool-bash"` to its contributors in order of composition; the last had the last word.

Categories: `provider`, `tool`, `hook`, `agent`, `context`, `session`, `spawn`, each with the
entry's own name after the colon, and plain `instruction`.
"""


SETTINGS_ORIGIN = "settings ("
"""How the name of an origin begins that is a scope of the settings."""


@dataclass(frozen=True, slots=True)
class Origin:
    """One contributor of an entry.

    Attributes:
        bundle: Name of the bundle whose file has the entry (its path when it is nameless).
        via_behavior: The include, as written, through which that bundle came; None for the
            bundle that was asked for.
        path: The file that has the entry; None for what was made in memory. Not compared.
    """

    bundle: str
    via_behavior: str | None = None
    path: Path | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class SkippedInclude:
    """An include that is not part of the composed bundle, and why.

    Attributes:
        source: The include as written.
        included_by: Name of the bundle that has it (its path when it is nameless).
        reason: What went wrong, readable.
        kind: `not_fetched` when it exists elsewhere and fetching was off, `refused` when trust was
            not given, `circular` when it includes the bundle that includes it, else `failed`.
        path: The including bundle's file.
        line: Line of the include in it, counted from 1.
    """

    source: str
    included_by: str
    reason: str
    path: Path | None = None
    line: int | None = None
    kind: SkipKind = "failed"


def is_settings_origin(origin: Origin) -> bool:
    """Whether an entry comes from the user's settings and not from a bundle."""
    return origin.bundle.startswith(SETTINGS_ORIGIN)


def origins_of(bundle: "Bundle") -> Origins:
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


def qualified_context(bundle: "Bundle") -> dict[str, Path]:
    """Return the context map with the bundle's name before every key that has no namespace."""
    return {_qualified(key, bundle.name): path for key, path in bundle.context.items()}


def _qualified(key: str, name: str) -> str:
    return key if ":" in key or not name else f"{name}:{key}"


def _entry_keys(bundle: "Bundle") -> Iterable[str]:
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
