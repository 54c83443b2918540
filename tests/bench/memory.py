"""What the program holds: when it is ready, after a long session, and what it burns at rest.

The real program in a pty. The scripted model answers at once; the loop, the tools, the context,
the store and the screen do all their work. Each turn reads files and writes Markdown, which makes
some fifty events; once the window is full the context leaves rows out, as in any long session.
"""

import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

from tests.bench import held_memory
from tests.bench.program import MeasurementFailedError, cpu_seconds, machine, rss_mib, start, until
from tests.bench.table import Row
from tests.e2e.machine import Machine
from tests.e2e.pty_process import PtyProcess

TURNS = 1_000
QUICK_TURNS = 100
EVENTS_PER_TURN = 50
Ask = Callable[[int, Callable[[], None]], None]
TRACED: Mapping[int, Ask] = {60: held_memory.begin, 80: held_memory.mark}
TRACED_TURNS = 100
READS = 2
"""Calls of a step, side by side."""
STEPS = 2
"""Steps with calls in a turn; another one answers."""
AT_REST = 5.0
"""Seconds for which the processor is watched while nothing happens."""
PARTS = 10
"""How many times in a long session memory is looked at."""
ANSWER = """\
## What I found

The price comes about in `price.py`, **not** where one would look for it first:

| step | what | where |
|---|---|--:|
| 1 | weigh the parcel | 12 |
| 2 | find the zone | 40 |

```python
def price(weight: float, zone: str) -> float:
    return BASE[zone] + weight * RATE[zone]
```

answered-{{prompt}}
"""
FILE = "def price(weight, zone):\n    return BASE[zone] + weight * RATE[zone]\n\n\n" * 10


def prepare(home: Machine) -> None:
    """Write a bundle of the modules the shipped ones have, its script and a file to read."""
    home.file("price.py", FILE)
    look: dict[str, Any] = {
        "say": "Let me look.",
        "call": [{"read_file": {"file_path": "price.py"}} for _ in range(READS)],
    }
    steps = {f"look{number}": look for number in range(STEPS)} | {"tell": {"say": ANSWER}}
    script = home.file("script.json", json.dumps({"scenarios": [{"name": "all", "steps": steps}]}))
    mock = {"script": str(script), "tokens_per_second": 0}
    bundle = {
        "bundle": {"name": "long", "version": "1.0.0"},
        "session": {
            "orchestrator": {"module": "loop-streaming"},
            "context": {"module": "context-pipeline"},
        },
        "providers": [{"module": "provider-mock", "config": mock}],
        "tools": [{"module": "tool-filesystem"}, {"module": "tool-bash"}],
        "hooks": [
            {"module": "hooks-approval", "config": {"policy": "standard"}},
            {"module": "hooks-logging"},
        ],
    }
    home.bundle("long", f"---\n{yaml.safe_dump(bundle, sort_keys=False)}---\n\nYou help.\n")


@dataclass
class LongSession:
    """What a long session showed.

    Attributes:
        ready: MiB when the session was open.
        held: MiB after each part of it.
        cpu: Seconds of processor time of a turn in each part of it.
        idle: Part of a core the program used at rest, at the beginning and at the end.
        events: How many of each kind the session's log has.
    """

    ready: float = 0.0
    held: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    idle: list[float] = field(default_factory=list)
    events: Counter[str] = field(default_factory=Counter)


def run_session(home: Machine, turns: int, traced: Mapping[int, Ask]) -> LongSession:
    """Run the program on a long session.

    Args:
        home: Prepared.
        turns: How many.
        traced: What to ask a program that traces its allocations, before which turn.
    """
    found = LongSession()
    with start(home, "--bundle", "long") as process:
        until(process, b"\x1b]2;long")
        process.watch(2.0)
        found.ready = rss_mib(process.pid)
        used = cpu_seconds(process.pid)
        found.idle.append(_burnt(process))
        for number in range(turns):
            if number in traced:
                traced[number](process.pid, lambda: process.watch(0.1))
            _turn(process, number)
            if (number + 1) % (turns // PARTS) == 0:
                before, used = used, cpu_seconds(process.pid)
                found.cpu.append((used - before) / (turns // PARTS))
                # What the turn left behind is collected half a second after its end.
                process.watch(1.0)
                found.held.append(rss_mib(process.pid))
        found.idle.append(_burnt(process))
        if traced:
            held_memory.end(process.pid, lambda: process.watch(0.1))
    (session,) = home.sessions
    with (session / "events.jsonl").open() as lines:
        found.events.update(str(json.loads(line).get("event")) for line in lines)
    return found


def _turn(process: PtyProcess, number: int) -> None:
    """Ask, and wait for the last words of the answer."""
    at = len(process.raw)
    process.write(f"n{number}\r".encode())
    until(process, f"answered-n{number}".encode(), at)
    # It may be on the screen before the turn has ended: a prompt sent then would steer it.
    process.watch(0.03)


def _burnt(process: PtyProcess) -> float:
    before = cpu_seconds(process.pid)
    process.watch(AT_REST)
    return (cpu_seconds(process.pid) - before) / AT_REST


def measure(quick: bool) -> list[Row]:
    """Return the rows."""
    turns = QUICK_TURNS if quick else TURNS
    # A traced program is slow, and what grows in some turns grows in many.
    traced = TRACED if held_memory.wanted() else {}
    with machine() as home:
        prepare(home)
        long = run_session(home, TRACED_TURNS if traced else turns, traced)
    events, done = long.events.total(), long.events["prompt:complete"]
    asked = TRACED_TURNS if traced else turns
    if done < asked * 0.98:
        raise MeasurementFailedError(f"only {done} of {asked} prompts had a turn of their own")
    if events < EVENTS_PER_TURN * done:
        raise MeasurementFailedError(f"{events:,} events in {done:,} turns are too few")
    how = f"the real program in a pty, VmRSS; {done:,} turns with {events:,} events"
    growth = ", ".join(f"{mib:.0f}" for mib in long.held)
    rest = f"over {AT_REST:.0f} s, the session open, no turn"

    def row(what: str, value: float, unit: str, goal: float | None, how: str) -> Row:
        return Row(what=what, value=value, unit=unit, goal=goal, how=how)

    return [
        row("RSS at ready", long.ready, "MiB", 75.0, how),
        Row(
            what=f"RSS after {done:,} turns",
            value=long.held[-1],
            unit="MiB",
            goal=None if quick else 180.0,
            reference=long.ready,
            against="at ready",
            how=f"after each tenth of the session: {growth} MiB",
            remark=f"quick: {TURNS:,} have the goal" if quick else "",
        ),
        Row(
            what="processor time of a turn, last tenth of the session",
            value=long.cpu[-1] * 1000,
            unit="ms",
            reference=long.cpu[0] * 1000,
            against="its first tenth",
            how="the whole program: engine, context, store and screen",
        ),
        row("processor at rest", long.idle[0] * 100, "%", None, rest),
        row(f"  after {done:,} turns", long.idle[-1] * 100, "%", None, rest),
    ]
