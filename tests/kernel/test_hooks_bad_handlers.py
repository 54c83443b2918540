import asyncio
import logging
from typing import Any
from unittest.mock import MagicMock

import pytest

from amplifier_tui.kernel.hooks import HookRegistry, HookResult, HookTrace

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


async def test_a_result_that_cannot_be_made_is_told_by_its_first_mistake_and_its_line(
    hooks: HookRegistry,
) -> None:
    def block(event: str, data: dict[str, Any]) -> HookResult:
        return HookResult(action="block")  # type: ignore[arg-type]

    seen: list[HookTrace] = []
    hooks.observe(seen.append)
    hooks.register("x", block, name="bad")
    await hooks.emit("x", {})
    said = seen[0].handlers[0].error or ""
    assert said.startswith("ValidationError: action: Input should be 'continue'")
    assert "pydantic.dev" not in said and "test_hooks_bad_handlers.py:" in said
    assert "\n" not in said


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


async def test_a_handler_that_waits_and_then_raises_is_logged(
    hooks: HookRegistry, caplog: Log
) -> None:
    async def late(event: str, data: dict[str, Any]) -> None:
        await asyncio.sleep(0)
        raise RuntimeError("late")

    hooks.register("x", late, name="late")
    assert (await hooks.emit("x", {})).action == "continue"
    assert "Hook handler 'late' failed on 'x': late" in caplog.text
