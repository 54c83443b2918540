import time

import pytest
from textual.widgets import Input

from amplifier_tui.host.client import MemoryCard
from amplifier_tui.ui.dialogs.pickers import MemoryList
from amplifier_tui.ui.dialogs.questions import AskLine
from tests.ui.driving import Driver, running
from tests.ui.fake_client import FakeClient

LONG = "The suite needs a redis on a unix socket. " * 4 + "Start it first."


def client() -> FakeClient:
    now = time.time()
    return FakeClient(
        remembered=(
            MemoryCard(memory_id=12, text=LONG, created=now - 300),
            MemoryCard(memory_id=9, text="Write [b]British[/b] English", everywhere=True),
            MemoryCard(memory_id=3, text="漢字\x1b[31m\nsecond line", created=now - 864_000),
        )
    )


async def listed(drive: Driver) -> MemoryList:
    await drive.press("ctrl+x", "M")
    found = await drive.dialog(MemoryList)
    await drive.settle()
    return found


async def command(drive: Driver, text: str) -> None:
    await drive.write(text)
    await drive.press("enter")


@pytest.mark.parametrize("size", [(60, 16), (80, 24), (120, 36), (200, 50)])
async def test_memories_are_listed_with_their_age_and_where_they_count(
    size: tuple[int, int],
) -> None:
    async with running(client(), size=size) as drive:
        await listed(drive)
        text = drive.text()
        assert "#12" in text and "this project · 5 min ago" in text
        assert "[b]British[/b]" in text and "everywhere" in text
        assert "漢字 second line" in text and "\x1b" not in text
        assert "this project · 10 days ago" in text
        assert text.index("#12") < text.index("#9") < text.index("#3")
        assert "Forget" in text
        if size[1] >= 24:
            # What does not fit into its row is shown whole below.
            assert "Start it first." in text


async def test_a_long_memory_leaves_room_for_the_list_and_the_keys_on_a_lower_screen() -> None:
    cards = (MemoryCard(memory_id=2, text=LONG * 6), MemoryCard(memory_id=1, text="Short"))
    async with running(FakeClient(remembered=cards), size=(80, 40)) as drive:
        await listed(drive)
        assert drive.text().count("Start it first.") == 6
        await drive.pilot.resize_terminal(80, 21)
        await drive.until(lambda: " …" in drive.text())
        assert "esc  Close" in drive.text() and "Short" in drive.text()


async def test_a_memory_is_forgotten_on_the_second_key_only() -> None:
    async with running(client()) as drive:
        await listed(drive)
        await drive.press("j", "d")
        assert "Forget #9 for good" in drive.text()
        assert drive.client.named("forget") == []
        await drive.press("d")
        assert drive.client.named("forget") == [(9,)]
        assert "#9" not in drive.text() and "#12" in drive.text()
        await drive.press("d", "d")
        assert drive.client.named("forget")[1:] == [(3,)]
        await drive.press("escape")
        await drive.closed()


@pytest.mark.parametrize("key", ["escape", "enter", "j", "slash"])
async def test_any_other_key_keeps_it(key: str) -> None:
    async with running(client()) as drive:
        found = await listed(drive)
        await drive.press("d", key)
        if key == "slash":
            await drive.press("x")
        assert "for good" not in drive.text()
        assert drive.app.screen is found
        assert drive.client.named("forget") == []


async def test_the_filter_takes_letters_and_is_left_again() -> None:
    async with running(client()) as drive:
        found = await listed(drive)
        await drive.press("slash")
        await drive.write("redis")
        assert "#12" in drive.text() and "#9" not in drive.text()
        await drive.press("enter")
        assert not found.query_one(Input).has_focus
        await drive.press("d", "d")
        assert drive.client.named("forget") == [(12,)]
        await drive.press("escape")
        assert "#9" in drive.text()
        await drive.press("escape")
        await drive.closed()


async def test_enter_copies_the_whole_text() -> None:
    async with running(client()) as drive:
        await listed(drive)
        await drive.press("enter")
        await drive.closed()
        assert drive.app.clipboard == LONG


async def test_a_session_without_a_memory_says_so() -> None:
    async with running(FakeClient(remembered=RuntimeError("This session has no memory."))) as drive:
        await listed(drive)
        assert "This session has no memory." in drive.text()
        await drive.press("d", "enter", "escape")
        await drive.closed()
        assert drive.client.named("forget") == []


async def test_an_empty_list_says_how_to_begin() -> None:
    async with running() as drive:
        await listed(drive)
        assert "/remember" in drive.text()
        await drive.press("d", "d")
        assert drive.client.named("forget") == []


@pytest.mark.parametrize(
    ("text", "call"),
    [
        ("/remember Tests need redis", ("Tests need redis", False)),
        ("/remember --everywhere British English", ("British English", True)),
        ("/remember --everywherever is text", ("--everywherever is text", False)),
    ],
)
async def test_the_command_remembers(text: str, call: tuple[str, bool]) -> None:
    async with running() as drive:
        await command(drive, text)
        assert drive.client.named("remember") == [call]


@pytest.mark.parametrize(
    ("text", "everywhere"), [("/remember", False), ("/remember --everywhere", True)]
)
async def test_without_a_text_it_is_asked_for(text: str, everywhere: bool) -> None:
    async with running() as drive:
        await command(drive, text)
        await drive.dialog(AskLine)
        await drive.write("x" * 250)
        await drive.press("enter")
        await drive.closed()
        assert drive.client.named("remember") == [("x" * 250, everywhere)]


async def test_a_memory_is_forgotten_by_its_number() -> None:
    async with running() as drive:
        await command(drive, "/forget 12")
        await command(drive, "/forget #3")
        assert drive.client.named("forget") == [(12,), (3,)]


@pytest.mark.parametrize("name", ["redis", "-1", "1.5", "²", "#"])
async def test_what_is_no_number_forgets_nothing(name: str) -> None:
    async with running() as drive:
        await command(drive, f"/forget {name}")
        assert drive.client.named("forget") == []


async def test_forget_without_a_number_shows_the_list() -> None:
    async with running(client()) as drive:
        await command(drive, "/forget")
        await drive.dialog(MemoryList)
