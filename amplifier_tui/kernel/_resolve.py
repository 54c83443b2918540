"""Asking a resolver for a module, whichever of the published signatures it has."""

from __future__ import annotations

import inspect
from os import PathLike
from pathlib import Path
from typing import Any

from amplifier_tui.kernel._loader_errors import BrokenModuleError
from amplifier_tui.kernel.module_sources import ModuleNotFoundError


async def resolve_module(resolver: Any, module_id: str, hint: Any) -> Path:
    """Return where a module is.

    Args:
        resolver: It has ``async_resolve`` or ``resolve``.
        module_id: Id of the module.
        hint: What the mount plan says about its source.

    Raises:
        ModuleNotFoundError: The resolver does not know.
        ModuleLoadError: It is no resolver, or what it returned is no source.
    """
    function = getattr(resolver, "async_resolve", None) or getattr(resolver, "resolve", None)
    if not callable(function):
        raise _no_source(module_id, resolver, "it has no resolve()")
    positional, keywords = _arguments(function, hint)
    source = function(module_id, *positional, **keywords)
    if inspect.isawaitable(source):
        source = await source
    if source is None:
        raise ModuleNotFoundError(f"The resolver has no source for module '{module_id}'")
    if isinstance(source, str | PathLike):
        return Path(source)
    resolve = getattr(source, "resolve", None)
    if not callable(resolve):
        found = f"its answer is {type(source).__name__}, neither a path nor a source with resolve()"
        raise _no_source(module_id, resolver, found)
    place = resolve()
    if inspect.isawaitable(place):
        place = await place
    if not isinstance(place, str | PathLike):
        found = f"its source resolved to {type(place).__name__}, not to a path"
        raise _no_source(module_id, resolver, found)
    return Path(place)


def _no_source(module_id: str, resolver: Any, found: str) -> BrokenModuleError:
    who = type(resolver).__name__
    return BrokenModuleError(
        f"Module '{module_id}' can't be found by the module source resolver {who}: {found}",
        reason_code="missing_source",
    )


def _arguments(function: Any, hint: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    both = {"source_hint": hint, "profile_hint": hint}
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return (), both
    if any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        return (), both
    known = {
        name: hint
        for name in both
        if name in parameters and parameters[name].kind is not inspect.Parameter.POSITIONAL_ONLY
    }
    if known:
        return (), known
    positional = [
        parameter
        for parameter in parameters.values()
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
    ]
    return ((hint,) if len(positional) > 1 else ()), {}
