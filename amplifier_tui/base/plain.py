"""Plain data: what JSON can hold, and nothing else."""

import base64
import dataclasses
from collections.abc import Mapping
from datetime import date
from math import isfinite
from typing import Any, Final

MAX_DEPTH: Final = 100
"""Levels of nesting that are kept; every JSON parser copes with that."""

_ATOMS: Final = frozenset({str, int, bool, type(None)})
_DUMPED: Final = frozenset({str, int, bool, float, dict, list})


def plain(value: Any, depth: int = 0) -> Any:
    """Return a value as dicts, lists, strings and numbers, with containers of its own.

    Args:
        value: Anything. Models are dumped, dataclasses taken apart, bytes written as base64; what
            has no JSON form becomes its `str`.
        depth: How deep it is nested already; what is deeper than `MAX_DEPTH` becomes "…".
    """
    if type(value) in _ATOMS:
        return value
    if isinstance(value, str | int):
        return value
    if isinstance(value, float):
        # JSON has neither NaN nor infinity.
        return value if isfinite(value) else None
    if depth > MAX_DEPTH:
        return "…"
    if isinstance(value, Mapping):
        return {json_key(key): plain(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item, depth + 1) for item in value]
    if isinstance(value, bytes | bytearray):
        return base64.b64encode(value).decode("ascii")
    if isinstance(value, date):
        return value.isoformat()
    dumped = dump_model(value)
    if dumped is not None:
        return plain(dumped, depth + 1)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = (field.name for field in dataclasses.fields(value))
        return {name: plain(getattr(value, name), depth + 1) for name in names}
    return safe_str(value)


def copy_plain(value: Any) -> Any:
    """Copy plain data all the way down: mappings become dicts, lists and tuples lists.

    Everything else is shared.
    """
    kind = type(value)
    if kind is str:
        return value
    if kind is dict or isinstance(value, Mapping):
        return {key: copy_plain(item) for key, item in value.items()}
    if kind is list or isinstance(value, list | tuple):
        return [copy_plain(item) for item in value]
    return value


def dump_model(value: Any) -> Any:
    """Return what a model's `model_dump` makes of it; None when it has none or gives no data."""
    dump = getattr(value, "model_dump", None)
    if dump is None or isinstance(value, type):
        return None
    for options in ({"mode": "json"}, {}):
        try:
            dumped = dump(**options)
        except Exception:
            # The model holds something its JSON mode does not know: take it as it is.
            continue
        # Mocks have every attribute, so only a dump that is plain data counts.
        return dumped if type(dumped) in _DUMPED else None
    return None


def json_key(key: Any) -> str:
    """Return a mapping's key under the name it has in JSON."""
    if isinstance(key, str):
        return str.__str__(key)
    if key is None:
        return "null"
    if isinstance(key, bool):
        return "true" if key else "false"
    return safe_str(key)


def safe_str(value: Any) -> str:
    """Return a value's `str`, also where that raises."""
    try:
        return str(value)
    except Exception:
        return f"<unprintable {type(value).__name__}>"
