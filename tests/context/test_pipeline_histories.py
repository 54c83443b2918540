import warnings

import pytest

from amplifier_tui.context.adr.history import FileHistoryProvider, InMemoryHistoryProvider
from amplifier_tui.context.adr.message import Message
from amplifier_tui.context.adr.provider_runs import before_run
from amplifier_tui.context.adr.session import AgentSession
from amplifier_tui.context.adr.strategies import (
    CompactionProvider,
    SelectiveToolCallCompactionStrategy,
)
from amplifier_tui.context.errors import HistoryUnavailableError, SummaryError
from amplifier_tui.context.request.budget import BudgetPolicy
from amplifier_tui.kernel.llm_errors import ContextLengthError
from tests.context.stage import Noting, Stage, text, texts
from tests.context.support import ScriptedProvider, assistant, calling, long_session, result, user


async def test_a_history_of_its_own_takes_the_place_of_the_ledger_as_the_past(tmp_path) -> None:
    history = FileHistoryProvider(tmp_path, source_id="file")
    stage = Stage(Noting("early"), history, Noting("late"))
    await stage.execute("one", calling("a"), result("a", "out"), assistant("re: one"))
    seen = await stage.execute("two")
    assert texts(seen) == ["doc of early", "one", "", "out", "re: one", "doc of late", "two"]
    report = await stage.pipeline.report()
    past = next(line for line in report.by_source if line.source == "file")
    assert {child.source for child in past.children} == {"user", "assistant", "tool:bash"}
    assert sum(line.tokens for line in report.by_source) == report.total
    assert len(await history.get_messages(stage.pipeline.session.session_id)) == 6
    assert len(await stage.manager.get_messages()) == 6


async def test_identical_turns_are_all_kept_by_every_history() -> None:
    stage = Stage(InMemoryHistoryProvider())
    for _ in range(3):
        await stage.execute("yes", assistant("ok"))
    assert texts(await stage.execute("end")) == ["yes", "ok"] * 3 + ["end"]


async def test_long_histories_of_others_are_compacted_and_stay_so(tmp_path) -> None:
    history = FileHistoryProvider(tmp_path)
    session = AgentSession()
    await history.save_messages(
        session.session_id, [Message.from_kernel(row) for row in long_session(20)[1:-1]]
    )
    stage = Stage(history, session=session)
    stage.manager.view._policy = BudgetPolicy(max_tokens=10_000)
    first = await stage.execute("one")
    assert sum(len(text(row)) for row in first) < 40_000
    compacted = [row for row in first if "characters left out" in text(row)]
    assert compacted
    second = await stage.execute("two")
    assert second[: len(first) - 1] == first[:-1]


async def test_a_history_that_is_gone_gives_way_to_the_ledger_for_the_turn() -> None:
    class Remote(InMemoryHistoryProvider):
        down = False

        async def get_messages(self, session_id, *, state=None, **kwargs):
            if self.down:
                raise HistoryUnavailableError(self.source_id, "no answer.")
            return await super().get_messages(session_id, state=state)

    remote = Remote("remote")
    stage = Stage(remote)
    await stage.execute("one")
    remote.down = True
    assert texts(await stage.execute("two")) == ["one", "re: one", "two"]
    assert len(stage.notices) == 1
    assert "goes on from its own record" in stage.notices[0]
    remote.down = False
    assert texts(await stage.execute("three")) == ["one", "re: one", "two", "re: two", "three"]


async def test_a_message_of_ten_megabytes_is_cut_on_arrival_and_told() -> None:
    stage = Stage()

    @before_run(stage.pipeline, source_id="rag")
    def flood(agent, session, context, state):
        context.extend_messages("rag", [Message.user("x" * 10_000_000)])

    await stage.execute("one")
    seen = await stage.execute("two")
    assert texts(seen)[:2] == ["one", "re: one"]
    assert len(texts(seen)[2]) < 140_000
    assert "'rag' added a message of about 2.5M" in stage.notices[0]


async def test_ten_megabytes_in_many_pieces_are_cut_all_the_same() -> None:
    stage = Stage()

    @before_run(stage.pipeline, source_id="rag")
    def flood(agent, session, context, state):
        pieces = [{"type": "text", "text": "x" * 100_000, "visibility": "llm"}] * 100
        context.extend_messages("rag", [Message.from_kernel({"role": "user", "content": pieces})])

    (flooded, _) = texts(await stage.execute("one"))
    assert len(flooded) < 160_000
    assert "'rag' added a message of about 2.5M" in stage.notices[0]


async def test_a_message_under_the_cap_stays_whole_however_many_tokens_it_takes() -> None:
    stage = Stage()

    @before_run(stage.pipeline, source_id="rag")
    def add(agent, session, context, state):
        context.extend_messages("rag", [Message.user("漢" * 100_000)])

    (added, _) = texts(await stage.execute("one"))
    assert added == "漢" * 100_000
    assert stage.notices == []


async def test_instructions_of_ten_megabytes_are_an_error_that_names_their_source() -> None:
    stage = Stage()

    @before_run(stage.pipeline, source_id="rules")
    def flood(agent, session, context, state):
        context.extend_instructions("rules", "x" * 10_000_000)

    await stage.manager.add_message(user("hi"))
    with pytest.raises(ContextLengthError, match=r"Most of it is 'rules' with about 2\.5M"):
        await stage.manager.get_messages_for_request(provider=ScriptedProvider())
    assert texts(await stage.manager.get_messages()) == ["hi"]


async def test_a_compaction_provider_works_on_the_ledgers_history_too() -> None:
    stage = Stage(CompactionProvider(SelectiveToolCallCompactionStrategy(1)))
    await stage.execute("one", calling("a"), result("a", "A"), assistant("re: one"))
    await stage.execute("two", calling("b"), result("b", "B"), assistant("re: two"))
    seen = await stage.execute("three")
    assert texts(seen) == ["one", "re: one", "two", "", "B", "re: two", "three"]
    assert len(await stage.manager.get_messages()) == 10


async def test_a_service_that_keeps_the_history_gets_only_what_is_new() -> None:
    session = AgentSession(service_session_id="thread_1")
    history = InMemoryHistoryProvider()
    stage = Stage(history, Noting("rag"), session=session)
    await stage.execute("one")
    assert texts(await stage.execute("two")) == ["doc of rag", "two"]
    assert len(session.state["in_memory"]["messages"]) == 4
    report = await stage.pipeline.report()
    assert (report.trigger, report.warning) == (0, "History kept by the service")
    assert await stage.pipeline.compact() == await stage.pipeline.preview()
    with pytest.raises(SummaryError):
        await stage.pipeline.summarize(ScriptedProvider())


async def test_several_loading_histories_are_warned_of_once() -> None:
    stage = Stage(InMemoryHistoryProvider("a"), InMemoryHistoryProvider("b"))
    with pytest.warns(UserWarning, match="Multiple history providers"):
        await stage.execute("one")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        await stage.execute("two")
        await Stage(InMemoryHistoryProvider("audit", load_messages=False)).execute("one")


async def test_a_prompt_that_was_refused_takes_nothing_of_before_with_it() -> None:
    stage = Stage()
    await stage.manager.get_messages_for_request(provider=ScriptedProvider(window=50_000))
    for number in range(3):
        await stage.execute(f"ask {number}")
    with pytest.raises(ContextLengthError):
        await stage.execute("u" * 400_000)
    before = [f"{who}ask {number}" for number in range(3) for who in ("", "re: ")]
    for prompt in ("then this", "and that"):
        said = [text(row) for row in await stage.execute(prompt)]
        assert said[:6] == before
        assert said[-1] == prompt
        assert max(map(len, said)) < 100
