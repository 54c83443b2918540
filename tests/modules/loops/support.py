import asyncio
from collections.abc import Awaitable, Callable, Mapping
from types import SimpleNamespace
from typing import Any

from amplifier_tui.kernel.coordinator import ModuleCoordinator
from amplifier_tui.kernel.hooks import HookTrace
from amplifier_tui.kernel.message_models import (
    ChatRequest,
    ChatResponse,
    TextBlock,
    ToolCall,
    ToolCallBlock,
    Usage,
)
from amplifier_tui.kernel.models import ProviderInfo, ToolResult
from amplifier_tui.modules._loop.orchestrator import LoopOrchestrator
from amplifier_tui.modules.loop_streaming import StreamingOrchestrator

under_test: type[LoopOrchestrator] = StreamingOrchestrator
"""The loop that a `Bench` runs; the fixture `loop` sets it."""

Reply = ChatResponse | BaseException | Callable[[ChatRequest], Awaitable[ChatResponse]]

USAGE = Usage(input_tokens=10, output_tokens=5, total_tokens=15)


def says(text: str, **fields: Any) -> ChatResponse:
    return ChatResponse(content=[TextBlock(text=text)], usage=USAGE, **fields)


def call(name: str, /, identity: str = "c1", **arguments: Any) -> ToolCall:
    return ToolCall(id=identity, name=name, arguments=arguments)


def calls(*made: ToolCall, text: str = "") -> ChatResponse:
    content: list[Any] = [TextBlock(text=text)] if text else []
    content += [ToolCallBlock(id=one.id, name=one.name, input=one.arguments) for one in made]
    return ChatResponse(content=content, tool_calls=list(made), usage=USAGE)


class ScriptedProvider:
    def __init__(self, *replies: Reply, name: str = "scripted") -> None:
        self.name = name
        self.replies = list(replies)
        self.requests: list[ChatRequest] = []

    def get_info(self) -> ProviderInfo:
        return ProviderInfo(id=self.name, display_name=self.name, defaults={"model": "m-1"})

    async def list_models(self) -> list[Any]:
        return []

    async def complete(self, request: ChatRequest, **_: Any) -> ChatResponse:
        self.requests.append(request)
        reply = self.replies.pop(0)
        if isinstance(reply, BaseException):
            raise reply
        return reply if isinstance(reply, ChatResponse) else await reply(request)

    def parse_tool_calls(self, response: ChatResponse) -> list[ToolCall]:
        return list(response.tool_calls or [])


class Context:
    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []

    async def add_message(self, message: dict[str, Any]) -> None:
        self.rows.append(message)

    async def get_messages_for_request(
        self, token_budget: int | None = None, provider: Any = None
    ) -> list[dict[str, Any]]:
        return list(self.rows)

    async def get_messages(self) -> list[dict[str, Any]]:
        return list(self.rows)

    async def set_messages(self, messages: list[dict[str, Any]]) -> None:
        self.rows = list(messages)

    async def clear(self) -> None:
        self.rows = []


class Tool:
    def __init__(
        self,
        name: str,
        run: Callable[[dict[str, Any]], Awaitable[Any]] | None = None,
        **attributes: Any,
    ) -> None:
        self.name = name
        self.description = f"The tool {name}."
        self.inputs: list[dict[str, Any]] = []
        self._run = run
        for key, value in attributes.items():
            setattr(self, key, value)

    async def execute(self, input: dict[str, Any]) -> Any:
        self.inputs.append(input)
        return await self._run(input) if self._run else ToolResult(output=f"{self.name} did it")


class Approvals:
    def __init__(self, *answers: str) -> None:
        self.answers = list(answers)
        self.asked: list[tuple[Any, ...]] = []

    async def request_approval(self, *question: Any) -> str:
        self.asked.append(question)
        return self.answers.pop(0)


class Bench:
    def __init__(
        self,
        *replies: Reply,
        tools: Mapping[str, Any] | None = None,
        config: dict[str, Any] | None = None,
        plan: dict[str, Any] | None = None,
        approvals: Approvals | None = None,
        providers: dict[str, Any] | None = None,
    ) -> None:
        self.provider = ScriptedProvider(*replies)
        self.providers = {"scripted": self.provider} if providers is None else providers
        session = SimpleNamespace(session_id="s1", parent_id=None, config=plan or {"session": {}})
        self.shown: list[tuple[Any, ...]] = []
        display = SimpleNamespace(show_message=lambda *message: self.shown.append(message))
        self.coordinator = ModuleCoordinator(session, approvals, display)
        self.context = Context()
        self.coordinator.mount_points["context"] = self.context
        self.tools = dict(tools or {})
        self.loop = under_test(config)
        self.hooks = self.coordinator.hooks
        self.token = self.coordinator.cancellation
        self.events: list[tuple[str, dict[str, Any]]] = []
        self.hooks.observe(self._note)
        self._waiters: dict[str, asyncio.Event] = {}

    def _note(self, trace: HookTrace) -> None:
        self.events.append((trace.event, trace.data))
        if trace.event in self._waiters:
            self._waiters[trace.event].set()

    def seen(self, event: str) -> asyncio.Event:
        waiter = self._waiters.setdefault(event, asyncio.Event())
        if self.of(event):
            waiter.set()
        return waiter

    def of(self, event: str) -> list[dict[str, Any]]:
        return [data for name, data in self.events if name == event]

    def names(self, *events: str) -> list[str]:
        return [name for name, _ in self.events if not events or name in events]

    def standard_names(self) -> list[str]:
        return [name for name in self.names() if not name.startswith("loop-")]

    async def run(self, prompt: str = "Do it", **more: Any) -> str:
        return await self.loop.execute(
            prompt=prompt,
            context=self.context,
            providers=self.providers,
            tools=self.tools,
            hooks=self.hooks,
            coordinator=self.coordinator,
            **more,
        )

    def results(self) -> dict[str, str]:
        return {
            row["tool_call_id"]: row["content"]
            for row in self.context.rows
            if row["role"] == "tool"
        }


def assert_whole(rows: list[dict[str, Any]]) -> None:
    expected: list[str] = []
    for row in rows:
        if row["role"] == "tool":
            assert expected, f"a result without a call: {row}"
            assert row["tool_call_id"] == expected.pop(0)
        else:
            assert not expected, f"calls without results: {expected}"
            expected = [one["id"] for one in row.get("tool_calls", [])]
    assert not expected, f"calls without results: {expected}"
