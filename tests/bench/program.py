"""The real program, and a bare Textual app beside it, in ptys that are only read, not drawn.

An emulator would take its share of the two cores from what is measured.
"""

import compileall
import os
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import amplifier_tui
from tests.bench import sampler
from tests.e2e.machine import Machine
from tests.e2e.pty_process import PtyProcess

_TICKS = os.sysconf("SC_CLK_TCK")
LONGEST = 60.0
"""Seconds after which a measurement is given up."""
BARE_INPUT = """
from textual.app import App, ComposeResult
from textual.widgets import Input


class BareInput(App[None]):
    def compose(self) -> ComposeResult:
        yield Input()


BareInput().run()
"""
BARE = """
from textual.app import App, ComposeResult
from textual.widgets import Static


class Bare(App[None]):
    def compose(self) -> ComposeResult:
        yield Static("painted")


Bare().run()
"""


class MeasurementFailedError(RuntimeError):
    """What was to be measured did not happen."""


@contextmanager
def machine() -> Iterator[Machine]:
    """Give a machine of its own, and take everything away afterwards.

    The program is compiled first, as what installs it does: a start that compiles it holds
    seven MiB more for as long as it runs.
    """
    compileall.compile_dir(amplifier_tui.__path__[0], quiet=1)
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        made = Machine(Path(folder))
        try:
            yield made
        finally:
            made.close()


def start(machine: Machine, *arguments: str, columns: int = 120, rows: int = 36) -> PtyProcess:
    """Start the program.

    Args:
        machine: Where it lives.
        arguments: Of its command line.
        columns: Width.
        rows: Height.
    """
    argv = [sys.executable, *sampler.command("amplifier_tui"), *arguments]
    env = machine.env | sampler.variables()
    return PtyProcess(argv, env=env, cwd=machine.project, columns=columns, rows=rows)


def start_bare(
    machine: Machine, columns: int = 120, rows: int = 36, source: str = BARE
) -> PtyProcess:
    """Start a Textual app with one word on it, or another one."""
    script = machine.home / "bare.py"
    script.write_text(source)
    argv = [sys.executable, str(script)]
    return PtyProcess(argv, env=machine.env, cwd=machine.project, columns=columns, rows=rows)


def until(
    process: PtyProcess, sight: bytes | re.Pattern[bytes], since: int = 0, longest: float = LONGEST
) -> float:
    """Read until bytes were written; return the time at which they were read.

    Args:
        process: The program.
        sight: What is waited for.
        since: Where in `raw` to begin.
        longest: Seconds to wait.
    """
    give_up = time.perf_counter() + longest
    pattern = re.compile(re.escape(sight)) if isinstance(sight, bytes) else sight
    while pattern.search(process.raw, max(0, since)) is None:
        left = give_up - time.perf_counter()
        if left <= 0 or process.ended:
            tail = bytes(process.raw[-400:])
            raise MeasurementFailedError(f"{pattern.pattern!r} was never written; last: {tail!r}")
        process.read(left)
    return time.perf_counter()


def percentile(values: Sequence[float], part: float) -> float:
    """Return the value that `part` of all do not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * part))]


def median(values: Sequence[float]) -> float:
    """Return the middle value."""
    return statistics.median(values)


def cpu_seconds(pid: int) -> float:
    """Return the processor time a process has used, in seconds."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    ticks: int = int(fields[11]) + int(fields[12])
    return ticks / _TICKS


def rss_mib(pid: int) -> float:
    """Return the resident memory of a process in MiB."""
    status = Path(f"/proc/{pid}/status").read_text()
    found = re.search(r"^VmRSS:\s+(\d+) kB", status, re.MULTILINE)
    return int(found[1]) / 1024 if found else 0.0
