"""What changed between two texts: right for any, as few lines as can be, and soon."""

import random
from collections.abc import Callable
from time import thread_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_tui.base.diffs import LineChange, line_changes
from amplifier_tui.base.diffs import comparing as module

Lines = list[str]


def applied(old: Lines, new: Lines, changes: list[LineChange]) -> Lines:
    out: Lines = []
    at = 0
    for change in changes:
        assert change.old_start > at or not out or change.new_start > len(out)
        out += old[at : change.old_start]
        assert len(out) == change.new_start
        out += new[change.new_start : change.new_end]
        at = change.old_end
    return out + old[at:]


def kept_at_most(old: Lines, new: Lines) -> int:
    row = [0] * (len(new) + 1)
    for one in old:
        before = 0
        for at, other in enumerate(new, start=1):
            here = row[at]
            row[at] = before + 1 if one == other else max(here, row[at - 1])
            before = here
    return row[-1]


def counts(changes: list[LineChange]) -> tuple[int, int]:
    return (
        sum(each.new_end - each.new_start for each in changes),
        sum(each.old_end - each.old_start for each in changes),
    )


_LINES = st.lists(st.sampled_from("abcdef"), max_size=25)


@given(_LINES, _LINES)
def test_changes_lead_from_one_text_to_the_other_by_as_few_lines_as_can_be(
    old: Lines, new: Lines
) -> None:
    changes = line_changes(old, new)
    assert applied(old, new, changes) == new
    kept = kept_at_most(old, new)
    assert counts(changes) == (len(new) - kept, len(old) - kept)
    assert all(each.compared for each in changes)


@given(_LINES, _LINES, st.integers(0, 40), st.integers(0, 400), st.integers(0, 6))
def test_changes_lead_to_the_other_text_however_little_time_there_is(
    old: Lines, new: Lines, pairs: int, steps: int, few: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {"_PAIRS": pairs, "_STEPS": steps, "_FEW": few, "_LEAST": 1}.items():
            patch.setattr(module, name, value)
        changes = line_changes(old, new)
    assert applied(old, new, changes) == new


def _unlike(count: int) -> Lines:
    return [f"value_{n} = {n}" for n in range(count)]


def _alike(count: int) -> Lines:
    return ["}"] * count


def _code(count: int) -> Lines:
    pick = random.Random(1).choice
    return [pick(["}", "", "    return", f"a{n}", f"b{n}", f"c{n}"]) for n in range(count)]


@pytest.mark.parametrize("text", [_unlike, _alike, _code])
def test_two_far_apart_lines_of_a_large_file_are_two_changes(text: Callable[[int], Lines]) -> None:
    old = text(10_000)
    new = [*old[:4], "x", *old[5:9_990], "y", *old[9_991:]]
    started = thread_time()
    changes = line_changes(old, new)
    assert thread_time() - started < 0.3
    assert [each[:2] for each in changes] == [(4, 5), (9_990, 9_991)]


@pytest.mark.parametrize("text", [_unlike, _alike, _code])
def test_where_every_third_line_changes_the_others_stay(text: Callable[[int], Lines]) -> None:
    old = text(9_000)
    new = [f"new {n}" if n % 3 == 0 else line for n, line in enumerate(old)]
    started = thread_time()
    changes = line_changes(old, new)
    assert thread_time() - started < 0.3
    assert counts(changes) == (3_000, 3_000) and applied(old, new, changes) == new


def test_a_line_that_moved_across_lines_that_repeat_is_all_that_moved() -> None:
    old, new = _alike(5_000), _alike(5_000)
    old[3] = new[4_990] = "moved"
    assert counts(line_changes(old, new)) == (1, 1)


def test_what_cannot_be_compared_in_time_is_told_from_what_has_nothing_in_common() -> None:
    pick = random.Random(2).choice
    old, new = ([pick("abcd") for _ in range(100_000)] for _ in range(2))
    started = thread_time()
    changes = line_changes(["top", *old], ["top", *new])
    assert thread_time() - started < 1
    assert not all(each.compared for each in changes)
    assert line_changes(_alike(5_000), _unlike(5_000)) == [LineChange(0, 5_000, 0, 5_000)]
