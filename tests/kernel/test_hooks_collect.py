import asyncio
from typing import Any

import pytest
from pydantic import BaseModel

from amplifier_tui.kernel.hooks import HookRegistry, HookResult


@pytest.fixture
def hooks() -> HookRegistry:
    return HookRegistry()


async def test_collecting_returns_every_data_in_order_whatever_the_action(
    hooks: HookRegistry,
) -> None:
    hooks.register("x", lambda event, data: HookResult(data={"n": 2}), 2)
    hooks.register("x", lambda event, data: {"action": "deny", "data": {"n": 1}}, 1)
    hooks.register("x", lambda event, data: None, 0)
    hooks.register("x", lambda event, data: HookResult(action="deny"), 0)
    assert await hooks.emit_and_collect("x", {}) == [{"n": 1}, {"n": 2}]


async def test_collecting_adds_neither_defaults_nor_a_timestamp(hooks: HookRegistry) -> None:
    seen: list[dict[str, Any]] = []
    hooks.set_default_fields(session_id="s")
    hooks.register("x", lambda event, data: seen.append(data))
    await hooks.emit_and_collect("x", {"t": (1,)})
    await hooks.emit_and_collect("x", None)
    assert seen == [{"t": [1]}, {}]


async def test_collecting_reads_models(hooks: HookRegistry) -> None:
    class Payload(BaseModel):
        a: int = 1

    seen: list[dict[str, Any]] = []
    hooks.register("x", lambda event, data: seen.append(data))
    await hooks.emit_and_collect("x", Payload())
    assert seen == [{"a": 1}]


async def test_without_handlers_nothing_is_collected(hooks: HookRegistry) -> None:
    assert await hooks.emit_and_collect("x", {}) == []


async def test_a_late_handler_is_left_out_and_named(
    hooks: HookRegistry, caplog: pytest.LogCaptureFixture
) -> None:
    async def hangs(event: str, data: dict[str, Any]) -> None:
        await asyncio.Event().wait()

    hooks.register("x", hangs, name="slow")
    hooks.register("x", lambda event, data: {"data": {"n": 1}})
    assert await hooks.emit_and_collect("x", {}, timeout=0.001) == [{"n": 1}]
    [record] = [r for r in caplog.records if "'slow'" in r.getMessage()]
    assert record.levelname == "WARNING"


@pytest.mark.parametrize(
    "error", [RuntimeError("boom"), asyncio.CancelledError(), TimeoutError("its own")]
)
async def test_a_failing_handler_is_left_out_and_logged(
    hooks: HookRegistry, caplog: pytest.LogCaptureFixture, error: BaseException
) -> None:
    async def bad(event: str, data: dict[str, Any]) -> None:
        raise error

    hooks.register("x", bad, name="bad")
    hooks.register("x", lambda event, data: "rubbish", name="odd")
    hooks.register("x", lambda event, data: {"data": {"n": 1}})
    assert await hooks.emit_and_collect("x", {}) == [{"n": 1}]
    levels = [r.levelname for r in caplog.records if "'bad'" in r.getMessage()]
    assert levels == ["ERROR"]
    assert "'odd'" in caplog.text


async def test_data_that_is_no_dict_is_left_out(hooks: HookRegistry) -> None:
    def odd(event: str, data: dict[str, Any]) -> HookResult:
        result = HookResult()
        result.__dict__["data"] = "text"
        return result

    hooks.register("x", odd)
    assert await hooks.emit_and_collect("x", {}) == []


async def test_no_timeout_means_as_long_as_it_takes(hooks: HookRegistry) -> None:
    async def waits(event: str, data: dict[str, Any]) -> HookResult:
        await asyncio.sleep(0)
        return HookResult(data={"n": 1})

    hooks.register("x", waits)
    assert await hooks.emit_and_collect("x", {}, timeout=None) == [{"n": 1}]


async def test_cancelling_a_collection_cancels_it(hooks: HookRegistry) -> None:
    started = asyncio.Event()

    async def hangs(event: str, data: dict[str, Any]) -> None:
        started.set()
        await asyncio.Event().wait()

    hooks.register("x", hangs)
    task = asyncio.create_task(hooks.emit_and_collect("x", {}, timeout=60))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
