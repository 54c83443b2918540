"""A hook that records the events its configuration names."""

from typing import Any

from amplifier_tui.kernel.models import HookResult

__amplifier_module_type__ = "hook"

SEEN: list[tuple[str, dict[str, Any]]] = []


async def mount(coordinator: Any, config: dict[str, Any] | None = None) -> None:
    async def record(event: str, data: dict[str, Any]) -> HookResult:
        SEEN.append((event, data))
        return HookResult(action="continue")

    for event in (config or {}).get("events", []):
        coordinator.hooks.register(event, record, name="fx-hook")
