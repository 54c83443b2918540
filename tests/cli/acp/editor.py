"""An editor for tests, on the protocol's own SDK, over a socket."""

import asyncio
import socket
from collections.abc import Callable
from typing import Any

from acp import connect_to_agent, schema

from amplifier_tui.cli.acp.agent import EditorAgent
from amplifier_tui.cli.acp.messages import serve
from tests.waiting import within

LONGEST = 1 << 26


class TestEditor:
    """Notes every update, and answers what it is asked as told.

    Attributes:
        answers: Ids of the options to choose, in order; None cancels. Without any the first.
        forms: Contents of forms, in order; None declines.
    """

    __test__ = False

    def __init__(self) -> None:
        self.updates: list[Any] = []
        self.asked: list[tuple[Any, list[Any]]] = []
        self.answers: list[str | None] = []
        self.forms: list[dict[str, Any] | None] = []
        self.shown: list[Any] = []
        self.failures: list[str] = []
        self.seen: asyncio.Condition = asyncio.Condition()
        self.hold: asyncio.Event | None = None
        self.agent: Any
        self.serving: asyncio.Task[None]
        self.writers: list[asyncio.StreamWriter] = []

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        async with self.seen:
            self.updates.append(update)
            self.seen.notify_all()

    async def request_permission(
        self, session_id: str, tool_call: Any, options: list[Any], **_: Any
    ) -> schema.RequestPermissionResponse:
        async with self.seen:
            self.asked.append((tool_call, options))
            self.seen.notify_all()
        if self.hold is not None:
            await self.hold.wait()
        chosen = self.answers.pop(0) if self.answers else options[0].option_id
        if chosen is None:
            return schema.RequestPermissionResponse(
                outcome=schema.DeniedOutcome(outcome="cancelled")
            )
        outcome = schema.AllowedOutcome(outcome="selected", option_id=chosen)
        return schema.RequestPermissionResponse(outcome=outcome)

    async def create_elicitation(self, message: str, mode: Any, **_: Any) -> Any:
        self.shown.append((message, mode))
        content = self.forms.pop(0)
        if content is None:
            return schema.DeclineElicitationResponse(action="decline")
        return schema.AcceptElicitationResponse(action="accept", content=content)

    def on_connect(self, conn: Any) -> None:
        pass

    async def until(self, holds: Callable[[], Any]) -> Any:
        """Wait until something holds of what was sent; returns it."""
        async with self.seen, within(20):
            await self.seen.wait_for(holds)
        return holds()

    def of(self, kind: type[Any]) -> list[Any]:
        return [update for update in self.updates if isinstance(update, kind)]

    def text(self, kind: type[Any] = schema.AgentMessageChunk) -> str:
        return "".join(update.content.text for update in self.of(kind))

    async def say(self, session_id: str, text: str, *more: Any) -> schema.PromptResponse:
        block = schema.TextContentBlock(type="text", text=text)
        async with within(30):
            return await self.agent.prompt(session_id=session_id, prompt=[block, *more])

    async def leave(self) -> None:
        """Close the socket, as an editor that quits, and wait for the agent's end."""
        for writer in self.writers:
            writer.close()
        async with within(20):
            await self.serving
            await self.agent.close()


async def connected(
    agent: EditorAgent,
    editor: TestEditor | None = None,
    *,
    forms: bool = False,
    fs: schema.FileSystemCapabilities | None = None,
    terminal: bool = False,
) -> TestEditor:
    """Return an editor that has been introduced to an agent."""
    ours, theirs = socket.socketpair()
    editor = editor or TestEditor()
    reader, writer = await asyncio.open_connection(sock=ours, limit=LONGEST)
    agents_reader, agents_writer = await asyncio.open_connection(sock=theirs, limit=LONGEST)

    editor.serving = asyncio.create_task(serve(agent, agents_reader, agents_writer))
    editor.agent = connect_to_agent(editor, writer, reader, use_unstable_protocol=True)
    editor.writers = [writer]
    asks = schema.ElicitationCapabilities(form=schema.ElicitationFormCapabilities())
    capabilities = schema.ClientCapabilities(
        elicitation=asks if forms else None, fs=fs, terminal=terminal
    )
    hello = await editor.agent.initialize(protocol_version=1, client_capabilities=capabilities)
    assert hello.agent_capabilities.load_session
    return editor
