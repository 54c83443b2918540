import asyncio
import json
import re

import pytest

from amplifier_tui.context.adr.message import Message
from amplifier_tui.context.adr.provider import ContextProvider
from amplifier_tui.context.adr.provider_runs import before_run
from amplifier_tui.context.adr.session import AgentSession
from amplifier_tui.context.errors import ContextSourceError
from amplifier_tui.context.request.budget import BudgetPolicy
from amplifier_tui.context.state_file import read_state, write_state
from tests.context.stage import Noting, Stage, texts
from tests.context.support import (
    ScriptedProvider,
    assistant,
    calling,
    hooked,
    long_session,
    result,
    system,
    user,
)


async def test_the_past_then_what_providers_add_then_the_turn() -> None:
    rag = Noting("rag")
    stage = Stage(rag)
    assert texts(await stage.execute("one")) == ["doc of rag", "one"]
    assert texts(await stage.execute("two")) == ["one", "re: one", "doc of rag", "two"]
    assert rag.asked == [["one"], ["two"]]
    assert rag.seen == [[], ["one", "re: one"]]
    assert rag.heard == [(["one"], ["re: one"]), (["two"], ["re: two"])]
    assert texts(await stage.manager.get_messages()) == ["one", "re: one", "two", "re: two"]


async def test_providers_are_asked_once_per_turn_however_many_requests_it_takes() -> None:
    rag = Noting("rag")
    stage = Stage(rag)
    steps = [calling("a"), result("a"), calling("b"), result("b"), assistant("done")]
    await stage.execute("go", *steps)
    assert rag.asked == [["go"]]
    assert rag.heard == [(["go"], ["", "", "done"])]


async def test_the_answer_providers_hear_holds_calls_and_results() -> None:
    heard: list[Message] = []
    stage = Stage()

    class Listener(ContextProvider):
        async def after_run(self, agent, session, context, state) -> None:
            heard.extend(context.response.messages)

    stage.pipeline.add(Listener("l"))
    await stage.execute("go", calling("a", tool="grep"), result("a", "3 hits"), assistant("three"))
    assert [m.to_kernel() for m in heard] == [
        calling("a", tool="grep"),
        result("a", "3 hits"),
        assistant("three"),
    ]


async def test_a_turn_the_host_brackets_needs_no_events() -> None:
    rag = Noting("rag")
    stage = Stage(rag, events=False)
    for prompt in ("one", "two"):
        async with stage.pipeline.turn():
            await stage.execute(prompt)
    assert rag.asked == [["one"], ["two"]]
    assert rag.heard == [(["one"], ["re: one"]), (["two"], ["re: two"])]


async def test_a_turn_is_told_once_where_both_host_and_events_tell_of_it() -> None:
    rag = Noting("rag")
    stage = Stage(rag)
    async with stage.pipeline.turn():
        await stage.execute("one")
    assert rag.heard == [(["one"], ["re: one"])]


async def test_an_orchestrator_that_tells_nothing_still_gets_turns() -> None:
    rag = Noting("rag")
    stage = Stage(rag, events=False)
    await stage.execute("one", calling("a"), result("a"), assistant("re: one"))
    assert rag.heard == []
    await stage.execute("two")
    assert rag.asked == [["one"], ["two"]]
    assert rag.heard == [(["one"], ["", "re: one"])]


async def test_instructions_are_part_of_the_system_prompt() -> None:
    stage = Stage()
    stage.manager.set_system_prompt_factory(lambda: "You are kind.")

    @before_run(stage.pipeline, source_id="time")
    def tell_time(agent, session, context, state):
        context.extend_instructions("time", "It is noon.")

    assert texts(await stage.execute("hi")) == ["You are kind.\n\nIt is noon.", "hi"]
    report = await stage.pipeline.report()
    assert {"system", "time"} <= {line.source for line in report.by_source}


async def test_instructions_follow_a_stored_system_prompt() -> None:
    stage = Stage()
    await stage.manager.add_message(system("stored"))

    @before_run(stage.pipeline, source_id="time")
    def tell_time(agent, session, context, state):
        context.extend_instructions("time", "It is noon.")

    assert texts(await stage.execute("hi")) == ["stored", "It is noon.", "hi"]


async def test_tools_of_providers_are_there_for_the_turn() -> None:
    def lookup(word: str) -> str:
        return word

    stage = Stage()
    during: list[list[str]] = []

    @before_run(stage.pipeline, source_id="dict")
    def bring(agent, session, context, state):
        context.extend_tools("dict", [lookup])

    stage.hooks.register("execution:end", lambda e, d: during.append(list(stage.tools)))
    await stage.execute("hi")
    assert during == [["lookup"]]
    assert stage.tools == {}
    mounted = object()
    stage.tools["lookup"] = mounted
    await stage.execute("again")
    assert stage.tools == {"lookup": mounted}
    assert "there is one already" in stage.notices[0]


async def test_two_sources_with_a_tool_of_one_name_do_not_stop_the_turn() -> None:
    def lookup(word: str) -> str:
        return word

    def other(word: str) -> str:
        return word

    other.__name__ = "lookup"
    stage = Stage()
    during: list[object] = []

    @before_run(stage.pipeline, source_id="dict")
    def bring(agent, session, context, state):
        context.extend_tools("dict", [lookup, other])

    stage.hooks.register("execution:end", lambda e, d: during.append(dict(stage.tools)))
    await stage.execute("hi")
    assert [list(tools) for tools in during] == [["lookup"]]
    assert "a tool 'lookup', but there is one already" in stage.notices[0]
    assert stage.tools == {}


async def test_a_source_that_fails_stops_the_turn_before_the_model_is_asked() -> None:
    rag, memory = Noting("rag", "before"), Noting("memory")
    stage = Stage(memory, rag)
    with pytest.raises(ContextSourceError, match="Context source 'rag' failed: index is down") as e:
        await stage.execute("important question")
    assert (e.value.source_id, e.value.phase) == ("rag", "before_run")
    assert isinstance(e.value.__cause__, OSError)
    assert memory.heard == []
    assert texts(await stage.manager.get_messages()) == ["important question"]


async def test_after_a_failure_the_turn_can_be_tried_again_or_go_on_without_the_source() -> None:
    rag = Noting("rag", "before")
    stage = Stage(rag)
    with pytest.raises(ContextSourceError):
        await stage.execute("question")
    with pytest.raises(ContextSourceError):
        await stage.execute("")
    stage.pipeline.skip("rag")
    assert texts(await stage.execute("")) == ["question"]
    rag.fail = ""
    assert texts(await stage.execute("next")) == ["question", "re: ", "doc of rag", "next"]
    assert rag.asked == [["question"], ["question"], ["next"]]
    assert rag.heard == [(["next"], ["re: next"])]


async def test_a_source_that_hangs_is_given_up() -> None:
    stage = Stage(Noting("rag", "hang"), timeout=0.01)
    with pytest.raises(ContextSourceError, match=r"'rag' failed: no answer within 0\.01 s"):
        await stage.execute("question")


async def test_a_turn_that_is_cancelled_while_a_source_is_asked_loses_nothing() -> None:
    rag = Noting("rag", "hang")
    stage = Stage(rag)
    task = asyncio.create_task(stage.execute("question"))
    while not rag.asked:
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    rag.fail = ""
    assert texts(await stage.execute("")) == ["doc of rag", "question"]


async def test_a_source_that_fails_after_the_turn_is_told_and_the_others_hear_of_it() -> None:
    first, bad, last = Noting("first"), Noting("bad", "after"), Noting("last")
    stage = Stage(first, bad, last)
    await stage.execute("one")
    assert first.heard == last.heard == [(["one"], ["re: one"])]
    told = r"Context source 'bad' failed: index is down \(/.*stage\.py:\d+\)\. The answer is kept"
    assert re.search(told, stage.notices[0])


async def test_the_host_gets_such_failures_as_a_group_when_the_turn_is_over() -> None:
    stage = Stage(Noting("bad", "after"), Noting("worse", "after"))
    answers = []
    with pytest.raises(ExceptionGroup) as failed:
        async with stage.pipeline.turn():
            answers.append(await stage.execute("one"))
    assert [error.source_id for error in failed.value.exceptions] == ["worse", "bad"]
    assert len(answers) == 1
    assert stage.notices == []
    async with stage.pipeline.turn():
        stage.pipeline.context_providers.clear()
        await stage.execute("two")


@pytest.mark.parametrize("status", ["cancelled", "error"])
async def test_after_a_turn_that_came_to_nothing_providers_hear_nothing(status: str) -> None:
    rag = Noting("rag")
    stage = Stage(rag)
    await stage.execute("one", calling("a"), result("a"), status=status)
    async with stage.pipeline.turn():
        await stage.execute("two", status=status)
    assert rag.heard == []
    assert texts(await stage.manager.get_messages()) == ["one", "", "done", "two", "re: two"]


async def test_a_host_that_fails_ends_the_turn() -> None:
    rag = Noting("rag")
    stage = Stage(rag)
    with pytest.raises(KeyError):
        async with stage.pipeline.turn():
            await stage.execute("one", calling("a"))
            raise KeyError("host")
    assert rag.heard == []


async def test_a_turn_that_goes_on_is_not_told_twice() -> None:
    rag = Noting("rag")
    stage = Stage(rag)
    await stage.execute("work", calling("a"), result("a"), assistant("stopped at the limit"))
    await stage.execute("", assistant("finished"))
    assert rag.asked == [["work"], ["work"]]
    assert rag.heard == [(["work"], ["", "stopped at the limit"]), ([], ["finished"])]


async def test_a_request_after_the_turn_starts_no_turn() -> None:
    rag = Noting("rag")
    stage = Stage(rag)
    await stage.execute("one")
    assert await stage.request() == ["doc of rag", "one", "re: one"]
    assert rag.asked == [["one"]]


async def test_requests_at_the_same_time_ask_providers_once() -> None:
    rag = Noting("rag")
    stage = Stage(rag)
    await stage.manager.add_message(user("one"))
    await asyncio.gather(*(stage.request() for _ in range(5)))
    assert rag.asked == [["one"]]


async def test_what_hooks_add_belongs_to_the_turn_and_is_no_input() -> None:
    rag = Noting("rag")
    stage = Stage(rag)
    await stage.execute("one")
    await stage.manager.add_message(hooked("git status: clean"))
    seen = texts(await stage.execute("two"))
    assert seen == ["one", "re: one", "doc of rag", "git status: clean", "two"]
    assert rag.asked[-1] == ["two"]


async def test_providers_come_and_go() -> None:
    stage = Stage(Noting("rag"))
    with pytest.raises(ValueError, match="'rag' already"):
        stage.pipeline.add(Noting("rag"))
    with pytest.raises(ValueError, match="'context' is no name"):
        stage.pipeline.add(Noting("context"))
    stage.pipeline.add(Noting("more"))
    assert texts(await stage.execute("one")) == ["doc of rag", "doc of more", "one"]
    stage.pipeline.remove("rag")
    assert texts(await stage.execute("two"))[2:] == ["doc of more", "two"]
    with pytest.raises(ValueError, match="no context provider 'rag'"):
        stage.pipeline.remove("rag")


async def test_what_a_provider_added_is_out_of_the_turn_it_leaves_during() -> None:
    class Instructing(Noting):
        async def before_run(self, agent, session, context, state) -> None:
            await super().before_run(agent, session, context, state)
            context.extend_instructions(self.source_id, "Mind the rag.")

    rag, fresh, other = Instructing("rag"), Instructing("rag"), Noting("other")
    stage = Stage(rag, other, events=False)
    for left, heard in (([other], []), ([fresh, other], ["Two"])):
        stage.pipeline.context_providers[:] = [rag, other]
        async with stage.pipeline.turn():
            await stage.manager.add_message(user("Two"))
            whole = await stage.request()
            assert "Mind the rag." in whole[0] and "doc of rag" in whole[-3:]
            stage.pipeline.context_providers[:] = left
            sources = [line.source for line in (await stage.pipeline.report()).by_source]
            assert ("rag" in sources) == bool(heard)
            assert (await stage.request() == whole) == bool(heard)
            await stage.manager.add_message(assistant("Done."))
        assert [words for (words,), _ in fresh.heard] == heard
    assert not rag.heard and len(other.heard) == 2


async def test_a_turn_without_a_request_leaves_nothing_behind() -> None:
    rag = Noting("rag")
    stage = Stage(rag)
    await stage.execute("one")
    async with stage.pipeline.turn():
        pass
    await stage.request()
    assert rag.asked == [["one"]]


async def test_what_a_crash_left_unanswered_is_input_of_the_next_turn() -> None:
    stage = Stage(Noting("rag"))
    await stage.execute("one")
    await stage.manager.add_message(user("lost in the crash"))
    state, rows = stage.pipeline.to_dict(), await stage.manager.get_messages()
    rag = Noting("rag")
    again = Stage(rag)
    await again.manager.set_messages(rows)
    again.pipeline.restore(state)
    await again.execute("two")
    assert rag.asked == [["lost in the crash", "two"]]
    assert rag.heard == [(["lost in the crash", "two"], ["re: two"])]


async def test_a_turn_that_crashed_in_the_middle_is_told_whole_when_it_was_finished() -> None:
    stage = Stage(Noting("rag"))
    await stage.execute("one")
    state = stage.pipeline.to_dict()
    rows = [*await stage.manager.get_messages(), user("two"), calling("a"), result("a")]
    rag = Noting("rag")
    again = Stage(rag)
    await again.manager.set_messages(rows)
    again.pipeline.restore(state)
    await again.execute("", assistant("done"))
    assert rag.heard == [(["two"], ["", "done"])]


def test_a_fork_does_not_share_the_services_conversation() -> None:
    origin = Stage(session=AgentSession(session_id="a", service_session_id="thread_1"))
    resumed, forked = Stage(session=AgentSession(session_id="a")), Stage()
    for stage in (resumed, forked):
        stage.pipeline.restore(origin.pipeline.to_dict())
    assert resumed.pipeline.session.service_session_id == "thread_1"
    assert forked.pipeline.session.service_session_id is None


async def test_a_session_goes_on_where_it_was_saved(tmp_path) -> None:
    stage = Stage(Noting("rag"))
    stage.manager.view._policy = BudgetPolicy(max_tokens=10_000)
    await stage.manager.set_messages(long_session(20)[:-1])
    before = await stage.execute("one")
    write_state(tmp_path / "state.json", stage.pipeline.to_dict())
    rows = await stage.manager.get_messages()

    again = Stage(Noting("rag"))
    again.manager.view._policy = BudgetPolicy(max_tokens=10_000)
    await again.manager.set_messages(rows)
    data, problem = read_state(tmp_path / "state.json")
    assert (problem, data is not None) == ("", True)
    again.pipeline.restore(data or {})
    assert again.pipeline.session.state["rag"] == {"runs": 1}
    assert again.pipeline.session.session_id != stage.pipeline.session.session_id
    seen = await again.execute("two")
    # What was decided before holds: the request begins as it did.
    assert seen[: len(before) - 2] == before[:-2]
    assert stage.pipeline.to_dict()["state"]["context"]["turn"] == 21


def test_a_state_that_can_not_be_decoded_changes_nothing() -> None:
    stage = Stage()
    stage.pipeline.session.state["kept"] = {"n": 1}
    with pytest.raises(ValueError, match="no readable 'message'"):
        stage.pipeline.restore({"state": {"m": {"type": "message"}}})
    assert stage.pipeline.session.state == {"kept": {"n": 1}}
    stage.pipeline.restore({"state": {"context": "spoiled"}})
    assert json.dumps(stage.pipeline.to_dict())


async def test_another_history_ends_the_turn_and_its_context() -> None:
    rag = Noting("rag")
    stage = Stage(rag)
    await stage.execute("one")
    await stage.manager.set_messages([user("resumed"), assistant("yes")])
    assert await stage.request() == ["resumed", "yes"]
    assert texts(await stage.execute("two")) == ["resumed", "yes", "doc of rag", "two"]
    await stage.manager.clear()
    assert texts(await stage.execute("three")) == ["doc of rag", "three"]


async def test_preview_compact_and_summarize_reach_the_view() -> None:
    stage = Stage()
    stage.manager.view._policy = BudgetPolicy(max_tokens=10_000)
    await stage.manager.set_messages(long_session(20)[:-1])
    await stage.execute("go")
    assert await stage.pipeline.preview() == await stage.pipeline.compact()
    plan = await stage.pipeline.summarize(ScriptedProvider("In short."), "names")
    assert plan.actions[0].kind == "summary"


async def test_an_error_that_names_its_source_stays_what_it_is() -> None:
    class Careful(ContextProvider):
        async def before_run(self, agent, session, context, state) -> None:
            raise ContextSourceError("index of docs", "before_run", OSError("is down"))

    with pytest.raises(ContextSourceError, match="Context source 'index of docs' failed: is down"):
        await Stage(Careful("rag")).execute("hi")
