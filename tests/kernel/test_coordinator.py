import asyncio
import inspect
import logging
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import pytest
from pydantic import BaseModel

from amplifier_tui.kernel.cancellation import CancellationToken
from amplifier_tui.kernel.coordinator import ModuleCoordinator
from amplifier_tui.kernel.hooks import HookRegistry


def session(**config: Any) -> SimpleNamespace:
    return SimpleNamespace(session_id="s1", parent_id="p1", config={"session": config})


@pytest.fixture
def coordinator() -> ModuleCoordinator:
    return ModuleCoordinator(session())


def test_it_reads_the_session_it_belongs_to() -> None:
    owner = session(a=1)
    coordinator = ModuleCoordinator(owner)
    assert coordinator.session is owner
    assert (coordinator.session_id, coordinator.parent_id) == ("s1", "p1")
    assert coordinator.config is owner.config
    other = SimpleNamespace(session_id="s2", parent_id=None, config={})
    coordinator._set_session(other)
    assert (coordinator.session, coordinator.session_id) == (other, "s2")


def test_it_works_without_a_session() -> None:
    coordinator = ModuleCoordinator()
    assert (coordinator.session, coordinator.session_id, coordinator.parent_id) == (None, "", None)
    assert coordinator.config == {}
    assert coordinator.injection_budget_per_turn is None
    assert coordinator.injection_size_limit is None


def test_it_works_with_a_mocked_session() -> None:
    coordinator = ModuleCoordinator(MagicMock(session_id="m"), MagicMock(), MagicMock())
    assert coordinator.session_id == "m"
    assert coordinator.injection_size_limit is None


def test_infrastructure_is_read_only(coordinator: ModuleCoordinator) -> None:
    assert isinstance(coordinator.hooks, HookRegistry)
    assert isinstance(coordinator.cancellation, CancellationToken)
    assert coordinator.channels == {}
    names = (
        "hooks cancellation channels session_id parent_id session config "
        "injection_budget_per_turn injection_size_limit"
    )
    for name in names.split():
        with pytest.raises(AttributeError):
            setattr(coordinator, name, None)


def test_what_applications_set_is_settable(coordinator: ModuleCoordinator) -> None:
    for name in [
        "mount_points",
        "loader",
        "approval_system",
        "display_system",
        "session_state",
        "_current_turn_injections",
        "_tool_dispatch_context",
        "session_dir",
    ]:
        value = object()
        setattr(coordinator, name, value)
        assert getattr(coordinator, name) is value


def test_it_can_be_subclassed() -> None:
    class Own(ModuleCoordinator):
        extra = 1

    assert Own(session()).get("tools") == {}


def test_the_mount_points_are_these(coordinator: ModuleCoordinator) -> None:
    assert coordinator.mount_points == {
        "orchestrator": None,
        "providers": {},
        "tools": {},
        "context": None,
        "hooks": coordinator.hooks,
        "module-source-resolver": None,
    }
    assert coordinator.mount_points["hooks"] is coordinator.hooks


@pytest.mark.parametrize("point", ["orchestrator", "context", "module-source-resolver"])
async def test_a_single_point_holds_the_last_module(
    coordinator: ModuleCoordinator, point: str, caplog: pytest.LogCaptureFixture
) -> None:
    first, second = object(), object()
    await coordinator.mount(point, first)
    assert "Replacing" not in caplog.text
    await coordinator.mount(point, second, name="ignored")
    assert f"Replacing existing {point}" in caplog.text
    assert coordinator.get(point) is second
    assert coordinator.get(point, "whatever") is second
    await coordinator.unmount(point)
    await coordinator.unmount(point)
    assert coordinator.get(point) is None


@pytest.mark.parametrize("point", ["providers", "tools"])
async def test_a_multi_point_holds_many_by_name(coordinator: ModuleCoordinator, point: str) -> None:
    named = SimpleNamespace(name="own")
    await coordinator.mount(point, named)
    await coordinator.mount(point, "explicit", name="other")
    assert coordinator.get(point) == {"own": named, "other": "explicit"}
    assert coordinator.get(point) is coordinator.mount_points[point]
    assert coordinator.get(point, "own") is named
    assert coordinator.get(point, "missing") is None
    await coordinator.mount(point, "again", name="own")
    assert list(coordinator.get(point).items()) == [("own", "again"), ("other", "explicit")]
    await coordinator.unmount(point, "own")
    assert list(coordinator.get(point)) == ["other"]


@pytest.mark.parametrize("point", ["providers", "tools"])
async def test_multi_points_need_names(coordinator: ModuleCoordinator, point: str) -> None:
    with pytest.raises(ValueError, match=f"^Name required for {point}$"):
        await coordinator.mount(point, object())
    with pytest.raises(ValueError, match=f"^Name required to unmount from {point}$"):
        await coordinator.unmount(point)
    with pytest.raises(TypeError, match=r"must be a string, not int"):
        await coordinator.mount(point, SimpleNamespace(name=5))


async def test_unmounting_what_is_not_mounted_says_what_is(coordinator: ModuleCoordinator) -> None:
    with pytest.raises(ValueError, match=r"Nothing named 'x' is mounted in tools.*none"):
        await coordinator.unmount("tools", "x")
    await coordinator.mount("tools", object(), name="bash")
    with pytest.raises(ValueError, match=r"mounted are: bash"):
        await coordinator.unmount("tools", "x")


async def test_unknown_points_are_refused(coordinator: ModuleCoordinator) -> None:
    with pytest.raises(ValueError, match=r"^Unknown mount point: nowhere$"):
        await coordinator.mount("nowhere", object())
    with pytest.raises(ValueError, match=r"^Unknown mount point: nowhere$"):
        await coordinator.unmount("nowhere")
    with pytest.raises(ValueError, match=r"^Unknown mount point: nowhere$"):
        coordinator.get("nowhere")


async def test_hooks_are_not_mounted(coordinator: ModuleCoordinator) -> None:
    message = r"^Hooks should be registered directly with the HookRegistry$"
    with pytest.raises(ValueError, match=message):
        await coordinator.mount("hooks", object(), name="x")
    await coordinator.unmount("hooks")
    assert coordinator.get("hooks") is coordinator.hooks
    assert coordinator.get("hooks", "x") is coordinator.hooks


@pytest.mark.parametrize("part", ["orchestrator", "context"])
async def test_session_is_an_alias_for_orchestrator_and_context(
    coordinator: ModuleCoordinator, part: str
) -> None:
    module = object()
    await coordinator.mount("session", module, name=part)
    assert coordinator.get(part) is module
    assert coordinator.get("session", part) is module
    await coordinator.unmount("session", part)
    assert coordinator.get(part) is None


@pytest.mark.parametrize("name", [None, "tools", "hooks", "other"])
async def test_session_is_an_alias_for_nothing_else(
    coordinator: ModuleCoordinator, name: str | None
) -> None:
    with pytest.raises(ValueError, match=r"^Unknown mount point: session$"):
        await coordinator.mount("session", object(), name=name)
    with pytest.raises(ValueError, match=r"^Unknown mount point: session$"):
        coordinator.get("session", name)


async def test_agents_exist_once_one_is_mounted(coordinator: ModuleCoordinator) -> None:
    with pytest.raises(ValueError, match=r"Unknown mount point: agents"):
        coordinator.get("agents")
    await coordinator.mount("agents", "a", name="reviewer")
    assert coordinator.get("agents") == {"reviewer": "a"}


async def test_get_mounted_is_a_dict_of_its_own(coordinator: ModuleCoordinator) -> None:
    await coordinator.mount("tools", "t", name="bash")
    await coordinator.mount("context", "c")
    mounted = coordinator.get_mounted("tools")
    assert mounted == {"bash": "t"}
    mounted.clear()
    assert coordinator.get_mounted("tools") == {"bash": "t"}
    assert coordinator.get_mounted("context") == {"context": "c"}
    assert coordinator.get_mounted("orchestrator") == {}
    with pytest.raises(ValueError, match=r"Unknown mount point"):
        coordinator.get_mounted("nowhere")


def test_replaced_mount_points_are_the_ones_in_use(coordinator: ModuleCoordinator) -> None:
    coordinator.mount_points = {"tools": {"mine": 1}, "custom": {}}
    assert coordinator.get("tools", "mine") == 1
    assert coordinator.get("custom") == {}


def test_capabilities_last_registration_counts_and_none_withdraws(
    coordinator: ModuleCoordinator,
) -> None:
    assert coordinator.get_capability("agents.list") is None
    coordinator.register_capability("agents.list", "one")
    coordinator.register_capability("agents.list", "two")
    assert coordinator.get_capability("agents.list") == "two"
    coordinator.register_capability("agents.list", None)
    assert coordinator.get_capability("agents.list") is None
    assert coordinator.to_dict()["capabilities"] == ["agents.list"]


async def test_contributions_come_in_order_of_registration_without_none(
    coordinator: ModuleCoordinator, caplog: pytest.LogCaptureFixture
) -> None:
    async def later() -> str:
        return "async"

    def broken() -> None:
        raise RuntimeError("boom")

    for callback in (lambda: ["sync"], lambda: None, later, broken, lambda: later(), lambda: 0):
        coordinator.register_contributor("ch", "same-name", callback)
    assert await coordinator.collect_contributions("ch") == [["sync"], "async", "async", 0]
    assert await coordinator.collect_contributions("nobody") == []
    [record] = [r for r in caplog.records if "boom" in r.getMessage()]
    assert "'same-name'" in record.getMessage()
    assert "'ch'" in record.getMessage()
    assert [entry["name"] for entry in coordinator.channels["ch"]] == ["same-name"] * 6
    assert set(coordinator.channels["ch"][0]) == {"name", "callback"}


async def test_a_cancelled_contributor_ends_the_collection_with_what_is_there(
    coordinator: ModuleCoordinator, caplog: pytest.LogCaptureFixture
) -> None:
    def cancelled() -> None:
        raise asyncio.CancelledError

    for callback in (lambda: 1, cancelled, lambda: 2):
        coordinator.register_contributor("ch", "n", callback)
    assert await coordinator.collect_contributions("ch") == [1]
    assert "was cancelled" in caplog.text


async def test_cancelling_the_collecting_task_gets_through(
    coordinator: ModuleCoordinator,
) -> None:
    started = asyncio.Event()

    async def hangs() -> None:
        started.set()
        await asyncio.Event().wait()

    coordinator.register_contributor("ch", "n", hangs)
    task = asyncio.create_task(coordinator.collect_contributions("ch"))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_contributors_registered_while_collecting_wait_for_the_next_time(
    coordinator: ModuleCoordinator,
) -> None:
    def registers() -> str:
        coordinator.register_contributor("ch", "late", lambda: "late")
        return "first"

    coordinator.register_contributor("ch", "first", registers)
    assert await coordinator.collect_contributions("ch") == ["first"]


async def test_request_cancel_only_sets_the_token(coordinator: ModuleCoordinator) -> None:
    heard: list[str] = []
    coordinator.hooks.register("cancel:requested", lambda event, data: heard.append(event))
    coordinator.cancellation.on_cancel(lambda: heard.append("callback"))
    await coordinator.request_cancel()
    assert coordinator.cancellation.is_graceful
    await coordinator.request_cancel(immediate=True)
    assert coordinator.cancellation.is_immediate
    assert heard == []


async def test_a_new_turn_has_its_budget_back_and_stays_cancelled(
    coordinator: ModuleCoordinator,
) -> None:
    coordinator._current_turn_injections = 7
    await coordinator.request_cancel()
    coordinator.reset_turn()
    assert coordinator._current_turn_injections == 0
    assert coordinator.cancellation.is_cancelled


def test_limits_are_read_live_from_the_config() -> None:
    owner = session(injection_budget_per_turn=10, injection_size_limit=20)
    coordinator = ModuleCoordinator(owner)
    assert coordinator.injection_budget_per_turn == 10
    assert coordinator.injection_size_limit == 20
    owner.config["session"]["injection_size_limit"] = 5
    assert coordinator.injection_size_limit == 5
    owner.config.clear()
    assert coordinator.injection_budget_per_turn is None


def test_limits_are_read_from_a_config_model_too() -> None:
    class Config(BaseModel):
        session: dict[str, int] = {"injection_size_limit": 9}

    owner = SimpleNamespace(session_id="s", parent_id=None, config=Config())
    assert ModuleCoordinator(owner).injection_size_limit == 9


async def test_to_dict_names_what_is_there(coordinator: ModuleCoordinator) -> None:
    assert coordinator.to_dict() == {
        "tools": [],
        "providers": [],
        "has_orchestrator": False,
        "has_context": False,
        "capabilities": [],
        "has_approval_provider": False,
        "has_display_service": False,
    }
    await coordinator.mount("tools", 1, name="bash")
    await coordinator.mount("providers", 1, name="mock")
    await coordinator.mount("orchestrator", 1)
    await coordinator.mount("context", 1)
    coordinator.register_capability("c", 1)
    coordinator.approval_system = coordinator.display_system = object()
    assert coordinator.to_dict() == {
        "tools": ["bash"],
        "providers": ["mock"],
        "has_orchestrator": True,
        "has_context": True,
        "capabilities": ["c"],
        "has_approval_provider": True,
        "has_display_service": True,
    }
    coordinator.approval_system = None
    assert coordinator.to_dict()["has_approval_provider"] is False


def test_async_methods_return_coroutines(coordinator: ModuleCoordinator) -> None:
    for coroutine in (
        coordinator.mount("tools", 1, name="x"),
        coordinator.unmount("tools", "x"),
        coordinator.collect_contributions("c"),
        coordinator.cleanup(),
        coordinator.request_cancel(),
    ):
        assert inspect.iscoroutine(coroutine)
        coroutine.close()


def test_a_coordinator_that_can_ask_nobody_says_so_to_who_debugs(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    for approval, display in ((None, None), (object(), None), (None, object())):
        caplog.clear()
        ModuleCoordinator(None, approval, display)
        assert "Coordinator without approval or display system: asking is denying" in caplog.text
    caplog.clear()
    ModuleCoordinator(None, object(), object())
    assert caplog.text == ""
