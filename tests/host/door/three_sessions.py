"""Three sessions of one window, two of them writing, killed at a moment of chance."""

import json
import signal
import subprocess
import sys
import time
from typing import Any

from amplifier_tui.foundation.trust.gate import trust_everything
from amplifier_tui.host.client import OpenRequest
from amplifier_tui.host.door.local_client import LocalClient
from amplifier_tui.host.events import BlockEnded, Failed, HostEvent, SessionOpened, TurnStarted
from amplifier_tui.paths import sessions_dir
from tests.host.driving import Driver, Project, calling

WORDS = [f"word{number}" for number in range(4_000)]
WINDOW = """
import sys, time
from pathlib import Path
from amplifier_tui.foundation.trust.gate import trust_everything
from amplifier_tui.host.client import OpenRequest
from amplifier_tui.host.door.local_client import LocalClient
from amplifier_tui.host.events import BlockDelta, Failed, SessionOpened, TurnEnded

first = LocalClient(trust_everything, window=True)
clients = [first, first.beside(), first.beside()]

def wait(client, kind):
    while True:
        for event in client.drain():
            if isinstance(event, kind):
                return event
            if isinstance(event, Failed):
                sys.exit(str(event))
        time.sleep(0.002)

for client in clients:
    client.open(OpenRequest(cwd=Path(sys.argv[1]), bundle="quick"))
ids = [wait(client, SessionOpened).session_id for client in clients]
for client in clients:
    client.submit("begin")
for client in clients:
    wait(client, TurnEnded)
for client in clients[1:]:
    client.submit("write for long")
for client in clients[1:]:
    wait(client, BlockDelta)
print(*ids, flush=True)
while True:
    for client in clients[1:]:
        if any(isinstance(event, TurnEnded) for event in client.drain()):
            client.submit("write for long")
    time.sleep(0.002)
"""


def write_bundle(project: Project) -> None:
    """Write the bundle whose model writes for as long as it is let."""
    begin: dict[str, Any] = {
        "name": "begin",
        "when": {"prompt": "^begin"},
        "steps": {"only": {"say": "Yes."}},
    }
    long = calling({"echo": {"text": "x"}}, say=" ".join(WORDS[:200]), then=" ".join(WORDS))
    project.bundle("quick", script=[begin, {**long, "name": "long"}], speed=400)


def kill_window(project: Project, seconds: float) -> list[str]:
    """Open the sessions in a process of their own, and kill it so long after they began to write.

    Returns:
        Their ids; the first one was at rest.
    """
    window = subprocess.Popen(
        [sys.executable, "-c", WINDOW, str(project.folder)], stdout=subprocess.PIPE, text=True
    )
    assert window.stdout is not None
    ids = window.stdout.readline().split()
    time.sleep(seconds)
    window.send_signal(signal.SIGKILL)
    window.communicate()
    return ids


def lost(project: Project, ids: list[str]) -> list[str]:
    """Bring all back as the next window does; say what is not as it was left."""
    first = LocalClient(trust_everything, window=True)
    clients = [first, first.beside(), first.beside()]
    found: list[str] = []
    try:
        cards = first.left_open().result(10)
        if sorted(card.session_id for card in cards) != sorted(ids):
            found.append(f"offered: {cards}")
        for number, (client, session_id) in enumerate(zip(clients, ids, strict=True)):
            before = _rows(project, session_id)
            driver = Driver(project.folder, client)
            client.open(OpenRequest(cwd=project.folder, resume=session_id))
            driver.wait(SessionOpened)
            problem = _damage(driver, before, _rows(project, session_id), wrote=number > 0)
            if problem:
                found.append(f"session {number}: {problem}")
        if again := first.left_open().result(10):
            found.append(f"offered though open: {again}")
    finally:
        for closing in [client.close() for client in clients]:
            closing.result(10)
    return found


def _rows(project: Project, session_id: str) -> list[bytes]:
    path = sessions_dir(project.folder) / session_id / "transcript.jsonl"
    return path.read_bytes().splitlines(keepends=True)


def _damage(driver: Driver, before: list[bytes], after: list[bytes], *, wrote: bool) -> str:
    """Return what is wrong with a session that was resumed; empty where nothing is."""
    whole = [row for row in before if row.endswith(b"\n")]
    if after[: len(whole)] != whole:
        return "a row that was on disk is gone"
    for row in after:
        json.loads(row)
    events: list[HostEvent] = driver.drain()
    if failed := [event for event in events if isinstance(event, Failed)]:
        return str(failed[0])
    prompts = [event.prompt for event in events if isinstance(event, TurnStarted)]
    if prompts[:1] != ["begin"] or wrote is not ("write for long" in prompts):
        return f"prompts: {prompts}"
    said = [e.text for e in events if isinstance(e, BlockEnded) and e.kind == "text"]
    if wrote and len(said) < 2:
        return "nothing is left of what it was writing"
    cut = next((text for text in said[1:] if not " ".join(WORDS).startswith(text.strip())), "")
    return f"an answer is not what was said: {cut[-80:]!r}" if cut else ""
