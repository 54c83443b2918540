"""Event data as handlers get it: JSON-native, and a private copy for each.

Checking is one walk per emit that changes nothing when nothing needs changing. It lists the
containers it meets and where they hang, so that a copy afterwards is a ``copy()`` per container
and no second walk.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any, Final, NoReturn

from pydantic import BaseModel

MAX_DEPTH: Final = 100
"""Levels of nesting an event may have; every JSON parser a hook may use copes with that."""

MAX_CONTAINERS: Final = 1_000_000
"""Dicts and lists an event may hold; a few references to each other can unfold to billions."""

_ATOMS: Final = frozenset({str, int, bool, type(None)})
_FLOAT: Final = frozenset({float})
_DICT: Final = frozenset({dict})
_SCALARS: Final = frozenset({str, int, float, bool})
_DUMPED: Final = _SCALARS | {dict, list}

# A list of at least so many dicts without containers in them is copied in one go.
_BULK: Final = 4


class EventData:
    """Checked data and the knowledge how to copy it.

    Args:
        data: The event's data. It is not changed; what needs no change is shared with it.

    Raises:
        ValueError: The data is circular, nested deeper than :data:`MAX_DEPTH`, or unfolds to more
            than :data:`MAX_CONTAINERS` containers.
    """

    __slots__ = ("_bulks", "_containers", "_in_bulks", "_links", "data")

    def __init__(self, data: dict[str, Any]) -> None:
        # The containers, the outermost first; (parent's place, key, child's place) for each but
        # that; and (parent's place, key, list) for lists copied in one go.
        self._containers: list[Any] = []
        self._links: list[tuple[int, Any, int]] = []
        self._bulks: list[tuple[int, Any, list[dict[str, Any]]]] = []
        self._in_bulks = 0
        self.data: dict[str, Any] = self._check_dict(data, 0, 0, None)

    def copy(self) -> dict[str, Any]:
        """Return a copy that shares no container with the data."""
        if len(self._containers) == 1 and not self._bulks:
            return self.data.copy()
        copies = [container.copy() for container in self._containers]
        for parent, key, child in self._links:
            copies[parent][key] = copies[child]
        for parent, key, dicts in self._bulks:
            copies[parent][key] = list(map(dict.copy, dicts))
        copied: dict[str, Any] = copies[0]
        return copied

    def _check_dict(
        self, source: dict[Any, Any], depth: int, parent: int, key: Any
    ) -> dict[str, Any]:
        containers = self._containers
        here = len(containers)
        if depth > MAX_DEPTH or here > MAX_CONTAINERS:
            _refuse(depth)
        containers.append(source)
        if here:
            self._links.append((parent, key, here))
        result = source
        for name, value in source.items():
            kind = type(value)
            if kind in _ATOMS and type(name) is str:
                continue
            if type(name) is not str:
                # A key JSON has no form for: start again under the names the keys get there.
                self._forget(here)
                named = {_key(k): item for k, item in source.items()}
                return self._check_dict(named, depth, parent, key)
            if kind is dict:
                native: Any = self._check_dict(value, depth + 1, here, name)
            elif kind is list:
                native = self._check_list(value, depth + 1, here, name)
            elif kind is float and isfinite(value):
                continue
            else:
                native = self._check_other(value, depth + 1, here, name)
            if native is not value:
                if result is source:
                    containers[here] = result = source.copy()
                result[name] = native
        return result

    def _check_list(self, source: list[Any], depth: int, parent: int, key: Any) -> list[Any]:
        containers, links = self._containers, self._links
        here, link, bulks = len(containers), len(links), len(self._bulks)
        if depth > MAX_DEPTH or here > MAX_CONTAINERS:
            _refuse(depth)
        containers.append(source)
        links.append((parent, key, here))
        if _ATOMS.issuperset(map(type, source)):
            return source
        if _FLOAT.issuperset(map(type, source)) and all(map(isfinite, source)):
            return source
        result = source
        for index, value in enumerate(source):
            kind = type(value)
            if kind is dict:
                native: Any = self._check_dict(value, depth + 1, here, index)
            elif kind in _ATOMS or (kind is float and isfinite(value)):
                continue
            elif kind is list:
                native = self._check_list(value, depth + 1, here, index)
            else:
                native = self._check_other(value, depth + 1, here, index)
            if native is not value:
                if result is source:
                    containers[here] = result = source.copy()
                result[index] = native
        if (
            len(containers) - here - 1 == len(result) >= _BULK
            and len(self._bulks) == bulks
            and _DICT.issuperset(map(type, result))
        ):
            # Nothing but flat dicts: copied in one go instead of one by one.
            del containers[here:], links[link:]
            self._bulks.append((parent, key, result))
            self._in_bulks += len(result)
            if self._in_bulks > MAX_CONTAINERS:
                _refuse(depth)
        return result

    def _check_other(self, value: Any, depth: int, parent: int, key: Any) -> Any:
        if isinstance(value, str):
            return str.__str__(value)
        if isinstance(value, int):
            return int(value)
        if isinstance(value, float):
            # JSON has neither NaN nor infinity.
            return float(value) if isfinite(value) else None
        if isinstance(value, Mapping):
            value = {_key(k): item for k, item in value.items()}
        elif isinstance(value, list | tuple):
            value = list(value)
        elif isinstance(value, BaseModel):
            dumped = _dump(value)
            if type(dumped) in _SCALARS:
                return self._check_other(dumped, depth, parent, key)
            value = value if dumped is None else dumped
        if type(value) is dict:
            return self._check_dict(value, depth, parent, key)
        if type(value) is list:
            return self._check_list(value, depth, parent, key)
        return _text(value)

    def _forget(self, here: int) -> None:
        # Links and bulks of what hangs below `here`; containers are listed parents first.
        del self._containers[here:]
        while self._links and self._links[-1][2] >= here:
            self._links.pop()
        while self._bulks and self._bulks[-1][0] >= here:
            self._bulks.pop()


def _refuse(depth: int) -> NoReturn:
    if depth > MAX_DEPTH:
        raise ValueError(
            f"Event data is circular, or nested more than {MAX_DEPTH} levels deep: "
            "emit plain data without references to itself"
        )
    raise ValueError(
        f"Event data holds more than {MAX_CONTAINERS} dicts and lists: emit a summary, "
        "or a path to the data"
    )


def as_dict(data: Any) -> dict[str, Any]:
    """Return what an emitter passed as a dict.

    Args:
        data: A dict, a mapping, a model with ``model_dump``, or None. Anything else is kept as the
            only ``value``, so that it is not lost.
    """
    if type(data) is dict:
        return data
    if data is None:
        return {}
    if isinstance(data, Mapping):
        return dict(data)
    dumped = _dump(data)
    return dumped if isinstance(dumped, dict) else {"value": data}


def _dump(value: Any) -> Any:
    # Mocks have every attribute, so only a dump that is plain data counts.
    dump = getattr(value, "model_dump", None)
    if dump is None or isinstance(value, type):
        return None
    for options in ({"mode": "json"}, {}):
        try:
            dumped = dump(**options)
        except Exception:
            # The model holds something its JSON mode does not know: take it as it is.
            continue
        return dumped if type(dumped) in _DUMPED else None
    return None


def _key(key: Any) -> str:
    if isinstance(key, str):
        return str.__str__(key)
    if key is None:
        return "null"
    if isinstance(key, bool):
        return "true" if key else "false"
    return _text(key)


def _text(value: Any) -> str:
    try:
        return str(value)
    except Exception:
        return f"<unprintable {type(value).__name__}>"
