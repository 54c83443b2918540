"""How a token comes to the screen, and a question there and back: `python -m tests.bench.hops`.

Runs the headless app with the real host and the mock provider, watches every call in which the
token is handed on (`sys.setprofile`), and counts the calls from a function of one file into a
function of another file of ours. Buffers and timers cut the way into stretches:

1. on the engine: from the provider's emit to the outbox
2. on the screen: from the drain to what the widgets keep
3. on the screen: from the repaint to the painted line

A question (`ask_user`) goes from the orchestrator to the dialog, and its answer from there to the
queue where the asker waits:

1. on the engine: from the call of `process_hook_result` to the outbox
2. on the screen: from the drain to what waits, and from there to the dialog
3. on the screen: from the dialog to what waits, and from there to the engine's door
4. on the engine: from its door to the queue
"""

import asyncio
import os
import sys
import threading
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Any

from amplifier_tui.foundation.trust.gate import trust_everything
from amplifier_tui.host.client import OpenRequest
from amplifier_tui.host.door.local_client import LocalClient
from amplifier_tui.ui.app.app import AmplifierApp
from amplifier_tui.ui.dialogs.approval import ApprovalDialog
from tests.bench.program import machine
from tests.bench.table import Row
from tests.host.conftest import MODULES
from tests.host.driving import Project, calling, saying

TOKEN = "§"
OURS = f"{Path(__file__).parents[2] / 'amplifier_tui'}/"
HELPERS = (
    *("base/", "host/store/", "host/redaction.py", "host/stream/traces.py"),
    *("ui/transcript/lines.py", "ui/state/section.py"),
)
"""What looks at a token beside its way: cleaning, secrets, the log, the partial file, widths, and
what compares fields."""
_WAITING, _DIALOG = "ui/state/waiting.py", "ui/dialogs/approval_sheet.py"
_STREAMED = ("Sender.delta", "DeltaGate.add")
"""Where the piece waits for the loop to turn."""
STRETCHES = ("engine", "outbox", "drain", "state", "widgets", "draw", "paint")
ROUND_TRIP = ("ask", "drain", "state", "dialog", "decide", "send", "answer")
_ASKED = ("HookResult", "ApprovalQuestion", "ApprovalRequested")
_ANSWERED = ("DialogAnswer", "Decision")

Hop = tuple[str, str]
"""File and function."""


def _holds(value: Any, depth: int = 3) -> bool:
    if isinstance(value, str):
        return len(value) < 4_000 and TOKEN in value
    if depth and isinstance(value, dict):
        return any(_holds(item, depth - 1) for item in list(value.values())[:20])
    if depth and isinstance(value, list | tuple | set):
        return any(_holds(item, depth - 1) for item in list(value)[-20:])
    if depth and (text := getattr(value, "text", None)) is not None:
        return _holds(text, 0)
    return bool(depth) and hasattr(value, "data") and _holds(value.data, depth - 1)


def _stack(frame: FrameType | None) -> list[Hop]:
    """Our functions that wait for this one, outermost first; one entry where a file stays."""
    found: list[Hop] = []
    while frame is not None:
        name = frame.f_code.co_filename
        if name.startswith(OURS):
            hop = (name.removeprefix(OURS), frame.f_code.co_qualname)
            if found and found[-1][0] == hop[0]:
                found[-1] = hop
            else:
                found.append(hop)
        frame = frame.f_back
    return found[::-1]


class Watch:
    """Keeps the longest way of each stretch."""

    def __init__(self) -> None:
        self.ways: dict[str, list[Hop]] = {}
        self.active = False

    def start(self) -> None:
        """Watch this thread and those that are started from now on, once `active` is set."""
        threading.setprofile(self._profile)
        sys.setprofile(self._profile)

    def stop(self) -> None:
        threading.setprofile(None)
        sys.setprofile(None)

    def _profile(self, frame: FrameType, event: str, argument: Any) -> None:
        name = frame.f_code.co_filename
        if not self.active or not name.startswith(OURS) or event not in ("call", "return"):
            return
        file = name.removeprefix(OURS)
        if file.startswith(HELPERS):
            return
        if event == "call":
            code = frame.f_code
            given = [frame.f_locals.get(n) for n in code.co_varnames[: code.co_argcount]]
            if any(_holds(value) for value in given if value is not None):
                self._called(file, frame)
        elif frame.f_code.co_name == "drain" and _holds(argument):
            self._keep("drain", frame)
        elif frame.f_code.co_name in ("render_line", "render_lines") and TOKEN in repr(argument):
            self._keep("paint", frame)

    def _called(self, file: str, frame: FrameType) -> None:
        if file.startswith("ui/state/"):
            self._keep("state", frame)
        elif file.startswith("ui/"):
            stack = _stack(frame)
            if any(file.startswith("ui/panes/") for file, _ in stack):
                return  # The event log draws the payload of an event, not the answer.
            root = stack[0][0]
            self._keep(
                "widgets" if root.endswith(("session/feed.py", "session/link.py")) else "draw",
                frame,
            )
        elif frame.f_code.co_qualname in _STREAMED:
            self._keep("engine", frame)
        elif type(frame.f_locals.get("event")).__name__ == "BlockDelta":
            self._keep("outbox", frame)

    def _keep(self, stretch: str, frame: FrameType) -> None:
        stack = _stack(frame)
        if stretch == "engine":
            # From the provider's emit on: what runs the turn is no part of the token's way.
            first = [i for i, hop in enumerate(stack) if hop[0].startswith("kernel/hooks")]
            stack = stack[max(0, first[-1] - 1) :] if first else stack
        if len(stack) > len(self.ways.get(stretch, ())):
            self.ways[stretch] = stack


class QuestionWatch(Watch):
    """Keeps the longest way of each stretch of a question and of its answer."""

    def _profile(self, frame: FrameType, event: str, argument: Any) -> None:
        name = frame.f_code.co_filename
        file = name.removeprefix(OURS)
        if not self.active or not name.startswith(OURS) or file.startswith(HELPERS):
            return
        code = frame.f_code
        if event == "return" and code.co_name == "drain":
            if any(type(each).__name__ == "ApprovalRequested" for each in argument or ()):
                self._keep("drain", frame)
        elif event == "call":
            given = {
                type(frame.f_locals.get(n)).__name__
                for n in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
            }
            if given.intersection(_ANSWERED):
                self._keep("decide" if file.startswith("ui/") else "answer", frame)
            elif code.co_name == "post" and frame.f_locals.get("what") == "answer a request":
                self._keep("send", frame)
            elif "ApprovalRequested" in given and file in (_WAITING, _DIALOG):
                self._keep("state" if file == _WAITING else "dialog", frame)
            elif "ApprovalRequested" in given and file.startswith("ui/"):
                return  # Words and lines of the dialog, and what else takes note of a request.
            elif given.intersection(_ASKED):
                self._keep("ask", frame)

    def _keep(self, stretch: str, frame: FrameType) -> None:
        stack = _stack(frame)
        if stretch == "ask":
            # From the orchestrator on, which calls the coordinator.
            asks = [i for i, (_, name) in enumerate(stack) if name.endswith("process_hook_result")]
            if not asks:
                return
            stack = stack[max(0, asks[0] - 1) :]
        if len(stack) > len(self.ways.get(stretch, ())):
            self.ways[stretch] = stack


async def watch_question(home: Path) -> dict[str, list[Hop]]:
    """Let a hook ask, answer in the dialog, and return the ways of both."""
    hooks = (("hooks-test", {"ask": True}),)
    bundle = Project(home).bundle(name="asks", script=calling({"echo": {"text": "x"}}), hooks=hooks)
    client = LocalClient(trust=trust_everything)
    app = AmplifierApp(lambda: (client, OpenRequest(cwd=home, bundle=bundle)), cwd=home)
    seen = QuestionWatch()
    seen.start()
    async with app.run_test(size=(120, 36)) as pilot:
        async with asyncio.timeout(60):
            await app.ready.wait()
            while app.state is None or not app.state.facts.opened:
                await asyncio.sleep(0.01)
            seen.active = True
            app.link.submit("go", queue=False)
            while not (isinstance(app.screen, ApprovalDialog) and app.screen.armed):
                await asyncio.sleep(0.01)
            await pilot.press("a")
            while app.state.activity.running or not app.state.approvals.recent:
                await asyncio.sleep(0.01)
            seen.stop()
        await asyncio.to_thread(client.close().result, 30)
    return seen.ways


async def watch(home: Path) -> dict[str, list[Hop]]:
    """Run one answer and return the ways of its token."""
    text = " ".join(["words"] * 30 + [TOKEN] + ["words"] * 60)
    bundle = Project(home).bundle(script=saying(text), speed=60)
    client = LocalClient(trust=trust_everything)
    request = OpenRequest(cwd=home, bundle=bundle)
    app = AmplifierApp(lambda: (client, request), cwd=home)
    seen = Watch()
    seen.start()
    async with app.run_test(size=(120, 36)):
        async with asyncio.timeout(60):
            await app.ready.wait()
            while app.state is None or not app.state.facts.opened:
                await asyncio.sleep(0.01)
            seen.active = True
            app.link.submit("go", queue=False)
            while not app.state.activity.running:
                await asyncio.sleep(0.01)
            while app.state.activity.running:
                await asyncio.sleep(0.01)
            until = time.monotonic() + 1.0
            while time.monotonic() < until:
                await asyncio.sleep(0.01)
            seen.stop()
        await asyncio.to_thread(client.close().result, 30)
    return seen.ways


def lines(ways: dict[str, list[Hop]], stretches: tuple[str, ...]) -> Iterator[str]:
    """Yield the table; a call that two stretches share counts once."""
    for stretch, way, fresh in _counted(ways, stretches):
        yield f"{stretch}: {fresh} hops"
        yield from (f"    {file}  {function}" for file, function in way)
    yield f"all: {total(ways, stretches)} hops"


def total(ways: dict[str, list[Hop]], stretches: tuple[str, ...]) -> int:
    """Return the hops of all stretches.

    Raises:
        RuntimeError: A stretch was not seen: what is watched for has another name.
    """
    unseen = [stretch for stretch in stretches if not ways.get(stretch)]
    if unseen:
        raise RuntimeError(f"nothing came through: {', '.join(unseen)}")
    return sum(fresh for _, _, fresh in _counted(ways, stretches))


def _counted(
    ways: dict[str, list[Hop]], stretches: tuple[str, ...]
) -> Iterator[tuple[str, list[Hop], int]]:
    known: set[tuple[str, str]] = set()
    for stretch in stretches:
        way = ways.get(stretch, [])
        if way and way[0][0].endswith("door/engine.py") and stretch != "answer":
            way = way[1:]  # The loop, which runs what waited.
        calls = {(one[0], other[0]) for one, other in pairwise(way)}
        yield stretch, way, len(calls - known)
        known |= calls


def _watched() -> tuple[dict[str, list[Hop]], dict[str, list[Hop]]]:
    with machine() as home:
        os.environ.update(home.env | {"AMPLIFIER_MODULES": str(MODULES)})
        return asyncio.run(watch(home.project)), asyncio.run(watch_question(home.project))


def measure(quick: bool) -> list[Row]:
    """Return the hops of a token, and of a question and its answer."""
    token, question = _watched()
    how = "calls from one file into another that hand it on: python -m tests.bench.hops lists them"
    return [
        Row(what="a token to the screen", value=total(token, STRETCHES), unit="hops", goal=18),
        Row(
            what="a question to the dialog and back",
            value=total(question, ROUND_TRIP),
            unit="hops",
            how=how,
        ),
    ]


def main() -> int:
    """Print the ways."""
    token, question = _watched()
    print("A token", *lines(token, STRETCHES), sep="\n")
    print("A question and its answer", *lines(question, ROUND_TRIP), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
