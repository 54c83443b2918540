"""What every event carries, and how events become JSON and events again."""

import types
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import cache
from typing import Any, ClassVar, Self, Union, get_args, get_origin, get_type_hints

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.host.events.records import MAIN_LANE


@dataclass(frozen=True, slots=True, kw_only=True)
class HostEvent:
    """What every event carries.

    Attributes:
        session_id: The session it belongs to.
        agent: The lane: `main`, or the id of a sub-agent's session.
        at: Unix time in seconds, from the engine's clock.
        replayed: True when it retells a stored session instead of something happening now.
    """

    session_id: str
    agent: str = MAIN_LANE
    at: float = 0.0
    replayed: bool = False

    registry: ClassVar[dict[str, type["HostEvent"]]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        # dataclass(slots=True) builds the class twice; the second one wins, as it must.
        HostEvent.registry[cls.__name__] = cls

    def to_json(self) -> dict[str, Any]:
        """Return a JSON-native dict with the class name under `type`."""
        return {"type": type(self).__name__, **_encode_fields(self)}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Self:
        """Rebuild the event that `to_json` gave.

        Unknown fields are ignored, so that an older program reads a newer log.

        Raises:
            ValueError: `type` is missing or unknown, or is no subclass of the class called on, or
                a text, a number or a truth value is something else.
            TypeError: A required field is missing.
        """
        event_type = HostEvent.registry.get(str(data.get("type")))
        if event_type is None or not issubclass(event_type, cls):
            raise ValueError(f"Not a {cls.__name__}: type is {data.get('type')!r}")
        event: Self = _build(event_type, data)
        return event


_SIMPLE = (str, int, float, bool)


def _encode_fields(value: Any) -> dict[str, Any]:
    # Defaults are left out: a log of a long session stays small.
    return {
        f.name: _encode(item)
        for f in fields(value)
        if (item := getattr(value, f.name)) != _default(f)
    }


def _default(f: Field[Any]) -> Any:
    if f.default_factory is not MISSING:
        return f.default_factory()
    return f.default


def _encode(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_encode(item) for item in value]
    if is_dataclass(value):
        return _encode_fields(value)
    return value


def _build(cls: Any, data: dict[str, Any]) -> Any:
    hints = _hints(cls)
    return cls(**{k: _decode(hints[k], v) for k, v in data.items() if k in hints})


@cache
def _hints(event_type: Any) -> dict[str, Any]:
    hints = get_type_hints(event_type)
    return {f.name: hints[f.name] for f in fields(event_type)}


def _decode(hint: Any, value: Any) -> Any:
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        if value is None:
            return None
        (hint,) = (arg for arg in get_args(hint) if arg is not type(None))
        origin = get_origin(hint)
    if origin is tuple:
        item = get_args(hint)[0]
        return tuple(_decode(item, part) for part in value)
    if is_dataclass(hint):
        if not isinstance(value, dict):
            raise ValueError(f"Not {hint!r}: {value!r:.40}")
        return _build(hint, value)
    if hint is float and isinstance(value, int):
        return float(value)
    if hint in _SIMPLE and not isinstance(value, hint):
        raise ValueError(f"Not {hint.__name__}: {value!r:.40}")
    return value
