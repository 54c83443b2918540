"""Checks modules before they are mounted, and for their authors. Never imports pytest."""

from amplifier_tui.kernel.validation.base import (
    ValidationCheck,
    ValidationResult,
    check_on_session_ready,
)
from amplifier_tui.kernel.validation.kinds import (
    VALIDATORS,
    ContextValidator,
    HookValidator,
    OrchestratorValidator,
    ProviderValidator,
    ToolValidator,
    validate_module,
)
from amplifier_tui.kernel.validation.mount_plan import (
    MountPlanValidationResult,
    MountPlanValidator,
)

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
