import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from amplifier_tui.context.adr.agent import ChatAgent
from amplifier_tui.context.adr.message import Message
from tests.context.adr.adr_examples import Examples


@pytest.fixture(autouse=True)
def no_warnings() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        yield


@pytest.fixture
def examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Examples:
    return Examples(None, tmp_path, monkeypatch)


@pytest.fixture
def redis_examples(redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Examples:
    return Examples(redis_url, tmp_path, monkeypatch)


def texts(messages: list[Message]) -> list[str]:
    return [message.text for message in messages]


async def test_example_0_zero_config(examples: Examples) -> None:
    made, client = await examples.run(0), examples.client
    assert client.texts(0) == ["Hello, my name is Alice!"]
    assert client.texts(1) == ["Hello, my name is Alice!", "Answer 1", "What's my name?"]
    # The service is to store: nothing is sent from here, and nothing is kept here.
    assert client.texts(2) == ["Hello!"]
    assert len(made.session.state["in_memory"]["messages"]) == 4
    assert made.response.text == "Answer 3"
    await made.agent.run("Hi", session=made.service_session)
    assert client.texts() == ["Hi"]
    assert made.service_session.state == {}
    assert made.agent.context_providers == []


async def test_example_1_explicit_memory(examples: Examples) -> None:
    made = await examples.run(1)
    assert examples.client.texts() == ["Hello!", "Answer 1", "What did I say before?"]
    assert list(made.session.state) == ["memory"]


async def test_example_2_rag_memory_and_audit(redis_examples: Examples) -> None:
    made, client = await redis_examples.run(2), redis_examples.client
    session = made.agent.create_session()
    await made.agent.run("one", session=session)
    await made.agent.run("two", session=session)
    assert client.texts() == ["one", "Answer 1", "Found: a document", "two"]
    said = ["one", "Answer 1", "two", "Answer 2"]
    for provider in (made.audit_provider, made.memory_provider):
        assert texts(await provider.get_messages(session.session_id)) == said
    await made.memory_provider.aclose()


async def test_example_3_custom_providers(examples: Examples) -> None:
    made, client = await examples.run(3), examples.client
    client.will_answer("Noted. Preference: tabs", "fine", "fine")
    session = made.agent.create_session()
    await made.agent.run("I like tabs of four", session=session)
    (instructions,) = client.texts(0)[:-1]
    assert instructions.startswith("Current date and time: ")
    assert session.state["time"] == {}
    # Each provider has a part of the state for itself.
    kept = session.state["prefs"]["prefs"]["preferences"]
    assert kept == {}
    kept["tabs"] = 4
    await made.agent.run("go", session=session)
    assert client.texts(1)[0].endswith('\nUser preferences: {"tabs": 4}')


async def test_example_4_filtering_by_source(
    examples: Examples, capsys: pytest.CaptureFixture[str]
) -> None:
    made, client = await examples.run(4), examples.client

    class Searching(made.RAGContextProvider):
        async def _search(self, messages: list[Message]) -> list[str]:
            return [f"about {messages[-1].text}"]

    agent = ChatAgent(
        chat_client=client,
        context_providers=[
            made.InMemoryHistoryProvider("memory"),
            Searching("rag"),
            made.SelectiveContextProvider("selective"),
        ],
    )
    session = agent.create_session()
    await agent.run("cats", session=session)
    await agent.run("dogs", session=session)
    assert capsys.readouterr().out == "Sources so far: ['memory', 'rag']\n" * 2
    assert client.texts() == ["cats", "Answer 1", "Relevant info: about dogs", "dogs"]
    # What was searched for one turn is not part of the next.
    assert client.texts(0) == ["Relevant info: about cats", "cats"]


async def test_example_5_service_managed_sessions(redis_examples: Examples) -> None:
    made, client = await redis_examples.run(5), redis_examples.client
    assert client.texts() == ["Hello!"]
    await made.agent.run("Again", session=made.session)
    assert client.texts() == ["Hello!", "Answer 1", "Again"]
    await made.agent_with_service.run("Again", session=made.service_session)
    # The service knows what was said; here it is only for the record.
    assert client.texts() == ["Again"]
    assert client.requests[-1].conversation_id == "thread_abc123"
    stored = await made.service_storage.get_messages(made.service_session.session_id)
    assert texts(stored) == ["Hello!", "Answer 2", "Again", "Answer 4"]
    for provider in (*made.agent.context_providers, made.service_storage):
        await provider.aclose()


async def test_example_6_several_of_one_kind(redis_examples: Examples) -> None:
    made, client = await redis_examples.run(6), redis_examples.client
    session = made.agent.create_session()
    await made.agent.run("one", session=session)
    await made.agent.run("two", session=session)
    assert client.texts() == ["one", "Answer 1", "two"]
    for provider in made.agent.context_providers:
        stored = await provider.get_messages(session.session_id)
        assert texts(stored) == ["one", "Answer 1", "two", "Answer 2"]
        await provider.aclose()


async def test_example_7_the_order_of_providers(examples: Examples) -> None:
    made, client = await examples.run(7), examples.client
    docs = ["Relevant context:\ndoc1", "Relevant context:\ndoc2"]
    asked: list[str] = []

    async def retrieve(self: object, query: str) -> list[str]:
        asked.append(query)
        return ["doc1", "doc2"]

    made.RAGContextProvider._retrieve_documents = retrieve

    session = made.agent_rag_first.create_session()
    await made.agent_rag_first.run("Hi", session=session)
    await made.agent_rag_first.run("What's the weather?", session=session)
    assert asked == ["Hi", "What's the weather?"]
    assert client.texts() == [*docs, "Hi", "Answer 1", "What's the weather?"]

    session = made.agent_memory_first.create_session()
    await made.agent_memory_first.run("Hi", session=session)
    await made.agent_memory_first.run("What's the weather?", session=session)
    assert asked[2:] == ["Hi", "What's the weather? Hi Answer 3"]
    assert client.texts() == ["Hi", "Answer 3", *docs, "What's the weather?"]
    stored = session.state["memory"]["messages"]
    assert texts(stored) == ["Hi", "Answer 3", "What's the weather?", "Answer 4"]

    session = made.agent_full_context.create_session()
    await made.agent_full_context.run("Hi", session=session)
    assert client.texts() == ["Speak like a pirate.", *docs, "Hi"]
    audit = made.agent_full_context.context_providers[-1]
    audited = await audit.get_messages(session.session_id)
    assert texts(audited) == [*docs, "Hi", "Answer 5"]
    assert not any(message.additional_properties for message in audited)
