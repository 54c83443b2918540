"""Every screen, dialog and pane in every theme: can each text be read, is each cell in its place.

What can be opened is found in the table of actions, as in `openings`; beside it what asks the user.
"""

import asyncio
import os
import sys
from collections.abc import Callable
from typing import Any

from amplifier_tui.paths import shipped_themes_dir
from amplifier_tui.ui.dialogs.parts.sheet import Sheet
from amplifier_tui.ui.keys.actions import ACTIONS
from tests.bench.openings import LEAVES, client
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


async def _close(drive: Driver) -> None:
    app = drive.app
    while app.screen is not app.main:
        top = app.screen
        if isinstance(top, Sheet):
            top.call_later(top.finish)
        else:
            app.pop_screen()
        await drive.settle()
    if (pane := app.main.focused_pane()) is not None:
        app.main.action_pane(pane)
        app.main.shown.add(pane)
        app.main._arrange()
    app.main.close_find()
    app.main.prompt.input.load_text("")
    app.main.prompt.input.focus()
    await drive.settle()


async def walked(size: tuple[int, int], themes: list[str]) -> tuple[int, list[tuple[str, Fault]]]:
    """Open everything at a size; return how many looks were taken, and what is wrong where."""
    looks, found = 0, dict[tuple[str, Fault], None]()
    async with running(client(), size=size) as drive:
        app = drive.app

        async def look(name: str) -> None:
            nonlocal looks
            for theme in themes:
                looks += 1
                app.theme = theme
                await drive.settle()
                for fault in unreadable(app, least(theme)):
                    found[f"{name}, {theme}", fault] = None
            for fault in (*misplaced(app), *cut(app)):
                found[name, fault] = None

        await look("main")
        for action in ACTIONS:
            if action.scope not in ("screen", "prompt") or action.id in LEAVES:
                continue
            before = (app.screen, app.main.focused_pane(), app.main.find_bar)
            await app.run_by_id(action.id)
            await drive.settle()
            if (app.screen, app.main.focused_pane(), app.main.find_bar) != before:
                await look(action.id)
                await _close(drive)
        for number, (name, make) in enumerate(ASKED.items()):
            event = make()
            await drive.push(event.model_copy(update={"request_id": f"look{number}"}))
            await drive.until(lambda: app.screen is not app.main)
            await look(name)
            await _close(drive)
    return looks, list(found)


def measure(quick: bool) -> list[Row]:
    """Return one row a size."""
    os.environ.update(COLORTERM="truecolor", TERM="xterm-256color")
    os.environ.pop("NO_COLOR", None)
    rows = []
    for size in SIZES[:1] if quick else SIZES:
        looks, found = asyncio.run(walked(size, THEMES))
        for name, fault in found:
            print(f"{name}: {fault.what}: {fault.text}", file=sys.stderr)
        rows.append(
            Row(
                what=f"texts that can't be read, cells out of place, at {size[0]}x{size[1]}",
                value=len(found),
                unit="faults",
                goal=0,
                how=f"{looks} looks: every screen, dialog and pane in {len(THEMES)} themes; "
                "contrast 4.5, 7 in the high-contrast theme",
            )
        )
    return rows
