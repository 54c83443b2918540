import pytest

from amplifier_tui.context.adr.history import HistoryProvider, InMemoryHistoryProvider
from amplifier_tui.context.adr.message import Message
from amplifier_tui.context.adr.provider import ContextProvider, SessionContext
from amplifier_tui.context.adr.response import AgentResponse
from amplifier_tui.context.adr.session import AgentSession


class Kept(HistoryProvider):
    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        self.saved: list[Message] = []

    async def get_messages(self, session_id, *, state=None, **kwargs):
        return [Message.user(f"old of {session_id}")]

    async def save_messages(self, session_id, messages, *, state=None, **kwargs):
        self.saved += messages


def run(session: AgentSession) -> SessionContext:
    context = SessionContext(
        session_id=session.session_id, input_messages=[Message.user("question")]
    )
    context.extend_messages("rag", [Message.user("document")])
    context.extend_messages("persona", [Message.user("pirate")])
    context._response = AgentResponse(messages=[Message.assistant("answer")])
    return context


async def saved(**flags: object) -> list[str]:
    session, provider = AgentSession(), Kept("kept", **flags)
    context = run(session)
    context.extend_messages("kept", [Message.user("its own")])
    await provider.after_run(agent=None, session=session, context=context, state={})
    return [message.text for message in provider.saved]


async def test_inputs_and_answers_are_stored_by_default() -> None:
    assert await saved() == ["question", "answer"]


async def test_each_flag_says_what_is_stored() -> None:
    assert await saved(store_inputs=False) == ["answer"]
    assert await saved(store_outputs=False) == ["question"]
    assert await saved(store_responses=False) == ["question"]
    assert await saved(store_context_messages=True) == [
        "document",
        "pirate",
        "question",
        "answer",
    ]
    assert await saved(store_context_messages=True, store_context_from=["rag"]) == [
        "document",
        "question",
        "answer",
    ]
    assert await saved(store_context_messages=True, store_context_from="rag") == [
        "document",
        "question",
        "answer",
    ]
    assert await saved(store_context_messages=True, store_context_from=[]) == await saved(
        store_context_messages=True
    )
    assert await saved(store_context_from=["rag"]) == ["question", "answer"]
    assert await saved(store_inputs=False, store_outputs=False) == []


async def test_marks_of_the_run_are_not_stored() -> None:
    session, provider = AgentSession(), Kept("kept", store_context_messages=True)
    context = run(session)
    context.input_messages[0].additional_properties.update(attribution="ephemeral", kept=1)
    await provider.after_run(agent=None, session=session, context=context, state={})
    assert [message.additional_properties for message in provider.saved] == [
        {},
        {},
        {"kept": 1},
        {},
    ]
    assert context.input_messages[0].additional_properties["attribution"] == "ephemeral"


async def test_what_is_loaded_is_known_under_the_providers_name() -> None:
    session, provider = AgentSession(session_id="s1"), Kept("kept")
    context = run(session)
    await provider.before_run(agent=None, session=session, context=context, state={})
    (loaded,) = context.context_messages["kept"]
    assert loaded.text == "old of s1"
    assert loaded.additional_properties["_attribution"]["source_id"] == "kept"


def test_the_adrs_name_of_a_flag_can_be_read() -> None:
    assert Kept("k").store_responses is True
    assert Kept("k", store_outputs=False).store_responses is False


def test_a_history_that_stores_nowhere_can_not_be_made() -> None:
    with pytest.raises(TypeError):
        HistoryProvider("x")


async def test_a_provider_does_nothing_unless_it_is_told_to() -> None:
    session, provider = AgentSession(), ContextProvider("x")
    context = run(session)
    before = context.get_messages()
    await provider.before_run(None, session, context, {})
    await provider.after_run(None, session, context, {})
    assert context.get_messages() == before


async def test_the_in_memory_history_lives_in_the_state() -> None:
    provider = InMemoryHistoryProvider()
    assert provider.source_id == InMemoryHistoryProvider.DEFAULT_SOURCE_ID == "in_memory"
    state: dict = {}
    await provider.save_messages("s", [Message.user("yes"), Message.assistant("ok")], state=state)
    await provider.save_messages("s", [Message.user("yes"), Message.assistant("ok")], state=state)
    loaded = await provider.get_messages("s", state=state)
    assert [message.text for message in loaded] == ["yes", "ok", "yes", "ok"]


async def test_the_in_memory_history_without_a_state_has_nothing() -> None:
    provider = InMemoryHistoryProvider("memory")
    await provider.save_messages("s", [Message.user("x")])
    assert await provider.get_messages("s") == []


async def test_excluded_messages_are_skipped_where_asked_for() -> None:
    message = Message.user("old")
    message.additional_properties["_excluded"] = True
    state = {"messages": [message, Message.user("new")]}
    assert len(await InMemoryHistoryProvider().get_messages("s", state=state)) == 2
    skipping = InMemoryHistoryProvider(skip_excluded=True)
    assert [m.text for m in await skipping.get_messages("s", state=state)] == ["new"]
