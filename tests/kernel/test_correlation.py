import asyncio
from contextvars import copy_context
from typing import Any
from uuid import UUID

import pytest

from amplifier_tui.kernel import correlation
from amplifier_tui.kernel.correlation import (
    current_request_id,
    current_tool_call_id,
    new_request_id,
    reset_request_id,
    resolve_request_id,
    tool_call,
)
from amplifier_tui.kernel.hooks import HookRegistry


@pytest.fixture(autouse=True)
def no_call_in_flight() -> None:
    reset_request_id()


@pytest.fixture
def hooks() -> HookRegistry:
    return HookRegistry()


async def id_of(hooks: HookRegistry, event: str, data: Any = None) -> Any:
    result = await hooks.emit(event, data)
    return (result.data or {}).get("request_id")


def test_the_module_names_its_events_and_field() -> None:
    assert correlation.REQUEST_ID_FIELD == "request_id"
    assert frozenset({"llm:request"}) == correlation.REQUEST_EVENTS
    assert frozenset({"llm:response", "provider:error"}) == correlation.TERMINAL_EVENTS
    assert frozenset({"provider:retry", "provider:throttle"}) == correlation.INTERIM_EVENTS


async def test_a_request_gets_an_id_that_its_answers_carry(hooks: HookRegistry) -> None:
    request_id = await id_of(hooks, "llm:request", {"model": "m"})
    assert str(UUID(request_id)) == request_id
    assert current_request_id() == request_id
    assert await id_of(hooks, "provider:retry") == request_id
    assert await id_of(hooks, "provider:throttle", {}) == request_id
    assert await id_of(hooks, "llm:response") == request_id
    assert current_request_id() is None


async def test_a_closed_call_leaves_later_events_without_an_id(hooks: HookRegistry) -> None:
    await id_of(hooks, "llm:request")
    await id_of(hooks, "provider:error")
    assert await id_of(hooks, "llm:response", {"a": 1}) is None
    assert await id_of(hooks, "provider:retry") is None


async def test_a_supplied_id_is_adopted(hooks: HookRegistry) -> None:
    assert await id_of(hooks, "llm:request", {"request_id": "mine"}) == "mine"
    assert await id_of(hooks, "llm:response") == "mine"
    assert await id_of(hooks, "provider:error", {"request_id": "other"}) == "other"


async def test_the_emitters_dict_is_not_changed(hooks: HookRegistry) -> None:
    given = {"model": "m"}
    await hooks.emit("llm:request", given)
    assert given == {"model": "m"}


async def test_handlers_see_the_id(hooks: HookRegistry) -> None:
    seen: list[Any] = []
    hooks.register("llm:request", lambda event, data: seen.append(data["request_id"]))
    await hooks.emit("llm:request", {})
    assert seen == [current_request_id()]


@pytest.mark.parametrize("event", ["llm:stream_block_delta", "provider:request", "tool:pre"])
async def test_other_events_are_left_alone(hooks: HookRegistry, event: str) -> None:
    await hooks.emit("llm:request", {})
    assert await id_of(hooks, event, {"a": 1}) is None
    assert current_request_id() is not None


async def test_the_id_is_set_in_the_callers_context_also_when_a_task_emits(
    hooks: HookRegistry,
) -> None:
    task = asyncio.create_task(hooks.emit("llm:request", {}))
    await task
    assert current_request_id() == (task.result().data or {})["request_id"]


async def test_parallel_calls_do_not_mix(hooks: HookRegistry) -> None:
    async def call() -> tuple[Any, Any]:
        asked = await id_of(hooks, "llm:request")
        await asyncio.sleep(0)
        return asked, await id_of(hooks, "llm:response")

    pairs = await asyncio.gather(*(call() for _ in range(10)))
    assert all(asked == answered for asked, answered in pairs)
    assert len({asked for asked, _ in pairs}) == 10


async def test_a_call_inside_a_hook_does_not_take_over_the_outer_one(
    hooks: HookRegistry,
) -> None:
    async def names_the_session(event: str, data: dict[str, Any]) -> None:
        await hooks.emit("llm:request", {})

    hooks.register("provider:retry", names_the_session)
    outer = await id_of(hooks, "llm:request")
    await hooks.emit("provider:retry", {})
    assert await id_of(hooks, "llm:response") == outer


def test_resolve_and_reset_work_by_themselves() -> None:
    assert resolve_request_id("tool:pre", "x") is None
    assert resolve_request_id("provider:retry", "explicit") == "explicit"
    opened = resolve_request_id("llm:request")
    assert current_request_id() == opened
    reset_request_id()
    assert current_request_id() is None
    assert new_request_id() != new_request_id()


async def test_a_tool_knows_which_call_it_runs_for_also_in_its_tasks() -> None:
    assert current_tool_call_id() is None

    async def inside() -> str | None:
        return current_tool_call_id()

    with tool_call("one"):
        assert current_tool_call_id() == "one"
        with tool_call("two"):
            assert await asyncio.create_task(inside()) == "two"
        assert await asyncio.to_thread(current_tool_call_id) == "one"
    assert current_tool_call_id() is None


def test_a_call_that_is_closed_in_another_context_ends_without_a_word() -> None:
    call = tool_call("lost")
    copy_context().run(call.__enter__)
    call.__exit__(None, None, None)
    assert current_tool_call_id() is None
