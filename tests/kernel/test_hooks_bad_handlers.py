import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any
from unittest.mock import MagicMock

import pytest

from amplifier_tui.kernel.hooks import HookRegistry, HookResult, HookTrace, handler_run

Log = pytest.LogCaptureFixture


class Circular(dict[str, Any]):
    def __init__(self) -> None:
        self["me"] = self


async def agen() -> Any:
    yield 1


def invalid_result() -> HookResult:
    result = HookResult()
    object.__setattr__(result, "action", "explode")
    result.__dict__["action"] = "explode"
    return result


@pytest.fixture
def hooks() -> HookRegistry:
    return HookRegistry()


@pytest.mark.parametrize("error", [RuntimeError("boom"), asyncio.CancelledError(), TypeError("t")])
@pytest.mark.parametrize("is_async", [True, False])
async def test_a_handler_that_raises_is_logged_and_the_others_run(
    hooks: HookRegistry, caplog: Log, error: BaseException, is_async: bool
) -> None:
    ran: list[str] = []

    def sync(event: str, data: dict[str, Any]) -> None:
        raise error

    async def not_sync(event: str, data: dict[str, Any]) -> None:
        raise error

    hooks.register("x", not_sync if is_async else sync, name="bad")
    hooks.register("x", lambda event, data: ran.append(event))
    result = await hooks.emit("x", {"a": 1})
    assert result.action == "continue"
    assert ran == ["x"]
    [record] = [r for r in caplog.records if r.levelno == logging.ERROR]
    assert "'bad'" in record.getMessage()
    assert "'x'" in record.getMessage()


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
async def test_an_order_to_end_the_program_is_obeyed(
    hooks: HookRegistry, error: type[BaseException]
) -> None:
    def sync(event: str, data: dict[str, Any]) -> None:
        raise error

    hooks.register("x", sync)
    coroutine = hooks.emit("x", {})
    with pytest.raises(error):
        coroutine.send(None)


async def test_a_handler_that_is_not_callable_fails_when_it_is_called(
    hooks: HookRegistry, caplog: Log
) -> None:
    hooks.register("x", "not callable", name="odd")
    assert (await hooks.emit("x", {})).action == "continue"
    assert "'odd'" in caplog.text


class Undumpable:
    def __init__(self, dumped: Any) -> None:
        self.dumped = dumped

    def model_dump(self) -> Any:
        if isinstance(self.dumped, Exception):
            raise self.dumped
        return self.dumped


@pytest.mark.parametrize(
    ("rubbish", "why"),
    [
        (42, "int is not a HookResult"),
        ({"action": "explode"}, "action: Input should be 'continue', 'deny',"),
        ({"context_injections": [{"content": 5}]}, "context_injections.0.content: Input should be"),
        ({"action": "modify", "data": Circular()}, "Event data is circular"),
        (Undumpable(OSError("broken")), "model_dump failed: broken"),
        (Undumpable([1]), "model_dump did not return a dict"),
    ],
)
async def test_it_is_said_why_an_answer_can_not_be_read(
    hooks: HookRegistry, caplog: Log, rubbish: Any, why: str
) -> None:
    traces: list[HookTrace] = []
    hooks.observe(traces.append)
    hooks.register("x", lambda event, data: rubbish)
    await hooks.emit("x", {})
    error = traces[0].handlers[0].error
    assert error is not None
    assert error.startswith(f"Hook handler returned invalid response: {why}")
    assert f"({why}" in caplog.text


@pytest.mark.parametrize(
    "rubbish",
    [
        "deny",
        True,
        False,
        0,
        [],
        object(),
        HookResult,
        {"action": "explode"},
        {"action": "deny", "reason": 5},
        {"action": "modify", "data": "text"},
        {"action": "modify", "data": Circular()},
        {"action": "inject_context", "context_injection": 5},
        {"action": "inject_context", "context_injections": [{"role": "user"}]},
        invalid_result(),
        MagicMock(),
    ],
)
async def test_an_answer_nobody_can_read_denies(
    hooks: HookRegistry, caplog: Log, rubbish: Any
) -> None:
    never: list[str] = []
    hooks.register("x", lambda event, data: rubbish, name="odd")
    hooks.register("x", lambda event, data: never.append(event))
    result = await hooks.emit("x", {"a": 1})
    assert result.action == "deny"
    assert result.reason.startswith(f"Hook handler returned invalid response (odd at {__file__}:")
    assert never == []
    assert "SECURITY: hook handler 'odd'" in caplog.text


async def test_an_async_generator_is_an_answer_nobody_can_read(hooks: HookRegistry) -> None:
    hooks.register("x", lambda event, data: agen())
    assert (await hooks.emit("x", {})).action == "deny"


async def test_a_model_that_can_not_be_dumped_denies(hooks: HookRegistry) -> None:
    class Broken:
        def model_dump(self) -> Any:
            raise RuntimeError("broken")

    class Lying:
        def model_dump(self) -> Any:
            return "deny"

    for answer in (Broken(), Lying()):
        remove = hooks.register("x", lambda event, data, a=answer: a)
        assert (await hooks.emit("x", {})).action == "deny"
        remove()


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


async def test_a_handler_that_waits_and_then_raises_is_logged(
    hooks: HookRegistry, caplog: Log
) -> None:
    async def late(event: str, data: dict[str, Any]) -> None:
        await asyncio.sleep(0)
        raise RuntimeError("late")

    hooks.register("x", late, name="late")
    assert (await hooks.emit("x", {})).action == "continue"
    assert "Hook handler 'late' failed on 'x': late" in caplog.text
