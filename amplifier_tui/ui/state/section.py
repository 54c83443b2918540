"""The parts of the state: which events each takes, and a version that moves when it changed."""

from collections.abc import Callable
from functools import partial
from types import MethodType
from typing import Any, ClassVar, NamedTuple, TypeVar

from amplifier_tui.host.events import MAIN_LANE, HostEvent

HandlerT = TypeVar("HandlerT", bound=Callable[..., None])
_MARK = "_takes"


def on(
    *kinds: type[HostEvent], live: bool = False, main: bool = False
) -> Callable[[HandlerT], HandlerT]:
    """Mark a method as a handler of events; `live`: not replayed ones, `main`: not sub-agents'."""

    def mark(method: HandlerT) -> HandlerT:
        marks = getattr(method, _MARK, [])
        setattr(method, _MARK, [*marks, (kinds, live, main)])
        return method

    return mark


class Handlers:
    """Hands events to the methods that `on` marks, in the order they are written in."""

    _table: ClassVar[dict[type[HostEvent], list[tuple[Callable[..., None], bool, bool]]]] = {}

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls._table = {}
        for method in vars(cls).values():
            for kinds, live, main in getattr(method, _MARK, ()):
                for kind in kinds:
                    cls._table.setdefault(kind, []).append((method, live, main))

    def handlers_of(self, kind: type[HostEvent]) -> "list[Route]":
        """Return what takes events of a kind."""
        return [
            Route(MethodType(method, self), live, main)
            for method, live, main in self._table.get(kind, ())
        ]


class Route(NamedTuple):
    """Where an event goes; `live`: not replayed ones, `main`: not those of sub-agents."""

    handle: Callable[[HostEvent], None]
    live: bool = False
    main: bool = False

    def skips(self, event: HostEvent) -> bool:
        """Whether an event is not for it."""
        return (self.live and event.replayed) or (self.main and event.agent != MAIN_LANE)


def assign(target: object, **values: object) -> bool:
    """Set attributes; return whether any of them had another value."""
    changed = {name: value for name, value in values.items() if getattr(target, name) != value}
    for name, value in changed.items():
        setattr(target, name, value)
    return bool(changed)


def told(event: HostEvent, *names: str) -> dict[str, Any]:
    """Return some fields of an event by name."""
    return {name: getattr(event, name) for name in names}


class Section(Handlers):
    """A part of the state that is drawn together.

    A widget keeps the version it drew last and repaints only when it differs.
    """

    def __init__(self) -> None:
        self.version = 0

    def touch(self) -> None:
        """Say that something a widget could show has changed."""
        self.version += 1


class FieldSection(Section):
    """A small section: its version moves when a public field has another value than before.

    `reset` gives the fields their first values. Fields hold immutable values, or containers of
    such.
    """

    def __init__(self) -> None:
        super().__init__()
        self.reset()

    def reset(self) -> None:
        """Give every field its first value."""
        raise NotImplementedError

    def clear(self) -> None:
        """Begin anew, for another session."""
        self.track(self.reset)

    def handlers_of(self, kind: type[HostEvent]) -> list[Route]:
        """Return what takes events of a kind and moves the version if that changed a field."""
        return [
            Route(partial(self.track, handle), live, main)
            for handle, live, main in super().handlers_of(kind)
        ]

    def track(self, change: Callable[..., None], *arguments: object) -> None:
        """Call something that may change fields, and move the version if it does."""
        before = self.shown()
        change(*arguments)
        if self.shown() != before:
            self.touch()

    def shown(self) -> tuple[object, ...]:
        """Return copies of what a widget could show, for comparison."""
        return tuple(
            value.copy() if isinstance(value, dict | list) else value
            for name, value in vars(self).items()
            if name != "version" and not name.startswith("_")
        )
