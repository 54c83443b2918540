"""Every published name is here, and can be called as it is called there.

`published_core.json` was taken from the package by `take_published.py`. `published_foundation.json`
has the names and signatures that its documentation and its users give: no registry has the package.
"""

import importlib
import inspect
import json
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Any

import pytest

from amplifier_tui import compat
from tests.compat.take_published import described

HERE = Path(__file__).parent
PUBLISHED: dict[str, dict[str, Any]] = {
    name: json.loads((HERE / f"published_{name}.json").read_text())
    for name in ("core", "foundation")
}

LEFT_OUT = {
    "amplifier_core.loader_grpc": "runs modules in other processes; this kernel runs Python only",
}
"""What is not offered, and why."""

MODULES = [
    (name, module)
    for name, taken in PUBLISHED.items()
    for module in taken["modules"]
    if module not in LEFT_OUT
]


def problems(path: str, published: Any, ours: Any) -> Iterator[str]:
    """Yield how a name of ours cannot be used as the published one."""
    if path in LEFT_OUT:
        return
    if isinstance(published, dict):
        own = described(ours)
        for name, parameters in published.items():
            here = f"{path}.{name}"
            if name == "()" and isinstance(ours, type) and issubclass(ours, Enum):
                # How an enumeration is called is Python's, and another way since 3.12.
                continue
            if name != "()" and here not in LEFT_OUT and not _has_member(ours, name):
                yield f"{here}: missing"
            elif isinstance(parameters, str) and not _accepts(own[name], parameters):
                yield f"{here}({parameters}): ours is ({own[name]})"
    elif isinstance(published, str):
        found = described(ours)
        mine = found["()"] if isinstance(found, dict) else found
        if not _accepts(mine, published):
            yield f"{path}({published}): ours is ({mine})"


def _has_member(owner: type, name: str) -> bool:
    """Whether a class has a member, a field, or an attribute that its `__init__` sets."""
    annotated = {key for base in owner.__mro__ for key in inspect.get_annotations(base)}
    makers = [vars(base).get("__init__") for base in owner.__mro__]
    set_there = {each for maker in makers for each in getattr(_code(maker), "co_names", ())}
    return hasattr(owner, name) or name in annotated | set_there


def _code(function: Any) -> Any:
    return getattr(function, "__code__", None)


def _accepts(ours: str | None, published: str) -> bool:
    """Whether every call that fits `published` fits `ours`."""
    if ours is None:
        return False
    own, theirs = _read(ours), _read(published)
    takes_all = any(name.startswith("*") and name != "**" for name in own["star"])
    takes_names = any(name.startswith("**") for name in own["star"])
    for place, name in enumerate(theirs["positional"]):
        bare = name.rstrip("=")
        at = own["positional"][place] if place < len(own["positional"]) else None
        if at is None:
            if not (takes_all and takes_names):
                return False
        elif _bare(at) != bare or (name.endswith("=") and not at.endswith("=")):
            return False
    for name in theirs["keyword"]:
        known = {_bare(each): each for each in (*own["keyword"], *own["positional"])}
        match = known.get(_bare(name))
        if match is None and not takes_names:
            return False
        if match is not None and name.endswith("=") and not match.endswith("="):
            return False
    asked = {_bare(each) for each in (*theirs["positional"], *theirs["keyword"])}
    more = [*own["positional"], *own["keyword"]]
    return all(each.endswith("=") or _bare(each) in asked for each in more) or bool(theirs["star"])


def _bare(name: str) -> str:
    return name.rstrip("=")


def _read(text: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {"positional": [], "keyword": [], "star": []}
    section = "positional"
    for name in filter(None, text.split(", ")):
        if name.startswith("*"):
            section = "keyword"
            if name != "*":
                found["star"].append(name)
        else:
            found[section].append(name)
    return found


@pytest.fixture(autouse=True)
def aliases() -> None:
    compat.install()


@pytest.mark.parametrize(("package", "module"), MODULES)
def test_a_published_module_has_every_name_and_takes_every_call(package: str, module: str) -> None:
    names = PUBLISHED[package]["modules"][module]
    home = importlib.import_module(module)
    found = []
    for name, published in names.items():
        path = f"{module}.{name}"
        if not hasattr(home, name):
            found += [] if path in LEFT_OUT else [f"{path}: missing"]
        else:
            found += problems(path, published, getattr(home, name))
    assert found == []


@pytest.mark.parametrize(
    ("published", "ours", "fits"),
    [
        ("a, b=", "a, b=", True),
        ("a, b=", "a, b=, c=, *, d=", True),
        ("a, b=", "a, b", False),
        ("a, b", "b, a", False),
        ("a", "a, b", False),
        ("a, *, b=", "a, b=", True),
        ("a, b=", "a, *, b=", False),
        ("a", "a, *, b", False),
        ("*, a", "*, a=", True),
        ("*, a", "**more", True),
        ("a, b", "*given, **more", True),
        ("", "a=", True),
        ("a", None, False),
    ],
)
def test_a_signature_fits_when_every_published_call_does(
    published: str, ours: str | None, fits: bool
) -> None:
    assert _accepts(ours, published) is fits


def test_a_missing_name_member_or_module_would_be_noticed() -> None:
    class Ours:
        kept = 1

    assert list(problems("x.Ours", {"()": "", "kept": None, "gone": None}, Ours)) == [
        "x.Ours.gone: missing"
    ]
    assert list(problems("x.call", "a", lambda b: b)) == ["x.call(a): ours is (b)"]
    assert not hasattr(importlib.import_module("amplifier_core.hooks"), "Nonsense")
