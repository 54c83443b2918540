"""Nothing comes of the lines that are taken for such that only look, whatever they are."""

from pathlib import Path

import pytest

from tests.base.shell.fuzz import Workshop, around, let_through, lines
from tests.base.shell.lines import LOOKS
from tests.sandbox import needs_sandbox

pytestmark = [needs_sandbox, pytest.mark.timeout(120)]

COUNT = 2_000
BATCH = 300


def test_nothing_comes_of_lines_that_only_look(tmp_path: Path) -> None:
    workshop = Workshop(tmp_path)
    framed = let_through(around(COUNT, seed=9))
    run = [*LOOKS, *let_through(lines(COUNT, seed=8)), *framed]
    assert len(run) > COUNT / 10 and len(framed) > COUNT / 40
    for start in range(0, len(run), BATCH):
        assert workshop.guilty(run[start : start + BATCH]) == []


@pytest.mark.parametrize(
    "line",
    ["sort -o out a", "sed -i s/x/y/ a", "git tag new", "find . -exec evil {} +", "uniq a ~/h"],
)
def test_an_effect_is_seen(tmp_path: Path, line: str) -> None:
    workshop = Workshop(tmp_path)
    (guilty,) = workshop.guilty(["ls", line, "cat a"])
    assert guilty[0] == line
