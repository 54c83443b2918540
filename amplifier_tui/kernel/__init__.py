"""The mechanism: sessions, coordinator, hooks, loader. Public API as `amplifier_core`.

Names are imported when they are first used, so that a program that needs one model does not pay
for all of them.
"""

import importlib
from typing import Any, Final

__version__: Final = "2.0.2"
"""The version of `amplifier_core` whose public API this is."""

RUST_AVAILABLE: Final = False
"""There is no native engine behind this kernel."""

_PUBLIC: Final[dict[str, str]] = {
    "cancellation": "CancellationState CancellationToken",
    "coordinator": "ModuleCoordinator",
    "hooks": "HookRegistry",
    "interfaces": (
        "ApprovalProvider ApprovalRequest ApprovalResponse ContextManager HookHandler Orchestrator "
        "Provider Tool"
    ),
    "llm_errors": (
        "AbortError AccessDeniedError AuthenticationError ConfigurationError ContentFilterError "
        "ContextLengthError InvalidRequestError InvalidToolCallError LLMError LLMTimeoutError "
        "NetworkError NotFoundError ProviderUnavailableError QuotaExceededError RateLimitError "
        "StreamError"
    ),
    "loader": "ModuleLoader ModuleValidationError",
    "message_models": (
        "ChatRequest ChatResponse Degradation ImageBlock Message ReasoningBlock "
        "RedactedThinkingBlock ResponseFormat ResponseFormatJson ResponseFormatJsonSchema "
        "ResponseFormatText TextBlock ThinkingBlock ToolCall ToolCallBlock ToolResultBlock "
        "ToolSpec Usage"
    ),
    "models": (
        "ConfigField ContextInjection HookResult ModelInfo ModuleInfo Pricing ProviderInfo "
        "SessionStatus ToolResult"
    ),
    "models.content": (
        "ContentBlock ContentBlockType TextContent ThinkingContent ToolCallContent "
        "ToolResultContent"
    ),
    "session": "AmplifierSession",
    "testing": (
        "EventRecorder MockContextManager MockCoordinator MockTool ScriptedOrchestrator "
        "create_test_coordinator wait_for"
    ),
    "utils.retry": "RetryConfig classify_error_message retry_with_backoff",
}
"""The public names by the module they are defined in."""

_SUBMODULES: Final[dict[str, str]] = {
    "approval": "hooks.frontend",
    "capabilities": "capabilities",
    "content_models": "models.content",
    "correlation": "correlation",
    "display": "hooks.frontend",
    "events": "events",
    "module_sources": "mounting.sources",
    "utils": "utils",
    "validation": "validation",
    **{home: home for home in _PUBLIC if "." not in home},
}
"""The submodules that are attributes of `amplifier_core`, and where they are."""

_HOMES: Final[dict[str, tuple[str, str]]] = {
    "RustCancellationToken": ("cancellation", "CancellationToken"),
    "RustCoordinator": ("coordinator", "ModuleCoordinator"),
    "RustHookRegistry": ("hooks", "HookRegistry"),
    "RustSession": ("session", "AmplifierSession"),
    **{name: (home, name) for home, names in _PUBLIC.items() for name in names.split()},
}

__all__ = ["RUST_AVAILABLE", "capabilities"]
__all__.extend(_HOMES)


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        home, original = _HOMES[name]
        value = getattr(importlib.import_module(f"{__name__}.{home}"), original)
        globals()[name] = value
        return value
    if name in _SUBMODULES:
        return importlib.import_module(f"{__name__}.{_SUBMODULES[name]}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_SUBMODULES})
