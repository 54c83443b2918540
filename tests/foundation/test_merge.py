import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_tui.foundation.dicts import deep_merge, get_nested, merge_module_lists, set_nested

scalars = st.none() | st.booleans() | st.integers() | st.text(max_size=5)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4)
    ),
    max_leaves=12,
)
mappings = st.dictionaries(st.text(max_size=3), values, max_size=5)
names = st.sampled_from(["a", "b", "c"])
entries = st.lists(
    st.fixed_dictionaries({}, optional={"module": names, "id": names, "config": mappings}),
    max_size=6,
)


def test_mappings_merge_deeply_and_the_child_wins() -> None:
    assert deep_merge({"a": {"x": 1, "y": 1}}, {"a": {"y": 2}, "b": 3}) == {
        "a": {"x": 1, "y": 2},
        "b": 3,
    }


def test_lists_are_concatenated_with_each_value_once() -> None:
    assert deep_merge({"l": [1, 2]}, {"l": [2, 3, 1]}) == {"l": [1, 2, 3]}


def test_values_of_different_types_are_different_list_items() -> None:
    merged = deep_merge({"l": [1]}, {"l": [True, "1", 1.0, None]})["l"]
    assert [(type(item), item) for item in merged] == [
        (int, 1),
        (bool, True),
        (str, "1"),
        (float, 1.0),
        (type(None), None),
    ]


def test_mappings_in_lists_are_equal_whatever_the_order_of_keys() -> None:
    assert deep_merge({"l": [{"a": 1, "b": 2}]}, {"l": [{"b": 2, "a": 1}]}) == {
        "l": [{"a": 1, "b": 2}]
    }


def test_mappings_with_mixed_keys_in_lists_do_not_break_the_merge() -> None:
    odd = {1: "x", "a": "y"}
    assert deep_merge({"l": [odd]}, {"l": [dict(odd), {"z": 1}]}) == {"l": [odd, {"z": 1}]}


@pytest.mark.parametrize("parent", [None, 5, "old", [0], {"x": 0}])
@pytest.mark.parametrize("child", [None, 1, "x", [1], {"y": 1}])
def test_a_type_mismatch_is_replaced_by_the_child(parent: Any, child: Any) -> None:
    if type(parent) is type(child) and isinstance(child, dict | list):
        return  # those merge
    assert deep_merge({"k": parent}, {"k": child}) == {"k": child}


def test_null_arguments_are_empty() -> None:
    assert deep_merge(None, None) == {}
    assert merge_module_lists(None, None) == []


def test_entries_merge_by_id_before_module() -> None:
    parent = [{"module": "p", "config": {"a": 1}}, {"module": "p", "id": "two"}]
    child = [{"id": "two", "config": {"b": 1}}, {"module": "p", "config": {"a": 2}}]
    assert merge_module_lists(parent, child) == [
        {"module": "p", "config": {"a": 2}},
        {"module": "p", "id": "two", "config": {"b": 1}},
    ]


def test_a_child_without_id_leaves_an_entry_with_id_alone() -> None:
    merged = merge_module_lists([{"module": "p", "id": "one"}], [{"module": "p"}])
    assert merged == [{"module": "p", "id": "one"}, {"module": "p"}]


def test_a_child_whose_id_is_a_module_name_merges_into_it() -> None:
    merged = merge_module_lists([{"module": "p"}], [{"module": "q", "id": "p"}])
    assert merged == [{"module": "q", "id": "p"}]


def test_a_source_is_kept_unless_the_child_gives_one() -> None:
    merged = merge_module_lists([{"module": "a", "source": "x"}], [{"module": "a", "config": {}}])
    assert merged[0]["source"] == "x"


def test_lists_in_configuration_accumulate() -> None:
    merged = merge_module_lists(
        [{"module": "a", "config": {"l": [1]}}], [{"module": "a", "config": {"l": [2]}}]
    )
    assert merged[0]["config"] == {"l": [1, 2]}


def test_of_duplicates_in_the_parent_the_last_stands_in_the_first_ones_place() -> None:
    parent = [{"module": "a", "config": {"x": 1}}, {"module": "b"}, {"module": "a", "source": "s"}]
    assert merge_module_lists(parent, []) == [{"module": "a", "source": "s"}, {"module": "b"}]


def test_duplicates_in_the_child_merge_into_each_other() -> None:
    child = [{"module": "a", "config": {"x": 1}}, {"module": "a", "source": "s"}]
    assert merge_module_lists([], child) == [{"module": "a", "config": {"x": 1}, "source": "s"}]


def test_an_entry_without_id_and_module_is_dropped() -> None:
    assert merge_module_lists([{"config": {}}], [{"source": "x"}]) == []


@pytest.mark.parametrize(("parent", "child"), [(["x"], []), ([], [{"module": "a"}, 3])])
def test_an_entry_that_is_no_mapping_is_a_type_error(parent: list[Any], child: list[Any]) -> None:
    with pytest.raises(TypeError, match="Malformed module config at index"):
        merge_module_lists(parent, child)


@given(mappings, mappings)
def test_a_merge_changes_neither_argument_and_shares_nothing(
    parent: dict[str, Any], child: dict[str, Any]
) -> None:
    before = copy.deepcopy((parent, child))
    result = deep_merge(parent, child)
    _scribble(result)
    assert (parent, child) == before


@given(mappings, mappings)
def test_every_key_of_both_sides_survives_and_scalars_are_the_childs(
    parent: dict[str, Any], child: dict[str, Any]
) -> None:
    result = deep_merge(parent, child)
    assert list(result) == list(dict.fromkeys([*parent, *child]))
    for key, value in child.items():
        if not isinstance(value, dict | list):
            assert result[key] == value and type(result[key]) is type(value)


@given(mappings)
def test_merging_with_nothing_changes_no_scalar_or_mapping(data: dict[str, Any]) -> None:
    assert deep_merge(data, {}) == data
    assert deep_merge({}, data) == data


@given(mappings, mappings, mappings)
def test_merging_is_associative(a: dict[str, Any], b: dict[str, Any], c: dict[str, Any]) -> None:
    left, right = deep_merge(deep_merge(a, b), c), deep_merge(a, deep_merge(b, c))
    if not _types_clash(a, b, c):
        assert json.dumps(left) == json.dumps(right)


@given(entries, entries)
def test_merged_modules_are_unique_and_in_order_of_appearance(
    parent: list[dict[str, Any]], child: list[dict[str, Any]]
) -> None:
    keys = [e.get("id") or e.get("module") for e in merge_module_lists(parent, child)]
    expected = [e.get("id") or e.get("module") for e in [*parent, *child]]
    assert keys == list(dict.fromkeys(key for key in expected if key))


def test_nested_values_are_read_and_written_by_path() -> None:
    data: dict[str, Any] = {"a": {"b": 1}, "s": 5}
    assert get_nested(data, ["a", "b"]) == 1
    assert get_nested(data, "a.b") == 1
    assert get_nested(data, ["s", "b"], "default") == "default"
    set_nested(data, ["a", "c", "d"], 2)
    set_nested(data, "s.x", 3)
    assert data == {"a": {"b": 1, "c": {"d": 2}}, "s": {"x": 3}}
    with pytest.raises(ValueError, match="empty"):
        set_nested(data, [], 1)


def _scribble(value: Any) -> None:
    if isinstance(value, dict):
        for inner in value.values():
            _scribble(inner)
        value["scribble"] = 1
    elif isinstance(value, list):
        for inner in value:
            _scribble(inner)
        value.append("scribble")


def _types_clash(*parts: dict[str, Any]) -> bool:
    """A value replaced by one of another type forgets what was below it, in any grouping."""
    seen: dict[tuple[str, ...], set[type]] = {}

    def walk(value: Any, path: tuple[str, ...]) -> None:
        seen.setdefault(path, set()).add(type(value))
        if isinstance(value, dict):
            for key, inner in value.items():
                walk(inner, (*path, key))

    for part in parts:
        walk(part, ())
    return any(len(types) > 1 for types in seen.values())
