"""How long a picker or a screen takes to open: from its key to the last frame it needs.

Which there are is found in the table of actions: every action that opens something in a long
session is measured, by the key, chord or command the table gives it. Beside it, in turns, a bare
Textual app pushes a screen with a line of input and a list.
"""

import asyncio
import os
import time
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

# As in the program; Textual reads it when it is imported.
os.environ.setdefault("TEXTUAL_FPS", "200")

from textual import events
from textual.app import App
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList

from amplifier_tui.host import events as host
from amplifier_tui.host.cards import (
    AuditCard,
    BundleCard,
    BundlePreview,
    CompactionPreview,
    MemoryCard,
    ModelCard,
    PlannedModule,
    RuleCard,
    SetAsideCard,
)
from amplifier_tui.host.stored_cards import SessionCard
from amplifier_tui.ui.dialogs.parts.sheet import Sheet
from amplifier_tui.ui.keys.action import LEADER, Action
from amplifier_tui.ui.keys.actions import ACTIONS, BY_ID
from tests.bench.program import median, percentile
from tests.bench.table import Row
from tests.ui.driving import Driver, running
from tests.ui.fake_client import FakeClient, opened

GOAL = 80.0
OUT = "ok\n" * 20
DIFF = "--- a/a.py\n+++ b/a.py\n@@ -1,40 +1,41 @@\n" + " same = 1\n" * 40 + "+new = 2\n"
LONG = "--- a/a.py\n+++ b/a.py\n@@ -1,2500 +1,2500 @@\n" + "".join(
    f"-    old_{n} = {n} + count(words)\n+    new_{n} = {n} + count(words)\n" for n in range(2_500)
)
"""The last change: 5 000 lines."""
SIZE = (120, 36)
ROUNDS, QUICK = 8, 2
CALM = 0.08
"""Seconds without a frame after which it is painted; the loop's busy ones don't count."""
BUSY = 0.02
"""Seconds that a turn of the loop takes at most when there is nothing to do."""
PATIENCE = 5.0
LEAVES = frozenset(
    (
        *("app.quit", "app.suspend", "prompt.clear", "prompt.end"),
        *("session.beside", "session.show", "session.next", "session.previous", "session.close"),
    )
)
"""They end the program, two of them together, or show another session than the long one."""


class Took(NamedTuple):
    """Milliseconds from a key to the last frame: by the clock, and of the processor."""

    clock: float
    processor: float


class Frames:
    """When the app has painted."""

    def __init__(self, app: App[Any]) -> None:
        self.last = time.perf_counter()
        self.burned = time.thread_time()

        def painted() -> None:
            self.last, self.burned = time.perf_counter(), time.thread_time()

        app.post_display_hook = painted  # type: ignore[method-assign]

    async def settled(self) -> Took:
        """Wait until nothing is painted any more; return the way to the last frame."""
        since, burned = time.perf_counter(), time.thread_time()
        calm_since = now = since
        while now < min(since + PATIENCE, max(self.last, calm_since) + CALM):
            await asyncio.sleep(0.002)
            before, now = now, time.perf_counter()
            if now - before > BUSY:
                calm_since = now
        return Took((self.last - since) * 1e3, (self.burned - burned) * 1e3)


def session() -> list[host.HostEvent]:
    """Return a long session: a thousand messages, forty modules, ten thousand hook events."""
    found: list[host.HostEvent] = [opened()]

    def put(kind: type[host.HostEvent], /, **fields: Any) -> None:
        found.append(kind(session_id="s1", at=1_000.0 + len(found), **fields))

    for number in range(40):
        put(host.ModuleMounted, module_id=f"tool-{number}", kind="tool", provides=(f"t{number}",))
    put(host.ModelChanged, provider="p", model="m", efforts=("low", "medium", "high"))
    put(
        host.OpeningReported,
        ready=40,
        items=tuple(
            host.ReportItem(what=f"tool-x{n}", kind="failed", part="tool", why="not found")
            for n in range(20)
        ),
    )
    for turn in range(250):
        put(host.TurnStarted, turn=turn, prompt=f"Prompt {turn}: look at the tests")
        put(host.ToolStarted, call_id=f"c{turn}", tool="bash", arguments={"command": "pytest"})
        put(
            host.ToolEnded,
            call_id=f"c{turn}",
            tool="bash",
            ok=True,
            output=OUT,
            diff=DIFF if turn < 249 else LONG,
        )
        text = f"Answer {turn}: **done**, see `file{turn}.py`.\n\n- one\n- two\n"
        put(host.BlockEnded, block_id=f"b{turn}", kind="text", text=text)
        put(host.TurnEnded, turn=turn, status="success")
    steps = tuple(host.TodoItem(content=f"Step {n}", status="pending") for n in range(20))
    put(host.TodoChanged, items=steps)
    for seq in range(10_000):
        put(host.HookTraced, seq=seq, event="tool:pre", source="bash", data='{"tool": "bash"}')
    for number in range(150):
        put(host.Notice, level="info", text=f"Notice {number}")
    return found


def client() -> FakeClient:
    """Return a client that has much to list."""
    bundles = tuple(BundleCard(name=f"bundle{n}", description="For work") for n in range(60))
    modules = tuple(PlannedModule(module_id=f"tool-{n}", kind="tool") for n in range(40))
    return FakeClient(
        on_open=session(),
        cards=bundles,
        previews={card.name: BundlePreview(card=card, modules=modules) for card in bundles},
        stored=tuple(
            SessionCard(session_id=f"{n:08x}", title=f"Session {n}", updated=float(n), turns=n)
            for n in range(1_000)
        ),
        offered=tuple(
            ModelCard(provider=f"p{n % 3}", model=f"model-{n}", context_window=200_000)
            for n in range(300)
        ),
        moved=tuple(
            SetAsideCard(key=f"/kept/{n}", name=f"web/.vscode/{n}.json", at=0.0, text="{}")
            for n in range(40)
        ),
        remembered=tuple(MemoryCard(memory_id=n, text=f"Memory {n}") for n in range(200)),
        standing=tuple(RuleCard(key=str(n), text=f"bash(make {n} *)") for n in range(200)),
        audited=tuple(
            AuditCard(
                key=str(n),
                session_id="s1",
                at=float(n),
                tool="bash",
                outcome="allowed",
                arguments={"command": f"pytest tests/test_{n}.py"},
            )
            for n in range(5_000)
        ),
        reckoned=CompactionPreview(possible=True, before=150_000, after=40_000),
    )


async def opening(drive: Driver, frames: Frames, action: Action) -> Took | None:
    """Run an action by its key, chord or command; the milliseconds, or None if nothing opened."""
    app, prompt = drive.app, drive.app.main.prompt.input
    before = (app.screen, app.main.focused_pane())
    leader = BY_ID[LEADER].keys.split(",")[0]
    keys = [action.keys.split(",")[0]] if action.keys else [leader, action.chord]
    if not keys[-1]:
        prompt.load_text(f"/{action.commands[0]}")
        keys = ["escape", "enter"]
    for key in keys[:-1]:
        app.post_message(events.Key(key, None))
    await frames.settled()
    app.post_message(events.Key(keys[-1], None))
    took = await frames.settled()
    return took if (app.screen, app.main.focused_pane()) != before else None


async def closed(drive: Driver, settled: Callable[[], Awaitable[object]]) -> None:
    """Close what is open; `settled` waits until that is painted."""
    app = drive.app
    while app.screen is not app.main:
        top = app.screen
        if isinstance(top, Sheet):
            # In its own context: it ends itself.
            top.call_later(top.finish)
        else:
            app.pop_screen()
        await settled()
    if (pane := app.main.focused_pane()) is not None:
        app.main.action_pane(pane)
        app.main.shown.add(pane)
        app.main._arrange()
    app.main.close_find()
    prompt = app.main.prompt.input
    prompt.in_chord = False
    prompt.load_text("")
    prompt.focus()
    await settled()


class _List(ModalScreen[None]):
    def compose(self) -> Any:
        yield Input()
        yield OptionList(*(f"Row {number}" for number in range(60)))


async def measured(rounds: int) -> tuple[dict[str, list[Took]], list[Took]]:
    """Return the milliseconds of each opening, by action, and those of the bare app."""
    found: dict[str, list[Took]] = {}
    bare: list[Took] = []
    plain: App[None] = App()
    # The app that comes last is the one whose styles are used here.
    async with plain.run_test(size=SIZE), running(client(), size=SIZE) as drive:
        frames, plain_frames = Frames(drive.app), Frames(plain)
        actions = [a for a in ACTIONS if a.scope in ("screen", "prompt") and a.id not in LEAVES]
        for number in range(rounds):
            for action in actions:
                took = await opening(drive, frames, action)
                if took is not None:
                    found.setdefault(action.id, []).append(took)
                elif number == 0:
                    actions = [each for each in actions if each is not action]
                await closed(drive, frames.settled)
            with plain._context():
                plain.push_screen(_List())
                bare.append(await plain_frames.settled())
                plain.pop_screen()
                await plain_frames.settled()
    return found, bare


def measure(quick: bool) -> list[Row]:
    """Return the rows: each opening, the slowest first."""
    rounds = QUICK if quick else ROUNDS
    found, bare = asyncio.run(measured(rounds))
    clock, processor = (median([each[part] for each in bare]) for part in (0, 1))
    rows = [
        Row(
            what=f"{BY_ID[name].title}: p95",
            value=percentile([each.clock for each in times], 0.95),
            unit="ms",
            goal=GOAL,
            reference=clock,
            against="a bare Textual app that pushes an input and a list",
            how=f"headless, {SIZE[0]}x{SIZE[1]}, a long session; key to last frame, {rounds} times",
            remark=f"median {median([each.clock for each in times]):.0f} ms, CPU "
            f"{median([each.processor for each in times]):.0f} ms beside {processor:.0f}",
        )
        for name, times in found.items()
    ]
    return sorted(rows, key=lambda row: -row.value)
