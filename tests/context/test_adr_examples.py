"""The examples 0 to 7 of ADR 0016, adapted only in what they import."""

import json
import warnings
from collections.abc import Iterator

import pytest

from amplifier_tui.context import (
    ChatAgent,
    ChatMessage,
    ContextProvider,
    FileHistoryProvider,
    InMemoryHistoryProvider,
    RedisHistoryProvider,
)
from tests.context.support import ScriptedProvider


class CosmosHistoryProvider(FileHistoryProvider):
    """Stands for a store that is only for the record."""

    def __init__(self, source_id, connection_string="", **flags):
        super().__init__(connection_string, source_id=source_id, **flags)


class AzureAISearchContextProvider(ContextProvider):
    """Stands for a hosted search."""

    def __init__(self, source_id, endpoint, index_name):
        super().__init__(source_id)

    async def before_run(self, agent, session, context, state) -> None:
        context.extend_messages(self.source_id, [ChatMessage.system("Found: a document")])


class PersonaContextProvider(ContextProvider):
    async def before_run(self, agent, session, context, state) -> None:
        context.extend_instructions(self.source_id, "Speak like a pirate.")


@pytest.fixture
def client() -> ScriptedProvider:
    return ScriptedProvider()


@pytest.fixture(autouse=True)
def no_warnings() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        yield


async def test_example_0_zero_config(client: ScriptedProvider) -> None:
    agent = ChatAgent(
        chat_client=client,
        name="assistant",
    )
    session = agent.create_session()
    response = await agent.run("Hello, my name is Alice!", session=session)
    response = await agent.run("What's my name?", session=session)
    assert response.text == "Answer 2"
    assert client.texts() == ["Hello, my name is Alice!", "Answer 1", "What's my name?"]

    service_session = agent.create_session(service_session_id="thread_abc123")
    await agent.run("Hello!", session=service_session)
    assert client.texts() == ["Hello!"]

    fresh = agent.create_session()
    response = await agent.run("Hello!", session=fresh, options={"store": True})
    assert fresh.state == {}


async def test_example_1_explicit_memory(client: ScriptedProvider) -> None:
    agent = ChatAgent(
        chat_client=client,
        name="assistant",
        context_providers=[InMemoryHistoryProvider(source_id="memory")],
    )
    session = agent.create_session()
    await agent.run("Hello!", session=session)
    await agent.run("What did I say before?", session=session)
    assert client.texts() == ["Hello!", "Answer 1", "What did I say before?"]
    assert list(session.state) == ["memory"]


async def test_example_2_rag_memory_and_audit(
    client: ScriptedProvider, redis_url: str, tmp_path
) -> None:
    search_provider = AzureAISearchContextProvider(
        source_id="rag",
        endpoint="https://...",
        index_name="documents",
    )
    memory_provider = RedisHistoryProvider(
        source_id="memory",
        redis_url=redis_url,
    )
    audit_provider = CosmosHistoryProvider(
        source_id="audit",
        connection_string=tmp_path,
        load_messages=False,
    )
    agent = ChatAgent(
        chat_client=client,
        name="assistant",
        context_providers=[
            memory_provider,
            search_provider,
            audit_provider,
        ],
    )
    session = agent.create_session()
    await agent.run("one", session=session)
    await agent.run("two", session=session)
    assert client.texts() == ["one", "Answer 1", "Found: a document", "two"]
    audited = await audit_provider.get_messages(session.session_id)
    assert [m.text for m in audited] == ["one", "Answer 1", "two", "Answer 2"]
    await memory_provider.aclose()


class TimeContextProvider(ContextProvider):
    """Adds current time to the context."""

    async def before_run(self, agent, session, context, state) -> None:
        from datetime import datetime

        context.extend_instructions(
            self.source_id, f"Current date and time: {datetime.now().isoformat()}"
        )


class UserPreferencesProvider(ContextProvider):
    """Tracks and applies user preferences from conversation."""

    async def before_run(self, agent, session, context, state) -> None:
        prefs = state.get(self.source_id, {}).get("preferences", {})
        if prefs:
            context.extend_instructions(self.source_id, f"User preferences: {json.dumps(prefs)}")

    async def after_run(self, agent, session, context, state) -> None:
        for msg in context.response.messages or []:
            if "preference:" in msg.text.lower():
                my_state = state.setdefault(self.source_id, {})
                my_state.setdefault("preferences", {})
                name, _, value = msg.text.partition(":")[2].strip().partition("=")
                my_state["preferences"][name] = value


async def test_example_3_custom_providers() -> None:
    client = ScriptedProvider("Noted. preference: tabs=4", "fine")
    agent = ChatAgent(
        chat_client=client,
        context_providers=[
            InMemoryHistoryProvider(source_id="memory"),
            TimeContextProvider(source_id="time"),
            UserPreferencesProvider(source_id="prefs"),
        ],
    )
    session = agent.create_session()
    await agent.run("I like tabs of four", session=session)
    await agent.run("go", session=session)
    assert client.texts(0)[0].startswith("Current date and time: ")
    assert 'User preferences: {"tabs": "4"}' in client.texts(1)[0]


async def test_example_4_filtering_by_source(client: ScriptedProvider) -> None:
    seen = {}

    class SelectiveContextProvider(ContextProvider):
        async def before_run(self, agent, session, context, state) -> None:
            seen["sources"] = list(context.context_messages.keys())
            seen["non_rag"] = context.get_messages(exclude_sources=["rag"])
            if "memory" in context.context_messages:
                seen["memory_only"] = context.context_messages["memory"]

    class RAGContextProvider(ContextProvider):
        async def _search(self, messages):
            return [f"about {messages[-1].text}"]

        async def before_run(self, agent, session, context, state) -> None:
            relevant_docs = await self._search(context.input_messages)
            rag_messages = [
                ChatMessage(role="system", text=f"Relevant info: {doc}") for doc in relevant_docs
            ]
            context.extend_messages(self.source_id, rag_messages)

    agent = ChatAgent(
        chat_client=client,
        context_providers=[
            InMemoryHistoryProvider("memory"),
            RAGContextProvider("rag"),
            SelectiveContextProvider("selective"),
        ],
    )
    session = agent.create_session()
    await agent.run("cats", session=session)
    await agent.run("dogs", session=session)
    assert seen["sources"] == ["memory", "rag"]
    assert [m.text for m in seen["non_rag"]] == ["cats", "Answer 1"]
    assert seen["memory_only"] == seen["non_rag"]
    assert "Relevant info: about dogs" in client.texts()


async def test_example_5_service_managed_sessions(client: ScriptedProvider, redis_url: str) -> None:
    agent = ChatAgent(
        chat_client=client,
        context_providers=[
            RedisHistoryProvider(
                source_id="memory",
                redis_url=redis_url,
            )
        ],
    )
    session = agent.create_session()
    await agent.run("Hello!", session=session)
    await agent.run("Again", session=session)
    assert client.texts() == ["Hello!", "Answer 1", "Again"]

    service_storage = RedisHistoryProvider(
        source_id="audit",
        redis_url=redis_url,
        load_messages=False,
    )
    agent_with_service = ChatAgent(chat_client=client, context_providers=[service_storage])
    service_session = agent_with_service.create_session(service_session_id="thread_abc123")
    await agent_with_service.run("Hello!", session=service_session)
    await agent_with_service.run("Hello!", session=service_session)
    assert client.texts() == ["Hello!"]
    assert len(await service_storage.get_messages(service_session.session_id)) == 4
    for provider in (*agent.context_providers, service_storage):
        await provider.aclose()


async def test_example_6_several_of_one_kind(client: ScriptedProvider, redis_url: str) -> None:
    agent = ChatAgent(
        chat_client=client,
        context_providers=[
            RedisHistoryProvider(
                source_id="conversation_memory",
                redis_url=redis_url,
                load_messages=True,
            ),
            RedisHistoryProvider(
                source_id="audit_log",
                redis_url=redis_url,
                load_messages=False,
                key_prefix="audit",
            ),
        ],
    )
    session = agent.create_session()
    await agent.run("one", session=session)
    await agent.run("two", session=session)
    assert client.texts() == ["one", "Answer 1", "two"]
    for provider in agent.context_providers:
        assert len(await provider.get_messages(session.session_id)) == 4
        await provider.aclose()


class RAGContextProvider(ContextProvider):
    """RAG provider that retrieves relevant documents based on available context."""

    async def before_run(self, agent, session, context, state) -> None:
        query_parts = []
        for msg in context.input_messages:
            query_parts.append(msg.text)  # noqa: PERF401 - as the ADR has it
        history = context.get_messages()
        if history:
            recent = history[-3:]
            for msg in recent:
                query_parts.append(msg.text)  # noqa: PERF401
        query = " ".join(query_parts)
        self.query = query
        documents = await self._retrieve_documents(query)
        rag_messages = [ChatMessage.system(f"Relevant context:\n{doc}") for doc in documents]
        context.extend_messages(self.source_id, rag_messages)

    async def _retrieve_documents(self, query: str) -> list[str]:
        return ["doc1", "doc2"]


async def test_example_7_the_order_of_providers(tmp_path) -> None:
    docs = ["Relevant context:\ndoc1", "Relevant context:\ndoc2"]

    client, rag = ScriptedProvider(), RAGContextProvider("rag")
    agent_rag_first = ChatAgent(
        chat_client=client,
        context_providers=[
            rag,
            InMemoryHistoryProvider("memory"),
        ],
    )
    session = agent_rag_first.create_session()
    await agent_rag_first.run("Hi", session=session)
    await agent_rag_first.run("What's the weather?", session=session)
    assert rag.query == "What's the weather?"
    assert client.texts() == [*docs, "Hi", "Answer 1", "What's the weather?"]

    client, rag = ScriptedProvider(), RAGContextProvider("rag")
    agent_memory_first = ChatAgent(
        chat_client=client,
        context_providers=[
            InMemoryHistoryProvider("memory"),
            rag,
        ],
    )
    session = agent_memory_first.create_session()
    await agent_memory_first.run("Hi", session=session)
    await agent_memory_first.run("What's the weather?", session=session)
    assert rag.query == "What's the weather? Hi Answer 1"
    assert client.texts() == ["Hi", "Answer 1", *docs, "What's the weather?"]
    assert len(session.state["memory"]["messages"]) == 4

    client = ScriptedProvider()
    audit = CosmosHistoryProvider(
        "audit",
        tmp_path,
        load_messages=False,
        store_context_messages=True,
    )
    agent_full_context = ChatAgent(
        chat_client=client,
        context_providers=[
            InMemoryHistoryProvider("memory"),
            RAGContextProvider("rag"),
            PersonaContextProvider("persona"),
            audit,
        ],
    )
    session = agent_full_context.create_session()
    await agent_full_context.run("Hi", session=session)
    assert client.texts() == ["Speak like a pirate.", *docs, "Hi"]
    audited = await audit.get_messages(session.session_id)
    assert [m.text for m in audited] == [*docs, "Hi", "Answer 1"]
    assert not any(m.additional_properties for m in audited)
