"""Servers that misbehave: what they do is said, and the session goes on."""

import asyncio
import json
import socket
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from amplifier_tui.base.capabilities.mcp import CHANGED
from amplifier_tui.base.capabilities.questions import (
    MOST_QUESTIONS,
    QuestionAnswer,
    QuestionsOutcome,
    QuestionsReply,
)
from amplifier_tui.modules.tool_mcp import LOG_EVENT, elicitation
from amplifier_tui.modules.tool_mcp import server as serving
from tests.modules.tool_bash.support import gone
from tests.modules.tool_mcp.support import ROOT, Session
from tests.waiting import within

pytestmark = pytest.mark.asyncio(loop_scope="module")

RUDE: dict[str, Any] = {
    "command": sys.executable,
    "args": ["-I", str(ROOT / "tests/servers/rude_mcp_server.py")],
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def rude(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Session]:
    folder = tmp_path_factory.mktemp("rude")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AMPLIFIER_HOME", str(folder))
        patch.setattr(serving, "FIRST_PAUSE", 0.01)
        session = Session(folder)
        await session.mount({"rude": {**RUDE, "tool_timeout": 20}})
        await session.until(lambda: "mcp__rude__echo" in session.tools)
        yield session
        await session.close()


async def pid(session: Session) -> int:
    return int(str((await session.call("pid", "rude")).output))


async def test_tools_that_make_no_sense_are_left_out_and_named(rude: Session) -> None:
    assert "mcp__rude__listed" in rude.tools
    assert "mcp__rude__huge" not in rude.tools
    problems = " ".join(rude.servers.statuses()[0].problems)
    for words in ("listed twice", "too large", "used: red."):
        assert words in problems
    assert "\x1b" not in problems


async def test_a_tool_named_like_ours_is_another_one(rude: Session) -> None:
    assert "bash" not in rude.tools
    tool = rude.coordinator.get("tools", "mcp__rude__bash")
    assert tool.description == "like yours"


@pytest.mark.parametrize(
    ("tool", "said"),
    [
        ("twice", "first"),
        ("junk", "after junk"),
        ("flood", "flooded"),
        ("wrong", "not as the protocol has it"),
        ("pictures", "[an image that can't be read]"),
    ],
)
async def test_what_it_answers_is_dealt_with(rude: Session, tool: str, said: str) -> None:
    assert said in str((await rude.call(tool, "rude")).output)
    assert (await rude.call("echo", "rude", text="still there")).output == "still there"


async def test_its_images_are_what_they_are_and_not_what_it_says(rude: Session) -> None:
    result = await rude.call("pictures", "rude")
    assert result.content is not None
    words, *images = result.content
    assert "9000 pixels wide or high" in words.text
    assert words.text.count("can't be read") == 2
    assert [image.source["media_type"] for image in images] == ["image/jpeg"]


async def test_what_never_answers_is_given_up(
    rude: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = rude.servers.servers["rude"]
    assert server.settings is not None
    hasty = server.settings.model_copy(update={"tool_timeout": 0.2})
    monkeypatch.setattr(server, "settings", hasty)
    assert "did not answer within 0.2 s" in str((await rude.call("late", "rude")).output)
    async with within(20):
        with pytest.raises(LookupError, match=r"did not answer within 0\.2 s"):
            await rude.servers.read("rude", "notes://late")


async def test_answers_out_of_order_go_to_their_calls(rude: Session) -> None:
    first = asyncio.create_task(rude.call("backwards", "rude"))
    # Its own call began first, so it is sent first.
    second = asyncio.create_task(rude.call("echo", "rude", text="now"))
    assert (await second).output == "now"
    assert (await first).output == "held back"


async def test_what_it_asks_is_asked_in_the_users_dialog(rude: Session) -> None:
    first = (QuestionAnswer(text="Ada"), QuestionAnswer(text="many"), QuestionAnswer((1,)))
    rude.replies = [
        QuestionsReply("answered", (*first, QuestionAnswer((0,)))),
        QuestionsReply("answered", (QuestionAnswer((1,)),)),
        QuestionsReply("answered", (QuestionAnswer(text="2"),)),
    ]
    rude.asked.clear()
    answer = json.loads(str((await rude.call("ask", "rude")).output))
    wanted = {"name": "Ada", "seats": 2, "class": "second", "window": True, "extras": ["bike"]}
    assert answer == {"action": "accept", "content": wanted}
    assert rude.asked[0].question == "The MCP server rude asks: Book it? — Whose name."
    assert [option.label for option in rude.asked[2].options] == ["first", "second"]
    assert rude.asked[4].multi_select
    assert rude.asked[5].question.startswith("The MCP server rude asks: It must be a number.")


@pytest.mark.parametrize(("outcome", "action"), [("declined", "decline"), ("withdrawn", "cancel")])
async def test_what_the_user_does_not_answer_it_is_told(
    rude: Session, outcome: QuestionsOutcome, action: str
) -> None:
    rude.replies = [QuestionsReply(outcome)]
    answer = json.loads(str((await rude.call("ask", "rude")).output))
    assert answer["action"] == action


async def test_one_that_asks_too_often_is_told_that_the_user_cancelled(
    tmp_path: Path, own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(elicitation, "MOST_A_MINUTE", 1)
    session = await Session(tmp_path).mount({"rude": RUDE})
    await session.until(lambda: "mcp__rude__echo" in session.tools)
    session.replies = [QuestionsReply("declined")]
    actions = [json.loads(str((await session.call("ask", "rude")).output)) for _ in range(3)]
    assert [each["action"] for each in actions] == ["decline", "cancel", "cancel"]
    assert len(session.asked) == MOST_QUESTIONS
    assert "It asks the user too often: not asked." in session.words(LOG_EVENT, "text")
    await session.close()


async def test_a_tool_it_has_from_now_on_is_there(rude: Session) -> None:
    await rude.call("grow", "rude")
    await rude.until(lambda: "mcp__rude__grown" in rude.tools)


async def test_only_some_of_very_many_log_messages_are_events(rude: Session) -> None:
    await rude.call("logs", "rude")
    assert 1 <= len(rude.words("mcp:log", "text")) <= 60


@pytest.mark.parametrize("tool", ["die", "huge_line"])
async def test_it_ends_in_a_call_and_is_there_for_the_next(rude: Session, tool: str) -> None:
    before = await pid(rude)
    died = await rude.call(tool, "rude")
    assert not died.success
    assert "ended during the call" in str(died.output)
    if tool == "die":
        assert "it ended with exit code 3" in str(died.output)
        assert "I am dying" in str(died.output)
    await gone(before)
    assert (await rude.call("echo", "rude", text="again")).output == "again"


async def test_what_fails_again_and_again_is_left_in_peace(
    rude: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "FIRST_PAUSE", 30.0)
    await rude.call("die", "rude")
    result = await rude.call("echo", "rude", text="x")
    assert "started again at the first call in" in str(result.output)
    assert "/mcp" in str(result.output)
    assert await rude.servers.restart("rude") == ""
    assert (await rude.call("echo", "rude", text="x")).output == "x"


async def test_what_it_started_ends_with_it(tmp_path: Path) -> None:
    session = await Session(tmp_path).mount({"rude": RUDE})
    await session.until(lambda: "mcp__rude__echo" in session.tools)
    own = await pid(session)
    child = int(str((await session.call("stubborn", "rude")).output))
    await session.close()
    await gone(own, child)


async def test_one_that_is_restarted_while_its_session_ends_is_not_started_again(
    tmp_path: Path,
) -> None:
    session = await Session(tmp_path).mount({"rude": RUDE})
    await session.until(lambda: "mcp__rude__echo" in session.tools)
    servers = session.servers
    restarting = asyncio.create_task(servers.restart("rude"))
    await asyncio.sleep(0)
    await session.close()
    assert "was ended" in await restarting
    assert [status.state for status in servers.statuses()] == ["idle"]


async def test_those_that_can_t_be_used_are_given_up(tmp_path: Path) -> None:
    session = Session(tmp_path)
    silent = {**RUDE, "args": [*RUDE["args"], "silent"], "startup_timeout": 0.3}
    wrong = {**RUDE, "args": [*RUDE["args"], "odd"]}
    none = {"command": "no-such-program"}
    lost = {**RUDE, "cwd": "nowhere"}
    with socket.create_server(("127.0.0.1", 0)) as taken:
        far = {"url": f"http://127.0.0.1:{taken.getsockname()[1]}/mcp"}
    servers = {"rude": silent, "wrong": wrong, "none": none, "lost": lost, "far": far}
    await session.mount({**servers, "empty": {"comand": "x"}})
    await session.until(lambda: len(session.words("user:notification", "message")) == 6)
    said = " ".join(session.words("user:notification", "message"))
    assert "it did not start within 0.3 s" in said
    assert "inputSchema" in said
    assert "no program no-such-program is found: install it, or correct its `command`" in said
    assert f"its folder {tmp_path / 'nowhere'} is not there: correct its `cwd`" in said
    assert "far can't be used: no connection" in said
    words = (
        "MCP server empty: an MCP server needs a program with `command`, or an address with `url`"
    )
    assert f"{words}; did you mean `command`?" in said
    await session.close()


async def test_one_that_died_is_not_started_by_a_call_while_it_is_not_what_was_trusted(
    rude: Session,
) -> None:
    changed: set[str] = set()
    rude.coordinator.register_capability(CHANGED, lambda name: name in changed)
    for time in (1, 2):
        assert await pid(rude)
        changed.add("rude")
        await rude.call("die", "rude")
        refused = await rude.call("pid", "rude")
        assert not refused.success and "changed since you trusted it" in str(refused.output)
        changed.clear()
        # Told anew each time, after it ran in between.
        said = " ".join(rude.words("user:notification", "message"))
        assert said.count("rude is not started: changed since") == time
    assert await pid(rude)
