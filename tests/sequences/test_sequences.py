"""Whatever is done in whatever order: ledger, screen and a fresh resume agree."""

import pytest

from amplifier_tui import compat
from tests.sequences.runs import LIVES, failure, run_of, shortest
from tests.sequences.world import MODULES, Step

RUNS = 10
"""Runs of `LIVES` sequences each; the benchmark plays 2 000 others (`tests.bench.sequences`)."""

ONCE_FOUND: dict[str, list[Step]] = {
    "a mode or model chosen before the first prompt is lost in a kill": [
        ("mode", 2), ("model", 1), ("submit",), ("kill",),
    ],
    "two texts of a stopped answer become one, which alone is called interrupted": [
        ("submit",), ("begin", 1), ("begin", 1), ("stop", 1), ("resume",),
    ],
    "what a kill interrupted counts as kept by the stop of the next turn": [
        ("submit",), ("begin", 1), ("kill",), ("submit",), ("call", 0, 3), ("stop", 1), ("resume",),
    ],
    "the model that was left is shown again by its last answer": [
        ("submit",), ("model", 1), ("answer",), ("resume",),
    ],
    "a call that was edited before it was allowed is shown as the model made it": [
        ("submit",), ("call", 0, 0), ("decide", 1, 0), ("decide", 2, 0), ("resume",),
    ],
    "a limit is lost in a kill": [("submit",), ("limit", 2), ("kill",)],
    "what was used is forgotten where all turns were taken back": [
        ("submit",), ("answer",), ("rewind", 0, 0), ("resume",),
    ],
    "what the user wrote while a call waited that was then denied is taken for the call's": [
        ("submit",), ("call", 9, 7), ("hand", 7), ("decide", 0, 0), ("answer",), ("rewind", 0, 1),
    ],
    "the same of a call that was stopped": [
        ("submit",), ("call", 9, 7), ("hand", 7), ("stop", 1), ("rewind", 0, 1),
    ],
    "the same of a call that the end of the program cut off": [
        ("submit",), ("call", 9, 7), ("hand", 7), ("resume",), ("rewind", 0, 1),
    ],
    "a command of the user's goes along into a fork, and is not shown there": [
        ("shell", 11), ("fork",), ("submit",), ("resume",),
    ],
    "what waits is lost in another bundle where all turns were taken back": [
        ("submit",), ("steer",), ("resume",), ("rewind", 0, 0), ("bundle", 1),
    ],
}  # fmt: skip


@pytest.fixture(autouse=True)
def puppets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AMPLIFIER_MODULES", str(MODULES))
    compat.install()


@pytest.mark.parametrize("seed", range(RUNS))
def test_100_random_sequences(seed: int) -> None:
    assert RUNS * LIVES == 100
    problem = failure(run_of(seed))
    assert not problem, f"{shortest(run_of(seed))} fails:\n{problem}"


@pytest.mark.parametrize("name", ONCE_FOUND)
def test_what_was_once_found(name: str) -> None:
    assert not failure(ONCE_FOUND[name])
