"""``execution:end`` and ``orchestrator:complete`` come once, last, on every way out of a turn."""

import asyncio

import pytest

from tests.modules.loops.support import Bench, Tool, assert_whole, call, calls, says

POINTS = [
    "execution:start",
    "prompt:submit",
    "provider:request",
    "provider:response",
    "content_block:start",
    "content_block:end",
    "tool:pre",
    "tool:post",
    "prompt:complete",
    "orchestrator:complete",
]


def one_turn() -> Bench:
    return Bench(calls(call("t"), text="I will."), says("Done."), tools={"t": Tool("t")})


def assert_ended(bench: Bench, ended: str, status: str | None = None) -> None:
    assert bench.standard_names()[-2:] == ["orchestrator:complete", "execution:end"]
    assert len(bench.of("execution:end")) == len(bench.of("orchestrator:complete")) == 1
    (end,), (complete,) = bench.of("execution:end"), bench.of("orchestrator:complete")
    assert end["status"] == ended
    assert complete["status"] == (status or ended)
    if ended != "completed":
        assert end["response"] == ""
    assert_whole(bench.context.rows)


@pytest.mark.parametrize("point", POINTS)
async def test_a_turn_that_is_cancelled_at_any_event_ends_as_cancelled(point: str):
    bench = one_turn()
    reached = asyncio.Event()

    async def hold(*_: object) -> None:
        reached.set()
        await asyncio.Event().wait()

    bench.hooks.register(point, hold)
    task = asyncio.create_task(bench.run())
    await reached.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    if point == "orchestrator:complete":
        # An event that was cut short is not told to observers; the end comes all the same.
        (end,) = bench.of("execution:end")
        assert (end["response"], end["status"]) == ("", "cancelled")
        return
    assert_ended(bench, "cancelled")


@pytest.mark.parametrize("point", POINTS)
async def test_a_hook_that_raises_at_any_event_does_not_end_the_turn(point: str):
    bench = one_turn()

    def broken(*_: object) -> None:
        raise ZeroDivisionError("a bug in a hook")

    bench.hooks.register(point, broken)
    assert await bench.run() == "Done."
    assert_ended(bench, "completed", "success")


@pytest.mark.parametrize("point", POINTS[:-1])
async def test_a_registry_that_fails_at_any_event_ends_the_turn_as_an_error(point: str):
    bench = one_turn()
    emit = bench.hooks.emit

    class Registry:
        """Stands for a registry of somebody else's."""

        observe = bench.hooks.observe

        async def emit(self, event: str, data: dict[str, object]) -> object:
            if event == point:
                raise OSError("disk full")
            return await emit(event, data)

    bench.hooks = Registry()
    if point.startswith("tool:"):
        # A tool call that fails is told to the model, and the turn goes on.
        assert await bench.run() == "Done."
        assert "disk full" in bench.results()["c1"]
        assert_ended(bench, "completed", "success")
        return
    with pytest.raises(OSError, match="disk full"):
        await bench.run()
    assert_ended(bench, "error")


async def test_a_provider_that_ends_the_program_still_leaves_an_end():
    bench = Bench(SystemExit(3))
    with pytest.raises(SystemExit):
        await bench.run()
    assert_ended(bench, "error")


async def test_turns_one_after_the_other_each_have_their_own_events():
    bench = Bench(says("A"), ValueError("broken"), says("C"))
    await bench.run()
    with pytest.raises(ValueError, match="broken"):
        await bench.run()
    await bench.run()
    assert [data["status"] for data in bench.of("execution:end")] == [
        *("completed", "error", "completed")
    ]
    assert [data["turn_count"] for data in bench.of("orchestrator:complete")] == [1, 1, 1]
