"""Checks of single members that several kinds share."""

from __future__ import annotations

from typing import Any

from amplifier_tui.kernel.validation.base import Severity, ValidationCheck, failure, success
from amplifier_tui.kernel.validation.callables import is_async, positional_parameters

__all__ = ["check_method", "check_text"]


def check_text(name: str, member: str, value: Any, severity: Severity = "error") -> ValidationCheck:
    """Check that a member is a non-empty string.

    Args:
        name: Name of the check.
        member: The member, e.g. "Tool.name".
        value: Its value.
        severity: What a failure means.
    """
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
    """Check that a method is async and takes its arguments.

    Args:
        name: Name of the check.
        method: The method, e.g. "Tool.execute()".
        function: The bound method.
        arguments: The names of its positional arguments in the contract.
    """
    short = method.removesuffix("()").rpartition(".")[2]
    remedy = f"Define it as: async def {short}({', '.join(('self', *arguments))})"
    if not is_async(function):
        return failure(name, f"{method} should be async", remedy)
    found = positional_parameters(function)
    if found < len(arguments):
        wanted = ", ".join(arguments)
        return failure(name, f"{method} should accept ({wanted}), found {found} params", remedy)
    return success(name, f"{method} has correct async signature")
