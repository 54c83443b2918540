"""Event data as handlers get it: JSON-native, and a private copy for each.

Checking is one walk per emit that changes nothing when nothing needs changing. It lists the
containers it meets and where they hang, so that a copy afterwards is a ``copy()`` per container
and no second walk. A big copy that comes back as it went out, and that nobody kept a part of, is
lent to the next handler: looking takes a third of the time of copying.
"""

from collections.abc import Iterable, Mapping
from math import isfinite
from sys import getrefcount
from typing import Any, Final, NoReturn

from amplifier_tui.base.plain import MAX_DEPTH, dump_model, json_key, safe_str

MAX_CONTAINERS: Final = 1_000_000
"""Dicts and lists an event may hold; a few references to each other can unfold to billions."""

LENT_FROM: Final = 64
"""Containers from which on a copy is lent again; smaller ones are made faster than looked at."""

_ATOMS: Final = frozenset({str, int, bool, type(None)})
_CONTAINERS: Final = frozenset({dict, list})


class EventData:
    """Checked data and the knowledge how to copy it.

    What is given is not changed; what needs no change is shared with it. `ValueError`: it is
    circular, deeper than :data:`MAX_DEPTH`, or unfolds to over :data:`MAX_CONTAINERS` containers.
    """

    __slots__ = ("_containers", "_lent", "_lent_references", "_links", "data")

    def __init__(self, data: dict[str, Any]) -> None:
        # The containers, the outermost first; and (parent's place, key, place) for each but that.
        self._containers: list[Any] = [data]
        self._links: list[tuple[int, Any, int]] = []
        self._lent: list[Any] | None = None
        self._lent_references: list[int] = []
        self.data: dict[str, Any] = self._copies()[0] if self._check() else data

    def copy(self) -> dict[str, Any]:
        """Return a copy that shares no container with the data."""
        if len(self._containers) == 1:
            return self.data.copy()
        copied: dict[str, Any] = self._copies()[0]
        return copied

    def lend(self) -> dict[str, Any]:
        """Return a copy for one handler; call it only after the handler before is done.

        It is the copy lent before, if that still equals the data and nothing but this object
        refers to any container of it.
        """
        if len(self._containers) < LENT_FROM:
            return self.copy()
        if (
            self._lent is None
            or _references(self._lent) != self._lent_references
            or self._lent[0] != self.data
        ):
            self._lent = self._copies()
            self._lent_references = _references(self._lent)
        lent: dict[str, Any] = self._lent[0]
        return lent

    def _copies(self) -> list[Any]:
        copies = [container.copy() for container in self._containers]
        for parent, key, place in self._links:
            copies[parent][key] = copies[place]
        return copies

    def _check(self) -> bool:
        """List the containers; tell whether one had to be replaced."""
        containers, links = self._containers, self._links
        replaced = False
        # Places and depths of containers to look into; the last one found goes first, so that
        # what is circular is too deep before it is too big.
        waiting = [(0, 0)]
        while waiting:
            here, depth = waiting.pop()
            source = result = containers[here]
            named, found = type(source) is dict, len(containers)
            if not named and len(source) > 8 and _ATOMS.issuperset(map(type, source)):
                continue
            items: Iterable[tuple[Any, Any]] = source.items() if named else enumerate(source)
            for key, value in items:
                if named and type(key) is not str:
                    # A key JSON has no form for: start again under the names keys get there.
                    containers[here] = {json_key(k): item for k, item in source.items()}
                    del containers[found:], links[found - 1 :]
                    waiting = [(place, deep) for place, deep in waiting if place < found]
                    waiting.append((here, depth))
                    replaced = True
                    break
                kind = type(value)
                if kind in _ATOMS or (kind is float and isfinite(value)):
                    continue
                if kind not in _CONTAINERS:
                    value = _native(value)
                    if result is source:
                        result = containers[here] = source.copy()
                        replaced = True
                    result[key] = value
                    if type(value) not in _CONTAINERS:
                        continue
                place = len(containers)
                if depth >= MAX_DEPTH or place > MAX_CONTAINERS:
                    _refuse(depth)
                containers.append(value)
                links.append((here, key, place))
                waiting.append((place, depth + 1))
        return replaced


def _references(containers: list[Any]) -> list[int]:
    return list(map(getrefcount, containers))


def _refuse(depth: int) -> NoReturn:
    if depth >= MAX_DEPTH:
        raise ValueError(
            f"Event data is circular, or nested more than {MAX_DEPTH} levels deep: "
            "emit plain data without references to itself"
        )
    raise ValueError(
        f"Event data holds more than {MAX_CONTAINERS} dicts and lists: emit a summary, "
        "or a path to the data"
    )


def _native(value: Any) -> Any:
    """Return what JSON has for a value; what is inside of containers is not looked at."""
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        # JSON has neither NaN nor infinity.
        return float(value) if isfinite(value) else None
    if isinstance(value, Mapping):
        return {json_key(key): item for key, item in value.items()}
    if isinstance(value, list | tuple):
        return list(value)
    dumped = dump_model(value)
    if type(dumped) in _CONTAINERS:
        return dumped
    if dumped is not None:
        return _native(dumped)
    return safe_str(value)


def as_dict(data: Any) -> dict[str, Any]:
    """Return what an emitter passed as a dict; what is none becomes its only ``value``."""
    if type(data) is dict:
        return data
    if data is None:
        return {}
    if isinstance(data, Mapping):
        return dict(data)
    dumped = dump_model(data)
    return dumped if isinstance(dumped, dict) else {"value": data}
