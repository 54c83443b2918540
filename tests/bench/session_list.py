"""The list of stored sessions on screen: from its key to the frame that shows its rows.

The real client lists sessions on disk in the real app, headless; a first filter is typed as well,
which the index answers. With `--quick` there are fewer sessions of other folders.
"""

import asyncio
import json
import os
import tempfile
import time
from pathlib import Path

from textual import events

from amplifier_tui.host.client import OpenRequest
from amplifier_tui.host.door.local_client import LocalClient
from amplifier_tui.host.store.search.indexing import update_index
from amplifier_tui.paths import sessions_dir
from amplifier_tui.ui.app.app import AmplifierApp
from amplifier_tui.ui.dialogs.sessions.picker import SessionPicker
from tests.bench.heart import Heart, stall_row
from tests.bench.table import Row
from tests.homes import home_variables

HERE = 10_000
ELSEWHERE = 90_000
ROUNDS = 7
GOAL = 150.0
_PATIENCE = 20.0
_NAMES = {":": "colon", " ": "space"}


def write_sessions(cwd: Path, count: int) -> None:
    """Store small sessions of a folder."""
    stored = sessions_dir(cwd)
    for number in range(count):
        folder = stored / f"{number:08x}"
        folder.mkdir(parents=True)
        (folder / "transcript.jsonl").write_text('{"role": "user", "content": "Why?"}\n')
        card = {
            "session_id": folder.name,
            "name": f"Session {number}",
            "first_prompt": "Why is it slow?",
            "bundle": "coding",
            "model": "claude-sonnet-4-5",
            "branch": "main",
            "cost": f"{number % 90 / 10}",
            "turn_count": number % 40,
            "tags": ["bug"] if number % 9 == 0 else [],
            "project_dir": str(cwd),
        }
        (folder / "metadata.json").write_text(json.dumps(card))


async def shown(app: AmplifierApp, keys: list[str], matching: int) -> float:
    """Press keys; return the milliseconds until a frame shows a list of so many sessions."""
    painted = asyncio.Event()

    def frame() -> None:
        screen = app.screen
        if isinstance(screen, SessionPicker) and screen.found.matching == matching:
            painted.set()

    app.post_display_hook = frame  # type: ignore[method-assign]
    began = time.perf_counter()
    for key in keys:
        name = _NAMES.get(key, key)
        app.post_message(events.Key(name, key if len(key) == 1 else None))
    async with asyncio.timeout(_PATIENCE):
        await painted.wait()
    return (time.perf_counter() - began) * 1e3


async def measured(cwd: Path, total: int) -> tuple[list[float], list[float], list[float], Heart]:
    """Return the milliseconds of opening, of a filter, of all folders; and the loop's heart."""
    client = LocalClient()
    app = AmplifierApp(lambda: (client, OpenRequest(cwd=cwd, demo=True)), cwd=cwd)
    opened: list[float] = []
    filtered: list[float] = []
    everywhere: list[float] = []
    async with app.run_test(size=(120, 36)) as pilot:
        await app.ready.wait()
        while app.state is None or not app.state.facts.opened:
            await pilot.pause(0.05)
        async with Heart() as heart:
            for _ in range(ROUNDS):
                opened.append(await shown(app, ["ctrl+x", "l"], HERE))
                filtered.append(await shown(app, [*"tag:bug 4500"], 1))
                await shown(app, ["escape"], HERE)
                everywhere.append(await shown(app, ["ctrl+t"], total))
                await pilot.press("escape")
                while app.screen is not app.main:
                    await pilot.pause(0.02)
        await asyncio.wrap_future(client.close())
    return opened, filtered, everywhere, heart


def measure(quick: bool) -> list[Row]:
    """Return the rows."""
    others = ELSEWHERE // (10 if quick else 1) // 9 * 9
    total = HERE + others
    with tempfile.TemporaryDirectory(prefix="session-list-") as home:
        os.environ.update(home_variables(Path(home)))
        cwd = Path(home, "app")
        cwd.mkdir()
        write_sessions(cwd, HERE)
        for number in range(9):
            write_sessions(Path(home, f"other{number}"), others // 9)
        update_index()
        opened, filtered, everywhere, heart = asyncio.run(measured(cwd, total))
    how = f"headless, 120x36, the real client; key to the frame with the rows, {ROUNDS} times"

    def row(what: str, times: list[float], goal: float | None) -> Row:
        return Row(
            what=what,
            value=sorted(times)[len(times) // 2],
            unit="ms",
            goal=goal,
            how=how,
            remark=f"first {times[0]:.0f} ms, slowest {max(times):.0f} ms",
        )

    return [
        row(f"the list of {HERE:,} sessions on screen", opened, GOAL),
        row(f"a filter over {HERE:,} sessions, typed", filtered, None),
        row(f"the list of all {total:,} sessions on screen", everywhere, None),
        stall_row("stall while sessions are listed and filtered", [heart], 33, "a beat of 10 ms"),
    ]
