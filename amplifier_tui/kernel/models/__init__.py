"""Data models of hooks, tools, providers, modules and sessions (spec 000)."""

from amplifier_tui.base.text import encodable as _sanitize_for_llm
from amplifier_tui.kernel.models.hook_result import ContextInjection, HookResult
from amplifier_tui.kernel.models.info import (
    ConfigField,
    ModelInfo,
    ModuleInfo,
    Pricing,
    ProviderInfo,
    SessionStatus,
)
from amplifier_tui.kernel.models.tool_result import (
    ToolResult,
    interrupted_result,
    interrupted_with,
    unknown_fields,
)

__all__ = [
    "ConfigField",
    "ContextInjection",
    "HookResult",
    "ModelInfo",
    "ModuleInfo",
    "Pricing",
    "ProviderInfo",
    "SessionStatus",
    "ToolResult",
    "_sanitize_for_llm",
    "interrupted_result",
    "interrupted_with",
    "unknown_fields",
]
