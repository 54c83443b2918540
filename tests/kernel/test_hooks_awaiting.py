import asyncio
from collections.abc import Awaitable
from typing import Any

import pytest

from amplifier_tui.kernel.hooks import HookRegistry, HookResult


@pytest.fixture
def hooks() -> HookRegistry:
    return HookRegistry()


async def test_closing_a_waiting_emit_closes_the_handler(hooks: HookRegistry) -> None:
    closed: list[str] = []

    async def handler(event: str, data: dict[str, Any]) -> None:
        try:
            await asyncio.sleep(0)
        finally:
            closed.append("closed")

    hooks.register("x", handler)
    emitting = hooks.emit("x", {})
    emitting.send(None)
    emitting.close()
    assert closed == ["closed"]


async def test_handlers_of_parallel_emits_do_not_mix(hooks: HookRegistry) -> None:
    async def echo(event: str, data: dict[str, Any]) -> HookResult:
        await asyncio.sleep(0)
        return HookResult(action="deny", reason=str(data["n"]))

    hooks.register("x", echo)
    emits: list[Awaitable[HookResult]] = [hooks.emit("x", {"n": n}) for n in range(20)]
    results = await asyncio.gather(*emits)
    assert [result.reason for result in results] == [str(n) for n in range(20)]


async def test_a_handler_that_waits_where_no_loop_runs_is_driven_by_hand(
    hooks: HookRegistry,
) -> None:
    import types

    @types.coroutine
    def one_step() -> Any:
        yield "step"

    async def waits(event: str, data: dict[str, Any]) -> HookResult:
        await one_step()
        return HookResult(action="deny", reason="driven")

    hooks.register("x", waits)
    outcome: list[HookResult] = []

    def drive() -> None:
        emitting = hooks.emit("x", {})
        assert emitting.send(None) == "step"
        try:
            emitting.send(None)
        except StopIteration as end:
            outcome.append(end.value)

    await asyncio.to_thread(drive)
    assert outcome[0].reason == "driven"


async def test_a_generator_based_coroutine_is_awaited_too(hooks: HookRegistry) -> None:
    import types

    @types.coroutine
    def old_style(event: str, data: dict[str, Any]) -> Any:
        yield
        return HookResult(action="deny", reason="old style")

    hooks.register("x", old_style)
    assert (await hooks.emit("x", {})).reason == "old style"
