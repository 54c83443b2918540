"""Resuming a session with a 40 MB transcript.

Measured from the command on a fresh client, engine thread and imports included, in a process of
its own each time: `python -m tests.bench.host_resume PROJECT`. The session is ready when it takes
a prompt, with the whole conversation in its context.
"""

import json
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import NamedTuple

from amplifier_tui.paths import project_slug
from tests.bench import sampler
from tests.bench.program import MeasurementFailedError, machine, median, start, until
from tests.bench.table import Row
from tests.e2e.machine import Machine

ROOT = Path(__file__).parents[2]
SIZE = 40 * 1024 * 1024
MIDDLE = 14_000
"""A row in the middle."""
LONGEST = 30.0
LAST = "these are the last words"
_OUTPUT = "a line of tool output, as long as such lines usually are\n" * 80


class Times(NamedTuple):
    """Seconds to the tail, to the session that takes a prompt, and for a page of its history."""

    tail: float
    opened: float
    page: float


def write_transcript(path: Path) -> int:
    """Write rows of a usual mixture until `SIZE` is reached; returns how many."""
    rows = 0
    with path.open("w") as file:
        while file.tell() < SIZE:
            call = {"id": f"c{rows}", "name": "bash", "arguments": {"command": "pytest -q"}}
            for row in (
                {"role": "user", "content": f"prompt {rows}"},
                {"role": "assistant", "content": "Let me look.", "tool_calls": [call]},
                {"role": "tool", "tool_call_id": f"c{rows}", "name": "bash", "content": _OUTPUT},
                {"role": "assistant", "content": "It is **fine** now. " * 40},
            ):
                file.write(json.dumps(row) + "\n")
                rows += 1
        file.write(json.dumps({"role": "assistant", "content": LAST}) + "\n")
    return rows + 1


def resume(project: Path) -> Times:
    """Resume the last session of a project in this process."""
    from amplifier_tui.host.client import OpenRequest
    from amplifier_tui.host.door.local_client import LocalClient
    from amplifier_tui.host.events import Failed, SessionOpened

    client, news = LocalClient(), threading.Event()
    client.set_waker(news.set)
    tail = opened = 0.0
    began = time.perf_counter()
    client.open(OpenRequest(cwd=project, resume="last", demo=True))
    while not opened:
        if not news.wait(LONGEST):
            raise MeasurementFailedError("the session was never opened")
        news.clear()
        for event in client.drain():
            if event.replayed:
                tail = tail or time.perf_counter() - began
            if isinstance(event, Failed):
                raise MeasurementFailedError(event.message)
            if isinstance(event, SessionOpened):
                opened = time.perf_counter() - began
    page = time.perf_counter()
    client.history(MIDDLE, 200).result(LONGEST)
    page = time.perf_counter() - page
    client.close().result(LONGEST)
    return Times(tail, opened, page)


def in_process(home: Machine) -> Times:
    """Resume in a fresh process."""
    module = sampler.command("tests.bench.host_resume")
    command = [sys.executable, *module, str(home.project)]
    env = home.env | sampler.variables()
    done = subprocess.run(command, cwd=ROOT, env=env, stdout=subprocess.PIPE, text=True, check=True)
    return Times(*json.loads(done.stdout.splitlines()[-1]))


def on_screen(home: Machine) -> float:
    """Return the seconds from the command to the last words on the screen of the program."""
    began = time.perf_counter()
    with start(home, "--demo", "--resume") as process:
        return until(process, LAST.encode()) - began


def measure(quick: bool) -> list[Row]:
    """Return the rows."""
    rounds = 3 if quick else 5
    with machine() as home:
        folder = home.home / ".amplifier/projects" / project_slug(home.project) / "sessions/0"
        folder.mkdir(parents=True)
        rows = write_transcript(folder / "transcript.jsonl")
        found = [(in_process(home), on_screen(home)) for _ in range(rounds)]
    how = (
        f"{SIZE // 1024**2} MiB, {rows:,} rows; a fresh client, engine thread and imports "
        f"included, medians of {rounds}"
    )

    def row(what: str, values: list[float], goal: float | None, how: str = how) -> Row:
        return Row(what=what, value=median(values), unit="s", goal=goal, how=how)

    return [
        row("resume of a 40 MB session: tail readable", [times.tail for times, _ in found], 1.0),
        row("  ready for a prompt", [times.opened for times, _ in found], None),
        row("  a page of 200 rows from the middle", [times.page for times, _ in found], None),
        row("  the program: to last words on screen", [seen for _, seen in found], None, "pty"),
    ]


if __name__ == "__main__":
    print(json.dumps(resume(Path(sys.argv[1]))))
