"""Resuming a session with a 40 MB transcript: `python -m tests.bench.host_resume`.

Goal (architecture, section 9): a readable tail within a second. Measured from the command on a
fresh client, engine thread and imports included; the second line is the moment the session takes
a prompt, with the whole conversation in its context.
"""

import json
import os
import threading
import time
from pathlib import Path

from tests.bench.table import Row, show
from tests.e2e.machine import Machine

SIZE = 40 * 1024 * 1024
GOAL = 1.0
LAST = "these are the last words"
_OUTPUT = "a line of tool output, as long as such lines usually are\n" * 80


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


def resume(project: Path, prepare: Path) -> tuple[float, float, float, int]:
    """Resume; return the seconds to the tail, to the session and for a page, and the rows."""
    from amplifier_tui.host.client import OpenRequest
    from amplifier_tui.host.events import Failed, SessionOpened
    from amplifier_tui.host.local_client import LocalClient

    rows = write_transcript(prepare)
    client, news = LocalClient(), threading.Event()
    client.set_waker(news.set)
    tail = opened = 0.0
    began = time.perf_counter()
    client.open(OpenRequest(cwd=project, resume="last", demo=True))
    while not opened:
        news.wait(30)
        news.clear()
        for event in client.drain():
            if event.replayed:
                tail = time.perf_counter() - began
            if isinstance(event, Failed):
                raise SystemExit(event.message)
            if isinstance(event, SessionOpened):
                opened = time.perf_counter() - began
    page = time.perf_counter()
    client.history(rows // 2, 200).result(30)
    page = time.perf_counter() - page
    client.close().result(10)
    return tail, opened, page, rows


def on_screen(home: Machine) -> float:
    """Return the seconds from the command to the last words on the screen of the program."""
    from tests.bench.program import start, until

    began = time.perf_counter()
    with start(home, "--demo", "--resume") as process:
        return until(process, LAST.encode()) - began


def measure(quick: bool) -> list[Row]:
    """Return the rows."""
    from amplifier_tui.paths import project_slug
    from tests.bench.program import machine

    with machine() as home:
        os.environ.update(home.env)
        folder = home.home / ".amplifier/projects" / project_slug(home.project) / "sessions/0"
        folder.mkdir(parents=True)
        tail, opened, page, rows = resume(home.project, folder / "transcript.jsonl")
        seen = on_screen(home)
    how = (
        f"{SIZE // 1024**2} MiB, {rows:,} rows; a fresh client, engine thread and imports included"
    )

    def row(what: str, value: float, goal: float | None, how: str = how) -> Row:
        return Row(what=what, value=value, unit="s", goal=goal, how=how)

    return [
        row("resume of a 40 MB session: tail readable", tail, GOAL),
        row("  ready for a prompt", opened, None),
        row("  a page of 200 rows from the middle", page, None),
        row("  the program: command to last words on screen", seen, None, "pty, 120x36"),
    ]


if __name__ == "__main__":
    show(measure)
