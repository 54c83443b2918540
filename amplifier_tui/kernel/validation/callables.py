"""What can be told of a function without calling it."""

from __future__ import annotations

import inspect
from functools import partial
from typing import Any, Final

__all__ = ["MANY", "is_async", "positional_parameters", "takes_keywords"]

MANY: Final = 1_000
"""How many positional arguments ``*args`` counts as."""


def is_async(function: Any) -> bool:
    """Tell whether calling a function, method or callable object gives a coroutine."""
    while isinstance(function, partial):
        function = function.func
    candidates: list[Any] = [function, inspect.unwrap(function)]
    if callable(function):
        candidates.append(function.__call__)
    return any(inspect.iscoroutinefunction(candidate) for candidate in candidates)


def positional_parameters(function: Any) -> int:
    """Return how many positional arguments a function accepts; :data:`MANY` if it is not known."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return MANY
    kinds = [parameter.kind for parameter in parameters]
    if inspect.Parameter.VAR_POSITIONAL in kinds:
        return MANY
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(kind in positional for kind in kinds)


def takes_keywords(function: Any, names: tuple[str, ...]) -> list[str]:
    """Return those of the names a function does not accept as keyword arguments."""
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return []
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()):
        return []
    return [
        name
        for name in names
        if name not in parameters
        or parameters[name].kind
        in (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.VAR_POSITIONAL)
    ]
