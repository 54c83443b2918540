"""Checks of functions and members, without calling them."""

from typing import Any, Final

from amplifier_tui.kernel.mounting.callbacks import is_async, positional_parameters
from amplifier_tui.kernel.validation.base import (
    Severity,
    ValidationCheck,
    ValidationResult,
    check_on_session_ready,
    failure,
    success,
)


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
