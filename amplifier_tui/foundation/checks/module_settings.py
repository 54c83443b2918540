"""What is wrong with the settings that a bundle, or the user's settings, give to modules."""

import importlib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Final

from amplifier_tui.base.config import ModuleSettings
from amplifier_tui.base.nearest import did_you_mean
from amplifier_tui.foundation.bundle.entries import ModuleEntry, entries_of
from amplifier_tui.foundation.bundle.model import BundleData
from amplifier_tui.foundation.checks import preview_modules
from amplifier_tui.foundation.checks.bundle_file import Problem, line_in, place_of
from amplifier_tui.foundation.dicts import module_key
from amplifier_tui.foundation.io import Keys
from amplifier_tui.foundation.settings.expand import missing_places, variables
from amplifier_tui.foundation.settings.settings import Settings
from amplifier_tui.foundation.trust.keys.addresses import KNOWN_KEYS, missing_keys
from amplifier_tui.foundation.trust.servers.own import SERVER_KEYS, SERVERS_MODULE
from amplifier_tui.kernel.mounting.discovery import installed_modules

_OWN = "amplifier_tui."
_ALIKE: Final = 0.88
"""How much alike two ids are where one is a slip: a letter or two. Modules have similar names."""


def settings_problems(bundle: BundleData) -> Iterator[Problem]:
    """Yield unknown keys (warnings) and values that make no sense (errors), with file and line.

    Only built-in modules are looked at: reading another one's settings would run its code. What a
    variable stands for is known when the module is mounted, and is not judged here.
    """
    for entry in entries_of(bundle):
        yield from problems_of_entry(bundle, entry)


def problems_of_entry(bundle: BundleData, entry: ModuleEntry) -> Iterator[Problem]:
    """Do the same for one module of a bundle."""
    config = entry.data.get("config")
    if not isinstance(config, dict) or entry.data.get("source"):
        return
    settings = settings_of(entry.module)
    for found in settings.problems(config) if settings is not None else ():
        if not (found.known and variables(config.get(found.key))):
            path, line = _place(bundle, entry, ("config", found.key))
            yield Problem(found.message, "error" if found.known else "warning", path, line)


def unset_variables(bundle: BundleData, environ: Mapping[str, str]) -> Iterator[Problem]:
    """Yield the variables that modules' settings refer to and that are not set, with their place.

    One with a default, or that is set to nothing, is what its author or the user wants. A vendor's
    own key, and what MCP servers need, is told with the provider and the server.
    """
    for entry in entries_of(bundle):
        config = entry.data.get("config")
        told = {*environ, *KNOWN_KEYS.get(entry.module, ())}
        if entry.kind == "provider":
            # A server on this machine may do without a key.
            needed = missing_keys(entry.data, environ)
            told.update(name for name in variables(config) if name not in needed)
        for name, keys in missing_places(config, environ):
            servers = entry.module == SERVERS_MODULE and keys[0] in SERVER_KEYS
            if name not in told and not servers:
                told.add(name)
                path, line = _place(bundle, entry, ("config", *keys))
                setting = ".".join(map(str, ("config", *keys)))
                message = f"{module_key(entry.data)}: {name} is not set, and {setting} refers to it"
                remedy = (
                    f"Set {name} in the environment or in keys.env, correct its name, or write "
                    f"${{{name}:}} where it may be empty."
                )
                yield Problem(message, "warning", path, line, remedy)


@cache
def settings_of(module_id: str) -> type[ModuleSettings] | None:
    """Return the class of a built-in module's settings: its `module` is the id; mounts nothing."""
    entry_point = installed_modules().get(module_id)
    if entry_point is None or not is_built_in(module_id):
        return None
    package = importlib.import_module(entry_point.module)
    for name in getattr(package, "__all__", ()):
        getattr(package, name)  # Some import them only when asked.
    return next((each for each in _known(ModuleSettings) if _is_of(each, module_id)), None)


def is_built_in(module_id: str) -> bool:
    """Whether an id is that of a module of the program's."""
    entry_point = installed_modules().get(module_id)
    return entry_point is not None and entry_point.value.startswith(_OWN)


def _known(settings: type[ModuleSettings]) -> Iterator[type[ModuleSettings]]:
    for each in settings.__subclasses__():
        yield each
        yield from _known(each)


def _is_of(settings: type[ModuleSettings], module_id: str) -> bool:
    # What a model calls a tool with is read by the same base.
    named = settings.__name__.endswith("Settings") and settings.__module__.startswith(_OWN)
    return named and getattr(settings, "module", "") == module_id


def _place(bundle: BundleData, entry: ModuleEntry, keys: Keys) -> tuple[Path | None, int | None]:
    name = entry.kind if entry.section == "session" else module_key(entry.data)
    if not entry.agent:
        return place_of(bundle, entry.origin, entry.section, name, keys)
    file = bundle.resolve_agent_path(entry.agent)
    if file is not None:
        return file, line_in(file, entry.section, name, keys)
    return place_of(bundle, entry.origin, "agents", entry.agent)


def misspelt_overrides(settings: Settings, bundle: BundleData) -> list[Problem]:
    """Return the overrides of what is no module here, with the id that may be meant.

    Those of modules that other bundles have are none: they are like no id that is known.
    """
    written = [
        (scope, str(module))
        for scope, data in settings.by_scope.items()
        for module in data.get("overrides") or {}
    ]
    # Most settings have none, and to look for what is installed takes its time.
    known = {entry.module for entry in entries_of(bundle)} if written else set()
    if all(module in known for _, module in written):
        return []
    known |= preview_modules.installed_modules()
    found = []
    for scope, module in written:
        near = "" if module in known else did_you_mean(module, known, least=_ALIKE)
        path = settings.files.path(scope)
        if near and path is not None:
            line = line_in(path, "overrides", module)
            message = f"The override of '{module}' does not count: no such module is here{near}"
            found.append(Problem(message, "warning", path, line, "Correct its id."))
    return found
