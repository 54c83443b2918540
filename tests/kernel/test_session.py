import asyncio
import inspect
import logging
from types import SimpleNamespace
from typing import Any
from unittest.mock import AsyncMock, MagicMock
from uuid import UUID

import pytest

from amplifier_tui.kernel import (
    AmplifierSession,
    ModuleCoordinator,
    ModuleLoader,
    RateLimitError,
    SessionStatus,
)
from tests.kernel.plans import Loop, MemoryLoader, facts, make, mounts, plan


def acting(act: Any) -> dict[str, Any]:
    return {"loop": mounts("orchestrator", Loop(act))}


# -- construction ----------------------------------------------------------------------------------


@pytest.mark.parametrize("config", [None, {}, []])
def test_a_session_without_a_plan_is_refused(config: Any) -> None:
    with pytest.raises(ValueError, match=r"^Configuration is required$"):
        AmplifierSession(config)


def test_a_plan_that_is_no_dict_is_a_type_error() -> None:
    odd: Any = ["session"]
    with pytest.raises(TypeError, match="not list"):
        AmplifierSession(odd)


@pytest.mark.parametrize(
    ("config", "missing"),
    [
        ({"providers": []}, "orchestrator"),
        ({"session": None}, "orchestrator"),
        ({"session": {}}, "orchestrator"),
        ({"session": {"context": "c"}}, "orchestrator"),
        ({"session": {"orchestrator": "o"}}, "context"),
        ({"session": {"orchestrator": "o", "context": ""}}, "context"),
    ],
)
def test_a_plan_names_an_orchestrator_and_a_context(config: Any, missing: str) -> None:
    with pytest.raises(ValueError, match=f"^Configuration must specify session.{missing}$"):
        AmplifierSession(config)


def test_a_session_knows_who_it_is() -> None:
    config, approval, display = plan(), object(), object()
    session = AmplifierSession(
        config,
        session_id="s1",
        parent_id="p1",
        approval_system=approval,
        display_system=display,
        is_resumed=True,
    )
    assert (session.session_id, session.parent_id, session.is_resumed) == ("s1", "p1", True)
    assert session.config is config
    assert isinstance(session.coordinator, ModuleCoordinator)
    assert session.coordinator.session is session
    assert session.coordinator.config is config
    assert session.coordinator.approval_system is approval
    assert session.coordinator.display_system is display
    assert (session.initialized, session._initialized) == (False, False)
    assert isinstance(session.status, SessionStatus)
    assert (session.status.session_id, session.status.status) == ("s1", "running")


def test_a_session_has_an_id_and_a_loader_of_its_own_if_none_is_given() -> None:
    session = AmplifierSession(plan())
    assert str(UUID(session.session_id)) == session.session_id
    assert isinstance(session.loader, ModuleLoader)
    assert session.coordinator.loader is session.loader
    given = MemoryLoader()
    session = AmplifierSession(plan(), loader=given)
    assert session.loader is given
    assert session.coordinator.loader is given


async def test_every_event_carries_session_and_parent() -> None:
    session, traces = make(session_id="s1")
    await session.coordinator.hooks.emit("x", {})
    assert facts(traces[0]) == {"session_id": "s1", "parent_id": None}


def test_merging_configs_changes_neither() -> None:
    session = AmplifierSession(plan())
    base = {"a": {"b": 1, "c": [1]}, "d": 1}
    overlay = {"a": {"b": 2}, "d": {"e": 1}}
    assert session._merge_configs(base, overlay) == {"a": {"b": 2, "c": [1]}, "d": {"e": 1}}
    assert base == {"a": {"b": 1, "c": [1]}, "d": 1}


def test_the_sessions_methods_return_coroutines() -> None:
    session = AmplifierSession(plan())
    for coroutine in (session.initialize(), session.execute("x"), session.cleanup()):
        assert inspect.iscoroutine(coroutine)
        coroutine.close()


# -- execute ---------------------------------------------------------------------------------------


async def test_execute_needs_initialize() -> None:
    session, _ = make()
    message = r"^Session not initialized\. Call initialize\(\) first\.$"
    with pytest.raises(RuntimeError, match=message):
        await session.execute("hi")


async def test_the_orchestrator_gets_everything_by_keyword() -> None:
    loop = Loop()
    session, _ = make({"loop": mounts("orchestrator", loop)})
    await session.initialize()
    assert await session.execute("hi") == "answer"
    coordinator = session.coordinator
    assert loop.called_with == {
        "prompt": "hi",
        "context": coordinator.get("context"),
        "providers": coordinator.get("providers"),
        "tools": coordinator.get("tools"),
        "hooks": coordinator.hooks,
        "coordinator": coordinator,
    }
    assert loop.called_with["tools"] is coordinator.get("tools")


async def test_an_orchestrator_of_spec_000_runs_without_the_coordinator() -> None:
    class Old:
        async def execute(
            self, prompt: str, context: Any, providers: Any, tools: Any, hooks: Any
        ) -> str:
            return f"old {prompt}"

    class Explicit:
        async def execute(
            self, prompt: str, context: Any, providers: Any, tools: Any, hooks: Any,
            coordinator: Any = None,
        ) -> str:  # fmt: skip
            return f"explicit {coordinator is not None}"

    for orchestrator, expected in ((Old(), "old hi"), (Explicit(), "explicit True")):
        session, _ = make({"loop": mounts("orchestrator", orchestrator)})
        async with session:
            assert await session.execute("hi") == expected


async def test_an_answer_that_is_no_string_passes_through() -> None:
    session, _ = make(acting(lambda **_: {"any": 1}))
    async with session:
        assert await session.execute("hi") == {"any": 1}


@pytest.mark.parametrize(
    ("point", "message"),
    [
        ("orchestrator", "No orchestrator module mounted"),
        ("context", "No context manager mounted"),
        ("providers", "No providers mounted"),
    ],
)
async def test_a_turn_needs_these_modules(point: str, message: str) -> None:
    session, _ = make()
    await session.initialize()
    session.coordinator.mount_points[point] = {} if point == "providers" else None
    with pytest.raises(RuntimeError, match=f"^{message}$"):
        await session.execute("hi")


async def test_the_first_turn_announces_the_session_once() -> None:
    session, traces = make(
        config=plan(session={"metadata": {"title": "t"}}), session_id="s1", parent_id="p1"
    )
    await session.initialize()
    traces.clear()
    await session.execute("one")
    await session.execute("two")
    assert [trace.event for trace in traces] == ["session:start"]
    assert facts(traces[0]) == {
        "session_id": "s1",
        "parent_id": "p1",
        "metadata": {"title": "t"},
    }


async def test_a_resumed_session_says_so() -> None:
    session, traces = make(is_resumed=True)
    await session.initialize()
    await session.execute("one")
    assert [trace.event for trace in traces] == ["session:resume"]
    assert "metadata" not in traces[0].data


async def test_a_raw_session_shows_its_plan_without_its_secrets() -> None:
    config = plan(session={"raw": True}, tools=[{"module": "none", "config": {"API_KEY": "sk-1"}}])
    session, traces = make(config=config)
    await session.initialize()
    traces.clear()
    await session.execute("one")
    await session.execute("two")
    assert [trace.event for trace in traces] == ["session:start", "session:config"]
    assert traces[1].data["raw"]["tools"][0]["config"] == {"API_KEY": "[REDACTED]"}
    assert config["tools"][0]["config"] == {"API_KEY": "sk-1"}


async def test_errors_of_the_orchestrator_come_out_as_they_are(
    caplog: pytest.LogCaptureFixture,
) -> None:
    error = RateLimitError("slow down", provider="p")

    def fails(**_: Any) -> None:
        raise error

    session, traces = make(acting(fails))
    async with session:
        with pytest.raises(RateLimitError) as caught:
            await session.execute("hi")
        assert caught.value is error
        assert session.status.status == "failed"
        assert session.status.last_error == {"message": "slow down"}
        assert "Execution failed: slow down" in caplog.text
        assert "cancel:completed" not in [trace.event for trace in traces]


async def test_the_status_follows_the_turns() -> None:
    seen: list[str] = []
    session, _ = make(acting(lambda **_: seen.append(session.status.status)))
    await session.initialize()
    await session.execute("hi")
    assert session.status.status == "completed"
    await session.execute("again")
    assert seen == ["running", "running"]
    assert session.status.status == "completed"
    assert session.status.last_activity is not None


@pytest.mark.parametrize("immediate", [False, True])
async def test_a_turn_that_was_stopped_says_when_it_has(immediate: bool) -> None:
    async def stops(coordinator: ModuleCoordinator, **_: Any) -> str:
        await coordinator.request_cancel(immediate)
        return "partial"

    session, traces = make(acting(stops))
    await session.initialize()
    assert await session.execute("hi") == "partial"
    assert session.status.status == "cancelled"
    assert traces[-1].event == "cancel:completed"
    assert traces[-1].data["was_immediate"] is immediate
    assert "error" not in traces[-1].data


async def test_a_stopped_turn_that_raises_says_with_what(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def stops(coordinator: ModuleCoordinator, **_: Any) -> str:
        await coordinator.request_cancel()
        raise RuntimeError("stopped hard")

    session, traces = make(acting(stops))
    await session.initialize()
    with pytest.raises(RuntimeError, match="stopped hard"):
        await session.execute("hi")
    assert session.status.status == "cancelled"
    assert traces[-1].event == "cancel:completed"
    assert traces[-1].data["error"] == "stopped hard"
    assert [r for r in caplog.records if r.levelno >= logging.ERROR] == []


async def test_cancelling_the_turns_task_comes_out_as_a_cancellation() -> None:
    started = asyncio.Event()

    async def hangs(**_: Any) -> None:
        started.set()
        await asyncio.Event().wait()

    session, traces = make(acting(hangs))
    await session.initialize()
    task = asyncio.create_task(session.execute("hi"))
    await started.wait()
    session.coordinator.cancellation.request_immediate()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert session.status.status == "cancelled"
    assert traces[-1].event == "cancel:completed"


# -- cleanup ---------------------------------------------------------------------------------------


async def test_the_end_is_announced_before_anything_is_taken_down() -> None:
    order: list[str] = []

    async def mount(coordinator: ModuleCoordinator, config: dict[str, Any]) -> Any:
        coordinator.hooks.register(
            "session:end", lambda event, data: order.append(f"end {data['status']}")
        )
        return lambda: order.append("cleanup")

    session, traces = make({"hook": mount}, plan(hooks=[{"module": "hook"}]), session_id="s1")
    session.loader.cleanup = lambda: order.append("loader")
    await session.initialize()
    await session.execute("hi")
    await session.cleanup()
    assert order == ["end completed", "cleanup", "loader"]
    assert facts(traces[-1]) == {"session_id": "s1", "parent_id": None, "status": "completed"}
    assert session.status.ended_at is not None
    assert (session.initialized, session._initialized) == (False, False)


async def test_a_second_cleanup_emits_nothing() -> None:
    session, traces = make()
    await session.initialize()
    await session.cleanup()
    await session.cleanup()
    assert [trace.event for trace in traces] == ["session:end"]


async def test_a_session_that_was_never_initialized_ends_in_silence() -> None:
    session, traces = make()
    await session.cleanup()
    assert traces == []
    assert session.loader.cleaned == 1


async def test_the_status_of_the_end_is_that_of_the_last_turn() -> None:
    def fails(**_: Any) -> None:
        raise RuntimeError

    session, traces = make(acting(fails))
    await session.initialize()
    with pytest.raises(RuntimeError):
        await session.execute("hi")
    await session.cleanup()
    assert traces[-1].data["status"] == "failed"


async def test_a_cleanup_that_raises_stops_nothing(caplog: pytest.LogCaptureFixture) -> None:
    def breaks(*_: Any) -> None:
        raise RuntimeError("boom")

    session, _ = make({"tool": mounts("tools", object(), "t", cleanup=breaks)},
                      plan(tools=[{"module": "tool"}]))  # fmt: skip
    await session.initialize()
    session.coordinator.hooks.register("session:end", breaks)
    session.loader.cleanup = breaks
    await session.cleanup()
    assert caplog.text.count("Error during cleanup: boom") == 2


async def test_the_loader_is_tidied_up_even_when_a_cleanup_is_cancelled() -> None:
    session, _ = make()
    await session.initialize()
    session.loader.cleanup = AsyncMock()

    def cancels() -> None:
        raise asyncio.CancelledError

    session.coordinator.register_cleanup(cancels)
    with pytest.raises(asyncio.CancelledError):
        await session.cleanup()
    session.loader.cleanup.assert_awaited_once()
    assert session.initialized is False


async def test_an_end_that_can_not_be_emitted_does_not_keep_the_session_alive(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    session, _ = make()
    await session.initialize()

    async def broken(event: str, data: Any) -> None:
        raise ValueError("no")

    monkeypatch.setattr(session.coordinator.hooks, "emit", broken)
    await session.cleanup()
    assert session.loader.cleaned == 1


async def test_a_loader_without_cleanup_is_fine() -> None:
    class Bare:
        load = MemoryLoader().load

    session = AmplifierSession(plan(), loader=Bare())
    async with session:
        assert await session.execute("hi") == "answer"


async def test_async_with_initializes_and_cleans_up() -> None:
    session, traces = make()
    async with session as same:
        assert same is session
        assert session.initialized
    assert not session.initialized
    assert traces[-1].event == "session:end"


async def test_async_with_tidies_up_when_initializing_fails() -> None:
    ran: list[str] = []
    loader = MemoryLoader(
        {"loop": mounts("orchestrator", Loop(), cleanup=lambda: ran.append("loop"))}
    )
    del loader.modules["context"]
    session = AmplifierSession(plan(), loader=loader)
    with pytest.raises(RuntimeError, match="Cannot initialize without context manager"):
        async with session:
            pass
    assert ran == ["loop"]
    assert loader.cleaned == 1


# -- children --------------------------------------------------------------------------------------


async def test_a_child_announces_its_parent_and_names_it_in_every_event() -> None:
    parent, _ = make(session_id="p1")
    child, traces = make(
        config=parent._merge_configs(plan(session={"metadata": {"m": 1}}), {}),
        session_id="p1-c",
        parent_id="p1",
    )
    async with child:
        assert await child.execute("task") == "answer"
    assert [trace.event for trace in traces] == ["session:fork", "session:start", "session:end"]
    assert facts(traces[0]) == {
        "parent": "p1",
        "parent_id": "p1",
        "session_id": "p1-c",
        "metadata": {"m": 1},
    }
    assert {trace.data["parent_id"] for trace in traces} == {"p1"}


async def test_a_raw_child_shows_its_plan_when_it_forks() -> None:
    child, traces = make(
        config=plan(session={"raw": True}, secret="s"), session_id="c", parent_id="p"
    )
    await child.initialize()
    assert traces[0].event == "session:fork"
    assert traces[0].data["raw"]["secret"] == "[REDACTED]"


async def test_a_parents_stop_reaches_its_child() -> None:
    parent, _ = make()
    child, _ = make(parent_id=parent.session_id)
    parent.coordinator.cancellation.register_child(child.coordinator.cancellation)
    await parent.coordinator.request_cancel(immediate=True)
    assert child.coordinator.cancellation.is_immediate


async def test_a_circular_plan_starts_forks_and_shows_itself_all_the_same() -> None:
    metadata: dict[str, Any] = {"title": "t"}
    metadata["self"] = metadata
    config = plan(session={"raw": True, "metadata": metadata}, tools=[])
    config["session"]["all"] = config
    session, traces = make(config=config, parent_id="p")
    async with session:
        assert await session.execute("one") == "answer"
    by_event = {trace.event: trace.data for trace in traces}
    for event in ("session:fork", "session:start"):
        assert by_event[event]["metadata"] == {"title": "t", "self": "[CIRCULAR]"}
    assert by_event["session:config"]["raw"]["session"]["all"] == "[CIRCULAR]"


async def test_an_orchestrator_whose_signature_is_unknown_gets_the_coordinator() -> None:
    loop = Loop()
    execute = MagicMock(side_effect=loop.execute)
    execute.__signature__ = "no signature"
    session, _ = make({"loop": mounts("orchestrator", SimpleNamespace(execute=execute))})
    async with session:
        assert await session.execute("hi") == "answer"
    assert loop.called_with["coordinator"] is session.coordinator
