"""What a diff says of itself: its numbers, where it is cut, and where nothing was compared."""

import random

from amplifier_tui.base.diffs import REPLACED, unified_diff, unshown


def test_where_a_diff_is_cut_it_says_what_the_rest_adds_and_removes() -> None:
    before = "".join(f"-- {n}\n" for n in range(1_000))
    after = "".join(f"++ {n}\n" for n in range(0, 1_000, 2))
    found = unified_diff(("a", "b"), before, after)
    assert (found.added, found.removed, found.compared) == (500, 1_000, True)
    for limit in (0, 5, 20, 3_000, 10_000):
        *lines, last = found.text(limit).split("\n")[:-1]
        added, removed = unshown(last)
        added += sum(line.startswith("+") for line in lines[2:])
        removed += sum(line.startswith("-") for line in lines[2:])
        assert (added, removed) == (500, 1_000)
    assert "not shown" not in found.text(1_000_000)


def test_lines_of_a_file_are_no_place_where_a_diff_is_cut() -> None:
    assert unshown("+\\ 5 more lines of this diff are not shown: +3 −2") == (0, 0)
    assert unshown("\\ No newline at end of file") == (0, 0)


def test_a_hunk_that_was_not_compared_says_so() -> None:
    pick = random.Random(2).choice
    texts = ["".join(pick("abcd") + "\n" for _ in range(100_000)) for _ in range(2)]
    found = unified_diff(("f", "f"), *texts)
    assert not found.compared
    assert found.lines[2].endswith(f" @@ {REPLACED}\n")
    assert REPLACED not in "".join(unified_diff(("f", "f"), "a\n", "b\n").lines)
