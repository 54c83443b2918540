"""Test classes for authors of modules: inherit from one, and pytest validates your module.

The fixture ``module_path`` comes from the pytest plugin. Only test suites import this.
"""

from pathlib import Path
from typing import ClassVar

import pytest

from amplifier_tui.kernel.validation.base import check_on_session_ready
from amplifier_tui.kernel.validation.kinds import VALIDATORS

__all__ = [
    "ContextStructuralTests",
    "HookStructuralTests",
    "OrchestratorStructuralTests",
    "ProviderStructuralTests",
    "ToolStructuralTests",
    "check_on_session_ready",
]


class _StructuralTests:
    kind: ClassVar[str]

    @pytest.mark.asyncio
    async def test_structural_validation(self, module_path: Path | None) -> None:
        """The module passes the validator of its kind."""
        if module_path is None:
            pytest.skip("No module path detected")
        result = await VALIDATORS[self.kind]().validate(module_path)
        problems = [f"{c.name}: {c.message}. {c.remedy}".strip() for c in result.errors]
        assert result.passed, "\n".join([result.summary(), *problems])


class ProviderStructuralTests(_StructuralTests):
    """Validates a provider module."""

    kind = "provider"


class ToolStructuralTests(_StructuralTests):
    """Validates a tool module."""

    kind = "tool"


class HookStructuralTests(_StructuralTests):
    """Validates a hook module."""

    kind = "hook"


class OrchestratorStructuralTests(_StructuralTests):
    """Validates an orchestrator module."""

    kind = "orchestrator"


class ContextStructuralTests(_StructuralTests):
    """Validates a context module."""

    kind = "context"
