from hypothesis import given
from hypothesis import strategies as st

from amplifier_tui.ui.transcript.layout.heights import Heights

STEP = st.one_of(
    st.tuples(st.just("set"), st.integers(0, 30), st.integers(0, 9)),
    st.tuples(st.just("insert"), st.integers(0, 30), st.lists(st.integers(0, 9), max_size=4)),
    st.tuples(st.just("delete"), st.integers(0, 30), st.integers(0, 3)),
    st.tuples(st.just("read"), st.integers(0, 200), st.none()),
)


@given(st.lists(STEP, max_size=60))
def test_offsets_are_the_sums_of_the_heights_before(steps: list[tuple[str, int, object]]) -> None:
    heights, model = Heights(), []
    for name, index, value in steps:
        if name == "set" and index < len(model) and isinstance(value, int):
            heights.set(index, value)
            model[index] = value
        elif name == "insert" and index <= len(model) and isinstance(value, list):
            heights.insert(index, value)
            model[index:index] = value
        elif name == "delete" and isinstance(value, int) and index + value <= len(model):
            heights.delete(index, value)
            del model[index : index + value]
        elif name == "read" and model:
            found = heights.find(index)
            if index < sum(model):
                assert sum(model[:found]) <= index < sum(model[: found + 1])
    assert heights.total == sum(model)
    assert [heights.offset(index) for index in range(len(model) + 1)] == [
        sum(model[:index]) for index in range(len(model) + 1)
    ]


def test_a_row_outside_gives_the_first_or_the_last_piece() -> None:
    heights = Heights()
    heights.insert(0, [2, 3])
    assert (heights.find(-1), heights.find(0), heights.find(4), heights.find(99)) == (0, 0, 1, 1)


def test_scaling_keeps_single_rows() -> None:
    heights = Heights()
    heights.insert(0, [1, 2, 10])
    heights.scale(2.0)
    assert [heights[index] for index in range(3)] == [1, 2, 20]
