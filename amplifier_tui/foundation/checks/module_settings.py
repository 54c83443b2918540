"""What is wrong with the settings a bundle gives to built-in modules."""

import importlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from amplifier_tui.base.config import ModuleSettings
from amplifier_tui.foundation.bundle.entries import ModuleEntry, entries_of
from amplifier_tui.foundation.bundle.model import BundleData
from amplifier_tui.foundation.checks.bundle_file import Problem, line_in, place_of
from amplifier_tui.foundation.dicts import module_key
from amplifier_tui.foundation.settings.expand import variables
from amplifier_tui.kernel.mounting.discovery import installed_modules

_OWN = "amplifier_tui."


def settings_problems(bundle: BundleData) -> Iterator[Problem]:
    """Yield unknown keys (warnings) and values that make no sense (errors), with file and line.

    Only built-in modules are looked at: reading another one's settings would run its code. What a
    variable stands for is known when the module is mounted, and is not judged here.
    """
    for entry in entries_of(bundle):
        config = entry.data.get("config")
        if not isinstance(config, dict) or entry.data.get("source"):
            continue
        settings = settings_of(entry.module)
        for found in settings.problems(config) if settings is not None else ():
            if not (found.known and variables(config.get(found.key))):
                path, line = _place(bundle, entry, ("config", found.key))
                yield Problem(found.message, "error" if found.known else "warning", path, line)


@cache
def settings_of(module_id: str) -> type[ModuleSettings] | None:
    """Return the class of a built-in module's settings: its `module` is the id; mounts nothing."""
    entry_point = installed_modules().get(module_id)
    if entry_point is None or not entry_point.value.startswith(_OWN):
        return None
    package = importlib.import_module(entry_point.module)
    for name in getattr(package, "__all__", ()):
        getattr(package, name)  # Some import them only when asked.
    return next((each for each in _known(ModuleSettings) if _is_of(each, module_id)), None)


def _known(settings: type[ModuleSettings]) -> Iterator[type[ModuleSettings]]:
    for each in settings.__subclasses__():
        yield each
        yield from _known(each)


def _is_of(settings: type[ModuleSettings], module_id: str) -> bool:
    # What a model calls a tool with is read by the same base.
    named = settings.__name__.endswith("Settings") and settings.__module__.startswith(_OWN)
    return named and getattr(settings, "module", "") == module_id


def _place(
    bundle: BundleData, entry: ModuleEntry, keys: tuple[str, ...]
) -> tuple[Path | None, int | None]:
    name = entry.kind if entry.section == "session" else module_key(entry.data)
    if not entry.agent:
        return place_of(bundle, entry.origin, entry.section, name, keys)
    file = bundle.resolve_agent_path(entry.agent)
    if file is not None:
        return file, line_in(file, entry.section, name, keys)
    return place_of(bundle, entry.origin, "agents", entry.agent)
