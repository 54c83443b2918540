import asyncio
import logging
from collections.abc import Callable
from typing import Any

import pytest

from amplifier_tui.kernel.hooks import HookRegistry, HookResult, handler_run

Log = pytest.LogCaptureFixture


@pytest.fixture
def hooks() -> HookRegistry:
    return HookRegistry()


async def test_a_hanging_handler_ends_with_the_task_and_later_ones_do_not_run(
    hooks: HookRegistry,
) -> None:
    started, never = asyncio.Event(), asyncio.Event()
    later: list[str] = []

    async def hangs(event: str, data: dict[str, Any]) -> None:
        started.set()
        await never.wait()

    hooks.register("x", hangs)
    hooks.register("x", lambda event, data: later.append(event))
    task = asyncio.create_task(hooks.emit("x", {}))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert later == []
    assert task.cancelled()


async def test_a_hanging_handler_is_named_in_the_log(
    hooks: HookRegistry, caplog: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handler_run, "SLOW_AFTER", 0)
    told = asyncio.Event()

    class Told(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            told.set()

    handler = Told()
    logging.getLogger(handler_run.__name__).addHandler(handler)

    async def slow_one(event: str, data: dict[str, Any]) -> None:
        await told.wait()

    hooks.register("x", slow_one)
    try:
        await hooks.emit("x", {})
    finally:
        logging.getLogger(handler_run.__name__).removeHandler(handler)
    assert "slow_one" in caplog.text


async def test_a_handler_may_catch_the_cancellation_but_not_keep_it(hooks: HookRegistry) -> None:
    started, never = asyncio.Event(), asyncio.Event()
    later: list[str] = []

    async def swallows(event: str, data: dict[str, Any]) -> HookResult:
        started.set()
        try:
            await never.wait()
        except asyncio.CancelledError:
            await asyncio.sleep(0)
        return HookResult(action="modify", data={})

    hooks.register("x", swallows)
    hooks.register("x", lambda event, data: later.append(event))
    task = asyncio.create_task(hooks.emit("x", {}))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert later == []


async def test_a_cancellation_turned_into_another_error_stays_a_cancellation(
    hooks: HookRegistry,
) -> None:
    started, never = asyncio.Event(), asyncio.Event()

    async def converts(event: str, data: dict[str, Any]) -> None:
        started.set()
        try:
            await never.wait()
        except asyncio.CancelledError as error:
            raise RuntimeError("converted") from error

    hooks.register("x", converts)
    task = asyncio.create_task(hooks.emit("x", {}))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


def cancel_me() -> None:
    task = asyncio.current_task()
    assert task is not None
    task.cancel()


async def waits_after_cancelling(event: str, data: dict[str, Any]) -> None:
    cancel_me()
    await asyncio.sleep(0)


async def cancels_later(event: str, data: dict[str, Any]) -> None:
    await asyncio.sleep(0)
    cancel_me()
    await asyncio.sleep(0)


async def cancels_and_returns(event: str, data: dict[str, Any]) -> None:
    cancel_me()


async def cancels_and_raises(event: str, data: dict[str, Any]) -> None:
    cancel_me()
    raise RuntimeError("both")


def cancels_in_sync(event: str, data: dict[str, Any]) -> None:
    cancel_me()


async def cancels_twice(event: str, data: dict[str, Any]) -> None:
    cancel_me()
    cancel_me()
    try:
        await asyncio.sleep(0)
    except asyncio.CancelledError:
        await asyncio.sleep(0)


async def cancels_and_behaves(event: str, data: dict[str, Any]) -> None:
    cancel_me()
    try:
        await asyncio.sleep(0)
    except asyncio.CancelledError:
        task = asyncio.current_task()
        assert task is not None
        task.uncancel()


@pytest.mark.parametrize(
    "handler",
    [
        waits_after_cancelling,
        cancels_later,
        cancels_and_returns,
        cancels_and_raises,
        cancels_in_sync,
        cancels_twice,
        cancels_and_behaves,
    ],
)
async def test_a_handler_that_cancels_itself_takes_nobody_with_it(
    hooks: HookRegistry, handler: Callable[..., Any]
) -> None:
    ran: list[str] = []
    hooks.register("x", handler)
    hooks.register("x", lambda event, data: ran.append(event))

    async def turn() -> str:
        await hooks.emit("x", {})
        await asyncio.sleep(0)
        return "done"

    task = asyncio.create_task(turn())
    assert await task == "done"
    assert ran == ["x"]
    assert task.cancelling() == 0


async def test_a_denial_counts_even_from_a_handler_that_cancels_itself(
    hooks: HookRegistry,
) -> None:
    async def both(event: str, data: dict[str, Any]) -> HookResult:
        cancel_me()
        return HookResult(action="deny", reason="still")

    hooks.register("x", both)
    task = asyncio.create_task(hooks.emit("x", {}))
    assert (await task).reason == "still"


async def test_a_genuine_cancellation_gets_through_a_handler_that_cancels_itself(
    hooks: HookRegistry,
) -> None:
    started, never = asyncio.Event(), asyncio.Event()

    async def both(event: str, data: dict[str, Any]) -> None:
        cancel_me()
        try:
            await asyncio.sleep(0)
        except asyncio.CancelledError:
            started.set()
        await never.wait()

    hooks.register("x", both)
    task = asyncio.create_task(hooks.emit("x", {}))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_timeout_inside_a_handler_is_the_handlers_affair(hooks: HookRegistry) -> None:
    async def times_out(event: str, data: dict[str, Any]) -> HookResult:
        try:
            async with asyncio.timeout(0):
                await asyncio.Event().wait()
        except TimeoutError:
            return HookResult(action="deny", reason="timed out inside")
        return HookResult()

    hooks.register("x", times_out)
    task = asyncio.create_task(hooks.emit("x", {}))
    assert (await task).reason == "timed out inside"
    assert task.cancelling() == 0


async def test_a_timeout_around_an_emit_is_the_emitters(hooks: HookRegistry) -> None:
    async def hangs(event: str, data: dict[str, Any]) -> None:
        await asyncio.Event().wait()

    hooks.register("x", hangs)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0):
            await hooks.emit("x", {})


async def test_a_task_that_is_being_cancelled_can_still_emit(hooks: HookRegistry) -> None:
    ran: list[str] = []

    async def raises_by_hand(event: str, data: dict[str, Any]) -> None:
        await asyncio.sleep(0)
        raise asyncio.CancelledError

    hooks.register("execution:end", raises_by_hand)
    hooks.register("execution:end", lambda event, data: ran.append(data["status"]))
    started = asyncio.Event()

    async def turn() -> None:
        started.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            await hooks.emit("execution:end", {"status": "cancelled"})
            raise

    task = asyncio.create_task(turn())
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ran == ["cancelled"]
