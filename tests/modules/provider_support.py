"""What the provider tests share: a coordinator whose events can be waited for, requests."""

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from types import SimpleNamespace
from typing import Any

from amplifier_tui.kernel.coordinator import ModuleCoordinator
from amplifier_tui.kernel.message_models import ChatRequest, Message, ToolSpec

EVENTS = (
    "llm:request",
    "llm:response",
    "llm:stream_block_start",
    "llm:stream_block_delta",
    "llm:stream_block_end",
    "llm:stream_aborted",
    "provider:error",
    "provider:retry",
    "provider:tool_sequence_repaired",
)
READ_FILE = ToolSpec(
    name="read_file",
    description="Read a file",
    parameters={"type": "object", "properties": {"path": {"type": "string"}}},
)
Mount = Callable[[ModuleCoordinator, dict[str, Any]], Awaitable[Callable[[], Awaitable[None]]]]


class Heard:
    """Every event of interest, in order."""

    def __init__(self, coordinator: ModuleCoordinator) -> None:
        self.all: list[tuple[str, dict[str, Any]]] = []
        self._news = asyncio.Event()
        self._coordinator = coordinator
        for event in EVENTS:
            coordinator.hooks.register(event, self._hear, name=f"heard {event}")

    async def _hear(self, event: str, data: dict[str, Any]) -> None:
        self.all.append((event, data))
        self._news.set()

    def of(self, event: str) -> list[dict[str, Any]]:
        return [data for name, data in self.all if name == event]

    def names(self) -> list[str]:
        return [name for name, _ in self.all]

    def text(self, block_type: str = "text") -> str:
        deltas = self.of("llm:stream_block_delta")
        return "".join(data["text"] for data in deltas if data["block_type"] == block_type)

    def hold(self, event: str) -> asyncio.Event:
        """Never return from this event; the result is set when it has come."""
        come = asyncio.Event()

        async def wait(event: str, data: dict[str, Any]) -> None:
            come.set()
            await asyncio.Event().wait()

        self._coordinator.hooks.register(event, wait, name="hold")
        return come

    async def until(self, event: str, **fields: Any) -> dict[str, Any]:
        """The first event of this name with these fields, once it has come."""
        while True:
            for data in self.of(event):
                if fields.items() <= data.items():
                    return data
            self._news.clear()
            await asyncio.wait_for(self._news.wait(), timeout=10)


@contextmanager
def unanswered() -> Iterator[str]:
    """An address at which nobody answers: its port is taken, and nobody listens there."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{taken.getsockname()[1]}"


def coordinator_of(**session: Any) -> ModuleCoordinator:
    config = {"session": session}
    return ModuleCoordinator(SimpleNamespace(session_id="s-1", parent_id=None, config=config))


@asynccontextmanager
async def mounted(
    mount: Mount, name: str, config: dict[str, Any], **session: Any
) -> AsyncIterator[tuple[Any, Heard]]:
    """A mounted provider and what is heard of it; cleaned up afterwards."""
    coordinator = coordinator_of(**session)
    heard = Heard(coordinator)
    cleanup = await mount(coordinator, {"min_retry_delay": 0, **config})
    try:
        yield coordinator.get("providers", name), heard
    finally:
        await cleanup()


def ask(*messages: Message | str, **options: Any) -> ChatRequest:
    """A request; strings are user messages, and without any there is one."""
    given = [
        Message(role="user", content=message) if isinstance(message, str) else message
        for message in messages or ("Hi",)
    ]
    return ChatRequest(messages=given, **options)


def user(content: Any) -> Message:
    return Message(role="user", content=content)


def assistant(content: Any = "", **extra: Any) -> Message:
    return Message(role="assistant", content=content, **extra)


def tool(call_id: str, content: Any, **extra: Any) -> Message:
    return Message(role="tool", tool_call_id=call_id, content=content, **extra)
