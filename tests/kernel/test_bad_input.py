# Whatever a module does, the session survives, the failure is an event with a readable message, and
# nothing else is lost.

import asyncio
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from amplifier_tui.kernel import AmplifierSession, ModuleCoordinator, ModuleLoader
from amplifier_tui.kernel.hooks import HookRegistry, HookResult, HookTrace
from amplifier_tui.kernel.hooks.results import WANTED
from tests.kernel.plans import Loop, MemoryLoader, MountFunction, Named, facts, make, mounts, plan


async def emits(hooks: HookRegistry, **arguments: Any) -> str:
    result = await hooks.emit("tool:pre", {"tool_name": "bash", "nested": {"list": [1]}})
    return f"{result.action} {result.data and result.data['nested']}"


def emitting(**modules: MountFunction) -> dict[str, MountFunction]:
    return {"loop": mounts("orchestrator", Loop(emits)), **modules}


async def opened(
    handler: Callable[[AmplifierSession], Any],
) -> tuple[AmplifierSession, list[HookTrace], list[dict[str, Any]]]:
    # A session with the handler, and a good one after it that notes what it sees.
    session, traces = make(emitting())
    await session.initialize()
    seen: list[dict[str, Any]] = []
    session.coordinator.hooks.register("tool:pre", handler(session), name="bad")
    session.coordinator.hooks.register("tool:pre", lambda event, data: seen.append(data))
    return session, traces, seen


def raises(session: AmplifierSession) -> Any:
    def handler(event: str, data: dict[str, Any]) -> None:
        raise RuntimeError("no such table")

    return handler


def mutates(session: AmplifierSession) -> Any:
    def handler(event: str, data: dict[str, Any]) -> None:
        data["nested"]["list"].append("mutated")
        data.clear()

    return handler


def registers(session: AmplifierSession) -> Any:
    def handler(event: str, data: dict[str, Any]) -> None:
        session.coordinator.hooks.register("tool:pre", raises(session), -1, "added")

    return handler


def unregisters(session: AmplifierSession) -> Any:
    def handler(event: str, data: dict[str, Any]) -> None:
        session.coordinator.hooks.unregister("bad")

    return handler


def cancels_itself(session: AmplifierSession) -> Any:
    async def handler(event: str, data: dict[str, Any]) -> None:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        await asyncio.sleep(0)

    return handler


@pytest.mark.parametrize(
    ("handler", "error"),
    [
        (raises, "RuntimeError: no such table"),
        (mutates, None),
        (registers, None),
        (unregisters, None),
        (cancels_itself, "HandlerCancelledError: the handler was cancelled"),
    ],
)
async def test_a_bad_handler_is_alone_with_what_it_does(handler: Any, error: str | None) -> None:
    session, traces, seen = await opened(handler)
    async with session:
        for _ in range(2):
            assert await session.execute("hi") == "continue {'list': [1]}"
    assert [data["nested"] for data in seen] == [{"list": [1]}] * 2
    first = next(trace for trace in traces if trace.event == "tool:pre")
    (told,) = [part.error for part in first.handlers if part.name == "bad"]
    place = re.escape(f" ({__file__}:") + r"\d+\)"
    assert told is None if error is None else re.fullmatch(re.escape(error) + place, told or "")


async def test_rubbish_denies_and_says_who_answered_it() -> None:
    session, traces, seen = await opened(lambda session: lambda event, data: 42)
    async with session:
        assert await session.execute("hi") == "deny None"
        assert session.status.status == "completed"
    assert seen == []
    [trace] = [trace for trace in traces if trace.event == "tool:pre"]
    reason = trace.result.reason
    assert reason.startswith("Hook handler returned invalid response (")
    assert f" at {__file__}:" in reason and f": int is not a HookResult). {WANTED}" in reason
    error = trace.handlers[0].error
    assert error is not None and error.startswith(
        f"Hook handler returned invalid response: int is not a HookResult ({__file__}:"
    )
    assert error.endswith(f"). {WANTED}")


async def test_a_handler_that_hangs_ends_with_the_turn_and_the_next_turn_runs() -> None:
    started = asyncio.Event()

    def hangs(session: AmplifierSession) -> Any:
        async def handler(event: str, data: dict[str, Any]) -> None:
            if not started.is_set():
                started.set()
                await asyncio.Event().wait()

        return handler

    session, traces, seen = await opened(hangs)
    async with session:
        turn = asyncio.create_task(session.execute("one"))
        await started.wait()
        turn.cancel()
        with pytest.raises(asyncio.CancelledError):
            await turn
        assert session.status.status == "cancelled"
        assert await session.execute("two") == "continue {'list': [1]}"
    assert len(seen) == 1
    first = next(trace for trace in traces if trace.event == "tool:pre")
    assert (first.handlers[-1].name, first.handlers[-1].verdict) == ("bad", "error")


# -- modules ---------------------------------------------------------------------------------------


async def mount_raises(coordinator: ModuleCoordinator, config: dict[str, Any]) -> None:
    await coordinator.mount("tools", Named("half"))
    raise KeyError("API_KEY")


async def mount_exits(coordinator: ModuleCoordinator, config: dict[str, Any]) -> None:
    raise SystemExit(3)


async def mount_cancels(coordinator: ModuleCoordinator, config: dict[str, Any]) -> None:
    raise asyncio.CancelledError


async def mount_returns_nothing(coordinator: ModuleCoordinator, config: dict[str, Any]) -> None:
    return None


async def mount_twice(coordinator: ModuleCoordinator, config: dict[str, Any]) -> None:
    await coordinator.mount("providers", Named("twice"))
    await coordinator.mount("providers", Named("twice"))


async def mount_as_another(coordinator: ModuleCoordinator, config: dict[str, Any]) -> None:
    await coordinator.mount("providers", Named("mock"), name="mock")


@pytest.mark.parametrize(
    ("mount", "error"),
    [
        (mount_raises, "'API_KEY'"),
        (mount_exits, "the module tried to end the program (exit 3)"),
        (mount_cancels, "the module raised CancelledError while mounting"),
        (mount_returns_nothing, "Provider mount did not install a new provider instance"),
        (mount_twice, None),
        (mount_as_another, None),
    ],
)
async def test_a_bad_mount_costs_only_its_module(mount: MountFunction, error: str | None) -> None:
    session, traces = make(
        emitting(**{"provider-bad": mount, "tool-good": mounts("tools", Named("good"))}),
        plan(
            providers=[{"module": "provider-mock"}, {"module": "provider-bad"}],
            tools=[{"module": "tool-good"}],
        ),
    )
    async with session:
        assert (await session.execute("hi")).startswith("continue")
        assert list(session.coordinator.get("tools")) == ["good"]
        assert "mock" in session.coordinator.get("providers")
    failures = [facts(trace) for trace in traces if trace.event == "module:load_failed"]
    assert [failure["error"] for failure in failures] == ([] if error is None else [error])
    assert {failure["module_id"] for failure in failures} <= {"provider-bad"}


async def test_a_resolver_that_returns_a_missing_path_costs_only_that_module(
    tmp_path: Path,
) -> None:
    class Resolver:
        def resolve(self, module_id: str, source_hint: Any = None, profile_hint: Any = None) -> Any:
            return tmp_path / "gone"

    class Mixed(MemoryLoader):
        async def load(self, module_id: str, *arguments: Any, **keywords: Any) -> Any:
            if module_id == "tool-gone":
                return await real.load(module_id, *arguments, **keywords)
            return await super().load(module_id, *arguments, **keywords)

    config = plan(tools=[{"module": "tool-gone"}, {"module": "tool-good"}])
    session = AmplifierSession(
        config, loader=Mixed(emitting(**{"tool-good": mounts("tools", Named("good"))}))
    )
    real = ModuleLoader(session.coordinator)
    traces: list[HookTrace] = []
    session.coordinator.hooks.observe(traces.append)
    await session.coordinator.mount("module-source-resolver", Resolver())
    async with session:
        assert (await session.execute("hi")).startswith("continue")
        assert list(session.coordinator.get("tools")) == ["good"]
    [failure] = [trace.data for trace in traces if trace.event == "module:load_failed"]
    assert failure["reason_code"] == "missing_source"
    assert f"{tmp_path / 'gone'}: the path does not exist" in failure["error"]


# -- data ------------------------------------------------------------------------------------------


def circular() -> dict[str, Any]:
    data: dict[str, Any] = {}
    data["me"] = [data]
    return data


def huge() -> dict[str, Any]:
    row: Any = ["x"]
    for _ in range(30):
        row = [row, row]
    return {"rows": row}


@pytest.mark.parametrize(
    ("build", "message"), [(circular, "circular"), (huge, "more than 1000000 dicts and lists")]
)
async def test_data_nobody_can_carry_is_the_emitters_error_and_an_event(
    build: Callable[[], dict[str, Any]], message: str
) -> None:
    async def act(hooks: HookRegistry, **arguments: Any) -> str:
        try:
            await hooks.emit("x", build())
        except ValueError as error:
            return str(error)
        return "carried"

    session, traces = make({"loop": mounts("orchestrator", Loop(act))})
    await session.initialize()
    session.coordinator.hooks.register("x", lambda event, data: HookResult())
    async with session:
        assert message in await session.execute("hi")
        assert session.status.status == "completed"
    [trace] = [trace for trace in traces if trace.event == "x"]
    assert message in trace.data["error"]


# -- the end ---------------------------------------------------------------------------------------


async def test_a_cleanup_that_raises_keeps_nothing_from_ending() -> None:
    closed: list[str] = []

    def fails() -> None:
        raise OSError("socket gone")

    def closing(name: str, cleanup: Any) -> MountFunction:
        return mounts("tools", Named(name), cleanup=cleanup)

    session, traces = make(
        {
            "tool-a": closing("a", lambda: closed.append("a")),
            "tool-bad": closing("bad", fails),
            "tool-c": closing("c", lambda: closed.append("c")),
        },
        plan(tools=[{"module": "tool-a"}, {"module": "tool-bad"}, {"module": "tool-c"}]),
    )
    async with session:
        pass
    assert closed == ["c", "a"]
    assert [trace.event for trace in traces][-2:] == ["session:end", "cleanup:failed"]
    assert traces[-1].data["error"] == "OSError: socket gone"
    assert session.loader.cleaned == 1
