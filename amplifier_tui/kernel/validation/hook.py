"""Checks hook modules."""

from __future__ import annotations

from typing import Any, ClassVar

from amplifier_tui.kernel._trial_coordinator import TrialCoordinator
from amplifier_tui.kernel.validation.base import (
    ValidationCheck,
    ValidationResult,
    failure,
    success,
)
from amplifier_tui.kernel.validation.callables import is_async, positional_parameters
from amplifier_tui.kernel.validation.module_validator import COMPLIANCE, ModuleValidator

__all__ = ["HookValidator"]


class HookValidator(ModuleValidator):
    """Checks that a module's handlers can be called as the hook registry calls them."""

    kind: ClassVar[str] = "hook"

    def look(self, result: ValidationResult, coordinator: TrialCoordinator, returned: Any) -> None:
        """Add ``protocol_compliance`` and ``hook_call`` for each handler registered."""
        handlers = coordinator.hooks._registered()
        if handlers:
            found = f"Hooks registered via coordinator.hooks ({len(handlers)} handlers)"
            result.add(success(COMPLIANCE, found))
        else:
            result.add(
                success(
                    COMPLIANCE,
                    "No handler was registered with coordinator.hooks (may be conditional)",
                    "warning",
                )
            )
        for event, name, handler in handlers:
            result.add(_check_handler(f"Handler '{name}' of '{event}'", handler))


def _check_handler(who: str, handler: Any) -> ValidationCheck:
    remedy = "Define it as: async def handler(event, data) -> HookResult"
    if not callable(handler):
        return failure("hook_call", f"{who} is not callable: {type(handler).__name__}", remedy)
    found = positional_parameters(handler)
    if found < 2:
        return failure("hook_call", f"{who} should accept (event, data), found {found}", remedy)
    if not is_async(handler):
        return failure("hook_call", f"{who} should be async", remedy, "warning")
    return success("hook_call", f"{who} has correct async signature")
