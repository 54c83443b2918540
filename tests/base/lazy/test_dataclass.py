"""A dataclass of ours is what one of the standard library is."""

import copy
import dataclasses
import inspect
import pickle
from collections.abc import Callable
from dataclasses import KW_ONLY, FrozenInstanceError, field
from typing import Any, ClassVar

import pytest

from amplifier_tui.base.lazy.dataclass import dataclass

Make = Callable[..., Any]
OPTIONS = [
    {"frozen": frozen, "slots": slots, "kw_only": kw_only}
    for frozen in (False, True)
    for slots in (False, True)
    for kw_only in (False, True)
]


def shapes(make: Make, **options: bool) -> dict[str, Any]:
    """The same classes, made by either."""

    @make(**options)
    class Point:
        """Has defaults, a factory, and what stays out of comparing or showing."""

        limit: ClassVar[int] = 9
        x: int
        y: float = 0.5
        tags: list[str] = field(default_factory=list)
        seen: int = field(default=0, compare=False)
        secret: str = field(default="s", repr=False)

    @make(**options)
    class Deep(Point):
        """Inherits, adds, and works something out."""

        z: int = 7
        total: int = field(init=False, default=0)

        def __post_init__(self) -> None:
            object.__setattr__(self, "total", self.x + self.z)

    @make(**options)
    class Empty:
        """Has nothing."""

    @make(**options)
    class One:
        """Takes one by its place and one by its name."""

        a: int
        _: KW_ONLY
        b: int = 2

    return {each.__name__: each for each in (Point, Deep, Empty, One)}


def results(classes: dict[str, Any]) -> list[object]:
    """What can be told of the classes' instances."""
    point, deep, empty, one = classes.values()
    first, second = point(x=1), point(x=1, seen=5)
    other = point(x=1, y=float("inf"), tags=["a"])
    found: list[object] = [
        repr([first, other, deep(x=2, z=3), empty(), one(a=1)]),
        [first == second, first == other, first == deep(x=1), first != 1, empty() == empty()],
        [str(inspect.signature(each.__init__)) for each in classes.values() if each is not point],
        list(inspect.signature(point).parameters),
        dataclasses.asdict(deep(x=2)),
        dataclasses.replace(other, x=4) == other,
        repr(dataclasses.replace(other, x=4)),
        point.__match_args__,
        deep(x=1).total,
        [each.__hash__ is None for each in classes.values()],
        repr(copy.deepcopy(other)),
        hasattr(first, "__dict__"),
        first.tags is second.tags,
    ]
    for wrong in ({}, {"x": 1, "w": 2}):
        with pytest.raises(TypeError) as refused:
            point(**wrong)
        found.append(str(refused.value).replace("make_", ""))
    return found


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_instances_are_built_compared_shown_and_copied_as_ever(options: dict[str, bool]) -> None:
    assert results(shapes(dataclass, **options)) == results(
        shapes(dataclasses.dataclass, **options)
    )


@pytest.mark.parametrize("slots", [False, True])
def test_a_frozen_one_refuses_changes_and_can_be_a_key(slots: bool) -> None:
    @dataclass(frozen=True, slots=slots)
    class Key:
        name: str
        note: str = field(default="", compare=False)

    key = Key("a")
    for change in (
        lambda: setattr(key, "name", "b"),
        lambda: delattr(key, "name"),
        lambda: setattr(key, "unknown", 1),
    ):
        with pytest.raises(FrozenInstanceError):
            change()
    assert key == Key("a", "noted")
    assert {key: 1}[Key("a", "noted")] == 1


def test_one_that_compares_by_identity_does() -> None:
    @dataclass(eq=False)
    class Handle:
        name: str

    assert Handle("a") != Handle("a")
    assert hash(Handle("a")) is not None


def test_what_a_class_defines_itself_stays() -> None:
    @dataclass(frozen=True)
    class Own:
        name: str

        def __repr__(self) -> str:
            return "mine"

        def __hash__(self) -> int:
            return 42

        def __eq__(self, other: object) -> bool:
            return True

    assert (repr(Own("a")), hash(Own("a")), Own("a") == 3) == ("mine", 42, True)


def test_one_that_holds_itself_can_be_shown() -> None:
    @dataclass
    class Ring:
        next: "Ring | None" = None

    ring = Ring()
    ring.next = ring
    assert repr(ring).endswith("Ring(next=...)")


@dataclass(frozen=True, slots=True)
class Stored:
    name: str
    count: int = 1


def test_a_frozen_one_with_slots_can_be_pickled() -> None:
    assert pickle.loads(pickle.dumps(Stored("a", 3))) == Stored("a", 3)


def test_building_is_compiled_once_also_where_a_subclass_is_built_first() -> None:
    @dataclass
    class Base:
        name: str

    class Plain(Base):
        pass

    assert "__init__" not in vars(Plain)
    assert Plain("a").name == "a"
    assert vars(Base)["__init__"] is Base.__init__ is Plain.__init__
    assert Base("b") == Base(name="b")
