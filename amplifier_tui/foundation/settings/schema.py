"""Which shapes the settings we read must have; anything else in the files is left alone."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from amplifier_tui.base.nearest import did_you_mean
from amplifier_tui.foundation.io import Keys

_MODULE = {"module": str, "config": dict, "source": None, "id": None, "instance_id": None}
_SHAPE: dict[str, Any] = {
    "bundle": {"active": str, "added": {"*": str}, "app": [str]},
    "config": {"providers": [_MODULE]},
    "modules": {"*": [_MODULE]},
    "overrides": {"*": {"source": str, "config": dict}},
    "sources": {"modules": {"*": str}, "bundles": {"*": str}},
    "routing": dict,
}
"""A mapping with its known keys (`*`: any), a list with what its items are, or a type (None: any).

Keys that others have in these files are left alone.
"""
_OTHERS = ("session", "profile", "mode", "skills")
_ELSEWHERE = {
    "permissions": "rules are in rules.yaml: see /permissions, and `amplifier-tui rules`",
    "hooks": "hooks are modules, listed under modules.hooks",
    "mcpServers": "MCP servers are in .mcp.json of a project, or mcp.json of the Amplifier home",
}
"""What other terminals for agents have in their settings, and where it belongs here."""

_WORDS: dict[Any, str] = {dict: "mapping", list: "list", str: "text"}


class Wrong(NamedTuple):
    """A setting with the wrong shape: the path to it, and what is wrong."""

    keys: Keys
    message: str


def without_wrong(data: dict[str, Any]) -> tuple[dict[str, Any], list[Wrong]]:
    """Return the settings of a file without what has the wrong shape, and what that was.

    The mappings in `data` on the way to a wrong value are changed.
    """
    wrong = list(_check(data, _SHAPE, ()))
    # Of several entries of one list the last goes first, so that the indexes stay true.
    for entry in sorted(wrong, key=lambda entry: [*map(_order, entry.keys)], reverse=True):
        _remove(data, entry.keys)
    return data, wrong


def _check(value: Any, shape: Any, keys: Keys, *, null: bool = True) -> Iterator[Wrong]:
    if shape is None or (value is None and null):
        return
    kind: Any = shape if isinstance(shape, type) else type(shape)
    if not isinstance(value, kind):
        name = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in keys)
        found = type(value).__name__
        yield Wrong(keys, f"'{name.lstrip('.')}' must be a {_WORDS[kind]}, not {found}")
    elif shape is _MODULE and not isinstance(value.get("module"), str):
        yield Wrong(keys, "an entry needs a 'module' with the module's id")
    elif isinstance(shape, dict):
        for key, item in value.items():
            yield from _check(item, shape.get(key, shape.get("*")), (*keys, key))
    elif isinstance(shape, list):
        for index, item in enumerate(value):
            yield from _check(item, shape[0], (*keys, index), null=False)


def misspelled(data: Any, shape: Any = _SHAPE, keys: Keys = ()) -> Iterator[Wrong]:
    """Yield the keys of a file that are no setting, but much like one, or one of other programs."""
    if isinstance(shape, list) and isinstance(data, list):
        for index, item in enumerate(data):
            yield from misspelled(item, shape[0], (*keys, index))
    if not isinstance(shape, dict) or not isinstance(data, dict):
        return
    for key, item in data.items():
        known = (*shape, *_OTHERS) if not keys else shape
        if key in known or "*" in shape:
            yield from misspelled(item, shape.get(key, shape.get("*")), (*keys, key))
        elif not keys and key in _ELSEWHERE:
            yield Wrong((key,), f"'{key}' is no setting; {_ELSEWHERE[key]}")
        elif near := did_you_mean(str(key), known):
            yield Wrong((*keys, key), f"'{key}' is no setting{near}")


def _order(key: str | int) -> tuple[int, str]:
    return (key, "") if isinstance(key, int) else (0, str(key))


def _remove(data: Any, keys: Keys) -> None:
    for key in keys[:-1]:
        data = data[key]
    del data[keys[-1]]
