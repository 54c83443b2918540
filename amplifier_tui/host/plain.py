"""Anything as plain data: what JSON can hold, and nothing else."""

import base64
import dataclasses
import math
from collections.abc import Mapping
from datetime import date, datetime
from typing import Any

_ATOMS = (str, int, bool, type(None))
MAX_DEPTH = 100


def plain(value: Any, depth: int = 0) -> Any:
    """Return a value as dicts, lists, strings and numbers.

    Args:
        value: Anything. Models are dumped, dataclasses taken apart, what has no JSON form becomes
            its `str`.
        depth: How deep it is nested already.
    """
    if isinstance(value, _ATOMS):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if depth > MAX_DEPTH:
        return "…"
    if isinstance(value, Mapping):
        return {str(key): plain(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item, depth + 1) for item in value]
    if isinstance(value, bytes | bytearray):
        return base64.b64encode(value).decode("ascii")
    if isinstance(value, datetime | date):
        return value.isoformat()
    dump = getattr(value, "model_dump", None)
    if callable(dump) and not isinstance(value, type):
        try:
            return plain(dump(mode="json"), depth + 1)
        except Exception:
            # The model holds something its own JSON mode does not know.
            return plain(dump(), depth + 1)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = (field.name for field in dataclasses.fields(value))
        return {name: plain(getattr(value, name), depth + 1) for name in names}
    return _text(value)


def _text(value: Any) -> str:
    try:
        return str(value)
    except Exception:
        return f"<unprintable {type(value).__name__}>"
