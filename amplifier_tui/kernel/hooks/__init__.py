"""The hook registry and what its handlers answer. Public API as `amplifier_core.hooks`."""

from amplifier_tui.kernel.hooks.registry import HookRegistry
from amplifier_tui.kernel.hooks.trace import (
    HandlerHold,
    HandlerTrace,
    HookAnswers,
    HookMessage,
    HookTrace,
)
from amplifier_tui.kernel.models.hook_result import ContextInjection, HookResult

__all__ = [
    "ContextInjection",
    "HandlerHold",
    "HandlerTrace",
    "HookAnswers",
    "HookMessage",
    "HookRegistry",
    "HookResult",
    "HookTrace",
]
