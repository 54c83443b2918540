import asyncio
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_tui.kernel.coordinator import ModuleCoordinator
from amplifier_tui.kernel.mounting import changes
from amplifier_tui.kernel.mounting.window import MountWindow
from amplifier_tui.kernel.session import AmplifierSession
from tests.kernel.plans import MemoryLoader, Named, make, mounts, plan


def listen(name: str, *given: Any) -> None: ...


def listeners(rows: list[Any]) -> list[str]:
    return [row.args[0] for row in rows if row.func is listen]


async def everything(coordinator: ModuleCoordinator, name: str) -> None:
    await coordinator.mount("tools", Named(name))
    await coordinator.mount("agents", Named(name))
    await coordinator.mount("context", Named(name))
    coordinator.hooks.register("x", lambda event, data: None, name=name)
    coordinator.register_capability(name, 1)
    coordinator.register_contributor("c", name, lambda: name)
    coordinator.cancellation.on_cancel(partial(listen, name))
    coordinator.hooks.observe(partial(listen, name))


def present(coordinator: ModuleCoordinator) -> dict[str, Any]:
    agents = coordinator.mount_points.get("agents", {})
    return {
        "tools": list(coordinator.get("tools")),
        "agents": list(agents),
        "context": getattr(coordinator.get("context"), "name", None),
        "hooks": coordinator.hooks.list_handlers("x")["x"],
        "capabilities": coordinator.to_dict()["capabilities"],
        "contributors": [row["name"] for row in coordinator.channels.get("c", [])],
        "at a stop": listeners(coordinator.cancellation._callbacks),
        "observers": listeners(coordinator.hooks._observers),
    }


async def test_a_failed_mount_takes_back_everything_it_did() -> None:
    async def bad(coordinator: ModuleCoordinator, config: dict[str, Any]) -> None:
        await everything(coordinator, "bad")
        coordinator.mount_points["tools"]["direct"] = object()
        coordinator.hooks.unregister("good")
        await coordinator.unmount("tools", "good")
        raise RuntimeError("half way")

    async def good(coordinator: ModuleCoordinator, config: dict[str, Any]) -> None:
        await everything(coordinator, "good")

    session, _ = make(
        {"good": good, "bad": bad}, plan(tools=[{"module": "good"}, {"module": "bad"}])
    )
    await session.initialize()
    assert present(session.coordinator) == {
        "tools": ["good"],
        "agents": ["good"],
        "context": "good",
        "hooks": ["good"],
        "capabilities": ["good"],
        "contributors": ["good"],
        "at a stop": ["good"],
        "observers": ["good"],
    }


async def test_a_mount_point_that_only_a_failed_mount_used_is_gone_again() -> None:
    async def bad(coordinator: ModuleCoordinator, config: dict[str, Any]) -> None:
        await coordinator.mount("agents", Named("a"))
        raise RuntimeError

    session, _ = make({"bad": bad}, plan(tools=[{"module": "bad"}]))
    await session.initialize()
    with pytest.raises(ValueError, match="Unknown mount point: agents"):
        session.coordinator.get("agents")


async def test_a_mount_that_opens_a_session_of_its_own_is_still_taken_back() -> None:
    async def bad(coordinator: ModuleCoordinator, config: dict[str, Any]) -> None:
        tools = plan(tools=[{"module": "inner"}])
        child, _ = make({"inner": mounts("tools", Named("inner"))}, tools)
        async with child:
            await everything(coordinator, "bad")
        raise RuntimeError("half way")

    session, _ = make({"bad": bad}, plan(tools=[{"module": "bad"}]))
    untouched, _ = make()
    await session.initialize()
    await untouched.initialize()
    assert present(session.coordinator) == present(untouched.coordinator)


async def test_what_others_register_meanwhile_stays() -> None:
    mounting, go_on = asyncio.Event(), asyncio.Event()

    async def bad(coordinator: ModuleCoordinator, config: dict[str, Any]) -> None:
        await everything(coordinator, "bad")
        mounting.set()
        await go_on.wait()
        raise RuntimeError

    session, _ = make({"bad": bad}, plan(tools=[{"module": "bad"}]))
    initializing = asyncio.create_task(session.initialize())
    await mounting.wait()
    await everything(session.coordinator, "other")
    kept = session.coordinator.hooks.register("x", lambda event, data: None, name="removed again")
    kept()
    go_on.set()
    await initializing
    assert present(session.coordinator) == {
        "tools": ["other"],
        "agents": ["other"],
        "context": "other",
        "hooks": ["other"],
        "capabilities": ["other"],
        "contributors": ["other"],
        "at a stop": ["other"],
        "observers": ["other"],
    }


async def test_what_others_take_away_meanwhile_stays_away() -> None:
    mounting, go_on = asyncio.Event(), asyncio.Event()

    async def bad(coordinator: ModuleCoordinator, config: dict[str, Any]) -> None:
        mounting.set()
        await go_on.wait()
        raise RuntimeError

    async def good(coordinator: ModuleCoordinator, config: dict[str, Any]) -> None:
        await everything(coordinator, "good")

    session, _ = make(
        {"good": good, "bad": bad}, plan(tools=[{"module": "good"}, {"module": "bad"}])
    )
    initializing = asyncio.create_task(session.initialize())
    await mounting.wait()
    session.coordinator.hooks.unregister("good")
    await session.coordinator.unmount("tools", "good")
    await session.coordinator.unmount("context")
    go_on.set()
    await initializing
    found = present(session.coordinator)
    assert (found["tools"], found["hooks"], found["context"]) == ([], [], None)


async def test_a_task_the_failed_mount_started_belongs_to_it() -> None:
    done = asyncio.Event()

    async def bad(coordinator: ModuleCoordinator, config: dict[str, Any]) -> None:
        async def background() -> None:
            await coordinator.mount("tools", Named("background"))
            done.set()

        task = asyncio.create_task(background())
        await done.wait()
        await task
        raise RuntimeError

    session, _ = make({"bad": bad}, plan(tools=[{"module": "bad"}]))
    await session.initialize()
    assert list(session.coordinator.get("tools")) == []


async def test_handlers_come_back_in_their_old_order() -> None:
    coordinator = ModuleCoordinator()
    for name in ("a", "b", "c"):
        coordinator.hooks.register("x", lambda event, data: None, name=name)
    with MountWindow(coordinator) as window:
        coordinator.hooks.unregister("b")
        window.restore()
    assert coordinator.hooks.list_handlers("x")["x"] == ["a", "b", "c"]


async def test_no_window_stays_open(monkeypatch: pytest.MonkeyPatch) -> None:
    async def bad(coordinator: ModuleCoordinator, config: dict[str, Any]) -> None:
        raise asyncio.CancelledError

    session, _ = make({"bad": bad}, plan(hooks=[{"module": "bad"}, {"module": "none"}]))
    await session.initialize()
    assert changes.open_notes == []


actions = st.lists(
    st.tuples(
        st.sampled_from(["tool", "untool", "hook", "unhook", "capability", "contributor"]),
        st.integers(0, 3),
    ),
    max_size=8,
)


async def act(coordinator: ModuleCoordinator, who: str, steps: list[tuple[str, int]]) -> None:
    for kind, number in steps:
        name = f"{who}{number}"
        if kind == "tool":
            await coordinator.mount("tools", Named(name))
        elif kind == "untool" and coordinator.get("tools", name) is not None:
            await coordinator.unmount("tools", name)
        elif kind == "hook":
            coordinator.hooks.register("x", print, name=name)
        elif kind == "unhook":
            coordinator.hooks.unregister(name)
        elif kind == "capability":
            coordinator.register_capability(name, number)
        elif kind == "contributor":
            coordinator.register_contributor("c", name, print)


@given(actions, actions, actions)
async def test_going_back_leaves_what_there_would_be_without_the_failed_module(
    before: list[tuple[str, int]], failed: list[tuple[str, int]], others: list[tuple[str, int]]
) -> None:
    coordinator, without = ModuleCoordinator(), ModuleCoordinator()
    await act(coordinator, "o", before)
    with MountWindow(coordinator) as window:
        await act(coordinator, "f", failed)
        context = asyncio.create_task
        # A task made outside of the window's context is somebody else's.
        token = changes._mounting.set(None)
        await context(act(coordinator, "o", others))
        changes._mounting.reset(token)
        await act(coordinator, "f", failed)
        window.restore()
    await act(without, "o", before)
    await act(without, "o", others)
    assert present(coordinator) == present(without)


async def test_a_shared_loader_is_tidied_up_by_the_last_session_that_ends() -> None:
    loader = MemoryLoader({"t": mounts("tools", Named("t"))})
    parent = AmplifierSession(plan(), loader=loader)
    child = AmplifierSession(plan(), loader=loader, parent_id=parent.session_id)
    await parent.initialize()
    await child.initialize()
    await child.cleanup()
    assert loader.cleaned == 0
    await parent.cleanup()
    assert loader.cleaned == 1


async def test_a_shared_loader_survives_its_parent_as_long_as_the_child_runs() -> None:
    loader = MemoryLoader()
    parent, child = (AmplifierSession(plan(), loader=loader) for _ in range(2))
    await parent.initialize()
    await child.initialize()
    await parent.cleanup()
    assert loader.cleaned == 0
    await child.cleanup()
    assert loader.cleaned == 1


async def test_a_session_that_never_ran_does_not_keep_the_loader() -> None:
    loader = MemoryLoader()
    unused, session = (AmplifierSession(plan(), loader=loader) for _ in range(2))
    async with session:
        pass
    assert loader.cleaned == 1
    await unused.cleanup()
    assert loader.cleaned == 2
