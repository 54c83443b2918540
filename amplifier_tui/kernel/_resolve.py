"""Asking a resolver for a module, whichever of the published signatures it has."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

from amplifier_tui.kernel.module_sources import ModuleNotFoundError


async def resolve_module(resolver: Any, module_id: str, hint: Any) -> Path:
    """Return where a module is.

    Args:
        resolver: It has ``async_resolve`` or ``resolve``.
        module_id: Id of the module.
        hint: What the mount plan says about its source.

    Raises:
        ModuleNotFoundError: The resolver does not know.
    """
    function = getattr(resolver, "async_resolve", None) or resolver.resolve
    positional, keywords = _arguments(function, hint)
    source = function(module_id, *positional, **keywords)
    if inspect.isawaitable(source):
        source = await source
    if source is None:
        raise ModuleNotFoundError(f"The resolver has no source for module '{module_id}'")
    place = source if isinstance(source, str | Path) else source.resolve()
    if inspect.isawaitable(place):
        place = await place
    return Path(place)


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
