"""Eight sessions in one window, all streaming: keys, stalls, memory; and going from one to another.

Memory and keys are those of the real program in a pty; stalls and the way from one long
conversation to another those of the headless app.
"""

import asyncio
import json
import os
import random
import re
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

# As in the program; Textual reads it when it is imported.
os.environ.setdefault("TEXTUAL_FPS", "200")

from textual import events

from amplifier_tui.foundation.trust.gate import trust_everything
from amplifier_tui.host import events as host
from amplifier_tui.host.client import OpenRequest
from amplifier_tui.host.door.local_client import LocalClient
from amplifier_tui.ui.app.app import AmplifierApp
from amplifier_tui.ui.dialogs.modules.leader import LeaderPopup
from tests.bench.heart import Heart, stall_row
from tests.bench.key_echo import Echo, type_by_turns
from tests.bench.memory import prepare
from tests.bench.openings import Frames
from tests.bench.program import (
    MeasurementFailedError,
    machine,
    median,
    percentile,
    rss_mib,
    start,
    until,
)
from tests.bench.prose import prose
from tests.bench.table import Row
from tests.e2e.machine import Machine
from tests.ui.driving import running
from tests.ui.fake_client import FakeClient, opened

SESSIONS = 8
RATE = 125
"""Tokens a second of each."""
KEYS, QUICK_KEYS = 160, 60
STREAMED = 10.0
"""Seconds of streaming in which stalls are looked for."""
MESSAGES = 10_000
ONE, EACH = 75.0, 12.0
"""MiB that the program may take when its session is ready, and what each of several may add."""
LONGEST = 60.0


def write_bundle(home: Machine, seconds: float) -> None:
    """Write a bundle of the modules the shipped ones have, whose model talks for so long."""
    prepare(home)
    words = prose(int(seconds * RATE * 7), random.Random(3))
    script = {"scenarios": [{"name": "talk", "steps": {"only": {"say": words}}}]}
    path = home.file("talk.json", json.dumps(script))
    bundle = home.project / ".amplifier/bundles/long.md"
    text = bundle.read_text()
    text = re.sub(r"script: .*", f"script: {path}", text)
    bundle.write_text(re.sub(r"tokens_per_second: .*", f"tokens_per_second: {RATE}", text))


def in_program(count: int) -> tuple[float, float, float, Echo]:
    """Open the sessions in the program, have all stream, and type.

    Returns:
        MiB with one session and with all, at rest; with all, after the typing; the keys.
    """
    seconds = 2 * count * 0.1 + 30
    with machine() as home:
        write_bundle(home, seconds)
        with start(home, "--bundle", "long") as process:
            until(process, b"\x1b]2;long")
            process.watch(3.0)
            one = rss_mib(process.pid)
            for number in range(2, SESSIONS + 1):
                at = len(process.raw)
                process.write(b"\x18+")
                until(process, f"{number} ".encode(), at)
                process.watch(1.0)
            process.watch(3.0)
            several = rss_mib(process.pid)
            for number in range(1, SESSIONS + 1):
                process.write(f"\x18{number}".encode())
                process.watch(0.3)
                process.write(b"talk\r")
                process.watch(0.3)
            echo = type_by_turns(process, home, count)
            return one, several, rss_mib(process.pid), echo


@asynccontextmanager
async def streaming(home: Machine) -> AsyncIterator[AmplifierApp]:
    """Run the app, headless, with all sessions streaming."""
    os.environ.update(home.env)
    write_bundle(home, 3 * STREAMED)
    request = OpenRequest(cwd=home.project, bundle="long")
    client = LocalClient(trust=trust_everything)
    app = AmplifierApp(lambda: (client, request), cwd=home.project)
    async with app.run_test(size=(120, 36)):
        async with asyncio.timeout(LONGEST):
            await app.ready.wait()
            if app.tabs is None:
                raise MeasurementFailedError("the session is not linked to the screen")
            tabs = app.tabs
            for _ in range(SESSIONS - 1):
                tabs.open_beside(request)
            states = [link.tab.state for link in tabs.links]
            while not all(state.facts.opened for state in states):
                await asyncio.sleep(0.01)
            await asyncio.sleep(1.0)
            for link in tabs.links:
                link.submit("talk", queue=False)
            while not all(state.activity.running for state in states):
                await asyncio.sleep(0.01)
        yield app
        if not all(state.activity.running for state in states):
            raise MeasurementFailedError("a session had ended before it was measured")
        for link in tabs.links:
            link.tab.client.interrupt(immediate=True)
        await tabs.close_all(LONGEST)


async def stalls(home: Machine) -> Heart:
    """Return the heart of the screen while all stream and the user goes from one to the next."""
    async with streaming(home) as app:
        if app.tabs is None:
            raise MeasurementFailedError("the session is not linked to the screen")
        await asyncio.sleep(1.0)
        async with Heart() as heart:
            until_ = time.perf_counter() + STREAMED
            while time.perf_counter() < until_:
                await asyncio.sleep(0.5)
                app.tabs.step(1)
        return heart


def conversation(session: str) -> list[host.HostEvent]:
    """Return a session of `MESSAGES` messages, half of them answers."""
    found: list[host.HostEvent] = [opened(session)]
    source = random.Random(7)
    for number in range(MESSAGES // 2):
        text = prose(source.randint(100, 900), source)
        found += [
            host.TurnStarted(session_id=session, turn=number, prompt=f"Prompt {number}"),
            host.BlockEnded(session_id=session, block_id=f"b{number}", kind="text", text=text),
            host.TurnEnded(session_id=session, turn=number, status="success"),
        ]
    return found


async def switches(rounds: int) -> list[float]:
    """Go to and fro between two long sessions; the milliseconds from the key to a frame."""
    client = FakeClient(on_open=conversation("s1"))
    found: list[float] = []
    async with running(client, size=(120, 36)) as drive:
        await drive.press("ctrl+x", "plus")
        other = client.others[0]
        other.push(*conversation("s2"))
        frames = Frames(drive.app)
        tabs = drive.app.tabs
        if tabs is None:
            raise MeasurementFailedError("the session is not linked to the screen")
        while len(tabs.shown.tab.state.entries) < MESSAGES:
            await asyncio.sleep(0.05)
        # Each is drawn once: what is measured is the way back.
        for link in tabs.links:
            tabs.show(link)
            await asyncio.sleep(1.0)
        for number in range(rounds):
            target = tabs.links[number % 2]
            drive.app.post_message(events.Key("ctrl+x", None))
            await drive.until(lambda: isinstance(drive.app.screen, LeaderPopup))
            digit = str(number % 2 + 1)
            began = time.perf_counter()
            drive.app.post_message(events.Key(digit, digit))
            while tabs.shown is not target:
                await asyncio.sleep(0.001)
            changed = time.perf_counter()
            while frames.last < changed or drive.app.screen is not drive.app.main:
                await asyncio.sleep(0.001)
            found.append((frames.last - began) * 1000)
            await asyncio.sleep(0.3)
    return found


def measure(quick: bool) -> list[Row]:
    """Return the rows."""
    one, several, after, echo = in_program(QUICK_KEYS if quick else KEYS)
    how = f"{SESSIONS} sessions of the mock provider in a pty, {RATE} tokens/s each"
    goal = ONE + EACH * SESSIONS
    rows = [
        Row(what="resident with one session", value=one, unit="MiB", goal=ONE, how=how),
        Row(what=f"  with {SESSIONS} at rest", value=several, unit="MiB", goal=goal, how=how),
        Row(what="  while they stream", value=after, unit="MiB", goal=goal, how=how),
        Row(
            what=f"key echo while {SESSIONS} sessions stream: p95",
            value=percentile(echo.program, 0.95),
            unit="ms",
            goal=33.0,
            reference=percentile(echo.bare, 0.95),
            against="a bare Textual app with one Input, at rest, by turns",
            how=f"{how}; the program used {echo.cpu:.0%} of a core",
        ),
    ]
    with machine() as home:
        heart = asyncio.run(stalls(home))
    what = f"UI stall, {SESSIONS} sessions stream and one is gone to twice a second: max"
    rows.append(stall_row(what, [heart], 50.0, "headless app with the real host"))
    times = asyncio.run(switches(6 if quick else 20))
    rows.append(
        Row(
            what=f"from one session of {MESSAGES:,} messages to another: median",
            value=median(times),
            unit="ms",
            goal=60.0,
            how="headless app, from the key to its first frame",
            remark=f"at most {max(times):.0f} ms",
        )
    )
    return rows
