import time

import pytest

from amplifier_tui.host.client import SetAsideCard
from amplifier_tui.ui.dialogs.jobs.set_aside import ContentsSheet, SetAsideList
from tests.ui.driving import Driver, running
from tests.ui.fake_client import FakeClient


def client(problem: str = "") -> FakeClient:
    now = time.time()
    return FakeClient(
        moved=(
            SetAsideCard(key="/k/1/.envrc", name=".envrc", at=now - 60, text="[b]A=1\u202e[/b]\n"),
            SetAsideCard(
                key="/k/2/.husky", name="web/.husky", at=now - 7200, text="A folder with\nx"
            ),
        ),
        unmoved=problem,
    )


async def listed(drive: Driver) -> SetAsideList:
    await drive.write("/aside")
    await drive.press("enter")
    found = await drive.dialog(SetAsideList)
    await drive.settle()
    return found


@pytest.mark.parametrize("size", [(40, 12), (80, 24), (120, 36)])
async def test_what_was_moved_aside_is_listed_with_its_place_and_age(
    size: tuple[int, int],
) -> None:
    async with running(client(), size=size) as drive:
        await listed(drive)
        text = drive.text()
        assert ".envrc" in text and "1 min ago" in text
        assert "web/.husky" in text and "2 h ago" in text
        assert "Put it back" in text


async def test_it_is_read_before_it_is_put_back() -> None:
    async with running(client()) as drive:
        await listed(drive)
        assert "who of you two made it can't be told" in " ".join(drive.text().split())
        await drive.press("enter")
        await drive.dialog(ContentsSheet)
        assert "[b]A=1‹U+202E›[/b]" in drive.text()
        await drive.press("escape")
        await drive.dialog(SetAsideList)
        assert drive.client.named("put_back") == []


async def test_a_key_puts_it_back_and_it_is_listed_no_more() -> None:
    async with running(client()) as drive:
        await listed(drive)
        await drive.press("j", "p")
        await drive.until(lambda: "web/.husky is back where it was." in drive.text())
        assert drive.client.named("put_back") == [("/k/2/.husky",)]
        await drive.press("p")
        await drive.until(lambda: "Nothing was moved aside in this folder." in drive.text())
        assert ".envrc is back where it was." in drive.text()


async def test_what_can_not_be_put_back_stays_listed_with_the_reason() -> None:
    async with running(client("There is another .envrc by now: move that away first")) as drive:
        await listed(drive)
        await drive.press("p")
        await drive.until(lambda: "move that away first." in drive.text())
        assert "1 min ago" in drive.text()


async def test_what_can_not_be_listed_is_said() -> None:
    async with running(FakeClient(moved=OSError(13, "Permission denied"))) as drive:
        await listed(drive)
        assert "cannot be listed: [Errno 13] Permission denied" in drive.text()


async def test_all_are_put_back_by_one_key() -> None:
    async with running(client()) as drive:
        await listed(drive)
        await drive.press("P")
        await drive.until(lambda: "2 files are back where they were." in drive.text())
        assert drive.client.named("put_back") == [("/k/2/.husky",), ("/k/1/.envrc",)]
