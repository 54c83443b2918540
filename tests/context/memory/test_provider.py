from pathlib import Path

import pytest

from amplifier_tui.base.tokens import text_tokens
from amplifier_tui.context.adr.agent import ChatAgent
from amplifier_tui.context.adr.message import Message
from amplifier_tui.context.adr.provider import SessionContext
from amplifier_tui.context.adr.session import AgentSession
from amplifier_tui.context.memory.provider import SqliteMemoryProvider
from amplifier_tui.context.memory.retrieval import Memory
from amplifier_tui.context.memory.store import MemoryStore
from tests.context.support import ScriptedProvider


@pytest.fixture
async def store(tmp_path: Path):
    made = MemoryStore(tmp_path / "memory.sqlite3")
    yield made
    await made.close()


async def recalled(
    provider: SqliteMemoryProvider, text: str, state: dict | None = None
) -> SessionContext:
    context = SessionContext(input_messages=[Message.user(text)])
    await provider.before_run(None, AgentSession(), context, {} if state is None else state)
    return context


async def test_memories_come_under_a_heading_with_their_numbers_and_origins(
    store: MemoryStore,
) -> None:
    one = await store.remember("Ada prefers tabs", session_id="s1")
    two = await store.remember("Tests run\nwith make", session_id="s2")
    provider = SqliteMemoryProvider(store)
    assert provider.source_id == SqliteMemoryProvider.DEFAULT_SOURCE_ID == "memory"
    context = await recalled(provider, "hello")
    (message,) = context.context_messages["memory"]
    assert message.role == "user"
    assert message.text.startswith("## Memory\n")
    assert f"- [{one.memory_id}] Ada prefers tabs ({one.created[:10]})" in message.text
    assert f"- [{two.memory_id}] Tests run\n  with make" in message.text
    mark = message.additional_properties["_attribution"]
    assert mark["origin_session_ids"] == ["s1", "s2"]


async def test_where_not_all_fit_the_best_matches_come_under_the_cap(store: MemoryStore) -> None:
    for n in range(60):
        await store.remember(f"fact {n} about topic{n % 7} " + "blah " * 20)
    await store.remember("The zebra crossing is in zebra.py")
    provider = SqliteMemoryProvider(store, max_tokens=200, top_k=5)
    text = (await recalled(provider, "fix the zebra topic3")).context_messages["memory"][0].text
    notes = text.split("\n")[2:]
    assert "zebra.py" in notes[0]
    assert 1 < len(notes) <= 5
    assert sum(map(text_tokens, notes)) <= 200


async def test_a_memory_larger_than_the_cap_does_not_keep_others_out(store: MemoryStore) -> None:
    await store.remember("zebra " * 600)
    await store.remember("The zebra crossing is in zebra.py")
    provider = SqliteMemoryProvider(store, max_tokens=100)
    text = (await recalled(provider, "fix the zebra")).context_messages["memory"][0].text
    assert "zebra.py" in text
    assert "zebra zebra" not in text


async def test_nothing_that_fits_adds_nothing(store: MemoryStore) -> None:
    provider = SqliteMemoryProvider(store)
    assert (await recalled(provider, "hello")).context_messages == {}
    for n in range(200):
        await store.remember(f"note number {n} with some more words in it")
    assert (await recalled(provider, "完全")).context_messages == {}


async def test_only_its_scopes_are_searched(store: MemoryStore) -> None:
    await store.remember("everywhere")
    await store.remember("here", scope="/here")
    await store.remember("there", scope="/there")
    provider = SqliteMemoryProvider(store, search_scopes=("", "/here"))
    text = (await recalled(provider, "x")).context_messages["memory"][0].text
    assert "everywhere" in text
    assert "] here" in text
    assert "there (" not in text.replace("everywhere", "")


async def test_a_retriever_can_take_the_place_of_the_index(store: MemoryStore) -> None:
    class Vectors:
        async def search(self, query: str, k: int) -> list[Memory]:
            return [Memory(0, f"near {query}", session_id="far")] * k

    provider = SqliteMemoryProvider(store, retriever=Vectors(), top_k=2)
    text = (await recalled(provider, "me")).context_messages["memory"][0].text
    assert text.endswith("- near me\n- near me")
    assert (await recalled(provider, " ")).context_messages == {}


async def test_a_database_that_can_not_be_used_does_not_stop_the_run(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "memory.sqlite3").mkdir()
    provider = SqliteMemoryProvider(MemoryStore(tmp_path / "memory.sqlite3"))
    state: dict = {}
    context = await recalled(provider, "hello", state)
    (notice,) = context.metadata["notices"]
    assert "goes on without memories" in notice
    again = await recalled(provider, "hello", state)
    assert again.metadata == {}
    (tmp_path / "memory.sqlite3").rmdir()
    await recalled(provider, "hello", state)
    assert state == {}


async def test_a_file_that_was_moved_aside_is_told(store: MemoryStore) -> None:
    store.path.write_bytes(b"rubbish" * 500)
    context = await recalled(SqliteMemoryProvider(store), "hello")
    assert "moved to" in context.metadata["notices"][0]


async def test_memories_are_not_stored_with_the_conversation(store: MemoryStore) -> None:
    await store.remember("Ada prefers tabs")
    client = ScriptedProvider("one", "two")
    agent = ChatAgent(client, context_providers=[SqliteMemoryProvider(store)])
    session = agent.create_session()
    await agent.run("hi", session=session)
    await agent.run("ho", session=session)
    assert [text[:9] for text in client.texts()] == ["hi", "one", "## Memory", "ho"]
    assert len(session.state["in_memory"]["messages"]) == 4
