"""What following a stream costs the engine.

Emits deltas as a provider does, once into a bare hook registry and once into one that the host
follows: normalised, logged, kept in `partial.jsonl`, put into the outbox. The architecture promises
1 000 tokens a second; the difference is what the host takes of each.
"""

import asyncio
import tempfile
import time
from pathlib import Path

from amplifier_tui.host.door.outbox import Outbox
from amplifier_tui.host.redaction import Redactor
from amplifier_tui.host.session.modules.facts import ModuleFacts
from amplifier_tui.host.store.session_store import SessionStore
from amplifier_tui.host.stream.normalizer import Normalizer
from amplifier_tui.host.stream.sender import Sender
from amplifier_tui.kernel.hooks.registry import HookRegistry
from tests.bench.table import Row

DELTAS = 50_000
RATE = 1_000
GOAL = 0.1
"""Part of one core the host may take at `RATE` tokens a second."""


async def emit_all(hooks: HookRegistry) -> float:
    """Emit the deltas; returns seconds per delta."""
    place = {"request_id": "r", "block_index": 0, "block_type": "text"}
    began = time.perf_counter()
    for number in range(DELTAS):
        await hooks.emit("llm:stream_block_delta", {**place, "sequence": number, "text": "token "})
        if number % 100 == 99:
            await asyncio.sleep(0)
    return (time.perf_counter() - began) / DELTAS


async def compare(scratch: Path) -> tuple[float, float, int]:
    """Return the seconds a delta takes that nobody follows and that the host follows; the events
    that went up.
    """
    bare = await emit_all(HookRegistry())
    redactor = Redactor({"A_KEY": "some-secret-value", "B_TOKEN": "another-secret-value"})
    store = SessionStore(scratch / "session", redactor, lambda _: None)
    store.open()
    outbox = Outbox()
    sender = Sender(outbox.put, store)
    normalizer = Normalizer(sender, scratch, ModuleFacts())
    hooks = HookRegistry()
    normalizer.observe(hooks)
    followed = await emit_all(hooks)
    normalizer.close()
    events = len(outbox.drain())
    store.partial.rest()
    store.close()
    return bare, followed, events


def measure(quick: bool) -> list[Row]:
    """Return the rows."""
    with tempfile.TemporaryDirectory(prefix="host-stream-") as scratch:
        bare, followed, events = asyncio.run(compare(Path(scratch)))
    how = f"{DELTAS:,} deltas emitted as a provider does; {events} events went up"
    return [
        Row(
            what="a delta that the host follows",
            value=followed * 1e6,
            unit="µs",
            reference=bare * 1e6,
            against="a delta nobody follows",
            how=how,
        ),
        Row(
            what=f"  part of a core the host takes at {RATE} tok/s",
            value=(followed - bare) * RATE * 100,
            unit="%",
            goal=GOAL * 100,
            how=how,
        ),
    ]
