"""What is on the screen can be read in every theme; `tests/bench/looks.py` looks at all of it."""

import pytest

from amplifier_tui.paths import shipped_themes_dir
from amplifier_tui.ui.app.themes import build_theme, load_roles
from tests.ui.driving import running
from tests.ui.looking import cut, misplaced, unreadable
from tests.ui.requests import DIFF, ask

THEMES = sorted(path.stem for path in shipped_themes_dir().glob("*.yaml"))
OPENED = ("app.help", "app.palette", "session.sessions", "session.bundles", "pane.modules")


@pytest.fixture(autouse=True)
def in_true_colour(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLORTERM", "truecolor")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)


async def test_dialogs_and_panes_can_be_read_in_every_theme() -> None:
    async with running(size=(120, 36)) as drive:

        async def look(name: str) -> None:
            for theme in THEMES:
                drive.app.theme = theme
                await drive.settle()
                found = list(unreadable(drive.app, 7.0 if theme == "contrast" else 4.5))
                assert not found, (name, theme)
            assert not list(misplaced(drive.app)), name
            assert not list(cut(drive.app)), name

        for action in OPENED:
            await drive.app.run_by_id(action)
            await drive.settle()
            await look(action)
            await drive.press("escape")
        await drive.push(ask(diff=DIFF, payload_kind="diff"))
        await drive.until(lambda: drive.app.screen is not drive.app.main)
        await look("approval")


async def test_a_theme_that_cannot_be_read_is_found() -> None:
    roles = {**load_roles(shipped_themes_dir() / "ink.yaml"), "name": "faint"}
    roles["muted"] = roles["surface"]
    async with running() as drive:
        drive.app.register_theme(build_theme(roles))
        drive.app.theme = "faint"
        await drive.settle()
        assert list(unreadable(drive.app, 4.5))
