"""What settings do to a bundle before it is prepared (foundation reference g.2)."""

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from amplifier_tui.foundation.bundle.bundle import Bundle
from amplifier_tui.foundation.bundle.model import SETTINGS_ORIGIN, Origin
from amplifier_tui.foundation.dicts import module_entries, module_key
from amplifier_tui.foundation.settings.settings import (
    Scope,
    Settings,
    merge_entries,
    merge_settings,
)

_SECTIONS = {"providers": "provider", "tools": "tool", "hooks": "hook"}
_WRITE_PATHS = "allowed_write_paths"


def apply_settings(
    bundle: Bundle,
    settings: Settings,
    *,
    environ: Mapping[str, str] | None = None,
    project: Path | None = None,
) -> Bundle:
    """Return a bundle with the user's providers, modules, overrides and sources.

    Configuration: the bundle's, then `overrides`, then `config.providers` and `modules`. Sources:
    the bundle's, then `sources.modules`, `overrides`, `config.providers`, the project's own
    `.amplifier/modules/<id>`, and the variable `AMPLIFIER_MODULE_<ID>`.

    Args:
        bundle: Composed; not changed.
        settings: The user's.
        environ: Default `os.environ`.
        project: Folder with `.amplifier/modules`; default the settings' project.
    """
    result = bundle.compose()
    result._source_uri = bundle._source_uri
    had_providers = bool(result.providers)
    for entry in _all_entries(result):
        override = settings.overrides.get(str(entry.get("module")), {})
        if override.get("config"):
            entry["config"] = merge_settings(entry.get("config") or {}, override["config"])
    _tag_overrides(result, settings)
    _add(result, "providers", settings.providers, settings, "config.providers")
    for section in _SECTIONS:
        _add(result, section, settings.modules(section), settings, f"modules.{section}")
    if not had_providers:
        for entry in result.providers:
            entry["config"] = {"raw": True, **(entry.get("config") or {})}
    find = _source_finder(settings, os.environ if environ is None else environ, project)
    for entry in _all_entries(result):
        source = find(str(entry.get("module") or ""), entry.get("source"))
        if source:
            entry["source"] = source
    for entry in result.providers:
        if entry.get("id") and not entry.get("instance_id"):
            entry["instance_id"] = entry["id"]
    for entry in result.tools:
        if entry.get("module") == "tool-filesystem":
            config = dict(entry.get("config") or {})
            config[_WRITE_PATHS] = list(dict.fromkeys((".", *(config.get(_WRITE_PATHS) or ()))))
            entry["config"] = config
    return result


def _add(
    bundle: Bundle, section: str, entries: list[dict[str, Any]], settings: Settings, path: str
) -> None:
    if not entries:
        return
    setattr(bundle, section, merge_entries(getattr(bundle, section), entries))
    for entry in entries:
        key = module_key(entry)
        for scope in settings.by_scope:
            if any(module_key(found) == key for found in settings.entries(scope, path)):
                _tag(bundle, settings, f"{_SECTIONS[section]}:{key}", scope)


def _tag_overrides(bundle: Bundle, settings: Settings) -> None:
    """Note for every entry with an override which scopes have one."""
    for scope, data in settings.by_scope.items():
        overrides = data.get("overrides") or {}
        for category, entries in (
            *((name, getattr(bundle, section)) for section, name in _SECTIONS.items()),
            ("session", [bundle.session.get(part) for part in ("orchestrator", "context")]),
        ):
            for entry in entries:
                if isinstance(entry, dict) and overrides.get(entry.get("module")):
                    _tag(bundle, settings, _origin_key(bundle, category, entry), scope)


def _origin_key(bundle: Bundle, category: str, entry: dict[str, Any]) -> str:
    if category != "session":
        return f"{category}:{module_key(entry)}"
    part = "orchestrator" if entry is bundle.session.get("orchestrator") else "context"
    return f"session:{part}"


def _tag(bundle: Bundle, settings: Settings, key: str, scope: Scope) -> None:
    origin = Origin(f"{SETTINGS_ORIGIN}{scope})", path=settings.files.path(scope))
    known = bundle.origins.setdefault(key, [])
    if origin not in known:
        known.append(origin)


def _all_entries(bundle: Bundle) -> Iterator[dict[str, Any]]:
    """Yield every module entry, agents' included, each one the bundle's own to change."""
    yield from _entries_of(bundle.session, bundle.providers, bundle.tools, bundle.hooks)
    for definition in bundle.agents.values():
        session = definition.get("session")
        for section in _SECTIONS:
            if isinstance(definition.get(section), list):
                definition[section] = module_entries(definition[section])
        lists = [definition.get(section) or [] for section in _SECTIONS]
        yield from _entries_of(session if isinstance(session, dict) else {}, *lists)


def _entries_of(session: dict[str, Any], *lists: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for part in ("orchestrator", "context"):
        value = session.get(part)
        if isinstance(value, str) and value:
            session[part] = value = {"module": value, **_string_form(session, part)}
        if isinstance(value, dict):
            yield value
    for entries in lists:
        yield from entries


def _string_form(session: dict[str, Any], part: str) -> dict[str, Any]:
    source = session.get(f"{part}_source")
    return {"source": source} if isinstance(source, str) and source else {}


def _source_finder(
    settings: Settings, environ: Mapping[str, str], project: Path | None
) -> Callable[[str, Any], str | None]:
    folder = (project or settings.files.project or Path.cwd()) / ".amplifier" / "modules"
    chosen = {
        str(entry["module"]): str(entry["source"])
        for entry in settings.providers
        if entry.get("source")
    }

    def find(module: str, source: Any) -> str | None:
        variable = f"AMPLIFIER_MODULE_{module.upper().replace('-', '_')}"
        if environ.get(variable):
            return environ[variable]
        if module and _is_plain(module) and (folder / module).is_dir():
            return str(folder / module)
        override = settings.overrides.get(module, {}).get("source")
        listed = settings.module_sources.get(module)
        return chosen.get(module) or override or listed or (source if source else None)

    return find


def _is_plain(module: str) -> bool:
    return "/" not in module and "\\" not in module and module not in (".", "..")
