"""Checks of functions and members, without calling them."""

import inspect
from functools import partial
from typing import Any, Final

from amplifier_tui.kernel.validation.base import (
    Severity,
    ValidationCheck,
    ValidationResult,
    check_on_session_ready,
    failure,
    success,
)

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


def check_text(name: str, member: str, value: Any, severity: Severity = "error") -> ValidationCheck:
    """Check that a member, e.g. "Tool.name", is a non-empty string."""
    if isinstance(value, str) and value.strip():
        return success(name, f"{member} is {value!r}" if len(value) < 60 else f"{member} is there")
    got = "an empty one" if isinstance(value, str) else type(value).__name__
    return failure(
        name,
        f"{member} should be a non-empty string, got {got}",
        f"Make {member} a property or attribute that is a non-empty string",
        severity,
    )


def check_method(
    name: str, method: str, function: Any, arguments: tuple[str, ...]
) -> ValidationCheck:
    """Check that a method, e.g. "Tool.execute()", is async and takes its arguments."""
    short = method.removesuffix("()").rpartition(".")[2]
    remedy = f"Define it as: async def {short}({', '.join(('self', *arguments))})"
    if not is_async(function):
        return failure(name, f"{method} should be async", remedy)
    found = positional_parameters(function)
    if found < len(arguments):
        wanted = ", ".join(arguments)
        return failure(name, f"{method} should accept ({wanted}), found {found} params", remedy)
    return success(name, f"{method} has correct async signature")


_REMEDY: Final = "Define it as: async def mount(coordinator, config)"


def check_shape(module: Any, result: ValidationResult) -> bool:
    """Add the checks ``mount_exists``, ``mount_signature`` and ``on_session_ready_async``.

    Returns:
        Whether ``mount`` can be called as the kernel calls it.
    """
    mount = getattr(module, "mount", None)
    if not callable(mount):
        result.fail("mount_exists", "No mount() function found in module", _REMEDY)
        return False
    result.succeed("mount_exists", "mount() function found")
    problem = _mount_problem(mount)
    if problem is None:
        result.succeed("mount_signature", "mount() is async with correct signature")
    else:
        result.fail("mount_signature", problem, _REMEDY)
    not_ready = check_on_session_ready(module)
    if not_ready is not None:
        result.add(not_ready)
    return problem is None


def _mount_problem(mount: Any) -> str | None:
    if not is_async(mount):
        return "mount() should be async (async def mount(...))"
    found = positional_parameters(mount)
    if found < 2:
        return f"mount() should have at least 2 parameters (coordinator, config), found {found}"
    return None
