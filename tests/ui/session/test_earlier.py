"""What of a resumed session is only stored as yet: it comes when it is wanted."""

import pytest

from amplifier_tui.host.events import BlockEnded, TurnEnded, TurnStarted
from tests.ui.driving import Driver, running
from tests.ui.fake_client import SESSION, FakeClient, opened


def resumed(earlier: int) -> FakeClient:
    client = FakeClient(on_open=[opened(resumed=True, earlier=earlier)])
    client.earlier = (
        TurnStarted(session_id=SESSION, turn=1, prompt="the very first", replayed=True),
        BlockEnded(session_id=SESSION, block_id="b1", kind="text", text="word", replayed=True),
        TurnEnded(session_id=SESSION, turn=1, status="success", replayed=True),
    )
    return client


async def talked(drive: Driver) -> None:
    text = "\n\n".join(f"line {n}" for n in range(60))
    await drive.push(
        TurnStarted(session_id=SESSION, turn=9, prompt="the newest"),
        BlockEnded(session_id=SESSION, block_id="b9", kind="text", text=text),
        TurnEnded(session_id=SESSION, turn=9, status="success"),
    )
    await drive.until(lambda: "line 59" in drive.text())


def earlier(drive: Driver) -> int:
    assert drive.app.state is not None
    return drive.app.state.facts.earlier


async def test_words_are_found_in_what_is_only_stored_as_yet() -> None:
    async with running(resumed(earlier=900), size=(120, 36)) as drive:
        await talked(drive)
        await drive.press("ctrl+f")
        await drive.write("very first")
        await drive.until(lambda: "1 of 1" in drive.text() and "the very first" in drive.text())
        assert drive.client.named("history") == [(n, 200) for n in (900, 700, 500, 300, 100)]


async def test_the_first_message_is_gone_to_in_one_go() -> None:
    async with running(resumed(earlier=900), size=(120, 36)) as drive:
        await talked(drive)
        await drive.press("ctrl+home")
        await drive.until(lambda: "the very first" in drive.text())


async def test_a_prompt_before_those_that_are_loaded_is_gone_to() -> None:
    async with running(resumed(earlier=900), size=(120, 36)) as drive:
        await talked(drive)
        for _ in range(2):
            await drive.app.run_by_id("view.previous_prompt")
        await drive.until(lambda: "the very first" in drive.text())


@pytest.mark.parametrize("rows", [5_000, 7_000])
async def test_what_is_too_far_away_is_said(rows: int) -> None:
    client = resumed(earlier=rows)
    client.earlier = ()
    async with running(client, size=(120, 36)) as drive:
        await talked(drive)
        await drive.press("ctrl+f")
        await drive.until(lambda: earlier(drive) == rows - 5_000)
        await drive.settle()
        assert len(client.named("history")) == 25
        assert ("2,000 rows further up" in drive.text()) is (rows > 5_000)


async def test_without_what_is_stored_the_rest_is_searched() -> None:
    client = resumed(earlier=150)
    client.earlier = RuntimeError("no [b]store")
    async with running(client, size=(120, 36)) as drive:
        await talked(drive)
        await drive.press("ctrl+f")
        await drive.write("line 59")
        await drive.until(lambda: "1 of 1" in drive.text())
        assert "cannot be read: no [b]store" in drive.text() and earlier(drive) == 150
