"""Objects that stand for others: everything they do not override is the other's own."""

from collections.abc import Callable, Mapping
from typing import Any


class StandIn:
    """Stands for an object, in `isinstance` as well."""

    __slots__ = ("_other",)

    _other: Any

    def __init__(self, other: Any) -> None:
        object.__setattr__(self, "_other", other)

    def __getattribute__(self, name: str) -> Any:
        if name == "__class__":
            return type(object.__getattribute__(self, "_other"))
        return object.__getattribute__(self, name)

    def __getattr__(self, name: str) -> Any:
        if name == "_other":
            # It is being made, and stands for nothing yet: a debugger or a copy may ask by then.
            raise AttributeError(name)
        return getattr(self._other, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._other, name, value)

    def __eq__(self, other: object) -> bool:
        return bool(self._other == real(other))

    def __hash__(self) -> int:
        return hash(self._other)

    def __repr__(self) -> str:
        return repr(self._other)


def real(value: Any) -> Any:
    """Return the object behind a stand-in; any other one as it is."""
    return value._other if issubclass(type(value), StandIn) else value


def _joined(found: "StandIns", other: Any) -> "StandIns":
    found.update(other)
    return found


class StandIns(dict[str, Any]):
    """Objects by name; whatever is put in is stood for.

    Args:
        make: Makes what stands for an object, of its name and itself.
    """

    def __init__(self, make: Callable[[str, Any], StandIn], others: Mapping[str, Any]) -> None:
        super().__init__()
        self._make = make
        self._made: dict[str, StandIn] = {}
        self.update(others)

    def __setitem__(self, name: str, value: Any) -> None:
        if self._made.get(name) is not value:
            # It may come from another session, where another object stands for it.
            self._made[name] = self._make(name, real(value))
        # One that was taken out and is put back is the same for whoever holds it.
        super().__setitem__(name, self._made[name])

    def update(self, *more: Any, **named: Any) -> None:
        """Put several in."""
        for name, value in dict(*more, **named).items():
            self[name] = value

    def setdefault(self, name: str, default: Any = None) -> Any:
        """Put one in where there is none of that name."""
        if name not in self:
            self[name] = default
        return self[name]

    __ior__: Any = _joined
