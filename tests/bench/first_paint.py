"""From the command to the first frame, the first key and the open session, beside a bare app.

The bare app is one `Static` of Textual. Runs alternate, so that whatever else the machine does
weighs on both.
"""

import time

from tests.bench.program import (
    cpu_seconds,
    machine,
    median,
    rss_mib,
    start,
    start_bare,
    until,
)
from tests.bench.table import Row
from tests.e2e.machine import Machine

PROMPT = b"sk for anything"
"""The prompt's first words; its first letter is under the cursor."""
TYPED = b"mq\x1b[0m"
SIZE = (120, 36)


class Times:
    """Milliseconds of one kind of program, one list per moment."""

    def __init__(self) -> None:
        self.paint: list[float] = []
        self.keys: list[float] = []
        self.ready: list[float] = []
        self.cpu: list[float] = []
        self.rss: list[float] = []


def run_bare(home: Machine, times: Times) -> None:
    """Start the bare app once."""
    began = time.perf_counter()
    with start_bare(home, *SIZE) as process:
        times.paint.append((until(process, b"painted") - began) * 1000)
        process.watch(0.05)
        times.cpu.append(cpu_seconds(process.pid) * 1000)
        times.rss.append(rss_mib(process.pid))


def run_program(home: Machine, times: Times, bundle: str) -> None:
    """Start the program once, and press a key as soon as it can be seen to take one."""
    began = time.perf_counter()
    columns, rows = SIZE
    with start(home, "--bundle", bundle, columns=columns, rows=rows) as process:
        times.paint.append((until(process, PROMPT) - began) * 1000)
        at = len(process.raw)
        process.write(b"q")
        times.keys.append((until(process, TYPED, at) - began) * 1000)
        # The window's title becomes the bundle's name when the session is open.
        times.ready.append((until(process, b"\x1b]2;" + bundle.encode()) - began) * 1000)
        times.cpu.append(cpu_seconds(process.pid) * 1000)
        process.watch(0.5)
        times.rss.append(rss_mib(process.pid))


def measure(quick: bool) -> list[Row]:
    """Return the rows."""
    rounds = 5 if quick else 15
    bare, demo, coding = Times(), Times(), Times()
    with machine() as home:
        # Bytecode and the disk's cache are warm for everybody.
        run_bare(home, Times())
        run_program(home, Times(), "demo")
        home.env["ANTHROPIC_API_KEY"] = "sk-ant-nobody"
        for _ in range(rounds):
            run_bare(home, bare)
            run_program(home, demo, "demo")
            run_bare(home, bare)
            run_program(home, coding, "coding")
    base = median(bare.paint)
    paint, keys = demo.paint + coding.paint, demo.keys + coding.keys

    def row(what: str, value: float, goal: float) -> Row:
        return Row(
            what=what,
            value=value,
            unit="ms",
            goal=goal,
            relative=True,
            reference=base,
            against="first paint of a bare Textual app",
            how=f"pty {SIZE[0]}x{SIZE[1]}, spawn to bytes read, medians of {rounds} alternating "
            "rounds",
        )

    return [
        row("first paint", median(paint), 1.2),
        row("prompt accepts keys", median(keys), 1.3),
        row("session ready: demo", median(demo.ready), 3.5),
        row("session ready: coding", median(coding.ready), 3.5),
        Row(
            what="  processor time until then: demo",
            value=median(demo.cpu),
            unit="ms",
            reference=median(bare.cpu),
            against="the bare app's, until its first paint",
        ),
        Row(
            what="RSS at ready: demo",
            value=median(demo.rss),
            unit="MiB",
            goal=75.0,
            reference=median(bare.rss),
            against="the bare app's",
            how="VmRSS 0.5 s after the session is open",
        ),
    ]
