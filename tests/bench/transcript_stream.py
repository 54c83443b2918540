"""How the transcript holds up: `python -m tests.bench.transcript_stream [--quick]`.

A headless app with a heartbeat every 10 ms on the UI loop. A stall is how late a beat came; the
CPU stall, which other programs on the machine do not inflate, is what the UI thread burned
between two beats. Goals are those of the architecture, section 9.
"""

import argparse
import asyncio
import gc
import random
import resource
import statistics
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from textual import events
from textual.app import App, ComposeResult
from textual.pilot import Pilot
from textual.strip import Strip
from textual.widgets import Input

from amplifier_tui.ui.state.entries import Change, Entry, TextEntry, ToolEntry, UserEntry
from amplifier_tui.ui.transcript.view import TranscriptView

BEAT = 0.01
TOKEN = 5
WORDS = str.split(
    "the retry loop waits for a clock that nobody moves so `backoff` sleeps **for real** and the "
    "test hangs until its timeout; see [the docs](https://example.org/a) for _why_ 漢字"
)


class Echo(Input):
    """Tells when it was drawn."""

    def __init__(self) -> None:
        super().__init__()
        self.cursor_blink = False
        self.drawn = asyncio.Event()

    def render_line(self, y: int) -> Strip:
        self.drawn.set()
        return super().render_line(y)


class Bench(App[None]):
    CSS = "TranscriptView { height: 1fr; } Echo { height: 3; }"

    def compose(self) -> ComposeResult:
        yield TranscriptView()
        yield Echo()

    @property
    def view(self) -> TranscriptView:
        return self.query_one(TranscriptView)


@dataclass
class Heart:
    """Counts how late the loop's beats come."""

    late: list[float] = field(default_factory=list)
    burned: list[float] = field(default_factory=list)

    async def beat(self) -> None:
        due, cpu = time.perf_counter() + BEAT, time.thread_time()
        while True:
            await asyncio.sleep(BEAT)
            now, burned = time.perf_counter(), time.thread_time()
            self.late.append(max(0.0, now - due) * 1000)
            self.burned.append((burned - cpu) * 1000)
            due, cpu = time.perf_counter() + BEAT, time.thread_time()

    @property
    def words(self) -> str:
        if not self.late:
            return "no beat"
        ordered = sorted(self.late)
        p99 = ordered[int(len(ordered) * 0.99)]
        over = sum(late > 50 for late in self.late)
        return (
            f"max {max(self.late):5.1f}  p99 {p99:5.1f}  CPU max {max(self.burned):5.1f} ms  "
            f">50 ms: {over} of {len(self.late)}"
        )


def prose(characters: int, source: random.Random) -> str:
    parts: list[str] = []
    size = 0
    while size < characters:
        words = " ".join(source.choices(WORDS, k=source.randint(8, 60)))
        kind = source.random()
        if kind < 0.1:
            words = (
                "```python\n" + "\n".join(f"x{n} = call({n})  # {n}" for n in range(12)) + "\n```"
            )
        elif kind < 0.2:
            words = "\n".join(f"{n}. {words[: 40 + n]}" for n in range(1, 7))
        elif kind < 0.27:
            rows = "\n".join(f"| row {n} | {n * 7} | {words[:20]} |" for n in range(8))
            words = f"| name | n | why |\n|---|--:|---|\n{rows}"
        elif kind < 0.32:
            words = f"## {words[:40]}"
        parts.append(words)
        size += len(words) + 2
    return "\n\n".join(parts)


def history(count: int) -> list[Change]:
    source = random.Random(7)
    made: list[Entry] = []
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
    return [Change(op="add", entry=entry) for entry in made]


async def stream(view: TranscriptView, text: str, rate: float, key: str) -> float:
    """Send `text` at `rate` characters a second; return the seconds until all is drawn."""
    entry = TextEntry(key=key, text="", streaming=True)
    view.apply([Change(op="add", entry=entry)])
    began = time.perf_counter()
    sent = 0
    while sent < len(text):
        due = min(len(text), int((time.perf_counter() - began) * rate) + TOKEN)
        if due > sent:
            part = text[sent:due]
            entry.text += part
            sent = due
            view.apply([Change(op="stream", entry=entry, text=part)])
        await asyncio.sleep(1 / 60)
    entry.streaming = False
    view.apply([Change(op="update", entry=entry)])
    while view.is_streaming:
        await asyncio.sleep(0.005)
    return time.perf_counter() - began


async def type_keys(app: Bench, echoes: list[float]) -> None:
    field_ = app.query_one(Echo)
    field_.focus()
    while True:
        await asyncio.sleep(0.05)
        field_.drawn.clear()
        began = time.perf_counter()
        app.post_message(events.Key("x", "x"))
        await field_.drawn.wait()
        echoes.append((time.perf_counter() - began) * 1000)


async def watched(job: Callable[[], Awaitable[object]]) -> Heart:
    heart = Heart()
    task = asyncio.create_task(heart.beat())
    await asyncio.sleep(3 * BEAT)
    heart.late.clear()
    heart.burned.clear()
    await job()
    await asyncio.sleep(5 * BEAT)
    task.cancel()
    return heart


def tune() -> None:
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 1000)


def rss() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def row(name: str, result: str, goal: str = "") -> None:
    print(f"{name:<44} {result:<64} {goal}", flush=True)


async def streaming(messages: int, characters: int) -> None:
    app = Bench()
    async with app.run_test(size=(140, 45)) as pilot:
        view = app.view
        changes = history(messages)
        began = time.perf_counter()
        view.apply(changes)
        await pilot.pause()
        row(f"load {messages} messages", f"{(time.perf_counter() - began) * 1000:.0f} ms")
        tune()
        text = prose(characters, random.Random(3))
        await stream(view, text[:2000], 5000, "warm")
        echoes: list[float] = []
        typing = asyncio.create_task(type_keys(app, echoes))
        cpu = time.thread_time()
        seconds = 0.0

        async def job() -> None:
            nonlocal seconds
            seconds = await stream(view, text, 1000 * TOKEN, "live")

        heart = await watched(job)
        typing.cancel()
        burned = 100 * (time.thread_time() - cpu) / max(seconds, 0.001)
        row(f"1000 tok/s, {messages} messages", heart.words, "max <= 50 ms")
        row("  CPU", f"{burned:.0f} %, {seconds:.1f} s of {characters / 5000:.1f}")
        echoes.sort()
        row(
            "  key echo",
            f"p50 {statistics.median(echoes):.0f}  p95 {echoes[int(len(echoes) * 0.95)]:.0f}  "
            f"max {echoes[-1]:.0f} ms",
            "p95 <= 33 ms",
        )
        await operations(app, pilot, messages)


async def operations(app: Bench, pilot: Pilot[None], messages: int) -> None:
    view = app.view

    async def timed(
        name: str, step: Callable[[int], Awaitable[object]], times: int, goal: str = ""
    ) -> None:
        async def job() -> None:
            for number in range(times):
                await step(number)
                await asyncio.sleep(0.1)

        row(f"  {name}", (await watched(job)).words, goal)

    async def resize(number: int) -> None:
        await pilot.resize_terminal(120 + number % 7, 45)

    async def theme(number: int) -> None:
        app.theme = ("nord", "gruvbox", "textual-light")[number % 3]

    async def append(number: int) -> None:
        view.apply([Change(op="add", entry=UserEntry(key=f"a{number}", text="hello " * 20))])

    async def page(_: int) -> None:
        view.scroll_page_up(animate=False)

    source = random.Random(1)

    async def jump(_: int) -> None:
        view.scroll_to(y=source.randrange(view.virtual_size.height), animate=False)

    async def expand(_: int) -> None:
        view.toggle_all()

    await timed("append", append, 20)
    await timed("page up", page, 40)
    await timed("random jump", jump, 40)
    await timed("resize", resize, 12, "<= 70 ms")
    await timed("theme change", theme, 12, "<= 70 ms")
    await timed(f"expand all of {messages}", expand, 4)
    row("  RSS at most", f"{rss()} MB")


async def pathological(name: str, text: str) -> None:
    app = Bench()
    async with app.run_test(size=(140, 45)) as pilot:
        await stream(app.view, "warm `up`\n\n```python\nx = 1\n```\n", 5000, "warm")
        await pilot.pause()
        tune()
        heart = await watched(lambda: stream(app.view, text, 10_000, "live"))
        row(f"{name} ({len(text) // 1000} kB, 2000 tok/s)", heart.words, "bounded")
        app.view.apply([Change(op="clear")])
        began = time.thread_time()
        app.view.apply([Change(op="add", entry=TextEntry(key="w", text=text))])
        await pilot.pause()
        row("  the same, stored", f"{(time.thread_time() - began) * 1000:.0f} ms CPU")


async def main(quick: bool) -> None:
    await streaming(0, 10_000)
    await streaming(10_000, 15_000 if quick else 50_000)
    words = " ".join(random.Random(2).choices(WORDS, k=12_000))[:64_000]
    code = "\n".join(f"value_{n} = compute({n}, 'text {n}')  # note {n}" for n in range(1300))
    rows = "\n".join(f"| row {n} | {n * 31} | some words about {n} |" for n in range(1000))
    cases = {
        "one fence": f"```python\n{code}\n```\n",
        "one fence, no language": f"```\n{code}\n```\n",
        "one paragraph": words,
        "1000-row table": f"| a | b | c |\n|---|--:|---|\n{rows}\n",
        "1500-item list": "\n".join(f"- item {n} with `code` and words" for n in range(1500)),
        "nested list": "- top\n" + "\n".join(f"  - item {n} with words" for n in range(1500)),
        "one quote": "\n".join(f"> line {n} of a quote\n>" for n in range(1500)),
        "one line": "x" * 64_000,
        "brackets": "[" * 20_000 + "](" * 10_000,
        "stars": "*a " * 20_000,
    }
    for name, text in cases.items():
        await pathological(name, text[:20_000] if quick else text)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="shorter streams")
    asyncio.run(main(parser.parse_args().quick))
