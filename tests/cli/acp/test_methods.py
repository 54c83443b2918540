"""Every method of the protocol that an editor may call, and what it may send wrong."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from importlib import import_module
from typing import Any

import pytest
from acp import RequestError, schema

from amplifier_tui.cli.acp.content import EditorPrompt
from amplifier_tui.cli.acp.messages import EditorMessages
from amplifier_tui.cli.acp.session import EditorSession
from amplifier_tui.cli.acp.updates import Updates
from amplifier_tui.host.events import (
    BlockDelta,
    BlockEnded,
    BlockStarted,
    BudgetChanged,
    HostEvent,
    ImageCard,
    ImagesAdded,
    ToolEnded,
    ToolStarted,
    TurnEnded,
    TurnStarted,
    Usage,
    UsageChanged,
)
from amplifier_tui.ui.app.preferences import Preferences
from tests.cli.acp.editor import TestEditor
from tests.host.asking import claude
from tests.host.driving import Project, calling, saying
from tests.servers import LoopbackServer

Connect = Callable[..., Awaitable[TestEditor]]
S = "s1"


async def refused(asking: Awaitable[Any]) -> int:
    with pytest.raises(RequestError) as caught:
        await asking
    return caught.value.code


async def test_model_and_effort_are_chosen_and_what_there_is_not_is_said(
    project: Project, connect: Connect, server: LoopbackServer
) -> None:
    import_module("anthropic.resources.messages")  # It takes seconds, of which none count here.
    server.models = ["claude-sonnet-4-5", "claude-opus-4-5"]
    editor = await connect(project.bundle(providers=[claude(server)], tools=()))
    agent = editor.agent
    new = await agent.new_session(cwd=str(project.folder), mcp_servers=[])
    listed = await editor.until(lambda: editor.of(schema.ConfigOptionUpdate))
    model = {each.id: each for each in listed[-1].config_options}["model"]
    other = next(each.value for each in model.options if each.value != model.current_value)

    async def choose(name: str, value: str) -> dict[str, Any]:
        answer = await agent.set_config_option(
            config_id=name, session_id=new.session_id, value=value
        )
        return {each.id: each.current_value for each in answer.config_options}

    assert (await choose("model", other))["model"] == other
    assert await refused(agent.set_config_option("model", new.session_id, "nobody/nothing"))
    if "effort" in (now := await choose("model", model.current_value)):
        assert now["effort"] == "default"
        assert (await choose("effort", "high"))["effort"] == "high"


async def test_a_session_begins_with_the_model_that_the_user_chose(
    project: Project, connect: Connect, server: LoopbackServer
) -> None:
    import_module("anthropic.resources.messages")
    server.models = ["claude-sonnet-4-5", "claude-opus-4-5"]
    name = project.bundle(providers=[claude(server)], tools=())
    Preferences().set_model(name, {"provider": "anthropic", "model": "claude-opus-4-5"})
    editor = await connect(name)
    await editor.agent.new_session(cwd=str(project.folder), mcp_servers=[])
    listed = await editor.until(lambda: editor.of(schema.ConfigOptionUpdate))
    model = {each.id: each for each in listed[-1].config_options}["model"]
    assert "claude-opus-4-5" in model.current_value


async def test_there_is_nothing_to_log_in_to_and_extensions_are_not_known(
    connect: Connect, project: Project
) -> None:
    agent = (await connect(project.bundle())).agent
    assert await refused(agent.authenticate(method_id="github")) == -32602
    assert await refused(agent.ext_method("coffee", {})) == -32601
    await agent.ext_notification("coffee", {"milk": True})
    assert await refused(agent.close_session(session_id="nobody"))
    assert await refused(agent.resume_session(cwd=str(project.folder), session_id="nobody"))
    assert await refused(agent.fork_session(cwd=str(project.folder), session_id="nobody"))
    assert (await agent.list_sessions(cwd=str(project.folder))).sessions == []


async def test_an_editor_that_goes_in_the_middle_of_a_turn_leaves_a_session_to_go_on_with(
    project: Project, connect: Connect
) -> None:
    slow = {**calling({"bash": {"command": "echo begun && sleep 60"}}), "when": {"prompt": "go"}}
    name = project.bundle(script=[slow, saying("Here again.")], tools=("tool-bash",))
    editor = await connect(name)
    new = await editor.agent.new_session(cwd=str(project.folder), mcp_servers=[])
    turn = asyncio.create_task(editor.say(new.session_id, "go"))
    await editor.until(lambda: editor.of(schema.ToolCallProgress))
    await editor.leave()
    await asyncio.wait({turn}, timeout=10)
    assert turn.exception() is not None
    second = await connect(name)
    await second.agent.load_session(
        cwd=str(project.folder), session_id=new.session_id, mcp_servers=[]
    )
    assert second.of(schema.ToolCallProgress)[-1].status == "failed"
    assert (await second.say(new.session_id, "more")).stop_reason == "end_turn"


# --- turns -----------------------------------------------------------------------------------


class Client:
    """Notes the ids of what it is to send; the test says what happens."""

    def __init__(self) -> None:
        self.sent: list[str] = []
        self.events: list[HostEvent] = []
        self.wake: Callable[[], None] = lambda: None

    def set_waker(self, wake: Callable[[], None]) -> None:
        self.wake = wake

    def submit(self, text: str, files: tuple[str, ...], prompt_id: str, *, typed: str) -> None:
        self.sent.append(prompt_id)

    def drain(self) -> list[HostEvent]:
        taken, self.events = self.events, []
        return taken

    def tell(self, *events: HostEvent) -> None:
        self.events += events
        self.wake()

    def close(self) -> "Future[None]":
        closed: Future[None] = Future()
        closed.set_result(None)
        return closed


def ended(turn: int) -> TurnEnded:
    return TurnEnded(session_id=S, turn=turn, status="success")


async def test_each_prompt_is_answered_by_its_own_turn_whatever_runs_between() -> None:
    client: Any = Client()
    session = EditorSession(client, TestEditor(), forms=False)
    client.set_waker(session._woken)
    session._pump = asyncio.create_task(session._work())
    first, second = (
        asyncio.create_task(session.prompt(EditorPrompt(text, (), text))) for text in ("a", "b")
    )
    await asyncio.sleep(0)
    one, two = client.sent
    someones = TurnStarted(session_id=S, turn=1, prompt="of a hook", prompt_id="else")
    client.tell(
        *(someones, ended(1)), *(TurnStarted(session_id=S, turn=2, prompt="b", prompt_id=two),)
    )
    client.tell(ended(2))
    assert (await second).stop_reason == "end_turn"
    assert not first.done()
    client.tell(TurnStarted(session_id=S, turn=3, prompt="a", prompt_id=one), ended(3))
    assert (await first).stop_reason == "end_turn"
    assert not session.is_busy
    await session.close()


def test_of_blocks_that_are_over_nothing_is_kept() -> None:
    updates = Updates()
    for turn in range(3):
        updates.of(TurnStarted(session_id=S, turn=turn, prompt="go"))
        block = {"session_id": S, "block_id": f"b{turn}"}
        updates.of(BlockStarted(**block, kind="text"))
        updates.of(BlockDelta(**block, text="words"))
        updates.of(BlockEnded(**block, kind="text", text="words"))
    assert (list(updates._sent), list(updates._kinds)) == (["b2"], ["b2"])


def test_a_call_with_the_id_of_an_earlier_one_is_not_shown_with_its_terminal() -> None:
    updates = Updates()
    call = {"session_id": S, "call_id": "c"}
    updates.of(ToolStarted(**call, tool="bash"))
    updates.terminal("c", "t1")
    updates.of(ToolEnded(**call, tool="bash", ok=True))
    (start,) = updates.of(ToolStarted(**call, tool="read_file"))
    (end,) = updates.of(ToolEnded(**call, tool="read_file", ok=True, output="a line"))
    assert not start.content and end.content[0].content.text == "a line"


# --- lines -----------------------------------------------------------------------------------


class Written:
    """What was written, and a stream to write it to."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []

    def write(self, data: bytes) -> None:
        self.rows.append(json.loads(data))

    async def drain(self) -> None:
        pass


async def test_a_line_that_is_too_long_is_refused_and_the_next_one_is_read() -> None:
    written: Any = Written()
    reader = asyncio.StreamReader(limit=100)
    messages = EditorMessages(reader, written)
    good = b'{"jsonrpc": "2.0", "method": "a"}'
    reader.feed_data(b'"' * 1_000 + b"\n" + good + b"\n" + good)
    reader.feed_eof()
    assert [await messages.receive() for _ in range(3)] == [
        json.loads(good),
        json.loads(good),
        None,
    ]
    (refusal,) = written.rows
    assert refusal["error"]["message"] == "The message is too long"


class Images(Client):
    """Has an image for each key."""

    def image(self, key: str, lane: str) -> "Future[bytes]":
        self.sent.append(key)
        found: Future[bytes] = Future()
        found.set_result(b"an image")
        return found


def look(number: int) -> tuple[HostEvent, ...]:
    """Return what is told of a stored call that had an image for its result."""
    about: Any = {"session_id": S, "replayed": True, "call_id": f"c{number}"}
    card = ImageCard(key=str(number), media_type="image/png")
    return (
        ToolStarted(**about, tool="look", arguments={}),
        ToolEnded(**about, tool="look", ok=True, output="seen"),
        ImagesAdded(**about, images=(card,)),
    )


async def test_of_a_long_conversation_the_editor_is_sent_the_latest_images() -> None:
    client: Any = Images()
    editor = TestEditor()
    session = EditorSession(client, editor, forms=False)
    await session.show([event for number in range(30) for event in look(number)])
    assert client.sent == [str(number) for number in range(10, 30)]
    shown = [each.content for each in editor.of(schema.ToolCallProgress) if len(each.content) == 2]
    assert len(shown) == 20 and all("seen" in text.content.text for text, _ in shown)


@pytest.mark.parametrize(("unpriced", "cost"), [(0, 0.002), (7, None)])
def test_of_what_was_spent_no_part_is_told_as_the_whole(unpriced: int, cost: float | None) -> None:
    updates = Updates()
    used = Usage(input_tokens=7, cost="0.002", unpriced_tokens=unpriced)
    updates.of(UsageChanged(session_id="s", session=used))
    (update,) = updates.of(BudgetChanged(session_id="s", total=7, window=100))
    assert (update.cost and update.cost.amount) == cost
