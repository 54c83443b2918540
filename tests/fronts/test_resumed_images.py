"""The images of a real session that is resumed on the screen."""

import threading
from pathlib import Path

import pytest

from amplifier_tui.foundation.catalog import Choice
from amplifier_tui.foundation.trust.gate import trust_everything
from amplifier_tui.host import LocalClient, OpenRequest
from amplifier_tui.host.session.opening.opening import Opening
from tests.host.driving import MODULES, Driver, Project
from tests.pixels import plain
from tests.ui.driving import running


async def test_images_of_a_resumed_session_are_drawn_while_it_opens_and_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AMPLIFIER_MODULES", str(MODULES))
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "sea.png").write_bytes(plain(30, 20))
    (folder / "chart.png").write_bytes(plain(7, 9, (0, 0, 255)))
    first = Driver(folder)
    opened = first.open(Project(folder).bundle())
    first.turn("See @sea.png")
    first.close()

    goes_on = threading.Event()
    choose = Opening._choose

    def wait(*arguments) -> Choice:
        goes_on.wait(20)
        return choose(*arguments)

    monkeypatch.setattr(Opening, "_choose", wait)
    client = LocalClient(trust_everything)
    request = OpenRequest(cwd=folder, resume=opened.session_id)
    try:
        async with running(client, cwd=folder, request=request, opened=False) as drive:
            await drive.until(lambda: "sea.png · 30x20" in drive.text())
            await drive.until(lambda: drive.text().count("▀") >= 300, "the image, while it opens")
            goes_on.set()
            await drive.until(lambda: drive.app.state.facts.opened)
            await drive.write("and @chart.png ")
            await drive.press("enter")
            await drive.until(lambda: "chart.png · 7x9" in drive.text())
            await drive.until(lambda: drive.text().count("▀") >= 328, "the image that was sent")
            assert "No session is open" not in drive.text()
    finally:
        goes_on.set()
        client.close().result(5)
