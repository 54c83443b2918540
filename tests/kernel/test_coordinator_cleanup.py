import asyncio
from typing import Any

import pytest

from amplifier_tui.kernel.coordinator import ModuleCoordinator


@pytest.fixture
def coordinator() -> ModuleCoordinator:
    return ModuleCoordinator()


async def test_cleanup_runs_the_last_registered_first_sync_and_async(
    coordinator: ModuleCoordinator,
) -> None:
    ran: list[str] = []

    async def not_sync() -> None:
        ran.append("async")

    coordinator.register_cleanup(lambda: ran.append("first"))
    coordinator.register_cleanup(not_sync)
    coordinator.register_cleanup(lambda: not_sync())
    await coordinator.cleanup()
    assert ran == ["async", "async", "first"]


async def test_what_is_not_callable_is_ignored_in_silence(
    coordinator: ModuleCoordinator, caplog: pytest.LogCaptureFixture
) -> None:
    for odd in (None, 5, "text"):
        coordinator.register_cleanup(odd)
    assert coordinator._cleanup_fns == []
    odd_one: Any = "put in by hand"
    coordinator._cleanup_fns.append(odd_one)
    await coordinator.cleanup()
    assert [r for r in caplog.records if r.levelname != "DEBUG"] == []


async def test_both_names_of_the_list_are_one_list(coordinator: ModuleCoordinator) -> None:
    assert coordinator._cleanup_functions is coordinator._cleanup_fns


async def test_a_cleanup_that_raises_does_not_stop_the_others(
    coordinator: ModuleCoordinator, caplog: pytest.LogCaptureFixture
) -> None:
    ran: list[str] = []

    def fails() -> None:
        raise RuntimeError("boom")

    coordinator.register_cleanup(lambda: ran.append("a"))
    coordinator.register_cleanup(fails)
    coordinator.register_cleanup(lambda: ran.append("b"))
    await coordinator.cleanup()
    assert ran == ["b", "a"]
    assert "Error during cleanup: boom" in caplog.text


async def test_each_function_runs_once(coordinator: ModuleCoordinator) -> None:
    ran: list[str] = []
    coordinator.register_cleanup(lambda: ran.append("x"))
    await coordinator.cleanup()
    await coordinator.cleanup()
    assert ran == ["x"]


@pytest.mark.parametrize("fatal", [asyncio.CancelledError, KeyboardInterrupt, SystemExit])
def test_the_first_fatal_error_comes_after_all_functions_ran(
    coordinator: ModuleCoordinator, fatal: type[BaseException]
) -> None:
    ran: list[str] = []
    first, second = fatal("first"), fatal("second")

    def raises(error: BaseException) -> Any:
        def run() -> None:
            raise error

        return run

    coordinator.register_cleanup(lambda: ran.append("last"))
    coordinator.register_cleanup(raises(second))
    coordinator.register_cleanup(raises(first))
    with pytest.raises(fatal) as caught:
        coordinator.cleanup().send(None)
    assert caught.value is first
    assert ran == ["last"]


async def test_cancelling_a_cleanup_still_runs_the_rest(coordinator: ModuleCoordinator) -> None:
    ran: list[str] = []
    started = asyncio.Event()

    async def hangs() -> None:
        started.set()
        await asyncio.Event().wait()

    async def tidy() -> None:
        await asyncio.sleep(0)
        ran.append("tidy")

    coordinator.register_cleanup(tidy)
    coordinator.register_cleanup(hangs)
    task = asyncio.create_task(coordinator.cleanup())
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ran == ["tidy"]


async def test_functions_registered_during_cleanup_run_too(
    coordinator: ModuleCoordinator,
) -> None:
    ran: list[str] = []
    coordinator.register_cleanup(lambda: coordinator.register_cleanup(lambda: ran.append("late")))
    await coordinator.cleanup()
    assert ran == ["late"]


async def test_a_function_that_keeps_coming_back_does_not_hang_the_cleanup(
    coordinator: ModuleCoordinator, caplog: pytest.LogCaptureFixture
) -> None:
    def again() -> None:
        coordinator.register_cleanup(again)

    coordinator.register_cleanup(again)
    await coordinator.cleanup()
    assert "too late" in caplog.text
    assert coordinator._cleanup_fns == []


async def test_a_cleanup_that_raises_is_an_event_once_all_ran(
    coordinator: ModuleCoordinator,
) -> None:
    ran: list[str] = []

    def closes() -> None:
        raise OSError("disk gone")

    coordinator.hooks.register("cleanup:failed", lambda event, data: ran.append(data["error"]))
    coordinator.register_cleanup(lambda: ran.append("first"))
    coordinator.register_cleanup(closes)
    seen: list[dict[str, Any]] = []
    coordinator.hooks.observe(lambda trace: seen.append(trace.data))
    await coordinator.cleanup()
    assert ran == ["first", "OSError: disk gone"]
    [data] = seen
    assert data["cleanup"].endswith("closes")


async def test_a_failed_cleanup_is_an_event_even_when_another_was_fatal(
    coordinator: ModuleCoordinator,
) -> None:
    seen: list[str] = []
    coordinator.hooks.observe(lambda trace: seen.append(trace.event))

    def fails() -> None:
        raise RuntimeError("no")

    def fatal() -> None:
        raise asyncio.CancelledError

    coordinator.register_cleanup(fails)
    coordinator.register_cleanup(fatal)
    with pytest.raises(asyncio.CancelledError):
        await coordinator.cleanup()
    assert seen == ["cleanup:failed"]
