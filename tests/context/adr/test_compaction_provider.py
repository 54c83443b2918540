from amplifier_tui.context.adr.agent import ChatAgent
from amplifier_tui.context.adr.history import InMemoryHistoryProvider
from amplifier_tui.context.adr.message import Message
from amplifier_tui.context.adr.provider import ContextProvider, SessionContext
from amplifier_tui.context.adr.session import AgentSession
from amplifier_tui.context.adr.strategies import (
    CompactionProvider,
    SlidingWindowStrategy,
    ToolResultCompactionStrategy,
)
from tests.context.support import ScriptedProvider, calling, result


async def test_what_a_run_loads_is_compacted_and_what_is_stored_is_not() -> None:
    provider = ScriptedProvider()
    agent = ChatAgent(
        provider,
        context_providers=[
            InMemoryHistoryProvider(),
            CompactionProvider(before_strategy=SlidingWindowStrategy(2)),
        ],
    )
    session = agent.create_session()
    for text in ("one", "two", "three"):
        await agent.run(text, session=session)
    assert provider.texts() == ["two", "Answer 2", "three"]
    assert len(session.state["in_memory"]["messages"]) == 6
    await agent.run("four", session=session)
    assert provider.texts() == ["three", "Answer 3", "four"]


async def test_a_stored_history_is_compacted_where_it_skips_what_is_excluded() -> None:
    provider = ScriptedProvider()
    agent = ChatAgent(
        provider,
        context_providers=[
            InMemoryHistoryProvider("memory", skip_excluded=True),
            CompactionProvider(after_strategy=SlidingWindowStrategy(2), history_source_id="memory"),
        ],
    )
    session = agent.create_session()
    for text in ("one", "two", "three", "four"):
        await agent.run(text, session=session)
    # It hears of a run before the history, which comes first in the list, stores it.
    assert provider.texts() == ["two", "Answer 2", "three", "Answer 3", "four"]
    assert len(session.state["memory"]["messages"]) == 8


async def test_a_summary_counts_as_said_by_the_source_before_it() -> None:
    context = SessionContext(input_messages=[Message.user("now")])
    rows = [calling("a"), result("a", "A"), calling("b"), result("b", "B")]
    context.extend_messages("memory", [Message.from_kernel(row) for row in rows])
    context.extend_messages("rag", [Message.user("doc")])
    provider = CompactionProvider(ToolResultCompactionStrategy(1))
    await provider.before_run(None, AgentSession(), context, {})
    assert context.context_messages["memory"][0].text == "[Tool results: bash: A]"
    assert len(context.context_messages["memory"]) == 3
    assert [m.text for m in context.context_messages["rag"]] == ["doc"]


async def test_without_strategies_and_without_a_history_nothing_happens() -> None:
    provider = ScriptedProvider()
    agent = ChatAgent(
        provider,
        context_providers=[
            CompactionProvider(),
            CompactionProvider(
                after_strategy=SlidingWindowStrategy(1),
                source_id="other",
                history_source_id="nobody",
            ),
            ContextProvider("x"),
        ],
    )
    assert (await agent.run("hi", session=agent.create_session())).text == "Answer 1"
