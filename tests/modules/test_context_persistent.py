import asyncio
import json
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from amplifier_tui.base.jsonl import append_rows
from amplifier_tui.context.ledger import Ledger
from amplifier_tui.kernel.session import AmplifierSession
from amplifier_tui.modules.context_persistent import PersistentContextManager
from tests.context.support import Recorder, ScriptedProvider, assistant, calling, system, user


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test's folder is the project, in which files of state have their place."""
    monkeypatch.chdir(tmp_path)


async def manager_at(path: Path, *memory_files: Path, most: int = 10_000):
    made = PersistentContextManager(path, hooks=Recorder())
    await made.load(memory_files, most=most)
    return made


def rows_of(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()]


async def test_every_message_is_in_the_file_when_it_is_in_memory(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "context-messages.jsonl"
    context = await manager_at(path)
    await context.add_message(user("one"))
    assert rows_of(path) == [user("one")]
    await context.add_message(calling("c1"))
    assert rows_of(path) == [user("one"), calling("c1")]


async def test_a_session_goes_on_from_its_own_file_and_ignores_the_transcript(
    tmp_path: Path,
) -> None:
    path = tmp_path / "context.jsonl"
    first = await manager_at(path)
    for row in (system("rules"), user("one"), assistant("fine")):
        await first.add_message(row)
    again = await manager_at(path)
    assert again.loaded_from_file
    await again.set_messages([user("one")])
    assert await again.get_messages() == [system("rules"), user("one"), assistant("fine")]


CHILD = """
import asyncio, os, sys
from amplifier_tui.kernel.models import ToolResult
from amplifier_tui.kernel.session import AmplifierSession
from tests.context.support import ScriptedProvider
from tests.modules.test_context_persistent import plan
from tests.modules.test_context_pipeline import Echo, calling_echo

class Endless(Echo):
    async def execute(self, input):
        print("in the tool", flush=True)
        await asyncio.Event().wait()

async def main():
    os.chdir(os.path.dirname(sys.argv[1]))
    async with AmplifierSession(plan(path=sys.argv[1])) as session:
        provider = ScriptedProvider("fine", calling_echo())
        await session.coordinator.mount("providers", provider, name="scripted")
        await session.coordinator.mount("tools", Endless())
        await session.execute("one")
        await session.execute("two")

asyncio.run(main())
"""


async def test_a_turn_that_is_killed_loses_nothing_and_the_session_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "context.jsonl"
    with subprocess.Popen(
        [sys.executable, "-c", CHILD, str(path)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "in the tool\n"
        child.send_signal(signal.SIGKILL)
    assert child.returncode == -signal.SIGKILL
    roles = ["user", "assistant", "user", "assistant"]
    assert [row["role"] for row in rows_of(path)] == roles
    provider = ScriptedProvider("done")
    async with AmplifierSession(plan(path=str(path))) as session:
        await session.coordinator.mount("providers", provider, name="scripted")
        assert await session.execute("three") == "done"
        stored = await session.coordinator.get("context").get_messages()
    asked = [(m.role, m.content) for m in provider.requests[0].messages]
    assert [role for role, _ in asked] == [*roles, "tool", "user"]
    assert asked[0] == ("user", "one")
    assert asked[2] == ("user", "two")
    assert "interrupted before it finished" in str(asked[4][1])
    # The made-up result is only in what the model sees.
    assert [row["role"] for row in stored] == [*roles, "user", "assistant"]


WRITER = """
import asyncio, sys
from pathlib import Path
from amplifier_tui.modules.context_persistent import PersistentContextManager

async def main():
    context = PersistentContextManager(Path(sys.argv[1]))
    await context.load(most=1_000)
    for n in range(1_000_000):
        await context.add_message({"role": "user", "content": f"{n} " + "x" * 5_000})
        print(n, flush=True)

asyncio.run(main())
"""


def test_every_row_that_was_added_survives_a_kill_at_any_moment(tmp_path: Path) -> None:
    path = tmp_path / "context.jsonl"
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        for line in child.stdout:
            if line == "100\n":
                break
        child.send_signal(signal.SIGKILL)
        told = [*range(101), *map(int, child.stdout)]
    kept = [int(row["content"].split()[0]) for row in Ledger.load(path)[0].messages()]
    # The last one may be there without anybody having been told.
    assert kept[: len(told)] == told
    assert len(kept) <= len(told) + 1


async def test_a_fresh_session_takes_the_transcript_over(tmp_path: Path) -> None:
    path = tmp_path / "context.jsonl"
    context = await manager_at(path)
    await context.set_messages([user("one"), assistant("fine")])
    await context.add_message(user("two"))
    assert rows_of(path) == [user("one"), assistant("fine"), user("two")]


async def test_clearing_empties_the_file_too(tmp_path: Path) -> None:
    path = tmp_path / "context.jsonl"
    context = await manager_at(path)
    await context.add_message(user("one"))
    await (context := await manager_at(path)).clear()
    assert rows_of(path) == []
    await context.set_messages([user("new")])
    assert await context.get_messages() == [user("new")]


async def test_spoiled_lines_are_left_out_and_a_torn_end_is_moved_aside(tmp_path: Path) -> None:
    path = tmp_path / "context.jsonl"
    path.write_text('{"role": "user", "content": "one"}\nrubbish\n{"no": "role"}\n{"role": "us')
    context = await manager_at(path)
    assert await context.get_messages() == [user("one")]
    await context.add_message(user("two"))
    assert await (await manager_at(path)).get_messages() == [user("one"), user("two")]


async def test_memory_files_are_system_messages_of_a_fresh_session(tmp_path: Path) -> None:
    memory, path = tmp_path / "AGENTS.md", tmp_path / "context.jsonl"
    memory.write_text("Use tabs.")
    context = await manager_at(path, memory)
    assert not path.exists()
    await context.add_message(user("one"))
    assert [row["content"] for row in rows_of(path)] == ["Use tabs.", "one"]
    report = await context.view.report()
    assert report.by_source[0].source == f"file:{memory}"
    memory.write_text("Use spaces.")
    again = await manager_at(path, memory)
    assert (await again.get_messages())[0]["content"] == "Use tabs."


async def test_memory_files_larger_than_the_window_are_refused(tmp_path: Path) -> None:
    memory = tmp_path / "AGENTS.md"
    memory.write_text("word " * 1_000)
    with pytest.raises(RuntimeError, match=r"about 1,254 tokens, more than the 1,000"):
        await manager_at(tmp_path / "context.jsonl", memory, most=1_000)


async def test_a_disk_that_is_full_is_told_once_and_costs_nothing(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "context.jsonl"
    context = await manager_at(path)
    (tmp_path / "folder").write_text("in the way")
    for text in ("one", "two"):
        await context.add_message(user(text))
    (notice,) = context.view.events._hooks.of("user:notification")
    assert "can't be saved" in notice["message"]
    (tmp_path / "folder").unlink()
    await context.add_message(user("three"))
    assert [row["content"] for row in rows_of(path)] == ["one", "two", "three"]


async def test_a_disk_that_takes_no_other_history_leaves_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "context.jsonl"
    context = await manager_at(path)
    await context.add_message(user("one"))
    path.parent.rename(tmp_path / "away")
    path.parent.write_text("in the way")
    with pytest.raises(OSError):
        await context.set_messages([user("two")])
    with pytest.raises(OSError):
        await context.clear()
    assert await context.get_messages() == [user("one")]
    path.parent.unlink()
    (tmp_path / "away").rename(path.parent)
    with pytest.raises(ValueError, match="role"):
        await context.set_messages([user("two"), {"content": "x"}])
    assert rows_of(path) == await context.get_messages() == [user("one")]


@pytest.mark.parametrize("times", [1, 3])
async def test_a_row_that_is_being_written_when_its_turn_is_cancelled_is_there_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    context = await manager_at(tmp_path / "context.jsonl")
    began, go_on = threading.Event(), threading.Event()

    def slow(path: Path, rows: list) -> None:
        began.set()
        go_on.wait(20)
        append_rows(path, rows)

    monkeypatch.setattr("amplifier_tui.modules.context_persistent.append_rows", slow)
    adding = asyncio.create_task(context.add_message(user("one")))
    await asyncio.to_thread(began.wait, 20)
    for _ in range(times):
        adding.cancel()
        await asyncio.sleep(0)
    go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await adding
    await context.add_message(user("two"))
    assert rows_of(context.path) == await context.get_messages() == [user("one"), user("two")]


async def test_what_has_no_json_form_is_written_as_text(tmp_path: Path) -> None:
    context = await manager_at(tmp_path / "context.jsonl")
    await context.add_message({"role": "tool", "tool_call_id": "c", "content": {"at": Path("/x")}})
    assert rows_of(context.path)[0]["content"] == {"at": "/x"}
    await context.add_message({"role": "tool", "tool_call_id": "d", "content": {(1, 2): "pair"}})
    assert rows_of(context.path)[1]["content"] == {}


async def test_a_message_without_a_role_is_refused(tmp_path: Path) -> None:
    context = await manager_at(tmp_path / "context.jsonl")
    with pytest.raises(ValueError, match="Message must have 'role' field"):
        await context.add_message({"content": "x"})
    assert not context.path.exists()


def plan(**config: object) -> dict:
    context = {"module": "context-persistent", "config": config}
    return {"session": {"orchestrator": "loop-streaming", "context": context}}


async def run(prompt: str, session_id: str, **config: object) -> ScriptedProvider:
    provider = ScriptedProvider()
    async with AmplifierSession(plan(**config), session_id=session_id) as session:
        await session.coordinator.mount("providers", provider, name="scripted")
        await session.execute(prompt)
    return provider


async def test_two_processes_of_one_session_are_one_conversation(own_home: Path) -> None:
    await run("one", "s1")
    provider = await run("two", "s1")
    assert provider.texts() == ["one", "Answer 1", "two"]
    assert (own_home / ".amplifier/contexts/s1/context-messages.jsonl").exists()
    other = await run("three", "s2")
    assert other.texts() == ["three"]


async def test_the_file_can_be_anywhere_but_its_name_is_safe(tmp_path: Path) -> None:
    await run("one", "../../escape", path=str(tmp_path / "{session_id}.jsonl"))
    (file,) = tmp_path.iterdir()
    assert file.name.startswith("~session-")


async def test_the_session_folder_is_used_where_there_is_one(tmp_path: Path) -> None:
    session = AmplifierSession(plan())
    session.coordinator.session_dir = tmp_path
    async with session:
        await session.coordinator.get("context").add_message(user("one"))
    assert rows_of(tmp_path / "context-messages.jsonl") == [user("one")]


@pytest.mark.parametrize(
    ("config", "complaint"),
    [
        ({"path": 7}, "path"),
        ({"memory_files": "AGENTS.md"}, "memory_files"),
        ({"target": 2}, "target"),
    ],
)
async def test_a_configuration_that_makes_no_sense_is_refused(config: dict, complaint: str) -> None:
    session = AmplifierSession(plan(**config))
    with pytest.raises(RuntimeError, match=complaint):
        await session.initialize()
    await session.cleanup()
