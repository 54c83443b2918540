import asyncio
import dataclasses
import time
from contextvars import ContextVar
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from amplifier_tui.kernel.hooks import (
    HandlerHold,
    HookAnswers,
    HookRegistry,
    HookResult,
    HookTrace,
    handler_run,
    registry,
)
from amplifier_tui.kernel.hooks import trace as trace_module
from amplifier_tui.kernel.hooks.results import WANTED


@pytest.fixture
def hooks() -> HookRegistry:
    return HookRegistry()


async def test_an_observer_hears_once_per_emit_who_answered_what(hooks: HookRegistry) -> None:
    traces: list[HookTrace] = []
    hooks.observe(traces.append)
    hooks.set_default_fields(session_id="s")
    hooks.register("x", lambda event, data: None, name="quiet")
    hooks.register(
        "x", lambda event, data: HookResult(action="modify", data={}, reason="r"), name="changes"
    )
    hooks.register("x", lambda event, data: 1 / 0, name="fails")
    hooks.register("x", lambda event, data: "rubbish", name="odd")
    before = time.time()
    result = await hooks.emit("x", {"cost": Decimal("0.5")})
    [trace] = traces
    assert trace.event == "x"
    assert trace.data["cost"] == "0.5"
    assert trace.data["session_id"] == "s"
    assert "timestamp" in trace.data
    assert trace.result is result
    said = [(part.name, part.verdict, part.reason) for part in trace.handlers]
    place, zero = (
        Path(__file__).read_text().split(code)[0].count("\n") + 1 for code in ('"rubbish"', "1 / 0")
    )
    assert said == [
        ("quiet", "continue", None),
        ("changes", "modify", "r"),
        ("fails", "error", None),
        (
            *("odd", "deny"),
            f"Hook handler returned invalid response (odd at {__file__}:{place}: "
            f"str is not a HookResult). {WANTED}",
        ),
    ]
    assert [part.error for part in trace.handlers] == [
        None,
        None,
        f"ZeroDivisionError: division by zero ({__file__}:{zero})",
        "Hook handler returned invalid response: str is not a HookResult "
        f"({__file__}:{place}). {WANTED}",
    ]
    assert all(part.ms >= 0 for part in trace.handlers)
    assert trace.ms >= sum(part.ms for part in trace.handlers)
    assert before <= trace.started <= time.time()


@pytest.mark.parametrize(
    ("answer", "lacking"),
    [
        (HookResult(action="modify"), "data"),
        (HookResult(action="inject_context"), "context_injection"),
        (HookResult(action="modify", data={}), ""),
        (HookResult(action="inject_context", context_injections=[{"content": "a"}]), ""),
    ],
)
async def test_an_action_without_what_it_is_for_is_a_mistake_and_does_nothing(
    answer: HookResult, lacking: str, hooks: HookRegistry
) -> None:
    traces: list[HookTrace] = []
    hooks.observe(traces.append)
    hooks.register("x", lambda event, data: answer)
    result = await hooks.emit("x", {"a": 1})
    error = traces[0].handlers[0].error
    if lacking:
        assert result.action == "continue"
        assert error and f"without `{lacking}` does nothing" in error and __file__ in error
    else:
        assert error is None


@pytest.mark.parametrize("made", [dict, HookResult, HookResult.model_validate])
async def test_a_misspelt_field_of_an_answer_is_a_mistake_and_the_rest_counts(
    made: Any, hooks: HookRegistry
) -> None:
    traces: list[HookTrace] = []
    hooks.observe(traces.append)
    fields = {"action": "deny", "reasn": "x", "note": 1, 5: 6}
    fields = fields if made is dict else {key: fields[key] for key in ("action", "reasn", "note")}
    hooks.register(
        "x", lambda event, data: made(fields) if made is not HookResult else made(**fields)
    )
    assert (await hooks.emit("x", {"a": 1})).action == "deny"
    (handler,) = traces[0].handlers
    assert handler.verdict == "deny" and handler.error
    told = "has no field 'reasn' ('reason' is meant?): what it says is lost"
    assert told in handler.error and __file__ in handler.error and "note" not in handler.error


async def test_a_further_field_of_an_answer_is_no_mistake(hooks: HookRegistry) -> None:
    traces: list[HookTrace] = []
    hooks.observe(traces.append)
    answer = HookResult(action="continue", severity=3)  # type: ignore[call-arg]
    hooks.register("x", lambda event, data: answer)
    hooks.register("x", lambda event, data: {"severity": 3})
    await hooks.emit("x", {"a": 1})
    assert [each.error for each in traces[0].handlers] == [None, None]
    assert answer.model_dump() == HookResult().model_dump()


async def test_an_observer_hears_of_emits_nobody_handles(hooks: HookRegistry) -> None:
    traces: list[HookTrace] = []
    hooks.observe(traces.append)
    hooks.set_default_fields(session_id="s")
    given = {"t": (1,)}
    result = await hooks.emit("x", given)
    assert result.data is given
    assert traces[0].data["t"] == [1]
    assert traces[0].data["session_id"] == "s"
    assert traces[0].handlers == ()
    await hooks.emit("x", None)
    assert traces[1].data["session_id"] == "s"


async def test_an_observer_does_not_make_an_unhandled_emit_fail(hooks: HookRegistry) -> None:
    traces: list[HookTrace] = []
    hooks.observe(traces.append)
    loop: dict[str, Any] = {}
    loop["me"] = loop
    assert (await hooks.emit("x", loop)).action == "continue"
    assert "circular" in traces[0].data["error"]


async def test_a_stopped_observation_hears_nothing_more(hooks: HookRegistry) -> None:
    traces: list[HookTrace] = []
    stop = hooks.observe(traces.append)
    other = hooks.observe(traces.append)
    stop()
    stop()
    await hooks.emit("x", {})
    assert len(traces) == 1
    other()
    await hooks.emit("x", {})
    assert len(traces) == 1


async def test_an_observer_that_raises_disturbs_nobody(
    hooks: HookRegistry, caplog: pytest.LogCaptureFixture
) -> None:
    traces: list[HookTrace] = []

    def bad(trace: HookTrace) -> None:
        raise RuntimeError("observer broke")

    def cancels(trace: HookTrace) -> None:
        raise asyncio.CancelledError

    hooks.observe(bad)
    hooks.observe(cancels)
    hooks.observe(traces.append)
    assert (await hooks.emit("x", {"a": 1})).data == {"a": 1}
    assert len(traces) == 1
    assert "observer broke" in caplog.text


lane: ContextVar[str] = ContextVar("lane", default="main")


async def test_an_observer_reads_and_sets_the_emitters_context(hooks: HookRegistry) -> None:
    seen: list[str] = []

    def observer(trace: HookTrace) -> None:
        seen.append(lane.get())
        lane.set("set by observer")

    hooks.observe(observer)
    hooks.register("x", lambda event, data: None)
    lane.set("set by emitter")
    await hooks.emit("x", {})
    assert seen == ["set by emitter"]
    assert lane.get() == "set by observer"


async def test_an_async_observer_is_refused_at_once(hooks: HookRegistry) -> None:
    async def observer(trace: HookTrace) -> None:
        return None

    with pytest.raises(TypeError, match="synchronously"):
        hooks.observe(observer)


async def test_a_trace_can_not_be_changed(hooks: HookRegistry) -> None:
    traces: list[HookTrace] = []
    hooks.observe(traces.append)
    hooks.register("x", lambda event, data: None)
    await hooks.emit("x", {})
    for frozen in (traces[0], traces[0].handlers[0]):
        assert not hasattr(frozen, "__dict__")
        with pytest.raises(dataclasses.FrozenInstanceError):
            frozen.__setattr__("ms", 0.0)


async def test_nobody_looks_at_the_clock_when_nobody_observes(
    hooks: HookRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    def clock() -> float:
        raise AssertionError("the clock was read")

    monkeypatch.setattr(registry, "perf_counter", clock)
    monkeypatch.setattr(trace_module, "perf_counter", clock)
    monkeypatch.setattr(trace_module, "time", clock)
    hooks.register("x", lambda event, data: None)
    assert (await hooks.emit("x", {})).action == "continue"
    hooks.observe(lambda trace: None)
    with pytest.raises(AssertionError, match="the clock was read"):
        await hooks.emit("x", {})


async def test_an_observer_hears_of_an_emit_whose_data_is_refused(hooks: HookRegistry) -> None:
    traces: list[HookTrace] = []
    hooks.observe(traces.append)
    hooks.register("x", lambda event, data: None)
    loop: dict[str, Any] = {}
    loop["me"] = loop
    with pytest.raises(ValueError, match="circular"):
        await hooks.emit("x", loop)
    [trace] = traces
    [part] = trace.handlers
    assert (trace.event, part.name, part.verdict) == ("x", "kernel", "error")
    assert part.error is not None
    assert "circular" in part.error
    assert "circular" in trace.data["error"]


async def test_an_observer_hears_which_handler_a_cancelled_emit_was_waiting_for(
    hooks: HookRegistry,
) -> None:
    traces: list[HookTrace] = []
    hooks.observe(traces.append)
    started = asyncio.Event()

    async def hangs(event: str, data: dict[str, Any]) -> None:
        started.set()
        await asyncio.Event().wait()

    hooks.register("x", lambda event, data: None, name="first")
    hooks.register("x", hangs, name="hangs")
    task = asyncio.create_task(hooks.emit("x", {"a": 1}))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    [trace] = traces
    assert [(part.name, part.verdict) for part in trace.handlers] == [
        ("first", "continue"),
        ("hangs", "error"),
    ]
    assert trace.handlers[1].error == "ended by CancelledError"
    assert trace.data["a"] == 1


async def test_a_handler_that_takes_long_is_told_of_while_it_runs_and_when_it_ends(
    hooks: HookRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handler_run, "HELD_AFTER", 0)
    holds: list[HandlerHold] = []
    told = asyncio.Event()

    def observe(hold: HandlerHold) -> None:
        holds.append(hold)
        told.set()

    async def slow(event: str, data: dict[str, Any]) -> None:
        await told.wait()

    stop = hooks.observe_holds(observe)
    hooks.register("x", slow, name="slow")
    hooks.register("x", lambda event, data: None, name="quick")
    await hooks.emit("x", {"given": 1})
    assert [(hold.event, hold.name, hold.over) for hold in holds] == [
        ("x", "slow", False),
        ("x", "slow", True),
    ]
    assert holds[0].data["given"] == 1
    stop()
    await hooks.emit("x", {})
    assert len(holds) == 2


async def test_a_handler_that_is_stopped_holds_nothing_up_any_more(
    hooks: HookRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handler_run, "HELD_AFTER", 0)
    told, never = asyncio.Event(), asyncio.Event()
    over: list[bool] = []

    def observe(hold: HandlerHold) -> None:
        over.append(hold.over)
        told.set()
        raise RuntimeError("an observer's own fault")

    async def hangs(event: str, data: dict[str, Any]) -> None:
        await never.wait()

    hooks.observe_holds(observe)
    hooks.register("x", hangs)
    task = asyncio.create_task(hooks.emit("x", {}))
    await told.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert over == [False, True]


@pytest.mark.parametrize("action", ["continue", "deny"])
async def test_who_concludes_an_event_is_not_said_to_inject_what_a_handler_injected(
    hooks: HookRegistry, action: str
) -> None:
    async def conclude(answers: HookAnswers) -> HookResult:
        return answers.result if action == "continue" else HookResult(action="deny", reason="no")

    traces: list[HookTrace] = []
    hooks.observe(traces.append)
    added = HookResult(action="inject_context", context_injection="mind this")
    hooks.register("tool:pre", lambda event, data: added, name="dev")
    hooks.conclude("tool:pre", conclude, "gate")
    await hooks.emit("tool:pre", {})
    told = [(each.name, each.verdict) for each in traces[0].handlers]
    assert told == [("dev", "inject_context"), ("gate", action)]
