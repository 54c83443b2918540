import json

from hypothesis import given
from hypothesis import strategies as st

from amplifier_tui.ui.panes.json_tree import (
    PAGE,
    JsonTree,
    TreeLine,
    differences,
    parse_json,
    wrap_cells,
)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4)
    ),
    max_leaves=20,
)


def outline(tree: JsonTree, width: int = 40) -> list[str]:
    lines = []
    for line in tree.lines(width):
        if line.rest:
            lines.append(f"… {line.rest}")
        elif line.part is not None:
            lines.append(f"| {line.part}")
        else:
            lines.append(line.node.path())
    return lines


def line_at(tree: JsonTree, path: str) -> TreeLine:
    return next(line for line in tree.lines(40) if line.part is None and line.node.path() == path)


def test_small_values_are_open_and_large_ones_closed() -> None:
    tree = JsonTree({"a": {"b": [1, 2]}, "big": list(range(100)), "c": 1})
    assert outline(tree) == ["a", "a.b", "a.b[0]", "a.b[1]", "big", "c"]


def test_folding_hides_and_shows_children() -> None:
    tree = JsonTree({"a": {"b": 1}})
    tree.toggle(line_at(tree, "a"))
    assert outline(tree) == ["a"]
    tree.toggle(line_at(tree, "a"))
    assert outline(tree) == ["a", "a.b"]


def test_a_huge_list_is_shown_in_pages() -> None:
    tree = JsonTree({"rows": list(range(PAGE * 3))})
    tree.toggle(line_at(tree, "rows"))
    lines = tree.lines(40)
    assert len(lines) == 1 + PAGE + 1
    assert lines[-1].rest == PAGE * 2
    tree.toggle(lines[-1])
    assert len(tree.lines(40)) == 1 + PAGE * 2 + 1


def test_children_are_made_when_their_parent_opens() -> None:
    tree = JsonTree({"rows": list(range(100))})
    rows = tree.root.children()[0]
    assert rows._children == []
    tree.toggle(TreeLine(rows))
    tree.lines(40)
    assert len(rows._children) == 100


def test_a_long_text_opens_into_lines() -> None:
    tree = JsonTree({"command": "one\ntwo\x1b[31m" + "x" * 40})
    assert outline(tree) == ["command"]
    tree.toggle(line_at(tree, "command"))
    assert outline(tree, 24) == ["command", "| one", "| two" + "x" * 17, "| " + "x" * 20, "| xxx"]


def test_paths_say_where_a_value_is() -> None:
    tree = JsonTree({"a b": [{"c": 1}]})
    assert outline(tree) == ['"a b"', '"a b"[0]', '"a b"[0].c']


def test_a_value_is_copied_as_it_is() -> None:
    tree = JsonTree({"t": "a\nb", "o": {"x": [1]}})
    assert line_at(tree, "t").node.text() == "a\nb"
    assert json.loads(line_at(tree, "o").node.text()) == {"x": [1]}


def test_a_bare_value_is_one_line() -> None:
    assert len(JsonTree(5).lines(40)) == 1
    assert len(JsonTree([]).lines(40)) == 1


def test_differences_name_the_innermost_value() -> None:
    found = differences(
        {"a": {"key": "sk-1", "n": 1}, "gone": 1, "l": [1, 2]},
        {"a": {"key": "***", "n": 1}, "new": True, "l": [1]},
    )
    assert [(d.path, d.before, d.after) for d in found] == [
        ("a.key", '"sk-1"', '"***"'),
        ("gone", "1", None),
        ("l[1]", "2", None),
        ("new", None, "true"),
    ]


def test_a_value_of_another_type_differs() -> None:
    assert len(differences({"a": 1}, {"a": True})) == 1
    assert len(differences([1], {"0": 1})) == 1


@given(JSON, JSON)
def test_only_what_is_equal_has_no_differences(before: object, after: object) -> None:
    assert differences(before, before) == []
    same = json.dumps(before, sort_keys=True) == json.dumps(after, sort_keys=True)
    assert bool(differences(before, after)) != same


@given(JSON, st.lists(st.integers(0, 30), max_size=10))
def test_folding_anything_in_any_order_keeps_the_tree_whole(
    value: object, toggles: list[int]
) -> None:
    tree = JsonTree(value)
    for number in toggles:
        lines = tree.lines(20)
        tree.toggle(lines[number % len(lines)])
    paths = [line.node for line in tree.lines(20) if line.part is None and not line.rest]
    assert len(paths) == len(set(map(id, paths)))


def test_json_that_is_cut_off_or_nested_beyond_reason_is_no_json() -> None:
    assert parse_json('{"a": ') == (None, False)
    assert parse_json("[" * 200_000) == (None, False)
    assert parse_json("null") == (None, True)


def test_json_nested_as_deep_as_it_can_be_is_shown_and_copied() -> None:
    value, valid = parse_json("[" * 900 + "]" * 900)
    assert valid
    tree = JsonTree(value)
    for _ in range(900):
        lines = tree.lines(40)
        if not lines[-1].node.folds or lines[-1].node.expanded:
            break
        tree.toggle(lines[-1])
    assert tree.root.text()


def test_text_is_cut_by_cells_not_characters() -> None:
    assert wrap_cells("漢字漢字\nab", 4) == ["漢字", "漢字", "ab"]
    assert wrap_cells("", 4) == [""]
