"""How the transcript holds up: 1000 tokens a second into 10 000 messages, and worse.

A headless app with the transcript alone. What is asked of it besides the goals of the
architecture, section 9, has no goal.
"""

import asyncio
import os
import random
import resource
import time
from collections.abc import Awaitable, Callable

# As in the program; Textual reads it when it is imported.
os.environ.setdefault("TEXTUAL_FPS", "200")

from textual import events
from textual.app import App, ComposeResult
from textual.pilot import Pilot
from textual.strip import Strip
from textual.widgets import Input

from amplifier_tui.ui.app import pace
from amplifier_tui.ui.state.conversation.entries import (
    ConversationEntry,
    EntryChange,
    TextEntry,
    ToolEntry,
    UserEntry,
)
from amplifier_tui.ui.transcript.view import TranscriptView
from tests.bench.heart import Heart, stall_row
from tests.bench.program import percentile
from tests.bench.prose import WORDS, prose
from tests.bench.table import Row

TOKEN = 5
MESSAGES = 10_000
ROUNDS = 3
HOW = "headless app, 140x45, a heartbeat of 10 ms on the UI loop"


class Echo(Input):
    """Tells when it was drawn."""

    def __init__(self) -> None:
        super().__init__()
        self.cursor_blink = False
        self.drawn = asyncio.Event()

    def render_line(self, y: int) -> Strip:
        """Draw a line."""
        self.drawn.set()
        return super().render_line(y)


class Bench(App[None]):
    """The transcript and a line to type into."""

    CSS = "TranscriptView { height: 1fr; } Echo { height: 3; }"

    def compose(self) -> ComposeResult:
        """Make both."""
        yield TranscriptView()
        yield Echo()

    @property
    def view(self) -> TranscriptView:
        """The transcript."""
        return self.query_one(TranscriptView)


def history(count: int) -> list[EntryChange]:
    """Return a mixture of entries as a long session has them."""
    source = random.Random(7)
    made: list[ConversationEntry] = []
    for number in range(count):
        key = f"h{number}"
        kind = number % 5
        if kind == 0:
            made.append(UserEntry(key=key, text=" ".join(source.choices(WORDS, k=20))))
        elif kind in (1, 2):
            made.append(
                ToolEntry(
                    key=key,
                    tool="bash",
                    arguments={"command": f"pytest -q {number}"},
                    state="ok",
                    duration_ms=number % 900,
                    output="ok\n" * 20,
                )
            )
        else:
            made.append(TextEntry(key=key, text=prose(source.randint(100, 900), source)))
    return [EntryChange(op="add", entry=entry) for entry in made]


async def stream(view: TranscriptView, text: str, rate: float, key: str) -> float:
    """Send `text` at `rate` characters a second; return the seconds until all is drawn."""
    entry = TextEntry(key=key, text="", streaming=True)
    view.apply([EntryChange(op="add", entry=entry)])
    began = time.perf_counter()
    sent = 0
    while sent < len(text):
        due = min(len(text), int((time.perf_counter() - began) * rate) + TOKEN)
        if due > sent:
            part = text[sent:due]
            entry.text += part
            sent = due
            view.apply([EntryChange(op="stream", entry=entry, text=part)])
        await asyncio.sleep(1 / 60)
    entry.streaming = False
    view.apply([EntryChange(op="update", entry=entry)])
    while view.is_streaming:
        await asyncio.sleep(0.005)
    return time.perf_counter() - began


async def type_keys(app: Bench, echoes: list[float]) -> None:
    """Type for ever, and note how long each key took to be drawn."""
    line = app.query_one(Echo)
    line.focus()
    while True:
        await asyncio.sleep(0.05)
        line.drawn.clear()
        began = time.perf_counter()
        app.post_message(events.Key("x", "x"))
        await line.drawn.wait()
        echoes.append((time.perf_counter() - began) * 1000)


async def streaming(characters: int, *, operate: bool) -> list[Row]:
    """Stream so many characters into a long conversation, `ROUNDS` times."""
    app = Bench()
    rows: list[Row] = []
    async with app.run_test(size=(140, 45)) as pilot:
        view = app.view
        view.apply(history(MESSAGES))
        await pilot.pause()
        source = random.Random(3)
        await stream(view, prose(2000, source), 5000, "warm")
        pace.settle()
        echoes: list[float] = []
        hearts: list[Heart] = []
        typing = asyncio.create_task(type_keys(app, echoes))
        began, cpu = time.perf_counter(), time.thread_time()
        for number in range(ROUNDS):
            async with Heart() as heart:
                await stream(view, prose(characters, source), 1000 * TOKEN, f"live{number}")
            hearts.append(heart)
        part = (time.thread_time() - cpu) / (time.perf_counter() - began)
        typing.cancel()
        what = "UI stall, 1000 tok/s into 10 000 messages: max"
        rows.append(stall_row(what, hearts, 50.0, f"{HOW}, median of {ROUNDS} rounds"))
        how = f"{len(echoes)} keys meanwhile; the UI thread used {part:.0%} of a core"
        p95 = percentile(echoes, 0.95)
        rows.append(Row(what="  key drawn: p95", value=p95, unit="ms", goal=33.0, how=how))
        if operate:
            rows += await operations(app, pilot)
    return rows


async def operations(app: Bench, pilot: Pilot[None]) -> list[Row]:
    """What a user does with a long conversation."""
    view = app.view
    source = random.Random(1)

    async def resize(number: int) -> None:
        await pilot.resize_terminal(120 + number % 7, 45)

    async def theme(number: int) -> None:
        app.theme = ("nord", "gruvbox", "textual-light")[number % 3]

    async def append(number: int) -> None:
        view.apply([EntryChange(op="add", entry=UserEntry(key=f"a{number}", text="hello " * 20))])

    async def page(_: int) -> None:
        view.scroll_page_up(animate=False)

    async def jump(_: int) -> None:
        view.scroll_to(y=source.randrange(view.virtual_size.height), animate=False)

    async def expand(_: int) -> None:
        view.toggle_all()

    steps: list[tuple[str, Callable[[int], Awaitable[None]], int]] = [
        ("append", append, 20),
        ("page up", page, 40),
        ("random jump", jump, 40),
        ("resize", resize, 12),
        ("theme change", theme, 12),
        ("expand all", expand, 4),
    ]
    rows: list[Row] = []
    for name, step, times in steps:
        async with Heart() as heart:
            for number in range(times):
                await step(number)
                await asyncio.sleep(0.1)
        rows.append(stall_row(f"  {name}: max stall", [heart], None, HOW))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    rows.append(Row(what="  RSS at most", value=peak, unit="MiB", how=HOW))
    return rows


def hostile() -> dict[str, str]:
    """Return texts no model should write."""
    code = "\n".join(f"value_{n} = compute({n}, 'text {n}')  # note {n}" for n in range(1300))
    rows = "\n".join(f"| row {n} | {n * 31} | some words about {n} |" for n in range(1000))
    return {
        "one fence": f"```python\n{code}\n```\n",
        "one fence, no language": f"```\n{code}\n```\n",
        "one paragraph": " ".join(random.Random(2).choices(WORDS, k=12_000))[:64_000],
        "1000-row table": f"| a | b | c |\n|---|--:|---|\n{rows}\n",
        "1500-item list": "\n".join(f"- item {n} with `code` and words" for n in range(1500)),
        "nested list": "- top\n" + "\n".join(f"  - item {n} with words" for n in range(1500)),
        "one quote": "\n".join(f"> line {n} of a quote\n>" for n in range(1500)),
        "one line": "x" * 64_000,
        "brackets": "[" * 20_000 + "](" * 10_000,
        "stars": "*a " * 20_000,
    }


async def pathological(name: str, text: str) -> Row:
    """Stream one of them at 2000 tokens a second."""
    app = Bench()
    async with app.run_test(size=(140, 45)) as pilot:
        await stream(app.view, "warm `up`\n\n```python\nx = 1\n```\n", 5000, "warm")
        await pilot.pause()
        pace.settle()
        async with Heart() as heart:
            await stream(app.view, text, 10_000, "live")
    how = f"{HOW}; 2000 tok/s"
    return stall_row(f"  {name}, {len(text) // 1000} kB: max stall", [heart], None, how)


def measure(quick: bool) -> list[Row]:
    """Return the rows."""
    rows = asyncio.run(streaming(8_000 if quick else 40_000, operate=not quick))
    if not quick:
        rows += [asyncio.run(pathological(name, text)) for name, text in hostile().items()]
    return rows
