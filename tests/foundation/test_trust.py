import asyncio
from pathlib import Path

import pytest

import amplifier_tui
from amplifier_tui.foundation.exceptions import TrustRefusedError
from amplifier_tui.foundation.trust.gate import (
    TrustGate,
    TrustRequest,
    shipped_only,
    trust_everything,
)


async def test_by_default_only_what_ships_with_the_program_is_allowed(tmp_path: Path) -> None:
    inside = Path(amplifier_tui.__file__).parent / "modules"
    gate = TrustGate()
    assert await gate.allows(TrustRequest("execute", str(inside), path=inside))
    assert not await gate.allows(TrustRequest("execute", "x", path=tmp_path))
    assert not await gate.allows(TrustRequest("execute", "x", path=inside / ".." / ".." / ".."))
    assert not await gate.allows(TrustRequest("fetch", "git+https://h/r"))


async def test_further_folders_can_be_declared_as_shipped(tmp_path: Path) -> None:
    gate = TrustGate(shipped_only([tmp_path]))
    assert await gate.allows(TrustRequest("execute", "x", path=tmp_path / "bundles" / "m"))


async def test_a_link_out_of_a_shipped_folder_is_not_shipped(tmp_path: Path) -> None:
    (tmp_path / "shipped").mkdir()
    (tmp_path / "shipped" / "link").symlink_to(tmp_path)
    gate = TrustGate(shipped_only([tmp_path / "shipped"]))
    path = tmp_path / "shipped" / "link"
    assert not await gate.allows(TrustRequest("execute", "x", path=path))


async def test_a_refusal_says_what_was_refused_without_credentials() -> None:
    with pytest.raises(TrustRefusedError, match="Not allowed to fetch tool-x from") as caught:
        await TrustGate(lambda request: False).require(
            TrustRequest("fetch", "git+https://me:pw@h/r", "tool-x")
        )
    assert "pw" not in str(caught.value) and caught.value.remedy


async def test_the_callback_may_be_sync_or_async_and_is_asked_once_per_question() -> None:
    asked: list[str] = []

    async def decide(request: TrustRequest) -> bool:
        asked.append(request.uri)
        await asyncio.sleep(0)
        return True

    gate = TrustGate(decide)
    request = TrustRequest("fetch", "a")
    assert all(await asyncio.gather(*(gate.allows(request) for _ in range(3))))
    assert await gate.allows(TrustRequest("fetch", "b"))
    assert asked == ["a", "b"]
    assert await TrustGate(trust_everything).allows(request)


async def test_questions_come_one_at_a_time() -> None:
    open_questions, most = 0, 0

    async def decide(request: TrustRequest) -> bool:
        nonlocal open_questions, most
        open_questions += 1
        most = max(most, open_questions)
        await asyncio.sleep(0)
        open_questions -= 1
        return True

    gate = TrustGate(decide)
    await asyncio.gather(*(gate.allows(TrustRequest("fetch", str(n))) for n in range(5)))
    assert most == 1


async def test_an_error_of_the_callback_passes_through_and_allows_nothing() -> None:
    def broken(request: TrustRequest) -> bool:
        raise RuntimeError("dialog gone")

    gate = TrustGate(broken)
    for _ in range(2):
        with pytest.raises(RuntimeError, match="dialog gone"):
            await gate.allows(TrustRequest("fetch", "a"))
