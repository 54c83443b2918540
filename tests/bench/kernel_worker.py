# Measures whatever `amplifier_core` is here; prints microseconds as JSON. `kernel_emit` runs it in
# two environments, so it uses only what both have.

import asyncio
import gc
import json
import logging
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

ROUNDS = 15
SMALL = {"tool_name": "bash", "tool_input": {"command": "ls -la", "timeout": 30}}
# Two hundred kilobytes as an orchestrator emits them: the messages of a request, in blocks.
LARGE = {
    "provider": "mock",
    "messages": [
        {
            "role": "assistant" if number % 2 else "user",
            "content": [{"type": "text", "text": f"{number} {'lorem ipsum ' * 34}"}],
        }
        for number in range(450)
    ],
}
PLAN = {
    "session": {"orchestrator": "loop-bench", "context": "context-bench"},
    "providers": [{"module": "provider-bench"}],
}
MODULE = """
class Module:
    name = "bench"

    async def execute(self, **arguments):
        return "done"


async def mount(coordinator, config):
    await coordinator.mount("{point}", Module())
"""
POINTS = {
    "loop-bench": "orchestrator",
    "context-bench": "context",
    "provider-bench": "providers",
    "tool-bench": "tools",
}


async def measure(operation: Callable[[], Awaitable[Any]], times: int) -> float:
    """Return the best of some rounds, in microseconds per operation.

    The rounds are short: on a busy machine some of them have a core to themselves.
    """
    await operation()
    rounds = []
    for _ in range(ROUNDS):
        gc.collect()
        began = time.perf_counter()
        for _ in range(times):
            await operation()
        rounds.append((time.perf_counter() - began) / times * 1e6)
    return min(rounds)


def registry(handlers: int, answer: Any = None) -> Any:
    from amplifier_core import HookRegistry

    hooks = HookRegistry()
    hooks.set_default_fields(session_id="bench", parent_id=None)
    for number in range(handlers):

        async def handler(event: str, data: dict[str, Any]) -> Any:
            return answer(data) if answer is not None else None

        hooks.register("tool:pre", handler, name=f"h{number}")
    return hooks


class MemoryLoader:
    """Mounts without looking for anything."""

    async def load(self, module_id: str, *arguments: Any, **keywords: Any) -> Any:
        point = POINTS[module_id]

        async def mount(coordinator: Any) -> None:
            await coordinator.mount(point, self, name="bench")

        return mount

    async def execute(self, **arguments: Any) -> str:
        return "done"

    def get_on_session_ready_queue(self) -> list[Any]:
        return []

    def clear_on_session_ready_queue(self) -> None:
        return None

    def cleanup(self) -> None:
        return None


async def in_memory() -> None:
    from amplifier_core import AmplifierSession

    session = AmplifierSession({**PLAN, "tools": [{"module": "tool-bench"}]})
    session.coordinator.loader = MemoryLoader()
    await session.initialize()
    await session.cleanup()


async def through_the_loader() -> None:
    from amplifier_core import AmplifierSession

    session = AmplifierSession(dict(PLAN))
    await session.initialize()
    await session.cleanup()


async def measured() -> dict[str, float]:
    from amplifier_core import HookResult

    found: dict[str, float] = {}
    for count in (0, 1, 10):
        hooks = registry(count)
        found[f"emit {count} small"] = await measure(partial(hooks.emit, "tool:pre", SMALL), 200)
    reads = registry(10, lambda data: json.dumps(data) and None)
    modifies = registry(1, lambda data: HookResult(action="modify", data=data))
    found["emit 10 large"] = await measure(partial(registry(10).emit, "tool:pre", LARGE), 5)
    found["emit 1 large, modify"] = await measure(lambda: modifies.emit("tool:pre", LARGE), 5)
    found["emit 10 large, json.dumps each"] = await measure(
        lambda: reads.emit("tool:pre", LARGE), 3
    )
    found["session in memory"] = await measure(in_memory, 30)
    with tempfile.TemporaryDirectory() as folder:
        sys.path.insert(0, folder)
        for module_id, point in POINTS.items():
            package = Path(folder) / f"amplifier_module_{module_id.replace('-', '_')}"
            package.mkdir()
            (package / "__init__.py").write_text(MODULE.format(point=point))
        found["session through the loader"] = await measure(through_the_loader, 10)
    return found


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    print(json.dumps(asyncio.run(measured())))
