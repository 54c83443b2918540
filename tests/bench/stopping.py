"""How soon a stop is seen, and how soon an immediate one has ended everything.

The real program in a pty, against a loopback server whose answer takes twenty seconds, and with a
command that runs for longer. Steps of one session: later ones find a longer conversation.
"""

import os
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tests.bench.program import MeasurementFailedError, machine, median, percentile, start, until
from tests.bench.table import Row
from tests.e2e.pty_process import PtyProcess
from tests.e2e.vendors import lead_to
from tests.host.driving import Project, calling
from tests.servers.replies import Reply, Text
from tests.servers.server import LoopbackServer

WORDS = [f"word-{number} " for number in range(200)]
PACE = 0.1
"""Seconds between two words: twenty seconds for all."""
ESCAPE = b"\x1b[27u"
"""As a terminal with the kitty protocol sends it."""
PLAIN_ESCAPE = b"\x1b"
"""As others do: it may be the beginning of something longer, for which Textual waits 0.1 s."""
ACKNOWLEDGED = b"topping after"
READY = b"sk for anything"
"""What the prompt says; its first letter is under the cursor."""
SETTLE = 0.5
"""Seconds between two rounds."""
LONGEST = 30.0
SECONDS = f"1000.{os.getpid()}"
COMMAND = f"sleep {SECONDS} & wait"
"""In a sandbox it knows its child by another number: that is found by how long it sleeps."""


def stop_stream(
    process: PtyProcess, server: LoopbackServer, number: int, escape: bytes
) -> tuple[float, float]:
    """Stop an answer in two steps; return the milliseconds of the first, seconds of the second."""
    at = len(process.raw)
    process.write(f"talk {number}\r".encode())
    until(process, b"word-3", at, LONGEST)
    at, pressed = len(process.raw), time.perf_counter()
    process.write(escape)
    acknowledged = until(process, ACKNOWLEDGED, at) - pressed
    process.watch(0.3)
    at, pressed = len(process.raw), time.perf_counter()
    process.write(ESCAPE)
    ended = until(process, READY, at, LONGEST) - pressed
    while not server.requests[number].disconnected.is_set():
        if time.perf_counter() - pressed > LONGEST:
            raise MeasurementFailedError("the server still has its client")
        process.watch(0.005)
        ended = time.perf_counter() - pressed
    process.watch(SETTLE)
    return acknowledged * 1000, ended


@dataclass
class Stops:
    """What stopping streams took.

    Attributes:
        acknowledged: Milliseconds from the first key to the words on the screen.
        plain: The same in a terminal without the kitty protocol.
        ended: Seconds from the second key to the end of everything.
    """

    acknowledged: list[float]
    plain: list[float]
    ended: list[float]


def streams(rounds: int) -> Stops:
    """Stop answers, every second one from a terminal without the kitty protocol."""
    keys = [ESCAPE if number % 2 else PLAIN_ESCAPE for number in range(rounds)]
    replies = [Reply([Text(WORDS)], pace=PACE) for _ in range(rounds)]
    with machine() as home, LoopbackServer(replies) as server:
        lead_to(server, home, "anthropic")
        with start(home, "--bundle", "work") as process:
            until(process, b"\x1b]2;work")
            # The SDK is imported in the background once the session is there.
            process.watch(3.0)
            found = [stop_stream(process, server, at, key) for at, key in enumerate(keys)]
    return Stops(
        acknowledged=[first for (first, _), key in zip(found, keys, strict=True) if key == ESCAPE],
        plain=[first for (first, _), key in zip(found, keys, strict=True) if key != ESCAPE],
        ended=[second for _, second in found],
    )


def commands(rounds: int) -> list[float]:
    """Return the seconds until an immediate stop has ended the processes of a command."""
    with machine() as home:
        # The rule that lets the command go is written where the program looks for it.
        os.environ.update(home.env)
        script = calling({"bash": {"command": COMMAND}})
        bundle = Project(home.project).bundle("work", script=script, tools=("tool-bash",))
        with start(home, "--trust", "--bundle", bundle) as process:
            until(process, b"\x1b]2;work")
            process.watch(1.0)
            return [stop_command(process, number) for number in range(rounds)]


def stop_command(process: PtyProcess, number: int) -> float:
    """Stop a running command at once; return the seconds until it is gone and the prompt ready."""
    process.write(f"run {number}\r".encode())
    child = _child(process)
    process.watch(0.3)
    at = len(process.raw)
    process.write(ESCAPE)
    until(process, ACKNOWLEDGED, at)
    at, pressed = len(process.raw), time.perf_counter()
    process.write(ESCAPE)
    until(process, READY, at, LONGEST)
    while _runs(child):
        if time.perf_counter() - pressed > LONGEST:
            raise MeasurementFailedError(f"process {child} of the command lives on")
        process.watch(0.005)
    ended = time.perf_counter() - pressed
    process.watch(SETTLE)
    return ended


def _child(process: PtyProcess) -> int:
    """Wait for the command's child, and return its process id."""
    give_up = time.perf_counter() + LONGEST
    wanted = f"sleep\0{SECONDS}\0".encode()
    while time.perf_counter() < give_up:
        for entry in Path("/proc").glob("[0-9]*/cmdline"):
            with suppress(OSError):
                if entry.read_bytes() == wanted:
                    return int(entry.parent.name)
        process.watch(0.02)
    raise MeasurementFailedError("the command was never started")


def _runs(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def measure(quick: bool) -> list[Row]:
    """Return the rows."""
    rounds = 6 if quick else 16
    stops = streams(rounds)
    killed = commands(rounds // 2)
    how = f"pty, an answer of 20 s through the anthropic SDK, {rounds} times"

    def row(what: str, values: list[float], unit: str, goal: float | None, how: str = how) -> Row:
        remark = f"median {median(values):.2g}, max {max(values):.2g}"
        p90 = percentile(values, 0.9)
        return Row(what=what, value=p90, unit=unit, goal=goal, how=how, remark=remark)

    then = "from the second key to the prompt that is ready and the connection that is closed"
    killing = f"tool-bash with a child of its own, {len(killed)} times; until both are gone"
    return [
        row("stop acknowledged on screen: p90", stops.acknowledged, "ms", 100.0),
        row("  without the kitty protocol: Textual waits 0.1 s", stops.plain, "ms", None),
        row("immediate stop of a stream: p90", stops.ended, "s", 1.0, f"{how}; {then}"),
        row("immediate stop of a command: p90", killed, "s", 1.0, killing),
    ]
