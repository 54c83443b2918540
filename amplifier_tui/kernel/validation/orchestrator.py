"""Checks orchestrator modules."""

from __future__ import annotations

from typing import Any, ClassVar, Final

from amplifier_tui.kernel.validation.base import ValidationResult, failure, success
from amplifier_tui.kernel.validation.callables import (
    is_async,
    positional_parameters,
    takes_keywords,
)
from amplifier_tui.kernel.validation.module_validator import InstanceValidator

__all__ = ["OrchestratorValidator"]

_ARGUMENTS: Final = ("prompt", "context", "providers", "tools", "hooks")
_REMEDY: Final = (
    "Define it as: async def execute(self, prompt, context, providers, tools, hooks, **kwargs)"
)


class OrchestratorValidator(InstanceValidator):
    """Checks that a module mounts an orchestrator that a session can call."""

    kind: ClassVar[str] = "orchestrator"
    point: ClassVar[str] = "orchestrator"
    contract: ClassVar[str] = "Orchestrator"
    noun: ClassVar[str] = "orchestrator"
    required: ClassVar[tuple[str, ...]] = ("execute",)

    def look_closer(self, result: ValidationResult, instance: Any) -> None:
        """Add ``orchestrator_execute``."""
        name, execute = "orchestrator_execute", instance.execute
        # A session calls it by keywords only.
        missing = takes_keywords(execute, _ARGUMENTS)
        found = positional_parameters(execute)
        if not is_async(execute):
            result.add(failure(name, "Orchestrator.execute() should be async", _REMEDY))
        elif missing:
            problem = (
                f"Orchestrator.execute() should accept ({', '.join(_ARGUMENTS)}), "
                f"found {found} params, missing: {', '.join(missing)}"
            )
            result.add(failure(name, problem, _REMEDY))
        else:
            result.add(success(name, "Orchestrator.execute() has correct async signature"))
