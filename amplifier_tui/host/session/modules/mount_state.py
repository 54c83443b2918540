"""What a module brought: the difference between what is mounted before and after its mount."""

from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

from amplifier_tui.host.turns.sources import PIPELINE
from amplifier_tui.kernel.coordinator import ModuleCoordinator

_POINTS: Final = ("orchestrator", "context", "providers", "tools")


class MountState:
    """What is mounted and registered at one moment."""

    def __init__(self, coordinator: ModuleCoordinator) -> None:
        self._points: dict[str, Any] = {}
        for point in _POINTS:
            mounted = coordinator.get(point)
            self._points[point] = dict(mounted) if isinstance(mounted, dict) else mounted
        self._handlers = coordinator.hooks.list_handlers()
        self._registered = coordinator.hooks._registered()
        pipeline = coordinator.get_capability(PIPELINE)
        self.sources = tuple(getattr(pipeline, "context_providers", ()))
        """Providers of context, which are added to a pipeline and mounted nowhere."""

    def names_since(self, before: "MountState") -> tuple[str, ...]:
        """Return the names that are mounted now and were not, or were somebody else's."""
        names: list[str] = []
        for point, mounted in self._points.items():
            earlier = before._points[point]
            if isinstance(mounted, dict):
                names += [name for name in mounted if mounted[name] is not earlier.get(name)]
            elif mounted is not None and mounted is not earlier:
                names.append(str(getattr(mounted, "name", "") or type(mounted).__name__))
        return tuple(names)

    def new_since(self, before: "MountState", point: str) -> Iterator[tuple[str, Any, Any]]:
        """Yield name and object of what is new at a mount point, and what had the name before."""
        for name, mounted in self._points[point].items():
            earlier = before.mounted(point, name)
            if mounted is not earlier:
                yield name, mounted, earlier

    def mounted(self, point: str, name: str) -> Any:
        """Return what is mounted under a name, or None."""
        return self._points[point].get(name)

    def events_since(self, before: "MountState") -> tuple[str, ...]:
        """Return the events that got handlers."""
        return tuple(
            event
            for event, handlers in self._handlers.items()
            if Counter(handlers) - Counter(before._handlers.get(event, ()))
        )

    def handler_since(self, before: "MountState", event: str) -> Any:
        """Return one of the handlers that an event got, or None."""
        known = [handler for heard, _, handler in before._registered if heard == event]
        here = (handler for heard, _, handler in self._registered if heard == event)
        return next((each for each in here if not any(each is old for old in known)), None)
