"""Merging, addressing and copying nested plain data (spec 003, "Merge Rules")."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from amplifier_tui.base.plain import copy_plain


def deep_merge(parent: Mapping[str, Any] | None, child: Mapping[str, Any] | None) -> dict[str, Any]:
    """Merge two mappings into a new one that shares no dict or list with them; None is empty.

    Mappings merge recursively. Lists are concatenated, parent first, each value once; `1`, `True`
    and `"1"` are different values, and the order of keys in a mapping does not matter. Anything
    else, a type mismatch and an explicit null included, is replaced by the child's.
    """
    result = {key: copy_plain(value) for key, value in (parent or {}).items()}
    for key, value in (child or {}).items():
        result[key] = _merged(result[key], value) if key in result else copy_plain(value)
    return result


def merge_module_lists(
    parent: Sequence[Any] | None, child: Sequence[Any] | None
) -> list[dict[str, Any]]:
    """Merge two lists of module entries by `id`, else `module`; neither is changed.

    Same key: `deep_merge` of the whole entry. New key: appended. The order is that of first
    appearance. An entry with neither key is dropped.

    Raises:
        TypeError: An entry is not a mapping.
    """
    merged: dict[str, dict[str, Any]] = {}
    for entry in _entries(parent):
        merged[module_key(entry)] = copy_plain(entry)
    for entry in _entries(child):
        key = module_key(entry)
        merged[key] = deep_merge(merged.get(key), entry)
    merged.pop("", None)
    return list(merged.values())


def module_key(entry: Mapping[str, Any]) -> str:
    """Return what identifies an entry of a module list: `id`, else `module`, else empty."""
    return str(entry.get("id") or entry.get("module") or "")


def module_entries(value: Any) -> list[dict[str, Any]]:
    """Return module entries as mappings; agents may write a tool as its bare name."""
    entries: list[dict[str, Any]] = []
    for entry in value if isinstance(value, list) else ():
        if isinstance(entry, str):
            entries.append({"module": entry})
        elif isinstance(entry, dict):
            entries.append(entry)
    return entries


def _merged(old: Any, new: Any) -> Any:
    if isinstance(old, dict) and isinstance(new, dict):
        return deep_merge(old, new)
    if isinstance(old, list) and isinstance(new, list):
        return united(old, new)
    return copy_plain(new)


def united(*lists: Sequence[Any]) -> list[Any]:
    """Return the items of lists of plain data, copied, each value once; see `deep_merge`."""
    unique: dict[tuple[type, Any], Any] = {}
    for item in (item for items in lists for item in items):
        unique.setdefault(_identity(item), item)
    return [copy_plain(item) for item in unique.values()]


def texts_listed(value: Any) -> Any:
    """Return one text as a list of one, as modules read their lists; anything else as it is."""
    return [value] if isinstance(value, str) else value


def _identity(value: Any) -> tuple[type, Any]:
    if value is None or isinstance(value, str | int | float | bool):
        return type(value), value
    try:
        return type(value), json.dumps(value, sort_keys=True, default=str)
    except (TypeError, ValueError, RecursionError):
        # Keys of mixed types cannot be sorted; such values are equal when they look equal.
        return type(value), repr(value)


def _entries(modules: Sequence[Any] | None) -> list[dict[str, Any]]:
    for index, entry in enumerate(modules or ()):
        if not isinstance(entry, dict):
            raise TypeError(
                f"Malformed module config at index {index}: "
                f"expected dict with 'module' key, got {type(entry).__name__} {entry!r:.60}"
            )
    return list(modules or ())


def get_nested(data: dict[str, Any], path: Sequence[str] | str, default: Any = None) -> Any:
    """Return the value at a path of keys from the outside in; a string is split at its dots.

    `default` stands for a missing key, and for a value on the way that is no mapping.
    """
    value: Any = data
    for key in _keys(path):
        if not isinstance(value, dict) or key not in value:
            return default
        value = value[key]
    return value


def set_nested(data: dict[str, Any], path: Sequence[str] | str, value: Any) -> None:
    """Set the value at a path in place, replacing what is no mapping; `ValueError` if empty."""
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


def sanitize_message(message: dict[str, Any]) -> dict[str, Any]:
    """Return a message as a transcript keeps it.

    The text of `thinking_block` is kept as `thinking_text`; `content_blocks` with their live
    objects are dropped.
    """
    kept = {
        key: value
        for key, value in message.items()
        if key not in ("thinking_block", "content_blocks")
    }
    thinking = message.get("thinking_block")
    text = thinking.get("text") or thinking.get("thinking") if isinstance(thinking, dict) else None
    if thinking is not None and text is None:
        text = getattr(thinking, "text", None) or getattr(thinking, "thinking", None)
    if isinstance(text, str) and text:
        kept["thinking_text"] = text
    result: dict[str, Any] = sanitize_for_json(kept)
    return result


def sanitize_for_json(value: Any, max_depth: int = 64, inside: frozenset[int] = frozenset()) -> Any:
    """Return a copy with plain data only; None and what JSON cannot take is dropped.

    Objects with `model_dump` or `__dict__` become mappings. A value nested deeper than
    `max_depth`, or inside itself (`inside` are the ids of what it is in), is dropped.
    """
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if value == value and abs(value) != float("inf") else None
    if max_depth <= 0 or id(value) in inside:
        return None
    inside |= {id(value)}
    if isinstance(value, dict):
        pairs = (
            (str(key), sanitize_for_json(item, max_depth - 1, inside))
            for key, item in value.items()
        )
        return {key: item for key, item in pairs if item is not None}
    if isinstance(value, list | tuple | set | frozenset):
        items = (sanitize_for_json(item, max_depth - 1, inside) for item in value)
        return [item for item in items if item is not None]
    if hasattr(value, "model_dump"):
        return sanitize_for_json(value.model_dump(), max_depth - 1, inside)
    if hasattr(value, "__dict__") and not callable(value):
        return sanitize_for_json(dict(vars(value)), max_depth - 1, inside)
    return None
