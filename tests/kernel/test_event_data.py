import json
from collections import OrderedDict
from datetime import UTC, datetime
from decimal import Decimal
from enum import Enum, IntEnum
from math import inf, nan
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Any
from unittest.mock import MagicMock

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, RootModel, model_serializer

from amplifier_tui.kernel.hooks import event_data
from amplifier_tui.kernel.hooks.event_data import EventData, as_dict


class Colour(Enum):
    RED = "red"


class Level(IntEnum):
    HIGH = 3


class Word(str):
    pass


class Inner(BaseModel):
    amount: Decimal = Decimal("1.50")
    when: datetime = datetime(2024, 5, 1, tzinfo=UTC)


class Unprintable:
    def __str__(self) -> str:
        raise RuntimeError("no")


class Number(RootModel[float]):
    pass


class Rows(RootModel[list[int]]):
    pass


class Empty(BaseModel):
    pass


class Stubborn(BaseModel):
    model_config = {"arbitrary_types_allowed": True}
    thing: Any = None


class Circular(BaseModel):
    me: Any = None


def native(value: Any) -> Any:
    return EventData({"v": value}).data["v"]


@pytest.mark.parametrize(
    ("given_value", "seen"),
    [
        (Decimal("1.23"), "1.23"),
        (datetime(2024, 5, 1, 12, 30), "2024-05-01 12:30:00"),
        ((1, (2, 3)), [1, [2, 3]]),
        ({1}, "{1}"),
        (PurePosixPath("/a/b"), "/a/b"),
        (Colour.RED, "Colour.RED"),
        (Level.HIGH, 3),
        (Word("w"), "w"),
        (b"x", "b'x'"),
        (nan, None),
        (inf, None),
        (-inf, None),
        ([1.0, nan], [1.0, None]),
        ([1.5, 2.5], [1.5, 2.5]),
        (OrderedDict(a=1), {"a": 1}),
        (MappingProxyType({"a": (1,)}), {"a": [1]}),
        (Inner(), {"amount": "1.50", "when": "2024-05-01T00:00:00Z"}),
        ([Inner()], [{"amount": "1.50", "when": "2024-05-01T00:00:00Z"}]),
        (Number(1.5), 1.5),
        (Number(nan), None),
        (Rows([1, 2]), [1, 2]),
        (Empty(), {}),
        (Unprintable(), "<unprintable Unprintable>"),
        (ValueError("bad"), "bad"),
        (True, True),
        (None, None),
    ],
)
def test_values_become_what_json_has_for_them(given_value: Any, seen: Any) -> None:
    assert native(given_value) == seen
    assert type(native(given_value)) is type(seen)


def test_keys_become_the_names_json_gives_them() -> None:
    keys = {True: "b", None: "c", 2.5: "d", ("t",): "e", Word("w"): "f"}
    assert native({**keys, 7: (1,)}) == {
        "true": "b",
        "null": "c",
        "2.5": "d",
        "('t',)": "e",
        "w": "f",
        "7": [1],
    }


def test_a_model_json_mode_does_not_know_is_dumped_as_it_is() -> None:
    assert native(Stubborn(thing=object)) == {"thing": "<class 'object'>"}


def test_a_circular_model_is_refused_too() -> None:
    model = Circular()
    model.me = model
    with pytest.raises(ValueError, match="circular"):
        native(model)


def test_a_mock_inside_the_data_is_its_text() -> None:
    mock = MagicMock(name="tool")
    assert native(mock) == str(mock)


def test_data_that_is_native_already_is_not_copied() -> None:
    given_data = {"a": [1, {"b": "c"}], "d": {"e": 1.5}}
    assert EventData(given_data).data is given_data


def test_the_emitters_data_is_never_changed() -> None:
    given_data: dict[str, Any] = {"a": {"t": (1, 2)}, 5: [{"n": nan}]}
    EventData(given_data)
    assert given_data["a"] == {"t": (1, 2)}
    assert list(given_data) == ["a", 5]


@pytest.mark.parametrize("build", [dict, list])
def test_circular_data_is_refused_with_a_reason(build: type) -> None:
    loop: Any = build()
    if build is dict:
        loop["me"] = {"again": loop}
    else:
        loop.append([loop])
    with pytest.raises(ValueError, match="circular, or nested more than 100 levels"):
        EventData({"loop": loop})


def test_nesting_beyond_the_limit_is_refused() -> None:
    deep: Any = "end"
    for _ in range(5000):
        deep = [deep]
    with pytest.raises(ValueError, match="nested more than"):
        EventData({"deep": deep})


def test_ninety_levels_pass() -> None:
    deep: Any = "end"
    for _ in range(90):
        deep = {"d": deep}
    data = EventData(deep)
    assert data.copy() == deep


@pytest.mark.parametrize("leaf", [["x", []], [{"a": 1}] * 5])
def test_references_that_unfold_to_billions_are_refused(
    leaf: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_data, "MAX_CONTAINERS", 5_000)
    bomb = leaf
    for _ in range(12):
        bomb = [bomb] * 10
    with pytest.raises(ValueError, match="more than 5000 dicts and lists"):
        EventData({"bomb": bomb})


def test_many_references_to_one_list_of_dicts_are_counted_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(event_data, "MAX_CONTAINERS", 5_000)
    with pytest.raises(ValueError, match="more than 5000 dicts and lists"):
        EventData({"rows": [[{"a": 1}] * 5] * 1_001})


def test_as_dict_reads_models_mappings_and_nothing() -> None:
    assert as_dict(None) == {}
    assert as_dict(MappingProxyType({"a": 1})) == {"a": 1}
    assert as_dict(Stubborn(thing=1)) == {"thing": 1}
    assert as_dict(OrderedDict(a=1)) == {"a": 1}


@pytest.mark.parametrize("odd", ["text", 5, [1], Stubborn, MagicMock()])
def test_as_dict_loses_nothing_it_does_not_know(odd: Any) -> None:
    assert as_dict(odd) == {"value": odd}


class _Broken:
    def model_dump(self, **_: Any) -> Any:
        raise RuntimeError("broken")


def test_as_dict_survives_a_model_that_can_not_be_dumped() -> None:
    assert list(as_dict(_Broken())) == ["value"]


def test_lists_of_dicts_that_hold_lists_of_dicts_are_copied_whole() -> None:
    rows = [{"n": n, "calls": [{"id": i} for i in range(6)]} for n in range(6)]
    checked = EventData({"rows": rows, "calls": [{"id": i} for i in range(6)], "after": [1]})
    copy = checked.copy()
    copy["rows"][0]["calls"][0]["id"] = "changed"
    assert checked.data["rows"] is rows
    assert rows[0]["calls"] == [{"id": i} for i in range(6)]
    assert checked.copy()["rows"] == rows


class Varying(BaseModel):
    @model_serializer
    def dump(self) -> dict[str, Any]:
        dumps.append(1)
        rows: list[dict[str, Any]] = [{"r": 1}] * 5
        return {"a": {"b": {"c": 1}}, "rows": rows} if len(dumps) == 1 else {"d": 1}


dumps: list[int] = []


def test_a_model_that_dumps_differently_each_time_leaves_nothing_behind() -> None:
    dumps.clear()
    assert EventData({"x": {"m": Varying(), 5: 1}}).copy() == {"x": {"m": {"d": 1}, "5": 1}}
    assert len(dumps) == 2


scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.decimals(allow_nan=True)
    | st.binary(max_size=3)
    | st.datetimes()
    | st.just(Colour.RED)
)
keys = st.text(max_size=3) | st.integers() | st.booleans() | st.none() | st.tuples(st.integers())
nested = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=6)
        | st.dictionaries(keys, inner, max_size=4)
        | st.lists(inner, max_size=3).map(tuple)
        | st.lists(st.dictionaries(st.text(max_size=2), scalars, max_size=2), max_size=8)
    ),
    max_leaves=25,
)


def containers(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [value, *(c for item in value.values() for c in containers(item))]
    if isinstance(value, list):
        return [value, *(c for item in value for c in containers(item))]
    return []


@given(st.dictionaries(keys, nested, max_size=5))
def test_any_data_comes_out_json_native(data: dict[Any, Any]) -> None:
    checked = EventData(data)
    text = json.dumps(checked.data, allow_nan=False)
    assert json.loads(text) == checked.data
    assert all(type(c) in (dict, list) for c in containers(checked.data))


@given(st.dictionaries(keys, nested, max_size=5))
def test_copies_are_equal_and_share_no_container(data: dict[Any, Any]) -> None:
    checked = EventData(data)
    first, second = checked.copy(), checked.copy()
    assert first == second == checked.data
    own = [id(c) for c in containers(checked.data)]
    others = [id(c) for c in [*containers(first), *containers(second)]]
    assert not set(own) & set(others)
    assert len(set(others)) == len(others)


# -- lending ---------------------------------------------------------------------------------------


def big(rows: int = event_data.LENT_FROM) -> dict[str, Any]:
    return {"rows": [{"n": n, "tags": ["a"]} for n in range(rows)]}


def test_a_big_copy_that_comes_back_untouched_is_lent_again() -> None:
    checked = EventData(big())
    first = id(checked.lend())
    assert id(checked.lend()) == first
    assert checked.lend() == checked.data


def test_small_copies_are_never_shared() -> None:
    checked = EventData({"a": {"b": [1]}})
    first = checked.lend()
    assert checked.lend() is not first


def change_a_row(data: dict[str, Any]) -> None:
    data["rows"][5]["n"] = "changed"


def add_a_row(data: dict[str, Any]) -> None:
    data["rows"].append({})


def drop_everything(data: dict[str, Any]) -> None:
    data.clear()


def add_a_key(data: dict[str, Any]) -> None:
    data["rows"][0]["tags"].append("b")


@pytest.mark.parametrize("change", [change_a_row, add_a_row, drop_everything, add_a_key])
def test_a_copy_that_was_changed_is_not_lent_again(change: Any) -> None:
    checked = EventData(big())
    change(checked.lend())
    assert checked.lend() == checked.data == big()


@pytest.mark.parametrize(
    "keep",
    [
        lambda data: data,
        lambda data: data["rows"],
        lambda data: data["rows"][3]["tags"],
        lambda data: data["rows"][3].items(),
        lambda data: iter(data["rows"]),
        lambda data: lambda: data,
        lambda data: {**data},
        lambda data: [data["rows"][7]],
    ],
)
def test_a_copy_somebody_kept_a_part_of_is_not_lent_again(keep: Any) -> None:
    checked = EventData(big())
    lent = checked.lend()
    kept, place = keep(lent), id(lent)
    assert id(checked.lend()) != place
    assert kept is not None


def test_a_part_that_was_replaced_by_an_equal_one_that_is_kept_counts_as_kept() -> None:
    checked = EventData(big())
    lent = checked.lend()
    kept = lent["rows"] = list(lent["rows"])
    place = id(lent)
    del lent
    assert id(checked.lend()) != place
    kept.clear()
    assert checked.lend() == big()


changes = st.lists(
    st.tuples(st.sampled_from(["read", "set", "delete", "keep", "append"]), st.integers(0, 70)),
    max_size=6,
)


@given(st.lists(changes, min_size=1, max_size=5))
def test_no_handler_ever_meets_what_another_one_did(handlers: list[list[tuple[str, int]]]) -> None:
    checked, kept = EventData(big(70)), []
    for steps in handlers:
        data = checked.lend()
        assert data == big(70)
        for kind, index in steps:
            rows = data["rows"]
            row = rows[index % len(rows)]
            if kind == "set":
                row["n"] = "set"
            elif kind == "delete":
                del rows[index % len(rows)]
            elif kind == "keep":
                kept.append(row)
            elif kind == "append":
                row.setdefault("tags", []).append("x")
        rows = row = None
        del data
    for part in kept:
        part["n"] = "changed later"
    assert checked.lend() == checked.data == big(70)


def test_a_key_json_has_no_form_for_is_renamed_after_others_were_looked_at() -> None:
    given_data = {"x": {"a": [1], "b": (2,), 5: {"c": [3]}, "d": [4]}}
    checked = EventData(given_data)
    assert checked.data == {"x": {"a": [1], "b": [2], "5": {"c": [3]}, "d": [4]}}
    assert checked.copy() == checked.data
    assert given_data["x"]["b"] == (2,)


def test_wide_circular_data_is_refused_at_once() -> None:
    loop: list[Any] = []
    loop += [loop] * 50
    with pytest.raises(ValueError, match="circular"):
        EventData({"loop": loop})
