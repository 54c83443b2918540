"""Checks modules before they are mounted, and for their authors. Never imports pytest."""

from amplifier_tui.kernel.validation.base import (
    ValidationCheck,
    ValidationResult,
    check_on_session_ready,
)
from amplifier_tui.kernel.validation.context import ContextValidator
from amplifier_tui.kernel.validation.dispatch import VALIDATORS, validate_module
from amplifier_tui.kernel.validation.hook import HookValidator
from amplifier_tui.kernel.validation.mount_plan import (
    MountPlanValidationResult,
    MountPlanValidator,
)
from amplifier_tui.kernel.validation.orchestrator import OrchestratorValidator
from amplifier_tui.kernel.validation.provider import ProviderValidator
from amplifier_tui.kernel.validation.tool import ToolValidator

__all__ = [
    "VALIDATORS",
    "ContextValidator",
    "HookValidator",
    "MountPlanValidationResult",
    "MountPlanValidator",
    "OrchestratorValidator",
    "ProviderValidator",
    "ToolValidator",
    "ValidationCheck",
    "ValidationResult",
    "check_on_session_ready",
    "validate_module",
]
