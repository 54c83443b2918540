"""JSON for the event dataclasses: plain dicts out, the same objects back in."""

import types
from collections.abc import Callable
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import cache
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

T = TypeVar("T")


def encode_event(event: Any) -> dict[str, Any]:
    """Return the event's fields, JSON-native, with its class name under `type`."""
    return {"type": type(event).__name__, **_encode_fields(event)}


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


def decode_event(event_type: Callable[..., T], data: dict[str, Any]) -> T:
    """Build `event_type` from a dict, ignoring fields it does not have.

    Raises:
        TypeError: A required field is missing.
    """
    event: T = _build(event_type, data)
    return event


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
    if is_dataclass(hint) and isinstance(value, dict):
        return _build(hint, value)
    if hint is float and isinstance(value, int):
        return float(value)
    return value
