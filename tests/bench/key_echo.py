"""How long a key takes to appear: in a real pty, idle and while an answer streams beside it."""

import json
import random
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.bench.program import cpu_seconds, machine, median, percentile, start, until
from tests.bench.prose import prose
from tests.bench.table import Row
from tests.e2e.machine import Machine
from tests.e2e.pty_process import PtyProcess
from tests.e2e.vendors import Kind, lead_to

RATE = 250
"""Words a second that the server sends."""
GAP = 0.06
"""Seconds between two keys, more or less: a fast typist."""
LETTERS = "bcdfghjklmnpqrstvwxz"
END = b"the-end-of-the-stream"


@dataclass
class Echo:
    """What typing showed.

    Attributes:
        milliseconds: Of each key, from writing it to reading its letter.
        cpu: Part of a core the program used meanwhile.
    """

    milliseconds: list[float]
    cpu: float


def type_keys(process: PtyProcess, count: int, seed: int = 7) -> Echo:
    """Type letters at a person's pace and wait for each of them.

    Args:
        process: The program, with an empty prompt.
        count: How many.
        seed: Of the letters.
    """
    source = random.Random(seed)
    found: list[float] = []
    began, cpu = time.perf_counter(), cpu_seconds(process.pid)
    while len(found) < count:
        # A start no answer has makes every row of letters unique.
        typed = "qzx"
        process.write(typed.encode())
        until(process, typed.encode(), len(process.raw) - 4096)
        for _ in range(min(40, count - len(found))):
            letter = source.choice(LETTERS)
            typed += letter
            at = max(0, len(process.raw) - len(typed))
            pressed = time.perf_counter()
            process.write(letter.encode())
            found.append((until(process, typed.encode(), at) - pressed) * 1000)
            process.watch(GAP * source.uniform(0.5, 1.5))
        process.write(b"\x15")  # ctrl+u: from the beginning
        process.watch(0.2)
    seconds = time.perf_counter() - began
    return Echo(found, (cpu_seconds(process.pid) - cpu) / seconds)


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


def idle(count: int, *, module: str = "") -> Echo:
    """Type into a session in which nothing happens."""
    with machine() as home, start(home, "--demo", module=module) as process:
        until(process, b"\x1b]2;demo")
        process.watch(1.5)
        return type_keys(process, count)


def streaming(kind: Kind, count: int, *, module: str = "") -> tuple[Echo, float]:
    """Type while an answer streams through the real provider.

    Returns:
        The echo, and the words a second that arrived.
    """
    words = int((count * (GAP + 0.03) + 3) * RATE)
    with machine() as home, streaming_server(home.home, words) as url:
        lead_to(Address(url), home, kind)
        with start(home, "--bundle", "work", module=module) as process:
            _settle(process, home)
            process.write(b"talk for long\r")
            until(process, re.compile(rb"CPU|the|for"), len(process.raw))
            began, shown = time.perf_counter(), len(process.raw)
            process.watch(1.0)
            echo = type_keys(process, count)
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
    how = f"pty round trip of {len(echo.milliseconds)} keys; {how}"
    return [
        Row(what=f"{what}: p50", value=median(echo.milliseconds), unit="ms", how=how),
        Row(
            what=f"{what}: p95",
            value=percentile(echo.milliseconds, 0.95),
            unit="ms",
            goal=goal,
            how=how,
        ),
        Row(what=f"{what}: max", value=max(echo.milliseconds), unit="ms", how=how),
    ]
