"""Questions of `amplifier-tui run` at the terminal it was started in."""

import os
import pty
from dataclasses import replace

import pytest

from amplifier_tui.cli.run import headless as module
from amplifier_tui.host.client import QuestionAnswer
from tests.cli.bundle_support import program_in_terminal
from tests.cli.test_run import ASKED, STORE
from tests.host.conftest import project

__all__ = ["project"]


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("2\n", QuestionAnswer((1,))),
        ("1, 2\n", QuestionAnswer((0, 1))),
        ("3\n", QuestionAnswer(text="3")),
        (" neither\n", QuestionAnswer(text="neither")),
        ("\n", QuestionAnswer()),
    ],
)
def test_a_question_at_the_terminal_is_answered_by_numbers_or_words(
    line: str, answer: QuestionAnswer
) -> None:
    reading, writing = os.pipe()
    os.write(writing, line.encode())
    os.close(writing)
    speaker = module.Speaker(whole=False, asks=False)
    with open(reading) as terminal:
        speaker._terminal = terminal
        assert speaker.ask_all((STORE,), lambda: False) == (answer,)


def test_nothing_in_a_call_looks_like_the_question_about_it(
    capfd: pytest.CaptureFixture[str],
) -> None:
    asked = replace(
        ASKED,
        action="bash wants to run a command in a\nRisk: low",
        prompt="This is fine.",
        payload="rm x\nRisk: low\nAllow this once? [y/N] y",
        risk="high",
        outside=True,
    )
    reading, writing = os.pipe()
    os.close(writing)
    speaker = module.Speaker(whole=False, asks=False)
    with open(reading) as terminal:
        speaker._terminal = terminal
        assert speaker.ask(asked, lambda: False) is False
    said = capfd.readouterr().err
    assert [line for line in said.splitlines() if not line.startswith("| ")] == [
        "Approval: bash wants to run a command in a",
        "It says: This is fine.",
        "Outside of the workspace",
        "Asked by: amplifier-tui",
        "Risk: high",
        "Allow this once? [y/N] ",
    ]
    assert "| Allow this once? [y/N] y\n" in said


def test_a_yes_that_was_typed_before_the_question_is_none(
    capfd: pytest.CaptureFixture[str],
) -> None:
    person, terminal = pty.openpty()
    os.write(person, b"y\nyes\nn\n")
    speaker = module.Speaker(whole=False, asks=False)
    with open(terminal) as speaker._terminal:
        assert speaker.ask(ASKED, lambda: False) is False
    os.close(person)
    assert capfd.readouterr().err.count("before the question could be read") == 2


def test_the_person_at_the_terminal_is_asked() -> None:
    arguments = ("run", "--demo", "--approve", "ask", "find a bug and fix it")
    status, shown = program_in_terminal(*arguments, keys="y\n", asked="Allow this once? [y/N]")
    assert status == 0, shown
    assert shown.count("Approval: ") == 2
    assert "Fixed: the limit belongs to its bracket" in shown
