"""Test classes for authors of modules: inherit from one, and pytest runs it on your module.

The fixtures come from the pytest plugin. Only test suites import this.
"""

from amplifier_tui.kernel.validation.behavioral._context import ContextBehaviorTests
from amplifier_tui.kernel.validation.behavioral._hook import HookBehaviorTests
from amplifier_tui.kernel.validation.behavioral._orchestrator import OrchestratorBehaviorTests
from amplifier_tui.kernel.validation.behavioral._provider import ProviderBehaviorTests
from amplifier_tui.kernel.validation.behavioral._tool import ToolBehaviorTests

__all__ = [
    "ContextBehaviorTests",
    "HookBehaviorTests",
    "OrchestratorBehaviorTests",
    "ProviderBehaviorTests",
    "ToolBehaviorTests",
]
