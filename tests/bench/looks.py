"""Every screen, dialog and pane in every theme: can each text be read, is each cell in its place.

What can be opened is found in the table of actions, as in `openings`; beside it what asks the user.
"""

import asyncio
import os
import sys
from collections.abc import Callable
from typing import Any

from amplifier_tui.paths import shipped_themes_dir
from amplifier_tui.ui.keys.actions import ACTIONS
from tests.bench.openings import LEAVES, client, closed
from tests.bench.table import Row
from tests.ui.driving import Driver, running
from tests.ui.looking import Fault, cut, misplaced, unreadable
from tests.ui.questions import questions
from tests.ui.requests import DIFF, ask
from tests.ui.trust_questions import many

SIZES = ((80, 24), (120, 36), (200, 50))
THEMES = sorted(path.stem for path in shipped_themes_dir().glob("*.yaml"))
ASKED: dict[str, Callable[[], Any]] = {
    "approval of an edit": lambda: ask(diff=DIFF, payload_kind="diff", risk="medium"),
    "approval of a dangerous command": lambda: ask(risk="critical", timeout=300.0),
    "questions of the agent": questions,
    "question of trust": many,
}


def least(theme: str) -> float:
    """Return the contrast that a theme promises."""
    return 7.0 if theme == "contrast" else 4.5


class Looker:
    """Looks at what is on screen in each theme.

    Attributes:
        looks: How many looks were taken.
        found: What is wrong, each with where it was seen.
    """

    def __init__(self, themes: list[str]) -> None:
        self._themes = themes
        self.looks = 0
        self.found: dict[tuple[str, Fault], None] = {}

    async def look(self, drive: Driver, name: str) -> None:
        """Look at the screen as it is."""
        for theme in self._themes:
            self.looks += 1
            drive.app.theme = theme
            await drive.settle()
            for fault in unreadable(drive.app, least(theme)):
                self.found[f"{name}, {theme}", fault] = None
        for fault in (*misplaced(drive.app), *cut(drive.app)):
            self.found[name, fault] = None


async def walked(size: tuple[int, int], themes: list[str]) -> Looker:
    """Open everything at a size and look at it."""
    looker = Looker(themes)
    async with running(client(), size=size) as drive:
        app = drive.app
        await looker.look(drive, "main")
        for action in ACTIONS:
            if action.scope not in ("screen", "prompt") or action.id in LEAVES:
                continue
            before = (app.screen, app.main.focused_pane(), app.main.find_bar)
            await app.run_by_id(action.id)
            await drive.settle()
            if (app.screen, app.main.focused_pane(), app.main.find_bar) != before:
                await looker.look(drive, action.id)
                await closed(drive, drive.settle)
    for name, make in ASKED.items():
        async with running(size=size) as drive:
            await drive.push(make())
            await drive.until(lambda app=drive.app: app.screen is not app.main)
            await looker.look(drive, name)
    return looker


def measure(quick: bool) -> list[Row]:
    """Return one row a size."""
    os.environ.update(COLORTERM="truecolor", TERM="xterm-256color")
    os.environ.pop("NO_COLOR", None)
    rows = []
    for size in SIZES[:1] if quick else SIZES:
        looker = asyncio.run(walked(size, THEMES))
        for name, fault in looker.found:
            print(f"{name}: {fault.what}: {fault.text}", file=sys.stderr)
        rows.append(
            Row(
                what=f"texts that can't be read, cells out of place, at {size[0]}x{size[1]}",
                value=len(looker.found),
                unit="faults",
                goal=0,
                how=f"{looker.looks} looks: every screen, dialog and pane in {len(THEMES)} themes; "
                "contrast 4.5, 7 in the high-contrast theme",
            )
        )
    return rows
