import asyncio

from amplifier_tui.base.python import awaited


async def test_what_can_be_awaited_is_and_all_else_comes_back() -> None:
    async def answer() -> int:
        return 42

    assert await awaited(answer()) == 42
    assert await awaited(42) == 42
    assert await awaited(asyncio.ensure_future(answer())) == 42
    assert await awaited(None) is None
