"""Searching all stored sessions, indexing them in the background, and listing them.

The texts are words of a made-up language, some of them in half of all rows as in a real one, with
Chinese between them. The index is built by the program's own process while a loop beats.
"""

import asyncio
import json
import os
import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from amplifier_tui.host.store.listing.listing import list_sessions
from amplifier_tui.host.store.search.background import SessionSearch
from amplifier_tui.host.store.search.finding import find
from amplifier_tui.paths import amplifier_home, sessions_dir
from tests.bench.heart import Heart, stall_row
from tests.bench.table import Row
from tests.homes import home_variables

ROWS = 100_000
MANY_ROWS = 1_000_000
OF_ONE = 500
SESSIONS = 10_000
ROUNDS = 5
_WORDS = 20_000
_CHINESE = "会议记录"


def write_sessions(rows: int) -> list[str]:
    """Write sessions of `OF_ONE` rows in forty folders; returns what to look for."""
    chance = random.Random(7)
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = ["".join(chance.choices(letters, k=chance.randint(3, 9))) for _ in range(_WORDS)]
    text = chance.choices(words, [1 / (rank + 1) for rank in range(_WORDS)], k=400_000)
    for session in range(rows // OF_ONE):
        folder = amplifier_home() / f"projects/-p{session % 40}/sessions/s{session:06}"
        folder.mkdir(parents=True)
        with (folder / "transcript.jsonl").open("w") as file:
            for row in range(OF_ONE):
                begin = chance.randrange(len(text) - 60)
                said = " ".join(text[begin : begin + chance.randint(8, 60)])
                said += _CHINESE if row % 100 == 7 else ""
                role = "assistant" if row % 2 else "user"
                file.write(json.dumps({"role": role, "content": said}) + "\n")
    together = f'"{text[5]} {text[6]}"'
    return [words[0], f"{words[0]} {words[3]}", words[900], words[-1], "a", together, _CHINESE[:2]]


async def index() -> tuple[float, Heart]:
    """Have everything indexed; returns the seconds it took, and the loop's heart meanwhile."""
    search = SessionSearch()
    began = time.perf_counter()
    async with Heart() as heart:
        while (await search.search("", None)).indexing or time.perf_counter() == began:
            await asyncio.sleep(0.1)
    await search.close()
    return time.perf_counter() - began, heart


def best(act: Callable[[], object]) -> float:
    """Return the milliseconds of the fastest of some rounds."""
    times = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        act()
        times.append((time.perf_counter() - began) * 1000)
    return min(times)


def searched(rows: int, goal: float) -> list[Row]:
    """Index so many rows and search them."""
    queries = write_sessions(rows)
    seconds, heart = asyncio.run(index())
    times = {query: best(lambda query=query: find(query)) for query in queries}
    slowest = max(times, key=lambda query: times[query])
    how = f"{rows:,} rows in {rows // OF_ONE:,} sessions; of 7 queries the slowest, best of 5"
    return [
        Row(
            what=f"search over {rows:,} rows",
            value=times[slowest],
            unit="ms",
            goal=goal,
            how=how,
            remark=f"indexed in {seconds:.0f} s",
        ),
        stall_row(f"stall while {rows:,} rows are indexed", [heart], 33, "a beat of 10 ms"),
    ]


def listed() -> Row:
    """List the sessions of a folder that has many, as the picker does."""
    cwd = amplifier_home()
    for number in range(SESSIONS):
        folder = sessions_dir(cwd) / f"s{number:06}"
        folder.mkdir(parents=True)
        (folder / "transcript.jsonl").write_text('{"role": "user", "content": "Why?"}\n')
        card = {"session_id": folder.name, "name": f"Session {number}", "first_prompt": "Why?"}
        (folder / "metadata.json").write_text(json.dumps(card))
    return Row(
        what=f"list of {SESSIONS:,} sessions",
        value=best(lambda: list_sessions("", cwd)),
        unit="ms",
        goal=150,
        how="the cards that the picker shows, from disk; best of 5",
    )


def measure(quick: bool) -> list[Row]:
    """Return the rows."""
    rows: list[Row] = []
    for count, goal in ((ROWS, 50), (MANY_ROWS, 200))[: 1 if quick else 2]:
        with tempfile.TemporaryDirectory(prefix="session-search-") as home:
            os.environ.update(home_variables(Path(home)))
            rows += searched(count, goal)
            if count == ROWS:
                rows.append(listed())
    return rows
