"""Questions of agents for tests."""

from typing import Any

from amplifier_tui.base.capabilities.questions import Question, QuestionOption
from amplifier_tui.host.events import QuestionsAsked
from tests.ui.fake_client import SESSION

STORE = Question(
    "Where are the prices kept?",
    "Store",
    (
        QuestionOption("SQLite", "One file, no server"),
        QuestionOption("Postgres", "A server that somebody has to run, [bold]now and later[/]"),
    ),
)
CHECKS = Question(
    "Which checks run?", "Checks", tuple(map(QuestionOption, ("lint", "types", "tests"))), True
)
NAME = Question("What is it called?")


def questions(*asked: Question, request_id: str = "q1", **values: Any) -> QuestionsAsked:
    """Ask these, or one of each kind."""
    given = asked or (STORE, CHECKS, NAME)
    return QuestionsAsked(session_id=SESSION, request_id=request_id, questions=given, **values)
