"""Validating a module of any kind: the loader's way in."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, Protocol

from amplifier_tui.kernel.validation.base import ValidationCheck, ValidationResult
from amplifier_tui.kernel.validation.module_shape import check_shape

__all__ = ["VALIDATORS", "Validator", "validate_module"]

VALIDATORS: Final = {
    "orchestrator": "OrchestratorValidator",
    "provider": "ProviderValidator",
    "tool": "ToolValidator",
    "hook": "HookValidator",
    "context": "ContextValidator",
}
"""Class name of each kind's validator; it lives in the module of this package named as the kind."""


class Validator(Protocol):
    """Checks modules of one kind."""

    async def validate(
        self,
        module_path: str | Path,
        entry_point: str | None = None,
        config: dict[str, Any] | None = None,
    ) -> ValidationResult:
        """Check one module.

        Args:
            module_path: Its package directory, or its name.
            entry_point: Entry point to load it from.
            config: What to mount it with.
        """
        ...


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
        What was found. A kind without a validator of its own gets the checks every module must
        pass; None for an unknown kind.
    """
    if kind not in VALIDATORS:
        return None
    validator = _validator_of(kind)
    if validator is not None:
        return await validator.validate(package_dir, config=config)
    result = ValidationResult(kind, str(package_dir))
    try:
        module = import_module(package_dir.name)
    except Exception as error:
        problem = f"Can't import {module_id}: {type(error).__name__}: {error}"
        result.add(ValidationCheck("module_importable", False, problem))
        return result
    result.add(ValidationCheck("module_importable", True, f"{module_id} imported", "info"))
    check_shape(module, result)
    return result


def _validator_of(kind: str) -> Validator | None:
    name = f"{__package__}.{kind}"
    if find_spec(name) is None:
        return None
    validator: Validator = getattr(import_module(name), VALIDATORS[kind])()
    return validator
