"""Going back to before a module mounted: names, order, handlers, capabilities."""

import logging
from typing import Any

from amplifier_tui.kernel.coordinator import ModuleCoordinator
from amplifier_tui.kernel.mounting.changes import ChangeNotes

logger = logging.getLogger(__name__)


class MountWindow(ChangeNotes):
    """What is mounted and registered when a module begins to mount. A context manager.

    What the module does in it can be taken back. What others register in the same coordinator
    meanwhile, from tasks of their own, stays. ``points`` are the mount points as they were.
    """

    def __init__(self, coordinator: ModuleCoordinator) -> None:
        super().__init__(coordinator, coordinator.hooks)
        self._coordinator = coordinator
        self.points = {
            point: dict(mounted) if isinstance(mounted, dict) else mounted
            for point, mounted in coordinator.mount_points.items()
        }
        self._handlers = coordinator.hooks._save()
        self._capabilities = dict(coordinator._capabilities)
        self._channels = {name: list(rows) for name, rows in coordinator.channels.items()}

    def restore(self) -> None:
        """Go back: names, order, handlers, capabilities. Dicts and lists stay the same objects."""
        coordinator = self._coordinator
        points = coordinator.mount_points
        fresh = points.keys() - self.points.keys()
        for point, mounted in {**self.points, **{point: {} for point in fresh}}.items():
            live = points.get(point)
            if isinstance(mounted, dict) and isinstance(live, dict):
                _refill(live, mounted)
            else:
                points[point] = mounted
        coordinator.hooks._restore(self._handlers)
        _refill(coordinator._capabilities, self._capabilities)
        channels = {name: coordinator.channels.get(name, []) for name in self._channels}
        _refill(coordinator.channels, channels)
        for name, rows in self._channels.items():
            channels[name][:] = rows
        for redo in self.others:
            redo()
        for point in fresh:
            if not points[point]:
                del points[point]

    def warn_of_replaced(self, module_id: str) -> None:
        """Log what a module put itself in the place of; legal, and seldom meant."""
        for point, mounted in self.points.items():
            live = self._coordinator.mount_points.get(point)
            if isinstance(mounted, dict) and isinstance(live, dict):
                for name, module in mounted.items():
                    if live.get(name) is not module:
                        logger.warning("'%s' replaced '%s' in %s", module_id, name, point)


def _refill(live: dict[str, Any], content: dict[str, Any]) -> None:
    live.clear()
    live.update(content)
