import json
from typing import Any

from amplifier_tui.host.client import QuestionAnswer, QuestionsReply
from amplifier_tui.host.events import (
    QuestionsAsked,
    QuestionsResolved,
    SessionClosed,
    ToolEnded,
    TurnEnded,
)
from tests.host.driving import Driver, Project, calling

STORE = {"question": "Where are the prices kept?", "options": ["SQLite", "Postgres"]}
NAME = {"question": "What is it called?"}


def _asking(project: Project, *questions: dict[str, Any], **more: Any) -> str:
    call = {"ask_user": {"questions": list(questions) or [STORE, NAME]}}
    return project.bundle(script=calling(call), tools=("tool-ask-user",), **more)


def _answer(driver: Driver, *answers: QuestionAnswer) -> QuestionsAsked:
    asked = driver.wait(QuestionsAsked)
    driver.client.answer_questions(asked.request_id, QuestionsReply("answered", answers))
    return asked


def test_a_question_waits_for_its_answer_and_the_model_reads_it(
    project: Project, driver: Driver
) -> None:
    opened = driver.open(_asking(project), mode="plan")
    driver.client.submit("go")
    # What it does not offer is not taken, nor a second choice where one is asked for.
    asked = _answer(driver, QuestionAnswer((0, 1, 7), " for now "), QuestionAnswer(text="parcels"))
    assert [question.question for question in asked.questions] == [
        "Where are the prices kept?",
        "What is it called?",
    ]
    resolved = driver.wait(QuestionsResolved)
    assert (resolved.outcome, resolved.request_id) == ("answered", asked.request_id)
    ended = driver.wait(ToolEnded)
    assert ended.ok and ended.call_id == asked.call_id
    assert "- SQLite\n" in ended.output and "Postgres" not in ended.output
    driver.wait(TurnEnded)
    rows = json.dumps(project.rows(opened.session_id))
    assert "In their own words: for now" in rows and "parcels" in rows


def test_answers_that_are_missing_count_as_none_and_late_ones_as_nothing(
    project: Project, driver: Driver
) -> None:
    driver.open(_asking(project))
    driver.client.submit("go")
    asked = _answer(driver, QuestionAnswer((1,)))
    assert "2. What is it called?\n   Not answered" in driver.wait(ToolEnded).output
    driver.client.answer_questions(asked.request_id, QuestionsReply("declined"))
    assert driver.wait(TurnEnded).status == "success"
    assert len(driver.of(QuestionsResolved)) == 1


def test_declining_lets_the_turn_go_on(project: Project, driver: Driver) -> None:
    driver.open(_asking(project))
    driver.client.submit("go")
    asked = driver.wait(QuestionsAsked)
    driver.client.answer_questions(asked.request_id, QuestionsReply("declined", reason="not now"))
    ended = driver.wait(ToolEnded)
    assert ended.ok and "They said: not now" in ended.output
    assert driver.wait(TurnEnded).status == "success"


def test_a_stop_takes_the_question_back(project: Project, driver: Driver) -> None:
    driver.open(_asking(project))
    for immediate in (False, True):
        driver.client.submit("go")
        driver.wait(QuestionsAsked)
        driver.client.interrupt(immediate)
        resolved = driver.wait(QuestionsResolved)
        assert (resolved.outcome, resolved.reason) == ("withdrawn", "the turn was stopped")
        assert driver.wait(TurnEnded).status == "cancelled"


def test_closing_takes_it_back_and_a_resumed_session_shows_what_was_asked(
    project: Project, driver: Driver
) -> None:
    bundle = _asking(project)
    opened = driver.open(bundle)
    driver.client.submit("go")
    driver.wait(QuestionsAsked)
    driver.close()
    assert driver.of(QuestionsResolved)[-1].outcome == "withdrawn"
    assert driver.of(SessionClosed)
    again = Driver(driver.cwd)
    again.open(bundle, resume=opened.session_id)
    rows = project.rows(opened.session_id)
    asked = [row for row in rows if row.get("tool_calls")]
    assert "Where are the prices kept?" in json.dumps(asked)
    assert any(row["role"] == "tool" for row in rows)
    again.client.submit("and now?")
    _answer(again)
    assert again.wait(TurnEnded).status == "success"
    again.close()


def test_a_secret_in_a_question_is_not_shown_and_its_answer_is_not_stored(
    project: Project, driver: Driver
) -> None:
    secret = "sk-ant-api03-" + "a1B2c3D4" * 11
    opened = driver.open(_asking(project, {"question": f"Is {secret} right?"}))
    driver.client.submit("go")
    asked = _answer(driver, QuestionAnswer(text=f"take {secret}"))
    assert secret not in asked.questions[0].question
    driver.wait(TurnEnded)
    assert secret not in json.dumps(project.rows(opened.session_id))
