import json
from collections import UserDict
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import PurePosixPath
from unittest.mock import Mock

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from amplifier_tui.base.plain import copy_plain, dump_model, json_key, plain, safe_str


class Unprintable:
    def __str__(self) -> str:
        raise RuntimeError("no")


@dataclass
class Point:
    x: int
    tags: tuple[str, ...]


class Model(BaseModel, arbitrary_types_allowed=True):
    when: date = date(2024, 5, 1)
    odd: object = None


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (float("nan"), None),
        (1.5, 1.5),
        ((1, {2}), [1, [2]]),
        (b"x", "eA=="),
        (datetime(2024, 5, 1, tzinfo=UTC), "2024-05-01T00:00:00+00:00"),
        (Point(1, ("a",)), {"x": 1, "tags": ["a"]}),
        (Model(), {"when": "2024-05-01", "odd": None}),
        (PurePosixPath("/a"), "/a"),
        (UserDict({None: True, True: 1, 5: 2}), {"null": True, "true": 1, "5": 2}),
        (Unprintable(), "<unprintable Unprintable>"),
        (int, "<class 'int'>"),
    ],
)
def test_everything_has_a_plain_form(value: object, expected: object) -> None:
    assert plain(value) == expected
    json.dumps(plain(value), allow_nan=False)


def test_a_model_whose_json_mode_fails_is_taken_apart_by_hand() -> None:
    assert plain(Model(odd=Unprintable()))["odd"] == "<unprintable Unprintable>"


def test_a_dump_that_is_no_data_does_not_count() -> None:
    assert dump_model(Mock()) is None
    assert dump_model(Model) is None
    assert dump_model(3) is None


def test_what_is_circular_ends() -> None:
    circle: list[object] = []
    circle.append(circle)
    assert "…" in json.dumps(plain(circle), ensure_ascii=False)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
)


@given(values)
def test_a_copy_is_equal_and_shares_no_container(value: object) -> None:
    for copy in (copy_plain, plain):
        copied = copy(value)
        assert copied == value
        if isinstance(value, list | dict):
            assert copied is not value


def test_a_copy_makes_dicts_and_lists_and_shares_the_rest() -> None:
    odd = Unprintable()
    copied = copy_plain(UserDict({"a": ({"b": odd},)}))
    assert copied == {"a": [{"b": odd}]}
    assert type(copied) is dict


def test_keys_and_texts_never_fail() -> None:
    assert [json_key(key) for key in (None, True, 1.5, "a")] == ["null", "true", "1.5", "a"]
    assert safe_str(Unprintable()) == "<unprintable Unprintable>"
