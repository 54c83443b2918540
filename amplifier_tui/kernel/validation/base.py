"""Checks of a module and what they found."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field
from typing import Any, Literal

__all__ = ["Severity", "ValidationCheck", "ValidationResult", "check_on_session_ready"]

Severity = Literal["error", "warning", "info"]


@dataclass(frozen=True)
class ValidationCheck:
    """One thing looked at.

    Args:
        name: What was checked, e.g. "mount_exists".
        passed: Whether it is as it should be.
        message: What was found, readable.
        severity: What a failure means; only an error fails the module.
    """

    name: str
    passed: bool
    message: str
    severity: Severity = "error"


@dataclass
class ValidationResult:
    """All that was looked at in one module.

    Args:
        module_type: Kind of the module, e.g. "tool".
        module_path: Where it is.
        checks: What was checked, in order.
    """

    module_type: str
    module_path: str
    checks: list[ValidationCheck] = field(default_factory=list)

    def add(self, check: ValidationCheck) -> None:
        """Add a check."""
        self.checks.append(check)

    @property
    def passed(self) -> bool:
        """Whether no error was found; warnings do not matter."""
        return not self.errors

    @property
    def errors(self) -> list[ValidationCheck]:
        """The failed checks that are errors."""
        return [c for c in self.checks if not c.passed and c.severity == "error"]

    @property
    def warnings(self) -> list[ValidationCheck]:
        """The failed checks that are warnings, and passed ones that warn of something."""
        return [c for c in self.checks if c.severity == "warning"]

    def summary(self) -> str:
        """Return one line, e.g. "PASSED: 4/4 checks passed (0 errors, 1 warnings)"."""
        verdict = "PASSED" if self.passed else "FAILED"
        good = sum(check.passed for check in self.checks)
        return (
            f"{verdict}: {good}/{len(self.checks)} checks passed "
            f"({len(self.errors)} errors, {len(self.warnings)} warnings)"
        )


def check_on_session_ready(module: Any) -> ValidationCheck | None:
    """Check a module's ``on_session_ready(coordinator)``.

    Args:
        module: The imported module.

    Returns:
        None if it has none or a good one, else the failed check.
    """
    function = getattr(module, "on_session_ready", None)
    if function is None:
        return None
    if not inspect.iscoroutinefunction(function):
        return ValidationCheck(
            "on_session_ready_async", False, "on_session_ready must be an async function"
        )
    if count_required(function) < 1:
        return ValidationCheck(
            "on_session_ready_async",
            False,
            "on_session_ready must take the coordinator: async def on_session_ready(coordinator)",
        )
    return None


def count_required(function: Any) -> int:
    """Return how many positional arguments a function needs."""
    return sum(
        parameter.default is parameter.empty
        and parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
        for parameter in inspect.signature(function).parameters.values()
    )
