"""What every module must have, whatever its kind: a package with an async ``mount``."""

from __future__ import annotations

from typing import Any, Final

from amplifier_tui.kernel.validation.base import (
    ValidationResult,
    check_on_session_ready,
    failure,
    success,
)
from amplifier_tui.kernel.validation.callables import is_async, positional_parameters

__all__ = ["check_shape"]

_REMEDY: Final = "Define it as: async def mount(coordinator, config)"


def check_shape(module: Any, result: ValidationResult) -> bool:
    """Add the checks ``mount_exists``, ``mount_signature`` and ``on_session_ready_async``.

    Args:
        module: The imported module.
        result: Where the checks go.

    Returns:
        Whether ``mount`` can be called as the kernel calls it.
    """
    mount = getattr(module, "mount", None)
    if not callable(mount):
        result.add(failure("mount_exists", "No mount() function found in module", _REMEDY))
        return False
    result.add(success("mount_exists", "mount() function found"))
    problem = _mount_problem(mount)
    if problem is None:
        result.add(success("mount_signature", "mount() is async with correct signature"))
    else:
        result.add(failure("mount_signature", problem, _REMEDY))
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
