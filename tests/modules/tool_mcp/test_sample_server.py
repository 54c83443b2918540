"""All that a server of the official SDK offers, over stdio: one server for all tests."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from amplifier_tui.base.capabilities.questions import QuestionAnswer, QuestionsReply
from tests.modules.tool_bash.support import gone
from tests.modules.tool_mcp.support import SAMPLE, Session

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def sample(home: Path) -> AsyncIterator[Session]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AMPLIFIER_HOME", str(home))
        patch.setenv("GITHUB_TOKEN", "ghp_not_for_servers")
        session = Session(home)
        await session.mount({"sample": {**SAMPLE, "env": {"MINE": "its own"}}})
        await session.until(lambda: "mcp__sample__add" in session.tools)
        yield session
        await session.close()


async def test_its_tools_are_the_sessions(sample: Session) -> None:
    result = await sample.call("add", a=1, b=2)
    assert result.success
    assert result.output == "3"
    schema = sample.coordinator.get("tools", "mcp__sample__add").input_schema
    assert schema["required"] == ["a", "b"]


async def test_it_gets_no_secrets_but_what_its_entry_sets(sample: Session) -> None:
    variables = str((await sample.call("environment")).output)
    assert "MINE=its own" in variables
    assert "PATH=" in variables
    assert "GITHUB_TOKEN" not in variables


async def test_pictures_are_passed_on_and_long_results_cut(sample: Session) -> None:
    result = await sample.call("picture")
    assert result.content is not None
    assert [block.type for block in result.content] == ["image"]
    long = str((await sample.call("long", characters=100_000)).output)
    assert len(long) < 41_000
    assert "characters left out" in long


async def test_what_fails_is_said(sample: Session) -> None:
    failed = await sample.call("fail", why="no cheese")
    assert not failed.success
    wrong = await sample.call("add", a="x", b=1)
    assert "valid integer" in str(wrong.output)


async def test_it_tells_how_far_it_is_and_its_log_messages_are_events(sample: Session) -> None:
    await sample.call("count", to=2)
    assert sample.words("tool:progress", "text")[-2:] == ["at 1 (1 of 2)\n", "at 2 (2 of 2)\n"]
    await sample.call("complain")
    await sample.until(lambda: "the cheese is old" in sample.words("mcp:log", "text"))


async def test_a_call_that_is_stopped_is_stopped_at_the_server(sample: Session) -> None:
    call = asyncio.create_task(sample.call("wait"))
    await sample.until(lambda: "waiting (0 of 1)\n" in sample.words("tool:progress", "text"))
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    server = sample.servers.servers["sample"]
    await sample.until(lambda: "it was cancelled" in server.status().log)


async def test_resources_and_prompts_can_be_had(sample: Session) -> None:
    (status,) = sample.servers.statuses()
    assert status.resources == ("notes://today",)
    assert await sample.servers.read("sample", "notes://today") == "Buy cheese."
    text = await sample.servers.prompt("sample", "review", ["a.py", "very", "much"])
    assert text == "Review a.py with very much care."
    with pytest.raises(LookupError, match="review needs: path"):
        await sample.servers.prompt("sample", "review", [])
    with pytest.raises(LookupError, match="no prompt other"):
        await sample.servers.prompt("sample", "other", [])
    with pytest.raises(LookupError, match="The MCP server sample: "):
        await sample.servers.read("sample", "notes://none")


async def test_what_it_asks_is_asked_in_the_users_dialog(sample: Session) -> None:
    answers = (QuestionAnswer(text="Ada"), QuestionAnswer(text="2"))
    sample.replies = [QuestionsReply("answered", answers)]
    assert (await sample.call("book")).output == "2 for Ada"
    assert sample.asked[-1].question == "The MCP server sample asks: Whose seats? — Seats."
    sample.replies = [QuestionsReply("declined")]
    assert not (await sample.call("book")).success


async def test_a_tool_it_has_from_now_on_is_there(sample: Session) -> None:
    await sample.call("grow")
    await sample.until(lambda: "mcp__sample__grown" in sample.tools)
    assert (await sample.call("grown")).output == "grown"


async def test_what_it_offers_is_known_next_time_before_it_is_started(
    sample: Session, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AMPLIFIER_HOME", str(home))
    later = await Session(home).mount({"sample": {**SAMPLE, "env": {"MINE": "its own"}}})
    assert "mcp__sample__add" in later.tools
    assert [status.state for status in later.servers.statuses()] == ["idle"]
    await later.close()


async def test_it_ends_with_the_session(tmp_path: Path) -> None:
    session = await Session(tmp_path).mount({"sample": SAMPLE})
    await session.until(lambda: "mcp__sample__add" in session.tools)
    pid = int(str((await session.call("place")).output).split()[-1])
    await session.close()
    await gone(pid)
