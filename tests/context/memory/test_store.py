import asyncio
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amplifier_tui.context.errors import MemoryUnavailableError
from amplifier_tui.context.memory.database import memory_path
from amplifier_tui.context.memory.store import MemoryStore


@pytest.fixture
async def store(tmp_path: Path):
    made = MemoryStore(tmp_path / "deep" / "memory.sqlite3")
    yield made
    await made.close()


async def texts(store: MemoryStore, query: str, k: int = 5, **kwargs: object) -> list[str]:
    return [memory.text for memory in await store.search(query, k, **kwargs)]


async def test_what_is_remembered_is_found_by_its_words(store: MemoryStore) -> None:
    await store.remember("The deploy script lives in tools/deploy.sh", session_id="s1")
    await store.remember("Ada prefers tabs")
    note = (await store.search("how do we deploy this?", 5))[0]
    assert (note.text, note.session_id, note.scope) == (
        "The deploy script lives in tools/deploy.sh",
        "s1",
        "",
    )
    assert note.created.endswith("+00:00")
    assert await texts(store, "deploying") == ["The deploy script lives in tools/deploy.sh"]
    assert await texts(store, "unrelated") == []


async def test_chinese_japanese_and_korean_are_found(store: MemoryStore) -> None:
    for note in (
        "日本語の設定ファイルは設定フォルダーにあります",
        "数据库密码在保险库里",
        "한국어 문서",
    ):
        await store.remember(note)
    assert await texts(store, "設定はどこ？") == ["日本語の設定ファイルは設定フォルダーにあります"]
    assert await texts(store, "密码") == ["数据库密码在保险库里"]
    assert await texts(store, "문서") == ["한국어 문서"]


async def test_the_best_match_comes_first(store: MemoryStore) -> None:
    await store.remember("tests run with pytest")
    await store.remember("the payment service has integration tests")
    await store.remember("payment is due")
    found = await texts(store, "integration tests of the payment service", 2)
    assert found[0] == "the payment service has integration tests"
    assert len(found) == 2


async def test_what_is_forgotten_is_gone(store: MemoryStore) -> None:
    note = await store.remember("secret plan")
    assert await store.forget(note.memory_id)
    assert not await store.forget(note.memory_id)
    assert await texts(store, "secret plan") == []
    assert await store.list() == []
    again = await store.remember("secret plan")
    assert again.memory_id != note.memory_id


async def test_the_same_is_remembered_once_per_scope(store: MemoryStore) -> None:
    one = await store.remember("tabs", scope="/a")
    assert await store.remember(" tabs ", scope="/a") == one
    other = await store.remember("tabs", scope="/b")
    assert other.memory_id != one.memory_id
    assert len(await store.list()) == 2


async def test_only_scopes_that_were_asked_for_are_searched(store: MemoryStore) -> None:
    for scope in ("", "/a", "/b"):
        await store.remember(f"tabs {scope}", scope=scope)
    assert await texts(store, "tabs", scopes=("", "/a")) == ["tabs", "tabs /a"]
    assert [m.text for m in await store.list(scopes=["/b"])] == ["tabs /b"]
    assert await store.list(scopes=[]) == []


async def test_the_newest_are_listed_first(store: MemoryStore) -> None:
    for n in range(5):
        await store.remember(f"note {n}")
    assert [m.text for m in await store.list(limit=2)] == ["note 4", "note 3"]


@pytest.mark.parametrize("text", ["", "  \n ", "x" * 4_001])
async def test_nothing_and_too_much_are_refused(store: MemoryStore, text: str) -> None:
    with pytest.raises(ValueError, match="remember"):
        await store.remember(text)


async def test_looking_does_not_make_the_file(store: MemoryStore) -> None:
    assert await store.search("anything", 5) == []
    assert await store.list() == []
    assert not await store.forget(1)
    assert not store.path.parent.exists()


async def test_memories_are_for_their_owner_only(store: MemoryStore) -> None:
    await store.remember("x")
    assert store.path.stat().st_mode & 0o077 == 0


@settings(max_examples=50)
@given(text=st.text(max_size=60), query=st.text(max_size=60))
async def test_any_text_can_be_kept_and_any_query_asked(
    tmp_path_factory: pytest.TempPathFactory, text: str, query: str
) -> None:
    store = MemoryStore(tmp_path_factory.mktemp("m") / "memory.sqlite3")
    try:
        if text.strip():
            assert (await store.remember(text)).memory_id
            assert len(await store.list()) == 1
        await store.search(query, 3)
        await store.search(text, 3)
    finally:
        await store.close()


WRITER = """
import asyncio, sys
from pathlib import Path
from amplifier_tui.context.memory.store import MemoryStore

async def main():
    store = MemoryStore(Path(sys.argv[1]))
    print("ready", flush=True)
    sys.stdin.readline()
    for n in range(25):
        await store.remember(f"note {n} of {sys.argv[2]}")
    assert store.take_notices() == []
    await store.close()

asyncio.run(main())
"""


async def test_processes_that_begin_at_the_same_moment_lose_nothing(store: MemoryStore) -> None:
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(store.path), str(number)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(4)
    ]
    for writer in writers:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write("go\n")
        writer.stdin.flush()
    for writer in writers:
        writer.communicate()
        assert writer.returncode == 0
    wanted = {f"note {n} of {number}" for n in range(25) for number in range(4)}
    assert {memory.text for memory in await store.list()} == wanted
    assert len(await store.search("note", 200)) == 100


async def test_two_stores_share_the_file(store: MemoryStore) -> None:
    other = MemoryStore(store.path)
    await asyncio.gather(
        *(s.remember(f"{name} {n}") for n in range(10) for name, s in (("a", store), ("b", other)))
    )
    assert len(await store.list()) == len(await other.list()) == 20
    await other.close()


async def test_a_corrupt_file_is_moved_aside_and_said(store: MemoryStore) -> None:
    store.path.parent.mkdir()
    store.path.write_bytes(b"this is no database at all" * 100)
    await store.remember("fresh start")
    assert await texts(store, "fresh") == ["fresh start"]
    (notice,) = store.take_notices()
    (aside,) = store.path.parent.glob("memory.sqlite3.corrupt-*")
    assert str(aside) in notice
    assert aside.read_bytes().startswith(b"this is no database")
    assert store.take_notices() == []


async def test_a_file_that_breaks_while_it_is_open_is_moved_aside(store: MemoryStore) -> None:
    for n in range(50):
        await store.remember(f"note {n} " + "x" * 500)
    await store.close()
    data = bytearray(store.path.read_bytes())
    data[4096:] = b"\xff" * (len(data) - 4096)
    reopened = MemoryStore(store.path)
    store.path.write_bytes(data)
    assert await reopened.search("note", 3) == []
    assert any("corrupt" in notice for notice in reopened.take_notices())
    await reopened.remember("new")
    await reopened.close()


async def test_a_file_that_breaks_under_an_open_connection_is_moved_aside(
    store: MemoryStore,
) -> None:
    for n in range(200):
        await store.remember(f"note {n} " + "x" * 3_000)
    await store.close()
    # The connection knows little of the file so far.
    assert len(await store.list(limit=1)) == 1
    size = store.path.stat().st_size
    with store.path.open("r+b") as file:
        file.seek(8_192)
        file.write(b"\xff" * (size - 8_192))
    assert await store.search("note", 3) == []
    (notice,) = store.take_notices()
    assert "is corrupt; it was moved to" in notice
    await store.remember("new")
    assert await texts(store, "new") == ["new"]


async def test_a_damaged_file_that_can_not_be_moved_is_said(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    for n in range(200):
        await store.remember(f"note {n} " + "x" * 3_000)
    await store.close()
    assert len(await store.list(limit=1)) == 1
    with store.path.open("r+b") as file:
        file.seek(8_192)
        file.write(b"\xff" * (store.path.stat().st_size - 8_192))

    def refuse(self: Path, target: Path) -> None:
        raise PermissionError("read-only")

    monkeypatch.setattr(Path, "rename", refuse)
    with pytest.raises(MemoryUnavailableError, match="damaged and can't be moved aside: read-only"):
        await store.search("note", 3)
    monkeypatch.undo()


async def test_a_call_that_makes_no_sense_does_not_cost_the_file(store: MemoryStore) -> None:
    await store.remember("kept")
    with pytest.raises(MemoryUnavailableError, match="can't be used"):
        await store.list(scopes=[""] * 300_000)
    assert await texts(store, "kept") == ["kept"]
    assert store.take_notices() == []


async def test_a_number_nobody_has_is_not_forgotten(store: MemoryStore) -> None:
    await store.remember("kept")
    for number in (0, -1, 2, 10**30):
        assert not await store.forget(number)
    assert len(await store.list()) == 1


async def test_a_project_in_a_folder_without_a_readable_name_has_memories(
    store: MemoryStore,
) -> None:
    scope = "/home/ada/caf\udce9"
    note = await store.remember("here", scope=scope, session_id="s\ud800")
    assert note.session_id == "s\\ud800"
    assert [m.text for m in await store.list(scopes=[scope])] == ["here"]
    assert [m.text for m in await store.search("here", 3, scopes=["", scope])] == ["here"]
    assert await store.list(scopes=["/home/ada/caf"]) == []


async def test_a_single_sign_is_found_wherever_it_stands_in_a_run(store: MemoryStore) -> None:
    for text in ("黒猫がいる", "白い猫", "猫", "犬"):
        await store.remember(text)
    assert sorted(await texts(store, "猫")) == sorted(["黒猫がいる", "白い猫", "猫"])


async def test_signs_of_repetition_belong_to_the_writing_around_them(store: MemoryStore) -> None:
    await store.remember("人々の意見")
    await store.remember("人の意見")
    assert (await texts(store, "人々"))[0] == "人々の意見"


async def test_a_file_of_another_version_is_moved_aside_and_said(store: MemoryStore) -> None:
    await store.remember("from the future")
    await store.close()
    with sqlite3.connect(store.path) as connection:
        connection.execute("PRAGMA user_version = 7")
    connection.close()
    assert await store.list() == []
    (notice,) = store.take_notices()
    assert "version-7" in notice
    assert list(store.path.parent.glob("memory.sqlite3.version-7-*"))


async def test_another_programs_database_is_left_alone(store: MemoryStore) -> None:
    store.path.parent.mkdir()
    with sqlite3.connect(store.path) as connection:
        connection.execute("CREATE TABLE bookmarks (url)")
    connection.close()
    before = store.path.read_bytes()
    with pytest.raises(MemoryUnavailableError, match="another program"):
        await store.remember("x")
    assert store.path.read_bytes() == before


async def test_a_locked_file_is_said_and_works_again_later(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("amplifier_tui.context.memory.database._WAIT", 0.01)
    await store.remember("one")
    await store.close()
    connection = sqlite3.connect(store.path)
    connection.execute("BEGIN EXCLUSIVE")
    with pytest.raises(MemoryUnavailableError, match="locked"):
        await store.remember("two")
    connection.rollback()
    connection.close()
    await store.remember("two")
    assert len(await store.list()) == 2


async def test_a_folder_that_can_not_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    store = MemoryStore(tmp_path / "file" / "memory.sqlite3")
    with pytest.raises(MemoryUnavailableError, match="can't be used"):
        await store.remember("x")


def test_the_file_is_in_the_amplifier_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("AMPLIFIER_HOME", str(tmp_path))
    assert memory_path() == tmp_path / "memory.sqlite3"
    monkeypatch.delenv("AMPLIFIER_HOME")
    assert memory_path() == Path.home() / ".amplifier" / "memory.sqlite3"
    assert memory_path("~/m.db") == Path.home() / "m.db"
