"""What settings do to a bundle before it is prepared."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from amplifier_tui.foundation.bundle.bundle import Bundle
from amplifier_tui.foundation.bundle.entries import entries_of
from amplifier_tui.foundation.bundle.model import SECTIONS, SETTINGS_ORIGIN, Origin
from amplifier_tui.foundation.dicts import module_key, texts_listed, united
from amplifier_tui.foundation.paths import redact_uri
from amplifier_tui.foundation.settings.settings import (
    BUILT_IN,
    Scope,
    Settings,
    merge_entries,
    merge_settings,
)
from amplifier_tui.foundation.trust.owners import Owner

IN_PLACE_OF: Final = "in_place_of"
"""Key of an entry that is to be the built-in module, by the settings: the source it had."""
_WRITE_PATHS = "allowed_write_paths"


def apply_settings(
    bundle: Bundle,
    settings: Settings,
    *,
    environ: Mapping[str, str] | None = None,
    project: Path | None = None,
    allows: Callable[[str, Path], bool] = lambda module, folder: True,
) -> Bundle:
    """Return a bundle with the user's providers, modules, overrides and sources.

    Configuration: the bundle's, then `overrides`, then `config.providers` and `modules`. Sources:
    the bundle's, then `sources.modules`, `overrides`, `config.providers`, the project's own
    `.amplifier/modules/<id>`, and the variable `AMPLIFIER_MODULE_<ID>` of `environ`. `allows` gets
    a module and the project's folder of it, and says whether that may be used.
    """
    result = bundle.compose()
    had_providers = bool(result.providers)
    _write_out_entries(result)
    for found in entries_of(result):
        override, entry = settings.overrides.get(found.module, {}), found.data
        config = entry.get("config") or {}
        # What is no mapping is told where it stands, and not mended by the way.
        if override.get("config") and isinstance(config, dict):
            entry["config"] = merge_settings(config, override["config"])
    _tag_overrides(result, settings)
    _add(result, "providers", settings.providers, settings, "config.providers")
    for section in SECTIONS:
        _add(result, section, settings.modules(section), settings, f"modules.{section}")
    if not had_providers:
        for entry in result.providers:
            if isinstance(config := entry.get("config") or {}, dict):
                entry["config"] = {"raw": True, **config}
    find = _source_finder(settings, os.environ if environ is None else environ, project, allows)
    for found in entries_of(result):
        source = find(found.module, found.data.get("source"))
        if source == BUILT_IN:
            given = found.data.pop("source", None)
            if given and given != BUILT_IN:
                found.data[IN_PLACE_OF] = redact_uri(str(given))
        elif source:
            found.data["source"] = source
    for entry in result.providers:
        if entry.get("id") and not entry.get("instance_id"):
            entry["instance_id"] = entry["id"]
    for entry in result.tools:
        config = entry.get("config")
        if entry.get("module") == "tool-filesystem" and isinstance(config, dict | None):
            entry["config"] = _writable_folder(config or {})
    return result


def _writable_folder(config: dict[str, Any]) -> dict[str, Any]:
    """Return the configuration with the working folder as a place that may be written.

    A text is one path, as for the tool; what is no path is kept for the tool to complain about.
    """
    paths = texts_listed(config.get(_WRITE_PATHS))
    paths = [] if paths is None else paths
    return {**config, _WRITE_PATHS: united(["."], paths) if isinstance(paths, list) else paths}


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
                _tag(bundle, settings, f"{SECTIONS[section]}:{key}", scope)


def _tag_overrides(bundle: Bundle, settings: Settings) -> None:
    """Note for every entry with an override which scopes have one."""
    for scope, data in settings.by_scope.items():
        overrides = data.get("overrides") or {}
        for entry in entries_of(bundle):
            if not entry.agent and overrides.get(entry.module):
                _tag(bundle, settings, entry.origin, scope)


def _tag(bundle: Bundle, settings: Settings, key: str, scope: Scope) -> None:
    owner = Owner.PROJECT if scope in (Scope.PROJECT, Scope.LOCAL) else Owner.USER
    origin = Origin(f"{SETTINGS_ORIGIN}{scope})", path=settings.files.path(scope), owner=owner)
    known = bundle.origins.setdefault(key, [])
    if origin not in known:
        known.append(origin)


def _write_out_entries(bundle: Bundle) -> None:
    """Make a mapping of every module that is only named, agents' included."""
    for owner in (vars(bundle), *bundle.agents.values()):
        session: Any = owner.get("session")
        for part in ("orchestrator", "context"):
            value = session.get(part) if isinstance(session, dict) else None
            if isinstance(value, str) and value:
                source = session.get(f"{part}_source")
                given = {"source": source} if isinstance(source, str) and source else {}
                session[part] = {"module": value, **given}
        for section in SECTIONS:
            if isinstance(owner.get(section), list):
                # What is neither is told of, and an agent with it may not run.
                owner[section] = [
                    {"module": each} if isinstance(each, str) else each for each in owner[section]
                ]


def _source_finder(
    settings: Settings,
    environ: Mapping[str, str],
    project: Path | None,
    allows: Callable[[str, Path], bool],
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
        own = folder / module
        if module and _is_plain(module) and own.is_dir() and allows(module, own):
            return str(own)
        override = settings.overrides.get(module, {}).get("source")
        listed = settings.module_sources.get(module)
        return chosen.get(module) or override or listed or (source if source else None)

    return find


def _is_plain(module: str) -> bool:
    return "/" not in module and "\\" not in module and module not in (".", "..")
