from pathlib import Path

import pytest

from amplifier_tui.context.memory.database import memory_path
from amplifier_tui.context.memory.store import MemoryStore
from amplifier_tui.kernel.interfaces import Tool
from amplifier_tui.kernel.session import AmplifierSession
from amplifier_tui.modules.tool_memory import MemoryTool
from tests.context.support import ScriptedProvider


@pytest.fixture
async def tool(tmp_path: Path):
    store = MemoryStore(tmp_path / "memory.sqlite3")
    yield MemoryTool(lambda: store, session_id="s1", project=lambda: "/project")
    await store.close()


async def output(tool: MemoryTool, **input: object) -> str:
    result = await tool.execute(input)
    assert result.success, result.output
    return str(result.output)


async def test_what_is_remembered_is_found_listed_and_forgotten(tool: MemoryTool) -> None:
    assert isinstance(tool, Tool)
    assert await output(tool, action="list") == "There are no notes yet."
    said = await output(tool, action="remember", text="Ada prefers tabs")
    assert said == "Remembered as note 1, for this project."
    said = await output(tool, action="remember", text="Speak German", everywhere=True)
    assert said == "Remembered as note 2, for every project."
    assert await output(tool, action="search", query="tabs or spaces") == "[1] Ada prefers tabs"
    assert await output(tool, action="search", query="weather") == "No note fits."
    assert (
        await output(tool, action="list") == "[2] Speak German (everywhere)\n[1] Ada prefers tabs"
    )
    assert await output(tool, action="forget", id=1) == "Forgot note 1."
    assert await output(tool, action="list") == "[2] Speak German (everywhere)"


async def test_notes_of_other_projects_are_not_shown(tool: MemoryTool) -> None:
    store = tool._store()
    await store.remember("theirs", scope="/other")
    assert await output(tool, action="list") == "There are no notes yet."
    assert await output(tool, action="search", query="theirs") == "No note fits."


async def test_notes_of_other_projects_can_not_be_forgotten(tool: MemoryTool) -> None:
    store = tool._store()
    await store.remember("theirs", scope="/other")
    result = await tool.execute({"action": "forget", "id": 1})
    assert not result.success and "There is no note 1" in str(result.output)
    assert await store.list()


@pytest.mark.parametrize(
    ("input", "complaint"),
    [
        ({}, "`action` must be one of"),
        ({"action": "explode"}, "not 'explode'"),
        ({"action": "remember"}, "`text` must be a text"),
        ({"action": "remember", "text": " "}, "`text` must be a text"),
        ({"action": "remember", "text": "x" * 5_000}, "at most 4,000 characters"),
        ({"action": "search", "query": 7}, "`query` must be a text"),
        ({"action": "forget", "id": "1"}, "`id` must be the number"),
        ({"action": "forget", "id": True}, "`id` must be the number"),
        ({"action": "forget", "id": 99}, "There is no note 99"),
        ({"action": "forget", "id": 10**30}, "There is no note 1000"),
    ],
)
async def test_input_that_makes_no_sense_is_told_to_the_model(
    tool: MemoryTool, input: dict, complaint: str
) -> None:
    result = await tool.execute(input)
    assert not result.success
    assert complaint in str(result.output)


async def test_a_database_that_can_not_be_used_is_told_to_the_model(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    store = MemoryStore(tmp_path / "file" / "memory.sqlite3")
    tool = MemoryTool(lambda: store, session_id="s", project=lambda: "")
    result = await tool.execute({"action": "remember", "text": "x"})
    assert (result.success, result.error["type"]) == (False, "unavailable")


async def test_a_database_that_was_moved_aside_is_told(tool: MemoryTool) -> None:
    tool._store().path.write_bytes(b"rubbish" * 500)
    assert "moved to" in await output(tool, action="remember", text="new")


def plan(context: object, **config: object) -> dict:
    return {
        "session": {"orchestrator": "loop-streaming", "context": context},
        "tools": [{"module": "tool-memory", "config": config}],
    }


async def test_what_the_model_remembers_comes_back_in_the_next_session() -> None:
    async with AmplifierSession(plan("context-pipeline"), session_id="s1") as session:
        session.coordinator.register_capability("session.working_dir", "/p")
        tool = session.coordinator.get("tools", "memory")
        await tool.execute({"action": "remember", "text": "Ada prefers tabs"})
    provider = ScriptedProvider()
    later = AmplifierSession(plan("context-pipeline"))
    later.coordinator.register_capability("session.working_dir", "/p")
    async with later as session:
        await session.coordinator.mount("providers", provider, name="scripted")
        await session.execute("hello")
    assert "Ada prefers tabs" in provider.texts()[0]


async def test_without_the_pipeline_the_tool_has_a_database_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "own.sqlite3"
    async with AmplifierSession(plan("context-simple", path=str(path))) as session:
        tool = session.coordinator.get("tools", "memory")
        assert (await tool.execute({"action": "remember", "text": "x"})).success
    assert path.exists()
    assert not memory_path().exists()


async def test_a_path_that_is_no_text_is_refused() -> None:
    failures: list[dict] = []
    session = AmplifierSession(plan("context-simple", path=7))
    session.coordinator.hooks.register(
        "module:load_failed", lambda event, data: failures.append(data)
    )
    async with session:
        assert session.coordinator.get("tools", "memory") is None
    assert "`path` of tool-memory" in failures[0]["error"]
