"""Speed of the context with 10 000 rows.

Goals: append a row in at most 50 µs; assemble, measure and plan a request in at most 20 ms once the
rows are known; load the ledger in at most 300 ms; search 20 000 memories in at most 20 ms.
"""

import asyncio
import gc
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from amplifier_tui.context.ledger import Ledger
from amplifier_tui.context.manager import SessionContextManager
from amplifier_tui.context.memory.store import MemoryStore
from amplifier_tui.context.pipeline import ContextPipeline
from amplifier_tui.context.request.budget import BudgetPolicy
from tests.bench.table import Row

ROWS = 10_000
MEMORIES = 20_000
QUERIES = (
    "How do we run the integration tests of the payment service on a laptop?",
    "日本語の設定ファイルはどこにありますか",
    "deploy staging database password rotation schedule",
    "tests",
)

Message = dict[str, Any]
HOW = "10 000 rows as a long session of a coding agent has them"


def session_rows(count: int) -> list[Message]:
    """Return rows as a long session of a coding agent has them."""
    rng = Random(4)
    rows: list[Message] = [{"role": "user", "content": "Let us begin"}]
    number = 0
    while len(rows) < count:
        rows.append({"role": "user", "content": f"Question {number}: " + "why " * 20})
        for _ in range(rng.randint(1, 8)):
            number += 1
            call = {"id": f"c{number}", "name": "bash", "arguments": {"command": "ls -la src"}}
            text = "line of output\n" * rng.choice((1, 5, 20, 100))
            rows.append(
                {
                    "role": "assistant",
                    "content": [{"type": "text", "text": "Let me look. " * 5}],
                    "tool_calls": [call],
                }
            )
            rows.append({"role": "tool", "tool_call_id": f"c{number}", "content": text})
        rows.append({"role": "assistant", "content": [{"type": "text", "text": "So. " * 100}]})
    return rows[:count]


def best(work: Callable[[], Any], times: int) -> float:
    """Return the least seconds a piece of work takes: the machine does other things, too."""
    taken = []
    for _ in range(times):
        started = time.perf_counter()
        work()
        taken.append(time.perf_counter() - started)
    return min(taken)


def append(rows: list[Message]) -> float:
    """Seconds per row."""

    def all_rows() -> None:
        ledger = Ledger()
        for row in rows:
            ledger.append(row)

    return best(all_rows, 5) / len(rows)


def load(rows: list[Message], folder: Path) -> float:
    """Seconds for all rows."""
    path = folder / "transcript.jsonl"
    with path.open("w") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    return best(lambda: Ledger.load(path), 5)


async def requests(rows: list[Message]) -> list[Row]:
    """Plans and whole requests, where everything fits and where most is left out."""
    results = []
    for what, limit in (("all fits", 100_000_000), ("most is left out", 100_000)):
        manager = SessionContextManager(BudgetPolicy(max_tokens=limit))
        await manager.set_messages(rows)
        await manager.get_messages_for_request()
        for name, ask, goal in (
            ("assemble, measure, plan", manager.view.preview, 20),
            ("report", manager.view.report, 40),
            ("whole request", manager.get_messages_for_request, 60),
        ):
            taken = []
            for _ in range(9):
                started = time.perf_counter()
                await ask()
                taken.append(time.perf_counter() - started)
            seconds = min(taken)
            results.append(_row(f"{name}, warm, {what}", seconds * 1e3, "ms", goal))
    return results


async def turn(rows: list[Message]) -> Row:
    """What a turn of a pipeline costs before its first request."""
    taken = []
    for _ in range(9):
        manager = SessionContextManager(BudgetPolicy(max_tokens=100_000_000))
        ContextPipeline(manager)
        await manager.set_messages(rows)
        await manager.add_message({"role": "user", "content": "Go on"})
        started = time.perf_counter()
        await manager.get_messages_for_request()
        taken.append(time.perf_counter() - started)
    return _row("first request of a pipeline's turn", min(taken) * 1e3, "ms", 150)


async def memory(folder: Path) -> list[Row]:
    """Searches in a store of 20 000 memories."""
    rng = Random(5)
    words = [f"word{n}" for n in range(3_000)]
    words += ["tests", "integration", "payment", "service", "laptop", "deploy", "staging"] * 8
    store = MemoryStore(folder / "memory.sqlite3")
    await store.remember("日本語の設定ファイルは設定フォルダーにあります")
    for _ in range(MEMORIES - 1):
        await store.remember(" ".join(rng.choices(words, k=25)))
    results = []
    for query in QUERIES:
        taken = []
        for _ in range(9):
            started = time.perf_counter()
            await store.search(query, 8)
            taken.append(time.perf_counter() - started)
        seconds = min(taken)
        results.append(_row(f"memory search '{query[:24]}…'", seconds * 1e3, "ms", 20))
    await store.close()
    return results


def _row(what: str, value: float, unit: str, goal: float) -> Row:
    return Row(what=f"context: {what}", value=value, unit=unit, goal=goal, how=HOW)


def measure(quick: bool) -> list[Row]:
    """Return the rows."""
    rows = session_rows(ROWS)
    gc.collect()
    results = [_row("append a row", append(rows) * 1e6, "µs", 50)]
    results += asyncio.run(requests(rows))
    results.append(asyncio.run(turn(rows)))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        results.append(_row("load 10 000 rows", load(rows, folder) * 1e3, "ms", 300))
        if not quick:
            results += asyncio.run(memory(folder))
    return results
