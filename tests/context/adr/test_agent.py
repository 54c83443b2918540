import asyncio
import warnings

import pytest

from amplifier_tui.context.adr.agent import ChatAgent
from amplifier_tui.context.adr.history import InMemoryHistoryProvider
from amplifier_tui.context.adr.message import Content, Message
from amplifier_tui.context.adr.provider import ContextProvider
from amplifier_tui.context.adr.provider_runs import after_run, before_run
from amplifier_tui.context.adr.response import AgentResponse
from amplifier_tui.context.adr.session import AgentSession
from amplifier_tui.context.adr.strategies import SlidingWindowStrategy
from amplifier_tui.kernel.hooks import HookRegistry
from amplifier_tui.kernel.message_models import ChatResponse, ToolCall, ToolCallBlock
from amplifier_tui.kernel.models import ToolResult
from tests.context.support import ScriptedProvider, said


class Noting(ContextProvider):
    """Notes what it is called with, and fails when it is told to."""

    def __init__(self, source_id: str, log: list[str], fail: str = "") -> None:
        super().__init__(source_id)
        self.log = log
        self.fail = fail

    async def before_run(self, agent, session, context, state) -> None:
        self.log.append(f"before {self.source_id}")
        state["runs"] = state.get("runs", 0) + 1
        if self.fail == "before":
            raise OSError(f"{self.source_id} is down")

    async def after_run(self, agent, session, context, state) -> None:
        self.log.append(f"after {self.source_id}: {context.response.text}")
        if self.fail == "after":
            raise OSError(f"{self.source_id} is down")


def calls(*named: tuple[str, dict]) -> ChatResponse:
    blocks = [ToolCallBlock(id=f"c{i}", name=n, input=a) for i, (n, a) in enumerate(named)]
    listed = [ToolCall(id=b.id, name=b.name, arguments=b.input) for b in blocks]
    return ChatResponse(content=blocks, tool_calls=listed)


async def test_providers_run_before_in_order_and_after_in_reverse() -> None:
    log: list[str] = []
    agent = ChatAgent(
        ScriptedProvider("ok"), context_providers=[Noting("a", log), Noting("b", log)]
    )
    await agent.run("hi", session=agent.create_session())
    assert log == ["before a", "before b", "after b: ok", "after a: ok"]


async def test_each_provider_gets_its_part_of_the_state() -> None:
    agent = ChatAgent(ScriptedProvider(), context_providers=[Noting("a", []), Noting("b", [])])
    session = agent.create_session()
    for _ in range(2):
        await agent.run("hi", session=session)
    assert session.state["a"] == session.state["b"] == {"runs": 2}
    assert len(session.state["in_memory"]["messages"]) == 4


async def test_without_a_session_providers_get_one_for_the_run_and_nothing_is_remembered() -> None:
    provider = ScriptedProvider()
    agent = ChatAgent(provider, context_providers=[Noting("a", [])])
    await agent.run("first")
    await agent.run("second")
    assert provider.texts() == ["second"]


async def test_a_provider_that_fails_before_stops_the_run_before_the_model_is_asked() -> None:
    log: list[str] = []
    provider = ScriptedProvider()
    failing = [Noting("a", log), Noting("b", log, "before"), Noting("c", log)]
    agent = ChatAgent(provider, context_providers=failing)
    with pytest.raises(OSError, match="b is down"):
        await agent.run("hi", session=agent.create_session())
    assert provider.requests == []
    assert log == ["before a", "before b"]


async def test_a_provider_that_fails_after_costs_neither_the_answer_nor_the_others() -> None:
    log: list[str] = []
    failing = [Noting("a", log), Noting("b", log, "after"), Noting("c", log)]
    agent = ChatAgent(ScriptedProvider("ok"), context_providers=failing)
    session = agent.create_session()
    answer = await agent.run("hi", session=session)
    assert answer.text == "ok"
    assert log[-3:] == ["after c: ok", "after b: ok", "after a: ok"]
    (error,) = answer.additional_properties["context_errors"]
    assert (error.source_id, error.phase) == ("b", "after_run")
    assert "b is down" in str(error)
    assert len(session.state["in_memory"]["messages"]) == 2


async def test_a_provider_that_hangs_is_given_up() -> None:
    class Hanging(ContextProvider):
        async def before_run(self, agent, session, context, state) -> None:
            await asyncio.Event().wait()

    agent = ChatAgent(
        ScriptedProvider(), context_providers=[Hanging("slow")], provider_timeout=0.01
    )
    with pytest.raises(TimeoutError):
        await agent.run("hi")


async def test_instructions_come_first_and_providers_add_to_their_end() -> None:
    class Clock(ContextProvider):
        async def before_run(self, agent, session, context, state) -> None:
            context.extend_instructions(self.source_id, ["It is noon.", "Be brief."])

    provider = ScriptedProvider()
    agent = ChatAgent(provider, instructions="You are kind.", context_providers=[Clock("time")])
    await agent.run("hi")
    assert provider.texts() == ["You are kind.\nIt is noon.\nBe brief.", "hi"]


async def test_history_comes_before_what_other_providers_add() -> None:
    class Rag(ContextProvider):
        async def before_run(self, agent, session, context, state) -> None:
            self.seen = [m.text for m in context.get_messages()]
            context.extend_messages(self, [Message.system("doc")])

    provider, rag = ScriptedProvider("one", "two"), Rag("rag")
    agent = ChatAgent(provider, context_providers=[rag])
    session = agent.create_session()
    await agent.run("first", session=session)
    await agent.run("second", session=session)
    assert provider.texts() == ["first", "one", "doc", "second"]
    assert rag.seen == ["first", "one"]
    stored = session.state["in_memory"]["messages"]
    assert [m.text for m in stored] == ["first", "one", "second", "two"]


async def test_two_identical_turns_are_both_kept() -> None:
    provider = ScriptedProvider("ok", "ok", "ok")
    agent = ChatAgent(provider)
    session = agent.create_session()
    for _ in range(3):
        await agent.run("yes", session=session)
    assert provider.texts() == ["yes", "ok", "yes", "ok", "yes"]


async def test_the_default_history_is_not_put_into_the_agents_list() -> None:
    agent = ChatAgent(ScriptedProvider())
    await agent.run("hi", session=agent.create_session())
    assert agent.context_providers == []


@pytest.mark.parametrize(
    ("session", "options"),
    [
        ({"service_session_id": "thread_1"}, {}),
        ({}, {"conversation_id": "thread_1"}),
        ({}, {"store": True}),
    ],
)
async def test_a_service_that_stores_needs_no_history_here(session: dict, options: dict) -> None:
    provider = ScriptedProvider()
    agent = ChatAgent(provider)
    kept = agent.create_session(**session)
    for _ in range(2):
        await agent.run("hi", session=kept, options=options)
    assert provider.texts() == ["hi"]
    assert kept.state == {}


async def test_a_client_that_stores_by_default_can_be_told_not_to() -> None:
    provider = ScriptedProvider()
    provider.STORES_BY_DEFAULT = True
    agent = ChatAgent(provider)
    session = agent.create_session()
    await agent.run("first", session=session)
    assert session.state == {}
    await agent.run("second", session=session, options={"store": False})
    assert len(session.state["in_memory"]["messages"]) == 2


async def test_a_record_of_the_defaults_name_does_not_disturb_it() -> None:
    provider = ScriptedProvider("one", "two")
    record = InMemoryHistoryProvider(load_messages=False)
    agent = ChatAgent(provider, context_providers=[record])
    session = agent.create_session()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        await agent.run("first", session=session)
        await agent.run("second", session=session)
    assert provider.texts() == ["first", "one", "second"]
    assert len(session.state["in_memory"]["messages"]) == 4


async def test_several_loading_histories_are_warned_of_once() -> None:
    histories = [InMemoryHistoryProvider("a"), InMemoryHistoryProvider("b")]
    agent = ChatAgent(ScriptedProvider(), context_providers=histories)
    session = agent.create_session()
    with pytest.warns(UserWarning, match=r"Multiple history providers .*\['a', 'b'\]"):
        await agent.run("hi", session=session)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        await agent.run("hi", session=session)


async def test_histories_of_which_none_loads_are_warned_of() -> None:
    record = InMemoryHistoryProvider("audit", load_messages=False)
    agent = ChatAgent(ScriptedProvider(), context_providers=[record])
    with pytest.warns(UserWarning, match=r"none have load_messages=True: \['audit'\].*remembered"):
        await agent.run("hi", session=agent.create_session())
    other = ChatAgent(ScriptedProvider(), context_providers=[record])
    with pytest.warns(UserWarning, match="No conversation history will be loaded"):
        await other.run("hi")


async def test_one_history_that_loads_beside_a_record_is_no_mistake() -> None:
    histories = [InMemoryHistoryProvider("a"), InMemoryHistoryProvider("b", load_messages=False)]
    agent = ChatAgent(ScriptedProvider(), context_providers=histories)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        await agent.run("hi", session=agent.create_session())
        service = ChatAgent(ScriptedProvider(), context_providers=histories[1:])
        await service.run("hi", session=service.get_session("thread_1"))


async def test_a_service_session_skips_loading_but_not_storing() -> None:
    provider = ScriptedProvider("one", "two")
    agent = ChatAgent(provider, context_providers=[InMemoryHistoryProvider("memory")])
    session = agent.get_session("thread_1", session_id="mine")
    assert (session.session_id, session.service_session_id) == ("mine", "thread_1")
    await agent.run("first", session=session)
    await agent.run("second", session=session)
    assert provider.texts() == ["second"]
    assert provider.requests[-1].conversation_id == "thread_1"
    assert len(session.state["memory"]["messages"]) == 4


async def test_the_id_a_service_gives_is_kept() -> None:
    answer = said("hello")
    answer.metadata = {"conversation_id": "thread_9", "response_id": "r1"}
    agent = ChatAgent(ScriptedProvider(answer))
    session = agent.create_session()
    response = await agent.run("hi", session=session, options={"store": True})
    assert session.service_session_id == "thread_9"
    assert (response.response_id, response.agent_id) == ("r1", agent.id)


async def test_tools_are_run_until_the_model_has_nothing_left_to_do() -> None:
    async def add(a: int, b: int) -> int:
        """Add two numbers."""
        return a + b

    class Fails:
        name = "fails"
        description = "Fails."

        async def execute(self, input: dict) -> ToolResult:
            return ToolResult(success=False, error={"message": "broken"})

    asked = calls(("add", {"a": 1, "b": 2}), ("fails", {}), ("gone", {}), ("add", {"a": 1}))
    provider = ScriptedProvider(asked, "three")
    agent = ChatAgent(provider, tools=[add, Fails()])
    answer = await agent.run("add", session=agent.create_session())
    assert answer.text == "three"
    assert [m.role for m in answer.messages] == ["assistant", *["tool"] * 4, "assistant"]
    results = [str(m.contents[0].result) for m in answer.messages[1:5]]
    assert results[0] == "3"
    assert results[1] == "broken"
    assert "no tool 'gone'; there are: add, fails" in results[2]
    assert "add failed" in results[3]
    assert answer.messages[4].additional_properties == {"is_error": True}
    spec = provider.requests[0].tools[0]
    assert (spec.name, spec.description) == ("add", "Add two numbers.")
    assert spec.parameters["properties"] == {"a": {"type": "integer"}, "b": {"type": "integer"}}
    assert answer.usage_details["input_tokens"] == 10


async def test_tools_of_providers_can_be_called_and_know_who_brought_them() -> None:
    def lookup(word: str) -> str:
        return f"{word}: found"

    class Brings(ContextProvider):
        async def before_run(self, agent, session, context, state) -> None:
            context.extend_tools(self.source_id, [lookup])

    provider = ScriptedProvider(calls(("lookup", {"word": "x"})), "done")
    agent = ChatAgent(provider, context_providers=[Brings("dict")])
    answer = await agent.run("go")
    assert answer.messages[1].contents[0].result == "x: found"
    with pytest.raises(ValueError, match="Two tools are called 'lookup'"):
        await agent.run("go", tools=[lambda: 1, _named("lookup")])


def _named(name: str):
    def function() -> str:
        return name

    function.__name__ = name
    return function


async def test_a_run_ends_at_its_limit() -> None:
    provider = ScriptedProvider(*[calls(("noop", {})) for _ in range(9)])
    agent = ChatAgent(provider, tools=[_named("noop")], max_iterations=3)
    answer = await agent.run("loop")
    assert len(provider.requests) == 3
    assert answer.messages[-1].role == "tool"


async def test_options_go_into_the_request() -> None:
    provider = ScriptedProvider()
    agent = ChatAgent(provider, default_options={"temperature": 0.1, "max_tokens": 100})
    await agent.run("hi", options={"temperature": 0.9, "max_tokens": None, "model": "m2"})
    request = provider.requests[0]
    assert (request.temperature, request.max_output_tokens, request.model) == (0.9, 100, "m2")


async def test_the_input_comes_in_any_form() -> None:
    provider = ScriptedProvider()
    agent = ChatAgent(provider)
    await agent.run(["one", Message("user", [Content.from_text("two")])])
    assert provider.texts() == ["one", "two"]
    await agent.run(Message.user("three"))
    assert provider.texts() == ["three"]


async def test_what_no_provider_takes_is_sent_as_text() -> None:
    provider = ScriptedProvider()
    odd = Message("user", [Content("hologram", additional_properties={"of": "a cat"})])
    await ChatAgent(provider).run([odd])
    assert "a cat" in provider.texts()[0]


async def test_a_strategy_runs_before_every_request_and_not_on_what_is_stored() -> None:
    provider = ScriptedProvider(*"abcd")
    agent = ChatAgent(provider, compaction_strategy=SlidingWindowStrategy(2))
    session = agent.create_session()
    for text in ("one", "two", "three"):
        await agent.run(text, session=session)
    assert provider.texts() == ["b", "three"]
    stored = session.state["in_memory"]["messages"]
    assert len(stored) == 6
    assert not any("_excluded" in message.additional_properties for message in stored)


async def test_functions_can_be_providers() -> None:
    provider, log = ScriptedProvider("pong"), []
    agent = ChatAgent(provider)

    @before_run(agent)
    async def add_system_prompt(agent, session, context, state):
        state["n"] = state.get("n", 0) + 1
        context.extend_messages("system", [Message(role="system", content="You are helpful.")])

    @after_run(agent)
    def log_response(the_agent, the_session, the_context, the_state):
        log.append((the_agent is agent, the_context.response.text, the_state))

    @before_run(agent, source_id="other")
    async def only_some(**kwargs):
        log.append(sorted(kwargs))

    session = agent.create_session()
    await agent.run("ping", session=session)
    assert provider.texts() == ["You are helpful.", "ping"]
    assert log == [["agent", "context", "session", "state"], (True, "pong", {"n": 1})]
    assert list(session.state) == ["in_memory", "decorated", "other"]
    assert add_system_prompt.__name__ == "add_system_prompt"


async def test_a_stream_gives_the_words_as_they_come_and_ends_like_a_run() -> None:
    hooks, log = HookRegistry(), []

    class Streaming(ScriptedProvider):
        async def complete(self, request, **kwargs):
            for piece in ("Hel", "lo"):
                data = {"block_type": "text", "text": piece}
                await hooks.emit("llm:stream_block_delta", data)
            return await super().complete(request)

    agent = ChatAgent(Streaming("Hello"), hooks=hooks, context_providers=[Noting("a", log)])
    session = agent.create_session()
    stream = agent.run("hi", session=session, stream=True)
    assert log == []
    assert [update.text async for update in stream] == ["Hel", "lo"]
    assert log == ["before a", "after a: Hello"]
    final = await stream.get_final_response()
    assert isinstance(final, AgentResponse)
    assert final.text == "Hello"
    assert len(session.state["in_memory"]["messages"]) == 2
    assert not any(hooks.list_handlers().values())


async def test_a_provider_that_does_not_stream_gives_its_answer_whole() -> None:
    agent = ChatAgent(ScriptedProvider("Hello"))
    stream = agent.run_stream("hi")
    assert [str(update) async for update in stream] == ["Hello"]


async def test_only_the_final_answer_may_be_asked_for() -> None:
    log: list[str] = []
    agent = ChatAgent(ScriptedProvider("Hello"), context_providers=[Noting("a", log)])
    assert (await agent.run_stream("hi").get_final_response()).text == "Hello"
    assert log == ["before a", "after a: Hello"]


async def test_an_abandoned_stream_stores_nothing_and_stops_the_model() -> None:
    started, cancelled = asyncio.Event(), asyncio.Event()
    hooks, log = HookRegistry(), []

    class Endless(ScriptedProvider):
        async def complete(self, request, **kwargs):
            await hooks.emit("llm:stream_block_delta", {"block_type": "text", "text": "a"})
            started.set()
            try:
                await asyncio.Event().wait()
            finally:
                cancelled.set()

    agent = ChatAgent(Endless(), hooks=hooks, context_providers=[Noting("a", log)])
    session = agent.create_session()
    updates = aiter(agent.run_stream("hi", session=session))
    assert (await anext(updates)).text == "a"
    await updates.aclose()
    assert cancelled.is_set()
    assert log == ["before a"]
    assert "messages" not in session.state.get("in_memory", {})


async def test_a_stream_that_fails_says_why() -> None:
    log: list[str] = []
    agent = ChatAgent(ScriptedProvider(OSError("no network")), context_providers=[Noting("a", log)])
    stream = agent.run_stream("hi")
    with pytest.raises(OSError, match="no network"):
        await stream.get_final_response()
    with pytest.raises(RuntimeError, match="before the answer was complete"):
        await stream.get_final_response()
    assert log == ["before a"]


async def test_a_session_goes_on_after_it_was_saved() -> None:
    provider = ScriptedProvider("one", "two")
    agent = ChatAgent(provider)
    session = agent.create_session()
    await agent.run("first", session=session)
    again = AgentSession.from_dict(session.to_dict())
    await agent.run("second", session=again)
    assert provider.texts() == ["first", "one", "second"]
