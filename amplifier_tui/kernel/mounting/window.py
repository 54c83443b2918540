"""Going back to before a module mounted: names, order, handlers, capabilities, lists."""

import logging
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from amplifier_tui.kernel.coordinator import ModuleCoordinator
from amplifier_tui.kernel.mounting.changes import ChangeNotes
from amplifier_tui.kernel.mounting.mounted import MountedModule

logger = logging.getLogger(__name__)


class MountWindow(ChangeNotes):
    """What is mounted and registered when a module begins to mount. A context manager.

    What the module does in it can be taken back. What others register in the same coordinator
    meanwhile, from tasks of their own, stays. ``points`` are the mount points as they were.
    """

    def __init__(self, coordinator: ModuleCoordinator) -> None:
        lists = list(coordinator._lists())
        super().__init__(coordinator, coordinator.hooks, *lists)
        self._coordinator = coordinator
        self.points = {
            point: dict(mounted) if isinstance(mounted, dict) else mounted
            for point, mounted in coordinator.mount_points.items()
        }
        self._handlers = coordinator.hooks._save()
        self._capabilities = dict(coordinator._capabilities)
        self._channels = dict(coordinator.channels)
        self._lists = [(rows, list(rows)) for rows in lists]
        self._cleanups = list(coordinator._cleanup_fns)

    def __exit__(self, *error: object) -> None:
        super().__exit__(*error)
        # The context of a timer that was cancelled keeps this for as long as it would have run.
        self.points, self._handlers, self._capabilities = {}, {}, {}
        self._channels, self._lists, self._cleanups = {}, [], []
        self.others.clear()
        self.foreign.clear()

    def give(self, module: MountedModule) -> None:
        """Note as a module's what it mounted and registered in this window."""
        coordinator = self._coordinator
        held: dict[tuple[str, str], Any] = dict(_places(self.points))
        for place, mounted in _places(coordinator.mount_points):
            # What is mounted may be a stand-in that is equal to a tool.
            foreign = any(mounted == other for other in self.foreign if other is not None)
            if mounted is not held.get(place) and not foreign:
                module.points[place] = mounted
        known = {id(entry) for entries in self._handlers.values() for entry in entries}
        for event, entry in coordinator.hooks._all():
            if id(entry) not in known and not self._is_foreign(entry):
                entry.module = module.key
                module.handlers.append((event, entry))
        for name, value in coordinator._capabilities.items():
            same = name in self._capabilities and self._capabilities[name] is value
            if not same and not self._is_foreign(value):
                module.capabilities[name] = value
        listed = {id(rows): {id(thing) for thing in before} for rows, before in self._lists}
        for rows in coordinator._lists():
            there = listed.get(id(rows), set())
            fresh = (each for each in rows if id(each) not in there and not self._is_foreign(each))
            module.listed += [(rows, thing) for thing in fresh]
        module.cleanups += self.cleanups()

    def _is_foreign(self, what: Any) -> bool:
        return any(what is other for other in self.foreign)

    def cleanups(self) -> list[Callable[..., Any]]:
        """Return the cleanup functions that were registered in this window."""
        there = {id(function) for function in self._cleanups}
        return [each for each in self._coordinator._cleanup_fns if id(each) not in there]

    def restore(self) -> None:
        """Go back: names, order, handlers, capabilities, lists. All stay the same objects."""
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
        _refill(coordinator.channels, self._channels)
        for rows, before in self._lists:
            rows[:] = before
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


def _places(points: Mapping[str, Any]) -> Iterator[tuple[tuple[str, str], Any]]:
    """Yield what is mounted, by mount point and name; the name is empty where one can be."""
    for point, mounted in points.items():
        if isinstance(mounted, dict):
            yield from (((point, name), each) for name, each in mounted.items())
        elif mounted is not None:
            yield (point, ""), mounted


def _refill(live: dict[str, Any], content: dict[str, Any]) -> None:
    live.clear()
    live.update(content)
