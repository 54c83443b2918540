"""The time in which one module mounts, and going back to before it.

What the module does in it, however it does it, can be taken back. What others register in the
same coordinator meanwhile, from tasks of their own, stays: a context variable tells them apart.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextvars import ContextVar, Token
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from amplifier_tui.kernel.coordinator import ModuleCoordinator

logger = logging.getLogger(__name__)

_mounting: ContextVar[MountWindow | None] = ContextVar("amplifier_mounting", default=None)

open_windows: list[MountWindow] = []
"""The windows of all mounts under way; a change is only worth noting while there are any."""


def note_change(owner: object, redo: Callable[[], object]) -> None:
    """Tell the windows of others that something changed.

    Args:
        owner: The coordinator or the hook registry that changed.
        redo: Makes the same change again.
    """
    own = _mounting.get()
    for window in open_windows:
        if window is not own and window.watches(owner):
            window.others.append(redo)


class MountWindow:
    """What is mounted and registered when it opens, to go back to. A context manager.

    Args:
        coordinator: Where the module mounts.

    Attributes:
        points: The mount points as they were.
        others: What others changed since.
    """

    def __init__(self, coordinator: ModuleCoordinator) -> None:
        self._coordinator = coordinator
        self.points = {
            point: dict(mounted) if isinstance(mounted, dict) else mounted
            for point, mounted in coordinator.mount_points.items()
        }
        self._handlers = coordinator.hooks._save()
        self._capabilities = dict(coordinator._capabilities)
        self._channels = {name: list(rows) for name, rows in coordinator.channels.items()}
        self.others: list[Callable[[], object]] = []

    def __enter__(self) -> Self:
        self._token: Token[MountWindow | None] = _mounting.set(self)
        open_windows.append(self)
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        open_windows.remove(self)
        _mounting.reset(self._token)

    def watches(self, owner: object) -> bool:
        """Tell whether a change of ``owner`` would be lost by going back."""
        return owner is self._coordinator or owner is self._coordinator.hooks

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
        """Log what a module put itself in the place of; legal, and seldom meant.

        Args:
            module_id: Id of the module that was mounted since.
        """
        for point, mounted in self.points.items():
            live = self._coordinator.mount_points.get(point)
            if isinstance(mounted, dict) and isinstance(live, dict):
                for name, module in mounted.items():
                    if live.get(name) is not module:
                        logger.warning("'%s' replaced '%s' in %s", module_id, name, point)


def _refill(live: dict[str, Any], content: dict[str, Any]) -> None:
    live.clear()
    live.update(content)
