"""Validating a module of any kind: the loader's way in."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from amplifier_tui.kernel.validation.base import ValidationResult
from amplifier_tui.kernel.validation.context import ContextValidator
from amplifier_tui.kernel.validation.hook import HookValidator
from amplifier_tui.kernel.validation.module_validator import ModuleValidator
from amplifier_tui.kernel.validation.orchestrator import OrchestratorValidator
from amplifier_tui.kernel.validation.provider import ProviderValidator
from amplifier_tui.kernel.validation.tool import ToolValidator

__all__ = ["VALIDATORS", "validate_module"]

VALIDATORS: Final[dict[str, type[ModuleValidator]]] = {
    validator.kind: validator
    for validator in (
        OrchestratorValidator,
        ProviderValidator,
        ToolValidator,
        HookValidator,
        ContextValidator,
    )
}
"""The validator of each kind."""


async def validate_module(
    kind: str, package_dir: Path, module_id: str, config: dict[str, Any] | None = None
) -> ValidationResult | None:
    """Check a module before it is mounted.

    Args:
        kind: Kind of the module, e.g. "tool".
        package_dir: Directory of its package; importable under its own name.
        module_id: Its id, for messages.
        config: The configuration it is going to be mounted with.

    Returns:
        What was found; None for a kind that has no validator.
    """
    validator = VALIDATORS.get(kind)
    if validator is None:
        return None
    return await validator(module_id).validate(package_dir, config=config)
