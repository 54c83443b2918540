"""Copies of live objects that JSON can take."""

from typing import Any

_MAX_DEPTH = 64


def sanitize_for_json(value: Any, max_depth: int = _MAX_DEPTH) -> Any:
    """Return a copy with plain data only; None and what JSON cannot take is dropped.

    Objects with `model_dump` or `__dict__` become mappings. A value nested deeper than
    `max_depth`, or inside itself, is dropped.
    """
    return _sanitize(value, max_depth, frozenset())


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


def _sanitize(value: Any, depth: int, inside: frozenset[int]) -> Any:
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if value == value and abs(value) != float("inf") else None
    if depth <= 0 or id(value) in inside:
        return None
    inside |= {id(value)}
    if isinstance(value, dict):
        pairs = ((str(key), _sanitize(item, depth - 1, inside)) for key, item in value.items())
        return {key: item for key, item in pairs if item is not None}
    if isinstance(value, list | tuple | set | frozenset):
        items = (_sanitize(item, depth - 1, inside) for item in value)
        return [item for item in items if item is not None]
    if hasattr(value, "model_dump"):
        return _sanitize(value.model_dump(), depth - 1, inside)
    if hasattr(value, "__dict__") and not callable(value):
        return _sanitize(dict(vars(value)), depth - 1, inside)
    return None
