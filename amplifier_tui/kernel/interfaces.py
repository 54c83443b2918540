"""The contracts of the module kinds (spec 000 and 001).

Structural: a module need not inherit from them. They are not ``runtime_checkable``, and still
``isinstance(x, Tool)`` tells whether ``x`` has the contract's members.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from pydantic import BaseModel, ConfigDict, field_validator

from amplifier_tui.kernel.message_models import ChatRequest, ChatResponse, ToolCall
from amplifier_tui.kernel.models import HookResult, ModelInfo, ProviderInfo, ToolResult

__all__ = [
    "ApprovalProvider",
    "ApprovalRequest",
    "ApprovalResponse",
    "ContextManager",
    "HookHandler",
    "Orchestrator",
    "Provider",
    "Tool",
]

if TYPE_CHECKING:
    from abc import ABCMeta as _ProtocolMeta

    from amplifier_tui.kernel.hooks import HookRegistry
else:
    _ProtocolMeta = type(Protocol)

# Older tools have no schema, and are tools all the same.
_OPTIONAL = frozenset({"input_schema"})


class _StructuralMeta(_ProtocolMeta):
    def __instancecheck__(cls, instance: Any) -> bool:
        if not cls.__dict__.get("_is_protocol", False):
            return type.__instancecheck__(cls, instance)
        return all(hasattr(instance, member) for member in _required(cls))


def _required(protocol: type) -> list[str]:
    return [
        name
        for name in vars(protocol)
        if (name == "__call__" or not name.startswith("_")) and name not in _OPTIONAL
    ]


class Orchestrator(Protocol, metaclass=_StructuralMeta):
    """Runs the agent loop."""

    async def execute(
        self,
        prompt: str,
        context: ContextManager,
        providers: dict[str, Provider],
        tools: dict[str, Tool],
        hooks: HookRegistry,
        **kwargs: Any,
    ) -> str:
        """Run one turn and return the final answer.

        Args:
            prompt: What the user said.
            context: The conversation.
            providers: Mounted providers by name.
            tools: Mounted tools by name.
            hooks: Where the turn's events are emitted.
            **kwargs: ``coordinator`` comes this way.
        """
        ...


class Provider(Protocol, metaclass=_StructuralMeta):
    """Translates between our envelope and one vendor's API."""

    @property
    def name(self) -> str:
        """Name the provider is mounted under."""
        ...

    def get_info(self) -> ProviderInfo:
        """Tell who the provider is and what its setup needs."""
        ...

    async def list_models(self) -> list[ModelInfo]:
        """List the models on offer."""
        ...

    async def complete(self, request: ChatRequest, **kwargs: Any) -> ChatResponse:
        """Answer a request, or raise an ``LLMError``."""
        ...

    def parse_tool_calls(self, response: ChatResponse) -> list[ToolCall]:
        """Return the tool calls of a response."""
        ...


class Tool(Protocol, metaclass=_StructuralMeta):
    """Something the model can call."""

    @property
    def name(self) -> str:
        """Name the model calls it by."""
        ...

    @property
    def description(self) -> str:
        """What it does, for the model."""
        ...

    @property
    def input_schema(self) -> dict[str, Any]:
        """JSON schema of the input. Not every tool has one: read it with a default."""
        return {}

    async def execute(self, input: dict[str, Any]) -> ToolResult:
        """Do the work; ``input`` holds the arguments of the call."""
        ...


class ContextManager(Protocol, metaclass=_StructuralMeta):
    """Remembers the conversation."""

    async def add_message(self, message: dict[str, Any]) -> None:
        """Add a message."""
        ...

    async def get_messages_for_request(
        self, token_budget: int | None = None, provider: Any | None = None
    ) -> list[dict[str, Any]]:
        """Return the messages for the next request, fitted to the limit, else to the provider."""
        ...

    async def get_messages(self) -> list[dict[str, Any]]:
        """Return the whole history, never compacted."""
        ...

    async def set_messages(self, messages: list[dict[str, Any]]) -> None:
        """Replace the history, for resuming a session."""
        ...

    async def clear(self) -> None:
        """Forget everything."""
        ...


class HookHandler(Protocol, metaclass=_StructuralMeta):
    """Answers events."""

    async def __call__(self, event: str, data: dict[str, Any]) -> HookResult:
        """Handle one event; ``data`` is a private, JSON-native copy of its data."""
        ...


class ApprovalRequest(BaseModel):
    """A question about a tool call; ``timeout`` in seconds, None waits for ever."""

    model_config = ConfigDict(defer_build=True)

    tool_name: str
    action: str
    details: dict[str, Any] = {}
    risk_level: str
    timeout: float | None = None

    @field_validator("timeout")
    @classmethod
    def _positive(cls, timeout: float | None) -> float | None:
        if timeout is not None and timeout <= 0:
            raise ValueError("Timeout must be positive or None (infinite wait)")
        return timeout


class ApprovalResponse(BaseModel):
    """The answer to an :class:`ApprovalRequest`; ``remember`` asks to keep it as a rule."""

    model_config = ConfigDict(defer_build=True)

    approved: bool
    reason: str | None = None
    remember: bool = False


class ApprovalProvider(Protocol, metaclass=_StructuralMeta):
    """Puts approval requests of modules to the user."""

    async def request_approval(self, request: ApprovalRequest) -> ApprovalResponse:
        """Ask the user."""
        ...
