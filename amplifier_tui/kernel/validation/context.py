"""Checks context modules."""

from __future__ import annotations

from typing import Any, ClassVar, Final

from amplifier_tui.kernel.validation.base import ValidationResult
from amplifier_tui.kernel.validation.details import check_method
from amplifier_tui.kernel.validation.module_validator import InstanceValidator

__all__ = ["ContextValidator"]

_METHODS: Final[dict[str, tuple[str, ...]]] = {
    "add_message": ("message",),
    "get_messages_for_request": (),
    "get_messages": (),
    "set_messages": ("messages",),
    "clear": (),
}


class ContextValidator(InstanceValidator):
    """Checks that a module mounts a context with all five methods of the contract."""

    kind: ClassVar[str] = "context"
    point: ClassVar[str] = "context"
    contract: ClassVar[str] = "ContextManager"
    noun: ClassVar[str] = "context"
    required: ClassVar[tuple[str, ...]] = tuple(_METHODS)

    def look_closer(self, result: ValidationResult, instance: Any) -> None:
        """Add ``context_<method>`` for each of the methods."""
        for method, arguments in _METHODS.items():
            function = getattr(instance, method)
            title = f"ContextManager.{method}()"
            result.add(check_method(f"context_{method}", title, function, arguments))
