"""What the screen notices of a tool that does not let its thread go for two seconds.

The whole app, headless, with the real host and its engine thread. One tool sleeps, so that the
engine stands still; the other one calculates and shares the interpreter with the screen.
"""

import asyncio
import os
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

# As in the program; Textual reads it when it is imported.
os.environ.setdefault("TEXTUAL_FPS", "200")

from textual import events

from amplifier_tui.foundation.trust.gate import trust_everything
from amplifier_tui.host.client import OpenRequest
from amplifier_tui.host.door.local_client import LocalClient
from amplifier_tui.ui.app.app import AmplifierApp
from tests.bench.heart import Heart, stall_row
from tests.bench.program import MeasurementFailedError, machine, percentile
from tests.bench.table import Row
from tests.e2e.machine import Machine
from tests.host.driving import Project, calling

SECONDS = 2.0
KEY_GAP = 0.05
LONGEST = 30.0
MODULE = """
import time

from amplifier_core import ToolResult

__amplifier_module_type__ = "tool"


class Hold:
    description = "Does not let its thread go"
    input_schema = {"type": "object"}

    def __init__(self, name, wait):
        self.name = name
        self._wait = wait

    async def execute(self, input):
        self._wait(float(input["seconds"]))
        return ToolResult(output="let go")


def burn(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        sum(n * n for n in range(100))


async def mount(coordinator, config=None):
    for name, wait in (("sleep", time.sleep), ("burn", burn)):
        await coordinator.mount("tools", Hold(name, wait), name=name)
"""


@asynccontextmanager
async def opened(home: Machine, tool: str) -> AsyncIterator[AmplifierApp]:
    """Run the app on a session whose model calls this tool first and then says something."""
    modules = home.home / "modules"
    package = modules / "amplifier-module-tool-hold" / "amplifier_module_tool_hold"
    package.mkdir(parents=True, exist_ok=True)
    (package / "__init__.py").write_text(MODULE)
    os.environ.update(home.env, AMPLIFIER_MODULES=str(modules))
    script = calling({tool: {"seconds": SECONDS}}, then="All done.")
    project = Project(home.project)
    bundle = project.bundle(script=script, tools=("tool-hold",))
    project.allow((tool,))
    request = OpenRequest(cwd=home.project, bundle=bundle)
    client = LocalClient(trust=trust_everything)
    app = AmplifierApp(lambda: (client, request), cwd=home.project)
    async with app.run_test(size=(120, 36)):
        async with asyncio.timeout(LONGEST):
            await app.ready.wait()
            while app.state is None or not app.state.facts.opened:
                await asyncio.sleep(0.01)
        yield app
        await asyncio.to_thread(client.close().result, LONGEST)


async def held(home: Machine, tool: str) -> tuple[Heart, list[float]]:
    """Run a turn; return the heart while the tool runs, and the milliseconds keys took then."""
    echoes: list[float] = []
    async with opened(home, tool) as app, asyncio.timeout(LONGEST):
        await asyncio.sleep(1.0)
        field = app.main.prompt.input
        if app.link is None or app.state is None:
            raise MeasurementFailedError("the session is not linked to the screen")
        began = time.perf_counter()
        app.link.submit("go", queue=False)
        while not app.state.activity.running:
            await asyncio.sleep(0.001)
        async with Heart() as heart:
            while app.state.activity.running:
                before, pressed = field.text, time.perf_counter()
                app.post_message(events.Key("x", "x"))
                while field.text == before:
                    await asyncio.sleep(0.001)
                echoes.append((time.perf_counter() - pressed) * 1000)
                await asyncio.sleep(KEY_GAP)
        if time.perf_counter() - began < SECONDS:
            raise MeasurementFailedError(f"the turn ended before {tool} can have held its thread")
    return heart, echoes


def measure(quick: bool) -> list[Row]:
    """Return the rows."""
    rounds = 1 if quick else 3
    rows: list[Row] = []
    how = f"headless app with the real host, median of {rounds} rounds"
    # One home for all: a process imports a module from one place only.
    with machine() as home:
        for tool, words in (("sleep", "sleeps"), ("burn", "calculates")):
            found = [asyncio.run(held(home, tool)) for _ in range(rounds)]
            hearts = [heart for heart, _ in found]
            rows.append(stall_row(f"UI stall, a module {words} for 2 s: max", hearts, 50.0, how))
            p95 = percentile([key for _, keys in found for key in keys], 0.95)
            rows.append(Row(what="  key taken: p95", value=p95, unit="ms", goal=33.0, how=how))
    return rows
