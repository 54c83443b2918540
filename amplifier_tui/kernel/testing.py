"""What module authors test with (spec 000, testing sections).

Everything here works without a session, a network or a model.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, ClassVar, Final
from unittest.mock import AsyncMock, Mock

from amplifier_tui.base.python import awaited
from amplifier_tui.kernel.hooks.event_data import as_dict
from amplifier_tui.kernel.message_models import ChatResponse, TextBlock, ToolCall, Usage
from amplifier_tui.kernel.models import HookResult, ModelInfo, ProviderInfo, ToolResult
from amplifier_tui.kernel.mounting.trial import TrialCoordinator

_POLL: Final = 0.005
_UNSET: Final = object()


class MockCoordinator(TrialCoordinator):
    """A coordinator of the session "test-session", whose approval system always says "Allow".

    ``approval_system.request_approval`` and ``display_system.show_message`` are mocks;
    ``mount_history`` and ``unmount_history`` note what was mounted and unmounted.
    """

    __test__: ClassVar[bool] = False

    def __init__(self) -> None:
        super().__init__()
        self.approval_system = Mock(request_approval=AsyncMock(return_value="Allow"))
        self.display_system = Mock(show_message=Mock(return_value=None))


TestCoordinator = MockCoordinator
"""The name spec 000 has for :class:`MockCoordinator`."""


class MockTool:
    """A tool that answers the same every time and remembers its calls.

    Args:
        name: Its name.
        output: What it answers: the output of a success, a :class:`ToolResult` to return as it
            is, or an exception to raise.
        description: Its description; made of the name by default.
        return_value: Another name for ``output``, which wins.

    Attributes:
        execute: A mock, so that calls can be asserted on.
        call_count: How often it was called.
        last_input: The input of the last call, or None.
    """

    def __init__(
        self,
        name: str = "mock_tool",
        output: Any = "Success",
        description: str | None = None,
        return_value: Any = _UNSET,
    ) -> None:
        self.name = name
        self.description = f"Mock tool: {name}" if description is None else description
        self.output = output if return_value is _UNSET else return_value
        self.call_count = 0
        self.last_input: dict[str, Any] | None = None
        self.execute = AsyncMock(side_effect=self._execute)

    @property
    def input_schema(self) -> dict[str, Any]:
        """The schema of an object without properties."""
        return {"type": "object", "properties": {}}

    async def _execute(self, input: dict[str, Any]) -> ToolResult:
        self.call_count += 1
        self.last_input = input
        if isinstance(self.output, BaseException):
            raise self.output
        if isinstance(self.output, ToolResult):
            return self.output
        return ToolResult(success=True, output=self.output)


class MockContextManager:
    """A context that keeps ``messages`` in a list; its methods are mocks that do the real thing.

    A list that is given is that list.
    """

    def __init__(self, messages: Iterable[dict[str, Any]] | None = None) -> None:
        given = messages if isinstance(messages, list) else list(messages or ())
        self.messages: list[dict[str, Any]] = given
        self.add_message = AsyncMock(side_effect=self._add_message)
        self.get_messages = AsyncMock(side_effect=self._get_messages)
        self.get_messages_for_request = AsyncMock(side_effect=self._get_messages)
        self.set_messages = AsyncMock(side_effect=self._set_messages)
        self.clear = AsyncMock(side_effect=self._clear)
        self._should_compact = AsyncMock(return_value=False)
        self._compact_internal = AsyncMock(return_value=None)

    async def _add_message(self, message: dict[str, Any]) -> None:
        self.messages.append(message)

    async def _get_messages(
        self, token_budget: int | None = None, provider: Any = None
    ) -> list[dict[str, Any]]:
        return list(self.messages)

    async def _set_messages(self, messages: Iterable[dict[str, Any]]) -> None:
        self.messages[:] = messages

    async def _clear(self) -> None:
        self.messages.clear()


class MockProvider:
    """A provider that answers the same text every time; ``requests`` is what it was asked."""

    def __init__(self, text: str = "Mock response", name: str = "mock") -> None:
        self.name = name
        self.text = text
        self.requests: list[Any] = []
        self.complete = AsyncMock(side_effect=self._complete)

    def get_info(self) -> ProviderInfo:
        """Return an id and a name."""
        return ProviderInfo(id=self.name, display_name=self.name.title())

    async def list_models(self) -> list[ModelInfo]:
        """Return one model."""
        model = f"{self.name}-model"
        return [
            ModelInfo(id=model, display_name=model, context_window=100_000, max_output_tokens=4_096)
        ]

    async def _complete(self, request: Any, **kwargs: Any) -> ChatResponse:
        self.requests.append(request)
        usage = Usage(input_tokens=1, output_tokens=1, total_tokens=2)
        return ChatResponse(content=[TextBlock(text=self.text)], usage=usage, finish_reason="stop")

    def parse_tool_calls(self, response: ChatResponse) -> list[ToolCall]:
        """Return the tool calls of a response."""
        return response.tool_calls or []


class EventRecorder:
    """Stands in for the hook registry; ``events`` has ``(event, data)`` of each emit, copied."""

    def __init__(self) -> None:
        self.events: list[tuple[str, dict[str, Any]]] = []

    async def emit(self, event: str, data: Any = None) -> HookResult:
        """Remember an event and answer "continue"."""
        self.events.append((event, dict(as_dict(data))))
        return HookResult(action="continue")

    async def record(self, event: str, data: Any = None) -> HookResult:
        """Remember an event, as :meth:`emit` does."""
        return await self.emit(event, data)

    def get_events(self, event_type: str | None = None) -> list[tuple[str, dict[str, Any]]]:
        """Return what was emitted, in order; of one name if that is given."""
        return [entry for entry in self.events if event_type is None or entry[0] == event_type]

    def clear(self) -> None:
        """Forget everything."""
        self.events.clear()


class ScriptedOrchestrator:
    """An orchestrator that answers from a list, one answer per turn, then ``"DONE"``."""

    def __init__(self, responses: Iterable[str]) -> None:
        self.responses = list(responses)
        self.call_count = 0

    async def execute(
        self, prompt: str, context: Any, providers: Any, tools: Any, hooks: Any, **kwargs: Any
    ) -> str:
        """Run one turn: emit start and end, add prompt and answer to the context."""
        await hooks.emit("session:start", {"prompt": prompt})
        turn, self.call_count = self.call_count, self.call_count + 1
        response = self.responses[turn] if turn < len(self.responses) else "DONE"
        await context.add_message({"role": "user", "content": prompt})
        await context.add_message({"role": "assistant", "content": response})
        await hooks.emit("session:end", {"response": response})
        return response


def create_test_coordinator() -> MockCoordinator:
    """Return a coordinator with a context and two tools: "echo" works, "fail" fails."""
    coordinator = MockCoordinator()
    failure = ToolResult(success=False, error={"message": "Tool failed"})
    coordinator.mount_points["tools"] = {
        "echo": MockTool("echo", "Echo response"),
        "fail": MockTool("fail", failure),
    }
    coordinator.mount_points["context"] = MockContextManager()
    return coordinator


async def wait_for(condition: Callable[[], bool | Awaitable[bool]], timeout: float = 1.0) -> bool:
    """Wait ``timeout`` seconds for a sync or async condition; tell whether it held in time."""
    loop = asyncio.get_running_loop()
    end = loop.time() + timeout
    while True:
        holds = await awaited(condition())
        if holds:
            return True
        if loop.time() >= end:
            return False
        await asyncio.sleep(_POLL)
