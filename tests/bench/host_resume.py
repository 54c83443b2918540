"""Resuming a session with a 40 MB transcript: `python -m tests.bench.host_resume`.

Goal (architecture, section 9): a readable tail within a second. Measured from the command on a
fresh client, engine thread and imports included; the second line is the moment the session takes
a prompt, with the whole conversation in its context.
"""

import json
import os
import tempfile
import threading
import time
from pathlib import Path

SIZE = 40 * 1024 * 1024
GOAL = 1.0
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
    return rows


def main() -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory(prefix="host-resume-") as scratch:
        home = Path(scratch) / "home"
        os.environ.update(HOME=str(home), AMPLIFIER_HOME=str(home / ".amplifier"))
        for name in ("CONFIG", "STATE", "DATA", "CACHE"):
            os.environ[f"XDG_{name}_HOME"] = str(home / name.lower())
        project = Path(scratch) / "project"
        project.mkdir()
        _measure(project)


def _measure(project: Path) -> None:
    from amplifier_tui.host.client import OpenRequest
    from amplifier_tui.host.events import Failed, SessionOpened
    from amplifier_tui.host.local_client import LocalClient
    from amplifier_tui.paths import sessions_dir

    folder = sessions_dir(project) / "00000000"
    folder.mkdir(parents=True)
    rows = write_transcript(folder / "transcript.jsonl")
    client, news = LocalClient(), threading.Event()
    client.set_waker(news.set)
    tail = opened = 0.0
    replayed = 0
    began = time.perf_counter()
    client.open(OpenRequest(cwd=project, resume="last", demo=True))
    while not opened:
        news.wait(30)
        news.clear()
        for event in client.drain():
            if event.replayed:
                replayed += 1
                tail = time.perf_counter() - began
            if isinstance(event, Failed):
                raise SystemExit(event.message)
            if isinstance(event, SessionOpened):
                opened = time.perf_counter() - began
    page = time.perf_counter()
    client.history(rows // 2, 200).result(30)
    page = time.perf_counter() - page
    client.close().result(10)
    size = (folder / "transcript.jsonl").stat().st_size / 1024**2
    print(f"{rows:,} rows, {size:.0f} MiB, {replayed} events replayed")
    for what, value, goal in (
        ("tail readable", tail, GOAL),
        ("ready for a prompt", opened, None),
        ("a page of 200 rows from the middle", page, None),
    ):
        mark = "" if goal is None else f"≤ {goal:.1f}  {'met' if value <= goal else 'MISSED'}"
        print(f"{what:<40}{value:>8.3f} s  {mark}")


if __name__ == "__main__":
    main()
