"""An image as large as the screen, and how images are shown in the whole app."""

import sys
import threading

import pytest

from amplifier_tui.host.events import ImageCard, ImagesAdded
from amplifier_tui.ui.dialogs.image_sheet import ImageSheet
from amplifier_tui.ui.images.cells import PixelSize
from tests.pixels import BLUE, plain
from tests.ui.driving import Driver, running
from tests.ui.fake_client import SESSION, FakeClient
from tests.ui.state.make import turn

FILES = {"red": plain(80, 40), "blue": plain(40, 40, BLUE)}


def card(key: str, width: int) -> ImageCard:
    return ImageCard(key=key, media_type="image/png", name=f"{key}.png", width=width, height=40)


ADDED = ImagesAdded(session_id=SESSION, images=(card("red", 80), card("blue", 40)))


@pytest.fixture(autouse=True)
def colours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TEXTUAL_COLOR_SYSTEM", "truecolor")
    monkeypatch.setattr("textual.constants.COLOR_SYSTEM", "truecolor")


async def shown(drive: Driver, *events: object) -> None:
    await drive.push(turn(), *(events or (ADDED,)))


def cells(drive: Driver) -> int:
    return drive.text().count("▀")


async def test_each_image_of_a_prompt_fills_the_screen_and_esc_closes() -> None:
    async with running(FakeClient(pictures=FILES), size=(80, 24)) as drive:
        await shown(drive)
        await drive.until(lambda: cells(drive))
        await drive.write("/image")
        await drive.press("enter")
        await drive.dialog(ImageSheet)
        await drive.until(lambda: cells(drive) == 76 * 19)
        assert "1 of 2 · red.png · 80x40 PNG" in drive.text()
        await drive.press("n")
        await drive.until(lambda: "2 of 2 · blue.png" in drive.text())
        await drive.until(lambda: 0 < cells(drive) < 76 * 19)
        await drive.pilot.resize_terminal(40, 12)
        await drive.until(lambda: 0 < cells(drive) <= 40 * 12)
        await drive.press("escape")
        await drive.closed()


async def test_an_image_that_is_gone_says_so_in_its_place() -> None:
    async with running(FakeClient(pictures={}), size=(80, 24)) as drive:
        await shown(drive)
        await drive.until(lambda: "red.png" in drive.text())
        await drive.app.run_by_id("view.image")
        await drive.dialog(ImageSheet)
        await drive.until(lambda: "it is not stored any more" in drive.text())
        await drive.pilot.resize_terminal(20, 12)
        await drive.until(lambda: "it is not stored…" in drive.text())
        assert "1 of 2 · red.png …" in drive.text()
        await drive.press("escape")
        await drive.closed()


async def test_text_is_chosen_and_taken_back() -> None:
    async with running(FakeClient(pictures=FILES)) as drive:
        await shown(drive)
        await drive.until(lambda: cells(drive))
        await drive.app.run_by_id("app.images", "text")
        await drive.until(lambda: not cells(drive))
        assert "image: red.png · 80x40 PNG" in drive.text()
        assert drive.app.preferences.images == "text"
        await drive.app.run_by_id("view.image")
        assert "Images can't be drawn: text was chosen for images." in drive.text()
        await drive.app.run_by_id("app.images")
        assert "Images: text (a line of text each)" in drive.text()
        await drive.app.run_by_id("app.images", "auto")
        await drive.until(lambda: cells(drive))


@pytest.mark.parametrize("lacking", ["NO_COLOR is set", "Pillow is not installed"])
async def test_without_colours_or_the_library_images_are_lines(
    lacking: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if lacking.startswith("NO_COLOR"):
        monkeypatch.setenv("NO_COLOR", "1")
    else:
        monkeypatch.setitem(sys.modules, "PIL", None)
    async with running(FakeClient(pictures=FILES)) as drive:
        await shown(drive)
        await drive.until(lambda: "image: red.png · 80x40 PNG" in drive.text())
        assert not cells(drive) and not drive.client.named("image")
        await drive.app.run_by_id("app.images")
        assert f"Images: auto (as text, because {lacking})" in drive.text()
        await drive.app.run_by_id("view.image")
        assert f"Images can't be drawn: {lacking}." in drive.text()


async def test_there_may_be_none() -> None:
    async with running() as drive:
        await shown(drive, turn(2))
        await drive.app.run_by_id("view.image")
        assert "There is no image in this conversation." in drive.text()


async def test_of_steps_in_a_row_no_two_images_are_read_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reading = threading.Lock()
    going_on = threading.Event()
    begun: list[bool] = []

    def draw(data: bytes, size: PixelSize) -> bytes:
        begun.append(reading.acquire(blocking=False))
        going_on.wait(10)
        reading.release()
        return bytes(3 * size.width * size.height)

    async with running(FakeClient(pictures=FILES), size=(80, 24)) as drive:
        await shown(drive)
        await drive.until(lambda: cells(drive))
        monkeypatch.setattr("amplifier_tui.ui.dialogs.image_sheet.draw", draw)
        await drive.app.run_by_id("view.image")
        await drive.dialog(ImageSheet)
        await drive.until(lambda: begun)
        await drive.press("n", "n", "n", "n", "n")
        going_on.set()
        await drive.until(lambda: 0 < cells(drive) < 76 * 19)
        assert "2 of 2 · blue.png" in drive.text()
        assert all(begun)
