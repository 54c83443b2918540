"""A built-in module as a host mounts it: by its id, in a session of its own."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint, entry_points
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from amplifier_tui.kernel.coordinator import ModuleCoordinator
from amplifier_tui.kernel.loader import ModuleLoader

KINDS = {"orchestrator": "loop-", "context": "context-", "provider": "provider-"} | {
    "tool": "tool-",
    "hook": "hooks-",
}
ENTRIES: dict[str, EntryPoint] = {
    entry.name: entry
    for entry in entry_points(group="amplifier.modules")
    if entry.value.startswith("amplifier_tui.modules.")
}
CONFIG: dict[str, dict[str, Any]] = {
    "tool-mcp": {"servers": {"none": {"command": "no-such-program"}}},
    "provider-anthropic": {"api_key": "sk-test"},
    "provider-openai": {"api_key": "sk-test"},
    "provider-mock": {"tokens_per_second": 0},
}
"""What a module needs to mount anything."""
_NUMBERS = count()
PLAN: dict[str, Any] = {"session": {}, "agents": {"explorer": {"description": "Looks around."}}}


def of_kind(kind: str) -> list[str]:
    return sorted(name for name in ENTRIES if name.startswith(KINDS[kind]))


@dataclass
class Subject:
    """A mounted module, and every event since."""

    module: str
    coordinator: ModuleCoordinator
    folder: Path
    cleanup: Any = None
    events: list[str] = field(default_factory=list)

    def mounted(self, point: str) -> dict[str, Any]:
        found = self.coordinator.get(point)
        return dict(found) if isinstance(found, dict) else {"": found}

    async def announced(self) -> set[str]:
        told = await self.coordinator.collect_contributions("observability.events")
        return {name for names in told for name in names}


@asynccontextmanager
async def mounted(module: str, folder: Path, **config: Any) -> AsyncIterator[Subject]:
    session = SimpleNamespace(session_id=f"s-{next(_NUMBERS)}", parent_id=None, config=PLAN)
    coordinator = ModuleCoordinator(session)
    coordinator.register_capability("session.working_dir", str(folder))
    subject = Subject(module, coordinator, folder)
    coordinator.hooks.observe(lambda trace: subject.events.append(trace.event))
    load = ModuleLoader(coordinator)
    mount = await load.load(module, {**CONFIG.get(module, {}), **config})
    subject.cleanup = await mount(coordinator)
    try:
        yield subject
    finally:
        if subject.cleanup is not None:
            done = subject.cleanup()
            if done is not None:
                await done
        await coordinator.cleanup()
