# A genuine cancellation always comes out, whatever the handlers do with it.

import asyncio
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from amplifier_tui.kernel.hooks import HookRegistry, HookResult

KINDS = ["sync", "waits", "swallows", "converts", "answers", "cancels itself", "raises cancelled"]


def handler(kind: str, waits: int, started: list[str]) -> Any:
    def sync(event: str, data: dict[str, Any]) -> None:
        started.append(kind)

    async def waiting(event: str, data: dict[str, Any]) -> HookResult | None:
        started.append(kind)
        try:
            for _ in range(waits):
                await asyncio.sleep(0)
            if kind == "cancels itself":
                task = asyncio.current_task()
                assert task is not None
                task.cancel()
                await asyncio.sleep(0)
            if kind == "raises cancelled":
                raise asyncio.CancelledError
        except asyncio.CancelledError as error:
            if kind in ("swallows", "answers"):
                await asyncio.sleep(0)
            elif kind == "converts":
                raise RuntimeError("converted") from error
            else:
                raise
        return HookResult(action="deny") if kind == "answers" else None

    return sync if kind == "sync" else waiting


@given(
    st.lists(st.tuples(st.sampled_from(KINDS), st.integers(0, 3)), max_size=5),
    st.integers(0, 12),
)
async def test_a_cancelled_emit_ends_cancelled_and_starts_no_further_handler(
    plan: list[tuple[str, int]], steps: int
) -> None:
    hooks, started = HookRegistry(), []
    for kind, waits in plan:
        hooks.register("x", handler(kind, waits, started))
    task = asyncio.create_task(hooks.emit("x", {"rows": [{"n": n} for n in range(3)]}))
    for _ in range(steps):
        await asyncio.sleep(0)
    if task.done():
        assert task.cancelled() is False
        assert task.result().action == ("deny" if "answers" in started else "continue")
        return
    before = len(started)
    task.cancel()
    await asyncio.wait([task])
    assert task.cancelled()
    # Cancelled before its first step, an emit has not even begun.
    assert len(started) == before


@given(st.lists(st.tuples(st.sampled_from(KINDS), st.integers(0, 3)), max_size=6))
async def test_no_handler_takes_the_emit_with_it(plan: list[tuple[str, int]]) -> None:
    hooks, started = HookRegistry(), []
    for kind, waits in plan:
        hooks.register("x", handler(kind, waits, started))
    task = asyncio.create_task(hooks.emit("x", {}))
    result = await task
    kinds = [kind for kind, _ in plan]
    expected = kinds[: kinds.index("answers") + 1] if "answers" in kinds else kinds
    assert started == expected
    assert result.action == ("deny" if "answers" in kinds else "continue")
    assert task.cancelling() == 0
