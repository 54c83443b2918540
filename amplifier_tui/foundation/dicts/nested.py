"""Values deep inside mappings, addressed by a path of keys."""

from collections.abc import Sequence
from typing import Any


def get_nested(data: dict[str, Any], path: Sequence[str] | str, default: Any = None) -> Any:
    """Return the value at a path.

    Args:
        data: The outer mapping.
        path: Keys from the outside in; a string is split at its dots.
        default: Returned when a key is missing or a value on the way is no mapping.
    """
    value: Any = data
    for key in _keys(path):
        if not isinstance(value, dict) or key not in value:
            return default
        value = value[key]
    return value


def set_nested(data: dict[str, Any], path: Sequence[str] | str, value: Any) -> None:
    """Set the value at a path in place; what stands in the way and is no mapping is replaced.

    Raises:
        ValueError: The path is empty.
    """
    keys = _keys(path)
    if not keys:
        raise ValueError("The path is empty: give at least one key")
    for key in keys[:-1]:
        inner = data.get(key)
        if not isinstance(inner, dict):
            inner = data[key] = {}
        data = inner
    data[keys[-1]] = value


def _keys(path: Sequence[str] | str) -> list[str]:
    return [key for key in path.split(".") if key] if isinstance(path, str) else list(path)
