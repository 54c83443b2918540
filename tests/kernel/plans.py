# Mount plans and loaders the session tests share.

from collections.abc import Awaitable, Callable
from typing import Any

from amplifier_tui.kernel.coordinator import ModuleCoordinator
from amplifier_tui.kernel.hooks import HookTrace
from amplifier_tui.kernel.session import AmplifierSession

MountFunction = Callable[[ModuleCoordinator, dict[str, Any]], Awaitable[Any]]


class Named:
    def __init__(self, name: str) -> None:
        self.name = name


class Context:
    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []

    async def add_message(self, message: dict[str, Any]) -> None:
        self.messages.append(message)


class Loop:
    # An orchestrator that does what a test tells it to.

    def __init__(self, act: Any = None) -> None:
        self.act = act
        self.called_with: dict[str, Any] = {}

    async def execute(self, **arguments: Any) -> Any:
        self.called_with = arguments
        outcome = self.act(**arguments) if self.act else "answer"
        return await outcome if isinstance(outcome, Awaitable) else outcome


class MemoryLoader:
    # Loads mount functions it was given, and notes what it was asked for.

    def __init__(self, modules: dict[str, MountFunction] | None = None) -> None:
        self.modules: dict[str, MountFunction] = {
            "loop": mounts("orchestrator", Loop()),
            "context": mounts("context", Context()),
            "provider-mock": mounts("providers", Named("mock")),
            **(modules or {}),
        }
        self.asked: list[tuple[Any, ...]] = []
        self.cleaned = 0

    async def load(
        self, module_id: str, config: Any = None, source_hint: Any = None, coordinator: Any = None
    ) -> Any:
        self.asked.append((module_id, config, source_hint, coordinator))
        if module_id not in self.modules:
            raise ValueError(f"no {module_id}")
        function = self.modules[module_id]

        async def mount(target: ModuleCoordinator) -> Any:
            return await function(target, config)

        return mount

    def cleanup(self) -> None:
        self.cleaned += 1


def mounts(point: str, module: Any, name: str | None = None, cleanup: Any = None) -> MountFunction:
    async def mount(coordinator: ModuleCoordinator, config: dict[str, Any]) -> Any:
        await coordinator.mount(point, module, name)
        return cleanup

    return mount


def plan(**sections: Any) -> dict[str, Any]:
    session = {"orchestrator": "loop", "context": "context", **sections.pop("session", {})}
    return {"session": session, "providers": [{"module": "provider-mock"}], **sections}


def make(
    modules: dict[str, MountFunction] | None = None,
    config: dict[str, Any] | None = None,
    **arguments: Any,
) -> tuple[AmplifierSession, list[HookTrace]]:
    # A session on a memory loader, and the list its emits are noted in.
    session = AmplifierSession(config or plan(), loader=MemoryLoader(modules), **arguments)
    traces: list[HookTrace] = []
    session.coordinator.hooks.observe(traces.append)
    return session, traces


def facts(trace: HookTrace) -> dict[str, Any]:
    # What the emitter said: the data without the timestamp.
    return {key: value for key, value in trace.data.items() if key != "timestamp"}
