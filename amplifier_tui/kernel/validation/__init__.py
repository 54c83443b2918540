"""Checks modules before they are mounted, and for their authors. Never imports pytest."""

from amplifier_tui.kernel.validation.base import (
    ValidationCheck,
    ValidationResult,
    check_on_session_ready,
)
from amplifier_tui.kernel.validation.dispatch import validate_module

__all__ = ["ValidationCheck", "ValidationResult", "check_on_session_ready", "validate_module"]
