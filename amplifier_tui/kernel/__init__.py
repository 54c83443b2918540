"""The mechanism: sessions, coordinator, hooks, loader. Public API as `amplifier_core`.

Names are imported when they are first used, so that a program that needs one model does not pay
for all of them.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from amplifier_tui.kernel import capabilities
    from amplifier_tui.kernel.cancellation import (
        CancellationState,
        CancellationToken,
    )
    from amplifier_tui.kernel.cancellation import CancellationToken as RustCancellationToken
    from amplifier_tui.kernel.content_models import (
        ContentBlock,
        ContentBlockType,
        TextContent,
        ThinkingContent,
        ToolCallContent,
        ToolResultContent,
    )
    from amplifier_tui.kernel.coordinator import (
        ModuleCoordinator,
    )
    from amplifier_tui.kernel.coordinator import ModuleCoordinator as RustCoordinator
    from amplifier_tui.kernel.hooks import (
        HookRegistry,
    )
    from amplifier_tui.kernel.hooks import HookRegistry as RustHookRegistry
    from amplifier_tui.kernel.interfaces import (
        ApprovalProvider,
        ApprovalRequest,
        ApprovalResponse,
        ContextManager,
        HookHandler,
        Orchestrator,
        Provider,
        Tool,
    )
    from amplifier_tui.kernel.llm_errors import (
        AbortError,
        AccessDeniedError,
        AuthenticationError,
        ConfigurationError,
        ContentFilterError,
        ContextLengthError,
        InvalidRequestError,
        InvalidToolCallError,
        LLMError,
        LLMTimeoutError,
        NetworkError,
        NotFoundError,
        ProviderUnavailableError,
        QuotaExceededError,
        RateLimitError,
        StreamError,
    )
    from amplifier_tui.kernel.loader import (
        ModuleLoader,
        ModuleValidationError,
    )
    from amplifier_tui.kernel.message_models import (
        ChatRequest,
        ChatResponse,
        Degradation,
        ImageBlock,
        Message,
        ReasoningBlock,
        RedactedThinkingBlock,
        ResponseFormat,
        ResponseFormatJson,
        ResponseFormatJsonSchema,
        ResponseFormatText,
        TextBlock,
        ThinkingBlock,
        ToolCall,
        ToolCallBlock,
        ToolResultBlock,
        ToolSpec,
        Usage,
    )
    from amplifier_tui.kernel.models import (
        ConfigField,
        ContextInjection,
        HookResult,
        ModelInfo,
        ModuleInfo,
        Pricing,
        ProviderInfo,
        SessionStatus,
        ToolResult,
    )
    from amplifier_tui.kernel.session import (
        AmplifierSession,
    )
    from amplifier_tui.kernel.session import AmplifierSession as RustSession
    from amplifier_tui.kernel.testing import (
        EventRecorder,
        MockContextManager,
        MockCoordinator,
        MockTool,
        ScriptedOrchestrator,
        create_test_coordinator,
        wait_for,
    )
    from amplifier_tui.kernel.utils.retry import (
        RetryConfig,
        classify_error_message,
        retry_with_backoff,
    )

__all__ = [
    "RUST_AVAILABLE",
    "AbortError",
    "AccessDeniedError",
    "AmplifierSession",
    "ApprovalProvider",
    "ApprovalRequest",
    "ApprovalResponse",
    "AuthenticationError",
    "CancellationState",
    "CancellationToken",
    "ChatRequest",
    "ChatResponse",
    "ConfigField",
    "ConfigurationError",
    "ContentBlock",
    "ContentBlockType",
    "ContentFilterError",
    "ContextInjection",
    "ContextLengthError",
    "ContextManager",
    "Degradation",
    "EventRecorder",
    "HookHandler",
    "HookRegistry",
    "HookResult",
    "ImageBlock",
    "InvalidRequestError",
    "InvalidToolCallError",
    "LLMError",
    "LLMTimeoutError",
    "Message",
    "MockContextManager",
    "MockCoordinator",
    "MockTool",
    "ModelInfo",
    "ModuleCoordinator",
    "ModuleInfo",
    "ModuleLoader",
    "ModuleValidationError",
    "NetworkError",
    "NotFoundError",
    "Orchestrator",
    "Pricing",
    "Provider",
    "ProviderInfo",
    "ProviderUnavailableError",
    "QuotaExceededError",
    "RateLimitError",
    "ReasoningBlock",
    "RedactedThinkingBlock",
    "ResponseFormat",
    "ResponseFormatJson",
    "ResponseFormatJsonSchema",
    "ResponseFormatText",
    "RetryConfig",
    "RustCancellationToken",
    "RustCoordinator",
    "RustHookRegistry",
    "RustSession",
    "ScriptedOrchestrator",
    "SessionStatus",
    "StreamError",
    "TextBlock",
    "TextContent",
    "ThinkingBlock",
    "ThinkingContent",
    "Tool",
    "ToolCall",
    "ToolCallBlock",
    "ToolCallContent",
    "ToolResult",
    "ToolResultBlock",
    "ToolResultContent",
    "ToolSpec",
    "Usage",
    "capabilities",
    "classify_error_message",
    "create_test_coordinator",
    "retry_with_backoff",
    "wait_for",
]

__version__: Final = "2.0.2"
"""The version of `amplifier_core` whose public API this is."""

RUST_AVAILABLE: Final = False
"""There is no native engine behind this kernel."""

# Where each name lives; a name of another module may be given as (module, name).
_HOMES: Final[dict[str, tuple[str, ...]]] = {
    "session": ("AmplifierSession",),
    "cancellation": (
        "CancellationState",
        "CancellationToken",
    ),
    "coordinator": ("ModuleCoordinator",),
    "loader": (
        "ModuleLoader",
        "ModuleValidationError",
    ),
    "hooks": ("HookRegistry",),
    "message_models": (
        "ToolCall",
        "ChatRequest",
        "ChatResponse",
        "Message",
        "TextBlock",
        "ThinkingBlock",
        "RedactedThinkingBlock",
        "ToolCallBlock",
        "ToolResultBlock",
        "ImageBlock",
        "ReasoningBlock",
        "ToolSpec",
        "Usage",
        "Degradation",
        "ResponseFormat",
        "ResponseFormatText",
        "ResponseFormatJson",
        "ResponseFormatJsonSchema",
    ),
    "models": (
        "ToolResult",
        "ContextInjection",
        "HookResult",
        "ConfigField",
        "ModelInfo",
        "ModuleInfo",
        "Pricing",
        "ProviderInfo",
        "SessionStatus",
    ),
    "interfaces": (
        "ApprovalRequest",
        "ApprovalResponse",
        "Orchestrator",
        "Provider",
        "Tool",
        "ContextManager",
        "HookHandler",
        "ApprovalProvider",
    ),
    "llm_errors": (
        "AbortError",
        "AccessDeniedError",
        "AuthenticationError",
        "ConfigurationError",
        "ContentFilterError",
        "ContextLengthError",
        "InvalidRequestError",
        "InvalidToolCallError",
        "LLMError",
        "LLMTimeoutError",
        "NetworkError",
        "NotFoundError",
        "ProviderUnavailableError",
        "QuotaExceededError",
        "RateLimitError",
        "StreamError",
    ),
    "content_models": (
        "ContentBlock",
        "ContentBlockType",
        "TextContent",
        "ThinkingContent",
        "ToolCallContent",
        "ToolResultContent",
    ),
    "testing": (
        "EventRecorder",
        "MockContextManager",
        "MockCoordinator",
        "MockTool",
        "ScriptedOrchestrator",
        "create_test_coordinator",
        "wait_for",
    ),
    "utils.retry": (
        "RetryConfig",
        "retry_with_backoff",
        "classify_error_message",
    ),
}
_RENAMED: Final = {
    "RustSession": ("session", "AmplifierSession"),
    "RustHookRegistry": ("hooks", "HookRegistry"),
    "RustCancellationToken": ("cancellation", "CancellationToken"),
    "RustCoordinator": ("coordinator", "ModuleCoordinator"),
}
_HOME_OF: Final = _RENAMED | {
    name: (home, name) for home, names in _HOMES.items() for name in names
}
_SUBMODULES: Final = frozenset(
    {
        "approval",
        "cancellation",
        "capabilities",
        "content_models",
        "coordinator",
        "correlation",
        "display",
        "events",
        "hooks",
        "interfaces",
        "llm_errors",
        "loader",
        "message_models",
        "models",
        "module_sources",
        "session",
        "testing",
        "utils",
        "validation",
    }
)


def __getattr__(name: str) -> Any:
    if name in _HOME_OF:
        home, original = _HOME_OF[name]
        value = getattr(importlib.import_module(f"{__name__}.{home}"), original)
        globals()[name] = value
        return value
    if name in _SUBMODULES:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_SUBMODULES})
