import asyncio
import inspect
import json
from contextvars import ContextVar
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from pydantic import BaseModel

from amplifier_tui.kernel.hooks import HookRegistry, HookResult


class Recorder:
    def __init__(self, answer: Any = None) -> None:
        self.seen: list[dict[str, Any]] = []
        self.answer = answer

    async def __call__(self, event: str, data: dict[str, Any]) -> Any:
        self.seen.append(data)
        return self.answer


@pytest.fixture
def hooks() -> HookRegistry:
    return HookRegistry()


async def test_without_handlers_the_data_comes_back_as_given(hooks: HookRegistry) -> None:
    hooks.set_default_fields(session_id="s")
    given = {"a": Decimal(1)}
    result = await hooks.emit("x", given)
    assert result == HookResult(action="continue", data={"a": Decimal(1)})
    assert result.data is given
    assert result.model_dump() == HookResult(data=given).model_dump()


async def test_an_emptied_event_is_like_one_nobody_registered_for(hooks: HookRegistry) -> None:
    hooks.register("x", Recorder())()
    result = await hooks.emit("x", {"a": 1})
    assert result.data == {"a": 1}


@pytest.mark.parametrize("data", [None, {}])
async def test_nothing_as_data_is_no_reason_to_fail(hooks: HookRegistry, data: Any) -> None:
    assert (await hooks.emit("x", data)).data == data
    handler = Recorder()
    hooks.register("x", handler)
    result = await hooks.emit("x", data)
    assert result.data is not None
    assert list(result.data) == ["timestamp"]
    assert handler.seen == [result.data]


async def test_the_timestamp_is_utc_and_overwrites_the_emitters(hooks: HookRegistry) -> None:
    handler = Recorder()
    hooks.register("x", handler)
    await hooks.emit("x", {"timestamp": "yesterday"})
    stamp = datetime.fromisoformat(handler.seen[0]["timestamp"])
    assert stamp.utcoffset() == timedelta(0)
    assert handler.seen[0]["timestamp"].endswith("+00:00")


async def test_the_emitters_fields_win_over_the_defaults(hooks: HookRegistry) -> None:
    handler = Recorder()
    hooks.register("x", handler)
    hooks.set_default_fields(session_id="default", parent_id=None)
    await hooks.emit("x", {"session_id": "own"})
    assert handler.seen[0]["session_id"] == "own"
    assert handler.seen[0]["parent_id"] is None


async def test_handlers_can_dump_the_data_as_json(hooks: HookRegistry) -> None:
    class Payload(BaseModel):
        cost: Decimal = Decimal("0.1")

    dumped: list[str] = []
    hooks.register("x", lambda event, data: dumped.append(json.dumps(data)))
    await hooks.emit("x", {"p": Payload(), "t": (1,), "s": {1}, "d": datetime(2024, 1, 1)})
    await hooks.emit("x", Payload())
    assert json.loads(dumped[0])["p"] == {"cost": "0.1"}
    assert json.loads(dumped[0])["t"] == [1]
    assert json.loads(dumped[1])["cost"] == "0.1"


async def test_a_handler_that_mutates_its_data_is_alone_with_that(hooks: HookRegistry) -> None:
    given = {"tool_input": {"paths": ["a"]}}

    def vandal(event: str, data: dict[str, Any]) -> None:
        data["tool_input"]["paths"].append("b")
        data.clear()

    after = Recorder()
    hooks.register("x", vandal, 0)
    hooks.register("x", after, 1)
    result = await hooks.emit("x", given)
    assert given == {"tool_input": {"paths": ["a"]}}
    assert after.seen[0]["tool_input"] == {"paths": ["a"]}
    assert result.data is not None
    assert result.data["tool_input"] == {"paths": ["a"]}


async def test_a_kept_copy_stays_as_it_was(hooks: HookRegistry) -> None:
    keeper = Recorder()

    def vandal(event: str, data: dict[str, Any]) -> None:
        data["list"].append("late")

    hooks.register("x", keeper, 0)
    hooks.register("x", vandal, 1)
    await hooks.emit("x", {"list": [1]})
    assert keeper.seen[0]["list"] == [1]


@pytest.mark.parametrize("answer", [None, {}, {"action": "continue"}, HookResult()])
async def test_these_answers_mean_continue(hooks: HookRegistry, answer: Any) -> None:
    later = Recorder()
    hooks.register("x", Recorder(answer))
    hooks.register("x", lambda event, data: answer)
    hooks.register("x", later)
    result = await hooks.emit("x", {"a": 1})
    assert result.action == "continue"
    assert len(later.seen) == 1


async def test_a_dict_is_read_as_a_hook_result_without_its_unknown_keys(
    hooks: HookRegistry,
) -> None:
    hooks.register("x", Recorder({"action": "deny", "reason": "no", "mood": "bad"}))
    result = await hooks.emit("x", {})
    assert (result.action, result.reason) == ("deny", "no")


async def test_an_object_with_model_dump_is_read_as_a_hook_result(hooks: HookRegistry) -> None:
    class Foreign(BaseModel):
        action: str = "deny"
        reason: str = "foreign"

    hooks.register("x", Recorder(Foreign()))
    assert (await hooks.emit("x", {})).reason == "foreign"


async def test_deny_ends_the_emit_and_comes_back_as_the_handler_put_it(
    hooks: HookRegistry,
) -> None:
    never = Recorder()
    hooks.register("x", Recorder(HookResult(action="modify", data={"a": 2})), 0)
    hooks.register("x", Recorder(HookResult(action="deny", reason="no", user_message="hm")), 1)
    hooks.register("x", never, 2)
    result = await hooks.emit("x", {"a": 1})
    assert result.action == "deny"
    assert (result.reason, result.user_message, result.data) == ("no", "hm", None)
    assert never.seen == []


async def test_a_denial_without_a_reason_says_whose_it_is(hooks: HookRegistry) -> None:
    hooks.register("x", Recorder({"action": "deny"}), name="quiet-hours")
    reason = (await hooks.emit("x", {})).reason
    assert reason == "The hook 'quiet-hours' denied this and gave no reason."


async def test_modified_data_is_what_later_handlers_and_the_emitter_see(
    hooks: HookRegistry,
) -> None:
    later = Recorder()
    hooks.set_default_fields(session_id="s")
    hooks.register("x", Recorder(HookResult(action="modify", data={"b": (2,)})), 0)
    hooks.register("x", later, 1)
    result = await hooks.emit("x", {"a": 1})
    assert result.action == "continue"
    assert result.data == {"b": [2]}
    assert later.seen == [{"b": [2]}]


async def test_what_a_handler_keeps_of_its_modification_is_not_the_emitters(
    hooks: HookRegistry,
) -> None:
    kept = {"deep": {"list": [1]}}
    hooks.register("x", Recorder(HookResult(action="modify", data=kept)))
    result = await hooks.emit("x", {})
    kept["deep"]["list"].append(2)
    assert result.data == {"deep": {"list": [1]}}


async def test_modify_without_data_changes_nothing(hooks: HookRegistry) -> None:
    hooks.register("x", Recorder(HookResult(action="modify")))
    result = await hooks.emit("x", {"a": 1})
    assert result.data is not None
    assert result.data["a"] == 1


async def test_data_and_messages_of_a_continue_result_are_dropped(hooks: HookRegistry) -> None:
    hooks.register("x", Recorder(HookResult(data={"b": 2}, user_message="hi")))
    result = await hooks.emit("x", {"a": 1})
    assert result.data is not None
    assert "b" not in result.data
    assert result.user_message is None


async def test_the_first_question_is_kept_and_a_later_denial_still_wins(
    hooks: HookRegistry,
) -> None:
    def ask(prompt: str) -> Recorder:
        return Recorder(HookResult(action="ask_user", approval_prompt=prompt, approval_timeout=7.0))

    hooks.register("x", ask("first"), 0)
    hooks.register("x", ask("second"), 1)
    result = await hooks.emit("x", {})
    assert (result.action, result.approval_prompt) == ("ask_user", "first")
    assert result.approval_timeout == 7.0
    hooks.register("x", Recorder(HookResult(action="deny")), 2)
    assert (await hooks.emit("x", {})).action == "deny"


async def test_a_question_beats_injections_and_is_about_the_modified_data(
    hooks: HookRegistry,
) -> None:
    hooks.register("x", Recorder(HookResult(action="modify", data={"b": 1})), 0)
    hooks.register("x", Recorder(HookResult(action="inject_context", context_injection="t")), 1)
    hooks.register("x", Recorder(HookResult(action="ask_user", approval_prompt="p")), 2)
    result = await hooks.emit("x", {})
    assert result.action == "ask_user"
    assert (result.context_injection, result.context_injections) == (None, [])
    assert result.data == {"b": 1}


async def test_handlers_run_strictly_one_after_the_other(hooks: HookRegistry) -> None:
    order: list[str] = []

    def handler(name: str) -> Any:
        async def run(event: str, data: dict[str, Any]) -> None:
            order.append(f"{name} starts")
            await asyncio.sleep(0)
            order.append(f"{name} ends")

        return run

    hooks.register("x", handler("a"))
    hooks.register("x", handler("b"))
    await hooks.emit("x", {})
    assert order == ["a starts", "a ends", "b starts", "b ends"]


async def test_registrations_during_an_emit_count_from_the_next_one(hooks: HookRegistry) -> None:
    late = Recorder()

    def registers(event: str, data: dict[str, Any]) -> None:
        hooks.register("x", late, -5)

    hooks.register("x", registers)
    await hooks.emit("x", {})
    assert late.seen == []
    await hooks.emit("x", {})
    assert len(late.seen) == 1


async def test_a_handler_unregistered_during_an_emit_still_runs_in_it(
    hooks: HookRegistry,
) -> None:
    victim = Recorder()
    hooks.register("x", lambda event, data: remove(), 0)
    remove = hooks.register("x", victim, 1)
    await hooks.emit("x", {})
    await hooks.emit("x", {})
    assert len(victim.seen) == 1


async def test_emit_returns_a_real_coroutine(hooks: HookRegistry) -> None:
    coroutine = hooks.emit("x", {})
    assert inspect.iscoroutine(coroutine)
    assert (await asyncio.create_task(coroutine)).action == "continue"
    collecting = hooks.emit_and_collect("x", {})
    assert inspect.iscoroutine(collecting)
    assert await asyncio.create_task(collecting) == []


async def test_an_emit_inside_a_handler_works(hooks: HookRegistry) -> None:
    inner = Recorder()

    async def outer(event: str, data: dict[str, Any]) -> None:
        await hooks.emit("inner", {"from": event})

    hooks.register("outer", outer)
    hooks.register("inner", inner)
    await hooks.emit("outer", {})
    assert inner.seen[0]["from"] == "outer"


colour: ContextVar[str] = ContextVar("colour", default="none")


async def test_handlers_see_the_emitters_context_and_keep_their_own_changes(
    hooks: HookRegistry,
) -> None:
    seen: list[str] = []

    async def handler(event: str, data: dict[str, Any]) -> None:
        seen.append(colour.get())
        colour.set("red")
        await asyncio.sleep(0)
        seen.append(colour.get())

    def sync_handler(event: str, data: dict[str, Any]) -> None:
        seen.append(colour.get())
        colour.set("green")

    colour.set("blue")
    hooks.register("x", handler)
    hooks.register("x", sync_handler)
    hooks.register("x", handler)
    await hooks.emit("x", {})
    assert seen == ["blue", "red", "blue", "blue", "red"]
    assert colour.get() == "blue"


async def test_any_awaitable_a_handler_returns_is_awaited(hooks: HookRegistry) -> None:
    async def denies() -> HookResult:
        await asyncio.sleep(0)
        return HookResult(action="deny", reason="task")

    hooks.register("x", lambda event, data: asyncio.ensure_future(denies()))
    assert (await hooks.emit("x", {})).reason == "task"


async def test_circular_data_is_the_emitters_error(hooks: HookRegistry) -> None:
    loop: dict[str, Any] = {}
    loop["self"] = loop
    hooks.register("x", Recorder())
    with pytest.raises(ValueError, match="circular"):
        await hooks.emit("x", loop)
    assert (await hooks.emit("x", {"fine": 1})).action == "continue"


async def test_a_huge_payload_reaches_every_handler_whole(hooks: HookRegistry) -> None:
    huge = {"messages": [{"role": "user", "content": ["x" * 100, {"n": i}]} for i in range(5000)]}
    handlers = [Recorder(), Recorder()]
    for handler in handlers:
        hooks.register("x", handler)
    await hooks.emit("x", huge)
    assert all(handler.seen[0]["messages"] == huge["messages"] for handler in handlers)


def test_emit_works_where_no_event_loop_runs(hooks: HookRegistry) -> None:
    handler = Recorder(HookResult(action="deny", reason="r"))
    hooks.register("x", handler)
    coroutine = hooks.emit("x", {"a": 1})
    with pytest.raises(StopIteration) as end:
        coroutine.send(None)
    assert end.value.value.reason == "r"


async def test_what_the_host_announced_reaches_nobody_a_second_time():
    hooks = HookRegistry()
    told: list[str] = []
    hooks.register("prompt:submit", lambda event, data: told.append(data["prompt"]))
    hooks.observe(lambda trace: told.append(trace.event))
    hooks.announced("prompt:submit")
    result = await hooks.emit("prompt:submit", {"prompt": "one"})
    assert (result.action, result.data, told) == ("continue", {"prompt": "one"}, [])
    hooks.announced("prompt:submit")()
    await hooks.emit("prompt:submit", {"prompt": "two"})
    assert told == ["two", "prompt:submit"]
