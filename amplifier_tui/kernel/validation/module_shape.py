"""What every module must have, whatever its kind: a package with an async ``mount``."""

from __future__ import annotations

import inspect
from typing import Any

from amplifier_tui.kernel.validation.base import (
    ValidationCheck,
    ValidationResult,
    check_on_session_ready,
)

__all__ = ["check_shape"]


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
        result.add(
            ValidationCheck(
                "mount_exists",
                False,
                "No mount() function found: define async def mount(coordinator, config)",
            )
        )
        return False
    result.add(ValidationCheck("mount_exists", True, "mount() found", "info"))
    problem = _mount_problem(mount)
    if problem is not None:
        result.add(ValidationCheck("mount_signature", False, problem))
        return False
    result.add(ValidationCheck("mount_signature", True, "mount() takes two arguments", "info"))
    not_ready = check_on_session_ready(module)
    if not_ready is not None:
        result.add(not_ready)
    return True


def _mount_problem(mount: Any) -> str | None:
    if not inspect.iscoroutinefunction(mount):
        return "mount() must be async: async def mount(coordinator, config)"
    kinds = [parameter.kind for parameter in inspect.signature(mount).parameters.values()]
    if inspect.Parameter.VAR_POSITIONAL in kinds:
        return None
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    if sum(kind in positional for kind in kinds) < 2:
        return "mount() must take two arguments: async def mount(coordinator, config)"
    return None
