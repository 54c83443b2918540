"""Chance keys and sizes in every dialog, pane and picker: its keys stay on the screen.

What the host is asked it answers at moments of chance, also after the dialog has closed; then the
program goes on. Headless. What can be opened is found in the table of actions, as in `looks`; half
of the keys that are pressed are those that are offered. `python -m tests.bench.plays SEED …` plays
others.
"""

import asyncio
import random
import secrets
import sys

from amplifier_tui.ui.dialogs.parts.sheet import KeyRow, Sheet
from amplifier_tui.ui.keys.actions import ACTIONS
from tests.bench.looks import ASKED
from tests.bench.openings import DIFF, LEAVES, client, closed
from tests.bench.table import Row
from tests.ui.driving import Driver, running
from tests.ui.fake_imported import Late
from tests.ui.looking import Fault, cut, hidden, misplaced
from tests.ui.requests import ask

SIZES = ((80, 24), (40, 12), (60, 16), (100, 30), (120, 36))
PLAYS, QUICK = 400, 60
STEPS = 12
KEYS = (
    *"abcdefgilnoprstvwxyz123",
    *("slash", "question_mark", "space", "enter", "tab", "shift+tab", "backspace", "ctrl+u"),
    *("down", "up", "left", "right", "pagedown", "home", "end", "ctrl+f", "ctrl+t", "ctrl+o"),
)
NAMED = {"/": "slash", "?": "question_mark"}
QUESTIONS = {
    **ASKED,
    "approval of a long edit": lambda: ask(
        tool="edit_file",
        payload="",
        segments=(),
        diff=DIFF,
        risk="medium",
        timeout=300.0,
        editable=True,
    ),
    "approval of a command": lambda: ask(risk="low", editable=True),
}
OPENS = [each for each in ACTIONS if each.scope in ("screen", "prompt") and each.id not in LEAVES]


async def play(drive: Driver, name: str, chance: random.Random) -> dict[Fault, str]:
    """Press keys in what is open until it is closed; return what was wrong, with how it came."""
    found: dict[Fault, str] = {}
    sent: list[str] = []
    app = drive.app
    with Late() as late:
        for _ in range(chance.randrange(3, STEPS)):
            if app.screen is app.main and app.main.focused_pane() is None:
                break
            await step(drive, chance, late, sent)
            for fault in (*hidden(app), *misplaced(app), *cut(app)):
                found.setdefault(fault, f"{name}, after {' '.join(sent)}")
    await drive.settle()
    if not app.is_running and sent[-1:] != ["ctrl+c"]:
        found.setdefault(Fault("the program ended", ""), f"{name}, after {' '.join(sent)}")
    return found


async def step(drive: Driver, chance: random.Random, late: Late, sent: list[str]) -> None:
    """Do one thing more, and note it in what was sent."""
    app = drive.app
    offered = [each.key.split()[0] for row in app.screen.query(KeyRow) for each in row.choices]
    offered = [NAMED.get(key, key) for key in offered if key not in ("esc", "…")]
    luck = chance.random()
    if luck < 0.1:
        size = chance.choice(SIZES)
        sent.append(f"{size[0]}x{size[1]}")
        await drive.pilot.resize_terminal(*size)
    elif luck < 0.15 and isinstance(app.screen, Sheet):
        # As when the host withdraws what was asked.
        sent.append("(closed)")
        app.screen.call_later(app.screen.finish)
    elif luck < 0.4 and late:
        sent.append("(answer)")
        late.let_go(chance.randrange(len(late)))
    else:
        sent.append(chance.choice(offered if offered and chance.random() < 0.5 else KEYS))
        await drive.press(sent[-1])
    await drive.settle()


async def played(seed: int, plays: int) -> dict[Fault, str]:
    """Open this and that and play in it."""
    chance = random.Random(seed)
    found: dict[Fault, str] = {}
    for _ in range(plays):
        size = chance.choice(SIZES)
        at = f"seed {seed}, {size[0]}x{size[1]}"
        if chance.random() < 0.7:
            name = chance.choice([*QUESTIONS])
            async with running(size=size) as drive:
                await drive.push(QUESTIONS[name]())
                await drive.until(lambda app=drive.app: app.screen is not app.main)
                found = await play(drive, f"{name}, {at}", chance) | found
            continue
        async with running(client(), size=size) as drive:
            action = chance.choice(OPENS)
            await drive.app.run_by_id(action.id)
            await drive.settle()
            found = await play(drive, f"{action.id}, {at}", chance) | found
            if drive.app.is_running:
                await closed(drive, drive.settle)
    return found


def measure(quick: bool) -> list[Row]:
    """Return one row: how many faults were seen."""
    plays = QUICK if quick else PLAYS
    seed = secrets.randbelow(1 << 32)
    found = asyncio.run(played(seed, plays))
    for fault, where in found.items():
        print(f"{where}: {fault.what}: {fault.text}", file=sys.stderr)
    return [
        Row(
            what="keys off the screen after random keys and sizes",
            value=len(found),
            unit="faults",
            goal=0,
            how=f"{plays} plays of up to {STEPS} steps in dialogs, panes and pickers (seed {seed})",
        )
    ]


if __name__ == "__main__":
    for number in sys.argv[1:]:
        for fault, where in asyncio.run(played(int(number), QUICK)).items():
            print(f"{where}: {fault.what}: {fault.text}", flush=True)
