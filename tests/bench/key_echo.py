"""How long a key takes to appear: in a real pty, idle and while an answer streams beside it."""

import json
import random
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.bench.program import (
    BARE_INPUT,
    cpu_seconds,
    machine,
    median,
    percentile,
    start,
    start_bare,
    until,
)
from tests.bench.prose import prose
from tests.bench.table import Row
from tests.e2e.machine import Machine
from tests.e2e.pty_process import PtyProcess
from tests.e2e.vendors import Kind, lead_to

RATE = 250
"""Words a second that the server sends."""
GAP = 0.06
"""Seconds between two keys, more or less: a fast typist."""
CHUNK = 20
"""Letters after which it is the other one's turn."""
LETTERS = "bcdfghjklmnpqrstvwxz"
END = b"the-end-of-the-stream"


@dataclass
class Echo:
    """What typing showed, in the program and in a bare Textual app, by turns.

    Attributes:
        program: Milliseconds of each key, from writing it to reading its letter.
        bare: The same of the bare app.
        cpu: Part of a core the program used while it was typed into.
    """

    program: list[float]
    bare: list[float]
    cpu: float


def type_by_turns(process: PtyProcess, home: Machine, count: int) -> Echo:
    """Type so many letters at a person's pace, in chunks; the same into a bare app between them.

    Args:
        process: The program, with an empty prompt.
        home: Where the bare app may live.
        count: How many letters.
    """
    source = random.Random(7)
    echo = Echo([], [], 0.0)
    seconds = cpu = 0.0
    with start_bare(home, source=BARE_INPUT) as bare:
        # It has drawn itself when the first letter is there.
        bare.watch(1.0)
        while len(echo.program) < count:
            began, used = time.perf_counter(), cpu_seconds(process.pid)
            echo.program += _type(process, source, bare)
            seconds += time.perf_counter() - began
            cpu += cpu_seconds(process.pid) - used
            echo.bare += _type(bare, source, process)
    echo.cpu = cpu / seconds
    return echo


def _type(process: PtyProcess, source: random.Random, other: PtyProcess) -> list[float]:
    """Type a chunk of letters, wait for each, and clear the line again.

    Args:
        process: Is typed into.
        source: Of the letters.
        other: Goes on meanwhile, and has to be read.
    """
    found: list[float] = []
    # A start no answer has makes every row of letters unique.
    typed = "qzx"
    process.write(typed.encode())
    until(process, typed.encode(), len(process.raw) - 4096)
    for _ in range(CHUNK):
        letter = source.choice(LETTERS)
        typed += letter
        at = max(0, len(process.raw) - len(typed))
        pressed = time.perf_counter()
        process.write(letter.encode())
        found.append((until(process, typed.encode(), at) - pressed) * 1000)
        other.read(0)
        process.watch(GAP * source.uniform(0.5, 1.5))
    process.write(b"\x15")  # ctrl+u: from the beginning
    process.watch(0.2)
    other.watch(0.1)
    return found


@contextmanager
def streaming_server(folder: Path, words: int, rate: float = RATE) -> Iterator[str]:
    """Run a server in a process of its own that streams one long answer; yields its address."""
    text = prose(words * 7, random.Random(3))
    script = folder / "script.json"
    pieces = re.findall(r"\s*\S+", text)[:words]
    answer = "".join(pieces) + f"\n\n{END.decode()}"
    # What the server does between two pauses takes about half a millisecond.
    pace = max(0.0, 1 / rate - 0.0005)
    script.write_text(json.dumps({"replies": [{"text": answer, "pace": pace}]}))
    command = [sys.executable, "-m", "tests.servers", "--script", str(script)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as running:
        if running.stdout is None:
            raise RuntimeError("the server has no output")
        yield f"http://127.0.0.1:{int(running.stdout.readline())}"
        running.kill()


class Address:
    """What `lead_to` needs of a server that runs elsewhere."""

    def __init__(self, url: str) -> None:
        self.url = url


def idle(count: int) -> Echo:
    """Type into a session in which nothing happens."""
    with machine() as home, start(home, "--demo") as process:
        until(process, b"\x1b]2;demo")
        process.watch(1.5)
        return type_by_turns(process, home, count)


def streaming(kind: Kind, count: int) -> tuple[Echo, float]:
    """Type while an answer streams through the real provider.

    Returns:
        The echo, and the words a second that arrived.
    """
    # Half of the time the bare app is typed into.
    words = int((2 * count * (GAP + 0.03) + 5) * RATE)
    with machine() as home, streaming_server(home.home, words) as url:
        lead_to(Address(url), home, kind)
        with start(home, "--bundle", "work") as process:
            _settle(process, home)
            process.write(b"talk for long\r")
            until(process, re.compile(rb"CPU|the|for"), len(process.raw))
            began, shown = time.perf_counter(), len(process.raw)
            process.watch(1.0)
            echo = type_by_turns(process, home, count)
            until(process, END, shown)
            return echo, words / (time.perf_counter() - began)


def _settle(process: PtyProcess, home: Machine) -> None:
    until(process, b"\x1b]2;work")
    # The SDK is imported in the background once the session is there.
    process.watch(3.0)


def measure(quick: bool) -> list[Row]:
    """Return the rows."""
    count = 80 if quick else 240
    rows = _rows("key echo, idle", idle(count), 20.0, "a demo session at rest, 120x36")
    kinds: tuple[Kind, ...] = ("anthropic",) if quick else ("anthropic", "responses", "chat")
    for kind in kinds:
        echo, rate = streaming(kind, count)
        how = (
            f"{rate:.0f} words/s through the {kind} SDK; the program used {echo.cpu:.0%} of a core"
        )
        rows += _rows(f"key echo while streaming, {kind}", echo, 33.0, how)
    return rows


def _rows(what: str, echo: Echo, goal: float, how: str) -> list[Row]:
    def row(name: str, pick: Callable[[list[float]], float], goal: float | None) -> Row:
        return Row(
            what=name,
            value=pick(echo.program),
            unit="ms",
            goal=goal,
            reference=pick(echo.bare),
            against="a bare Textual app with one Input, at rest, by turns",
            how=f"pty round trip of {len(echo.program)} keys; {how}",
        )

    return [
        row(f"{what}: p95", lambda values: percentile(values, 0.95), goal),
        row("  p50", median, None),
        row("  max", max, None),
    ]
