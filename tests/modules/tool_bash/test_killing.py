"""No process of a command is left when the program is killed.

How soon, and 200 kills: `tests/bench/killing.py`.
"""

import random
from pathlib import Path

import pytest

from amplifier_tui.base.commands.sandbox import sandbox_problem
from amplifier_tui.base.watcher.process import has_proc
from tests.bench.killing import LINES, kill_one

PATIENCE = 20.0
"""Seconds: what is left is left for good, on the slowest machine."""


@pytest.mark.skipif(not has_proc(), reason="processes can't be looked at here")
@pytest.mark.parametrize("sandboxed", [False, True])
@pytest.mark.parametrize("number", range(len(LINES)))
def test_nothing_is_left_of_a_command_when_the_program_is_killed(
    number: int, sandboxed: bool, tmp_path: Path
) -> None:
    if sandboxed and sandbox_problem():
        pytest.skip(sandbox_problem())
    assert kill_one(number, random.Random(number), tmp_path, sandboxed, PATIENCE) < PATIENCE
