import asyncio
import logging
from typing import Any
from unittest.mock import MagicMock

import pytest

from amplifier_tui.kernel import (
    AmplifierSession,
    ModuleCoordinator,
    ModuleLoader,
)
from amplifier_tui.kernel import session as session_module
from amplifier_tui.kernel.hooks import HookTrace
from tests.kernel import plans
from tests.kernel.plans import Context, MemoryLoader, Named, facts, make, mounts, plan

Log = pytest.LogCaptureFixture


def raising(error: BaseException) -> Any:
    async def mount(coordinator: ModuleCoordinator, config: dict[str, Any]) -> None:
        raise error

    return mount


def failures(traces: list[HookTrace]) -> list[dict[str, Any]]:
    return [facts(trace) for trace in traces if trace.event == "module:load_failed"]


async def test_modules_are_loaded_in_this_order_with_config_and_source() -> None:
    loader = MemoryLoader(
        {name: mounts("tools", object(), name) for name in ("tool-a", "tool-b", "hook-a")}
    )
    config = plan(
        session={"orchestrator_source": "git+o", "context_source": "git+c"},
        orchestrator={"config": {"o": 1}},
        context={"config": {"c": 1}},
        hooks=[{"module": "hook-a"}],
        tools=[{"module": "tool-a", "source": "git+a", "config": {"a": 1}}, {"module": "tool-b"}],
    )
    session = AmplifierSession(config, loader=loader)
    await session.initialize()
    assert loader.asked == [
        ("loop", {"o": 1}, "git+o", session.coordinator),
        ("context", {"c": 1}, "git+c", session.coordinator),
        ("provider-mock", {}, None, session.coordinator),
        ("tool-a", {"a": 1}, "git+a", session.coordinator),
        ("tool-b", {}, None, session.coordinator),
        ("hook-a", {}, None, session.coordinator),
    ]


async def test_orchestrator_and_context_may_be_given_as_dicts() -> None:
    loader = MemoryLoader()
    config = plan(
        session={
            "orchestrator": {"module": "loop", "source": "git+o", "config": {"o": 1}},
            "context": {"module": "context"},
        },
        context={"config": {"c": 1}},
    )
    await AmplifierSession(config, loader=loader).initialize()
    assert [asked[:3] for asked in loader.asked[:2]] == [
        ("loop", {"o": 1}, "git+o"),
        ("context", {"c": 1}, None),
    ]


async def test_initializing_twice_mounts_once_also_at_the_same_time() -> None:
    session, _ = make()
    await asyncio.gather(session.initialize(), session.initialize())
    await session.initialize()
    assert [asked[0] for asked in session.loader.asked] == ["loop", "context", "provider-mock"]


async def test_a_coordinator_without_a_loader_gets_one() -> None:
    coordinator = ModuleCoordinator(MagicMock(config=plan(), session_id="s", parent_id=None))
    with pytest.raises(RuntimeError, match="Cannot initialize without orchestrator: Module 'loop'"):
        await session_module.initialize_session(plan(), coordinator, "s", None)
    assert isinstance(coordinator.loader, ModuleLoader)


@pytest.mark.parametrize(
    ("module", "message"),
    [
        ("loop", "Cannot initialize without orchestrator: broken"),
        ("context", "Cannot initialize without context manager: broken"),
    ],
)
async def test_a_required_module_that_fails_stops_the_session(module: str, message: str) -> None:
    error = OSError("broken")
    session, _ = make({module: raising(error)})
    with pytest.raises(RuntimeError, match=f"^{message}$") as caught:
        await session.initialize()
    assert caught.value.__cause__ is error
    assert session.initialized is False


async def test_a_required_module_that_mounts_nothing_stops_the_session() -> None:
    async def mount(coordinator: ModuleCoordinator, config: dict[str, Any]) -> None:
        await coordinator.mount("tools", object(), "odd")

    session, _ = make({"context": mount})
    with pytest.raises(RuntimeError, match=r"Module 'context' mounted no context$"):
        await session.initialize()
    assert session.initialized is False


async def test_a_module_that_says_it_is_of_another_kind_is_not_mounted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    modules = {"tool-a": mounts("tools", object(), "a")}
    monkeypatch.setattr(plans, "__amplifier_module_type__", "tool", raising=False)
    session, traces = make(modules, plan(hooks=[{"module": "tool-a"}]))
    with pytest.raises(RuntimeError, match="loop is a tool, and no orchestrator"):
        await session.initialize()
    monkeypatch.setattr(plans, "__amplifier_module_type__", "nonsense")
    await session.initialize()
    assert failures(traces) == [] and "a" in session.coordinator.get("tools")


async def test_a_failed_session_can_be_initialized_again() -> None:
    session, _ = make({"context": raising(OSError("not yet"))})
    with pytest.raises(RuntimeError):
        await session.initialize()
    session.loader.modules["context"] = mounts("context", Context())
    await session.initialize()
    assert session.initialized


@pytest.mark.parametrize(("section", "kind"), [("tools", "tool"), ("hooks", "hook")])
@pytest.mark.parametrize(
    ("error", "text"),
    [
        (RuntimeError("boom"), "boom"),
        (asyncio.CancelledError(), "the module raised CancelledError while mounting"),
        (SystemExit(3), "the module tried to end the program (exit 3)"),
    ],
)
async def test_an_optional_module_that_fails_is_named_and_left_out(
    section: str, kind: str, error: BaseException, text: str, caplog: Log
) -> None:
    after = Named("after")
    session, traces = make(
        {"bad": raising(error), "good": mounts("tools", after)},
        plan(**{section: [{"module": "bad"}, {"module": "good"}]}),
    )
    await session.initialize()
    assert session.coordinator.get("tools") == {"after": after}
    assert await session.execute("hi") == "answer"
    [failure] = failures(traces)
    assert {k: failure[k] for k in ("module_type", "module_id", "error", "reason_code")} == {
        "module_type": kind,
        "module_id": "bad",
        "error": text,
        "reason_code": "unknown",
    }
    [record] = [r for r in caplog.records if r.levelno == logging.WARNING]
    assert record.getMessage() == f"Failed to load {kind} 'bad': {text}"
    assert record.exc_info is not None


async def test_a_module_that_is_nowhere_is_a_missing_source() -> None:
    class Mixed(MemoryLoader):
        async def load(self, module_id: str, *arguments: Any, **keywords: Any) -> Any:
            if module_id not in self.modules:
                return await ModuleLoader().load(module_id)
            return await super().load(module_id, *arguments, **keywords)

    session = AmplifierSession(plan(tools=[{"module": "tool-nowhere"}]), loader=Mixed())
    traces: list[HookTrace] = []
    session.coordinator.hooks.observe(traces.append)
    await session.initialize()
    [failure] = failures(traces)
    assert failure["reason_code"] == "missing_source"
    assert "Module 'tool-nowhere' not found via entry points or filesystem" in failure["error"]


async def test_a_failing_mount_leaves_nothing_half_mounted() -> None:
    original = Named("bash")

    async def half(coordinator: ModuleCoordinator, config: dict[str, Any]) -> None:
        await coordinator.mount("tools", object(), name="bash")
        await coordinator.mount("tools", object(), name="extra")
        await coordinator.mount("context", object())
        coordinator.hooks.register("tool:pre", lambda event, data: "rubbish")
        raise RuntimeError("half way")

    context = Context()
    session, _ = make(
        {
            "tool-bash": mounts("tools", original),
            "bad": half,
            "context": mounts("context", context),
        },
        plan(tools=[{"module": "tool-bash"}, {"module": "bad"}]),
    )
    tools = session.coordinator.get("tools")
    await session.initialize()
    assert session.coordinator.get("tools") is tools
    assert tools == {"bash": original}
    assert session.coordinator.get("context") is context
    assert session.coordinator.hooks.list_handlers("tool:pre") == {"tool:pre": []}


async def test_what_a_failed_mount_wants_tidied_up_is_tidied_up() -> None:
    ran: list[str] = []

    async def bad(coordinator: ModuleCoordinator, config: dict[str, Any]) -> None:
        coordinator.register_cleanup(lambda: ran.append("closed"))
        raise RuntimeError

    session, _ = make({"bad": bad}, plan(tools=[{"module": "bad"}]))
    async with session:
        pass
    assert ran == ["closed"]


async def test_a_tool_that_mounts_nothing_is_no_failure() -> None:
    async def declines(coordinator: ModuleCoordinator, config: dict[str, Any]) -> None:
        return None

    session, traces = make({"t": declines}, plan(tools=[{"module": "t"}]))
    await session.initialize()
    assert failures(traces) == []


async def test_a_module_that_mounts_twice_or_under_anothers_name_replaces_with_a_word(
    caplog: Log,
) -> None:
    async def twice(coordinator: ModuleCoordinator, config: dict[str, Any]) -> None:
        await coordinator.mount("tools", Named("first"), name="bash")
        await coordinator.mount("tools", Named("second"), name="bash")

    session, traces = make(
        {"tool-bash": mounts("tools", Named("bash")), "twice": twice},
        plan(tools=[{"module": "tool-bash"}, {"module": "twice"}]),
    )
    await session.initialize()
    assert session.coordinator.get("tools", "bash").name == "second"
    assert failures(traces) == []
    assert "'twice' replaced 'bash' in tools" in caplog.text


async def test_entries_that_name_no_module_are_skipped(caplog: Log) -> None:
    session, traces = make(
        {"tool-a": mounts("tools", Named("a"))},
        plan(tools=[{"config": {}}, "tool-a", 5], hooks={"module": "x"}),
    )
    await session.initialize()
    assert list(session.coordinator.get("tools")) == ["a"]
    assert failures(traces) == []
    assert caplog.text.count("names no module") == 2
    assert "'hooks' of the mount plan must be a list" in caplog.text


async def test_what_mount_returns_is_cleaned_up_unless_it_is_a_module() -> None:
    ran: list[str] = []
    tool = Named("t")
    session, _ = make(
        {
            "a": mounts("tools", Named("a"), cleanup=lambda: ran.append("a")),
            "b": mounts("tools", tool, cleanup=tool),
        },
        plan(tools=[{"module": "a"}, {"module": "b"}]),
    )
    async with session:
        pass
    assert ran == ["a"]


async def test_cancelling_the_initialization_gets_through() -> None:
    started = asyncio.Event()

    async def blocks(coordinator: ModuleCoordinator, config: dict[str, Any]) -> None:
        started.set()
        await asyncio.Event().wait()

    session, _ = make({"slow": blocks}, plan(tools=[{"module": "slow"}]))
    task = asyncio.create_task(session.initialize())
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not session.initialized
    await session.cleanup()


def ready_loader(**functions: Any) -> MemoryLoader:
    class Ready(MemoryLoader):
        async def load(self, module_id: str, *arguments: Any, **keywords: Any) -> Any:
            mount = await super().load(module_id, *arguments, **keywords)
            if module_id in functions:
                mount.__on_session_ready__ = (module_id, functions[module_id])
            return mount

    return Ready(
        {
            "a": mounts("tools", Named("a")),
            "b": mounts("tools", Named("b")),
            "bad": raising(RuntimeError("no")),
            "h": mounts("tools", Named("late")),
        }
    )


async def test_modules_are_told_when_all_are_mounted_in_mount_order(caplog: Log) -> None:
    heard: list[tuple[str, list[str]]] = []

    def note(name: str) -> Any:
        async def on_session_ready(coordinator: ModuleCoordinator) -> None:
            heard.append((name, list(coordinator.get("tools"))))
            if name == "a":
                raise RuntimeError("a is not ready")

        return on_session_ready

    loader = ready_loader(**{name: note(name) for name in ("loop", "a", "b", "bad")})
    config = plan(
        tools=[{"module": "a"}, {"module": "bad"}, {"module": "b"}], hooks=[{"module": "h"}]
    )
    session = AmplifierSession(config, loader=loader, parent_id="p")
    traces: list[HookTrace] = []
    session.coordinator.hooks.observe(traces.append)
    await session.initialize()
    everything = ["a", "b", "late"]
    assert heard == [("loop", everything), ("a", everything), ("b", everything)]
    assert [trace.event for trace in traces] == [
        "module:load_failed",
        "module:on_session_ready_failed",
        "session:fork",
    ]
    failed = facts(traces[1])
    assert (failed["module_id"], failed["error"]) == ("a", "a is not ready")
    assert "on_session_ready of 'a' failed: a is not ready" in caplog.text


@pytest.mark.parametrize(
    ("raised", "message"),
    [
        (asyncio.CancelledError(), "the module raised CancelledError while getting ready"),
        (SystemExit(4), "the module tried to end the program (exit 4)"),
    ],
)
async def test_a_module_that_can_not_get_ready_takes_nobody_with_it(
    raised: BaseException, message: str
) -> None:
    heard: list[str] = []

    async def ends(coordinator: ModuleCoordinator) -> None:
        raise raised

    async def hears(coordinator: ModuleCoordinator) -> None:
        heard.append("b")

    config = plan(tools=[{"module": "a"}, {"module": "b"}])
    session = AmplifierSession(config, loader=ready_loader(a=ends, b=hears))
    traces: list[HookTrace] = []
    session.coordinator.hooks.observe(traces.append)
    await session.initialize()
    assert session.initialized
    assert heard == ["b"]
    assert [facts(trace)["error"] for trace in traces] == [message]


async def test_cancelling_while_modules_get_ready_gets_through() -> None:
    waiting = asyncio.Event()

    async def waits(coordinator: ModuleCoordinator) -> None:
        waiting.set()
        await asyncio.Event().wait()

    session = AmplifierSession(plan(tools=[{"module": "a"}]), loader=ready_loader(a=waits))
    opening = asyncio.create_task(session.initialize())
    await waiting.wait()
    opening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await opening
    assert not session.initialized


async def test_what_the_loader_has_queued_is_called_and_cleared() -> None:
    heard: list[Any] = []

    async def on_session_ready(coordinator: ModuleCoordinator) -> None:
        heard.append(coordinator)

    memory = MemoryLoader()

    class Mixed(ModuleLoader):
        async def load(self, module_id: str, *arguments: Any, **keywords: Any) -> Any:
            return await memory.load(module_id, *arguments, **keywords)

    loader = Mixed()
    loader.enqueue_on_session_ready("m", on_session_ready)
    session = AmplifierSession(plan(), loader=loader)
    await session.initialize()
    assert heard == [session.coordinator]
    assert loader.get_on_session_ready_queue() == []


async def test_what_another_makers_loader_queued_is_called_too() -> None:
    heard: list[Any] = []

    async def on_session_ready(coordinator: ModuleCoordinator) -> None:
        heard.append(coordinator)

    class Other(MemoryLoader):
        def get_on_session_ready_queue(self) -> list[tuple[str, Any]]:
            return [("m", on_session_ready)]

    session = AmplifierSession(plan(), loader=Other())
    await session.initialize()
    assert heard == [session.coordinator]


class Undecodable(Exception):
    def __str__(self) -> str:
        raise UnicodeDecodeError("utf-8", b"\xff", 0, 1, "bad")


def test_an_error_whose_text_can_not_be_decoded_is_still_named() -> None:
    assert session_module._safe_exception_str(ValueError("text")) == "text"
    assert session_module._safe_exception_str(Undecodable()) == "Undecodable()"
