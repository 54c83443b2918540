"""Who hears of an event, and in which order."""

import logging
from collections.abc import Callable
from functools import partial
from itertools import count
from typing import Any
from uuid import uuid4

from amplifier_tui.kernel.mounting.changes import note_change, open_notes

logger = logging.getLogger(__name__)


class Registration:
    """One registration; two with the same name and handler are still two.

    ``module`` is the key of the module it is of, once that is mounted; else it is empty.
    """

    __slots__ = ("handler", "module", "name", "number", "priority")

    def __init__(self, handler: Any, priority: int, name: str, number: int) -> None:
        self.handler = handler
        self.priority = priority
        self.name = name
        self.number = number
        self.module = ""

    @property
    def whose(self) -> str:
        """The module it is of, or its own name where no module's: many may have one name."""
        return self.module or self.name


def _order(entry: Registration) -> tuple[int, int]:
    return entry.priority, entry.number


class Registrations:
    """The handlers of every event, in the order they run."""

    def __init__(self) -> None:
        # Tuples are replaced, never changed: an emit that is under way keeps the one it started
        # with, whatever its handlers register and unregister.
        self._by_event: dict[str, tuple[Registration, ...]] = {}
        self._numbers = count()

    def register(
        self, event: str, handler: Any, priority: int = 0, name: str | None = None
    ) -> Callable[[], None]:
        """Call ``handler`` for every ``event``.

        Args:
            event: Exact name of the event.
            handler: Sync or async callable ``(event, data)`` that answers with a
                :class:`HookResult`, a dict of its fields, or None.
            priority: Lower runs earlier; equal ones in order of registration.
            name: Name for logs and :meth:`unregister`. Defaults to the handler's own.

        Returns:
            A function that removes this one registration; calling it again does nothing.

        Raises:
            TypeError: The event is no text, as where handler and event are swapped, or the priority
                is no number, as where a setting is quoted.
        """
        given: Any = event
        if not isinstance(given, str):
            kind = type(given).__name__
            raise TypeError(f"register() takes (event, handler), and got a {kind} as the event")
        order: Any = priority
        if not isinstance(order, int | float) or order != order:
            # Found out while the next one registers, it would be taken for that one's fault.
            kind = type(order).__name__ if order == order else "nan"
            raise TypeError(f"The priority of a hook is a number, and register() got a {kind}")
        entry = Registration(
            handler, priority, name or _name_of(handler, event), next(self._numbers)
        )
        self._add(event, entry)
        logger.debug("Hook '%s' hears %s (priority %s)", entry.name, event, priority)

        def unregister() -> None:
            self._remove(event, entry)

        return unregister

    on = register

    def unregister(self, name: str) -> None:
        """Remove every registration called ``name``; an unknown name is ignored."""
        self.suspend(name)

    def suspend(self, name: str) -> Callable[[], None]:
        """Take out every registration called ``name``; the returned function puts them back."""
        found = [(event, entry) for event, entry in self._all() if entry.name == name]
        for event, entry in found:
            self._remove(event, entry)

        def resume() -> None:
            for event, entry in found:
                self._add(event, entry)

        return resume

    def _add(self, event: str, entry: Registration) -> None:
        others = (other for other in self._by_event.get(event, ()) if other is not entry)
        self._by_event[event] = tuple(sorted((*others, entry), key=_order))
        if open_notes:
            note_change(self, partial(self._add, event, entry), entry)

    def _remove(self, event: str, entry: Registration) -> None:
        entries = self._by_event.get(event, ())
        self._by_event[event] = tuple(other for other in entries if other is not entry)
        if open_notes:
            note_change(self, partial(self._remove, event, entry))

    def list_handlers(self, event: str | None = None) -> dict[str, list[str]]:
        """Return the names of the handlers in the order they run, by event, or of one event."""
        if event is not None:
            return {event: [entry.name for entry in self._by_event.get(event, ())]}
        return {
            known: [entry.name for entry in entries] for known, entries in self._by_event.items()
        }

    def _registered(self) -> list[tuple[str, str, Any]]:
        """Return event, name and handler of each registration, for validators."""
        return [(event, entry.name, entry.handler) for event, entry in self._all()]

    def _all(self) -> list[tuple[str, Registration]]:
        """Return every registration, with its event."""
        return [(event, entry) for event, entries in self._by_event.items() for entry in entries]

    def _save(self) -> dict[str, tuple[Registration, ...]]:
        return dict(self._by_event)

    def _restore(self, saved: dict[str, tuple[Registration, ...]]) -> None:
        self._by_event = dict(saved)


def _name_of(handler: Any, event: str) -> str:
    name = getattr(handler, "__name__", None)
    return name if isinstance(name, str) and name else f"_auto_{event}_{uuid4()}"
