from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_tui.base.capabilities.questions import (
    CAPABILITY,
    Question,
    QuestionAnswer,
    QuestionOption,
    QuestionsReply,
    read_questions,
)
from amplifier_tui.kernel.coordinator import ModuleCoordinator
from amplifier_tui.kernel.loader import ModuleLoader
from amplifier_tui.kernel.models import ToolResult
from amplifier_tui.modules import tool_ask_user

STORE = {
    "question": "Where are the prices kept?",
    "header": "Store",
    "options": [
        {"label": "SQLite", "description": "One file, no server"},
        {"label": "Postgres"},
    ],
}
NAME = {"question": "What is it called?"}


class User:
    """Answers what is asked, and keeps it."""

    def __init__(self, reply: QuestionsReply) -> None:
        self.reply = reply
        self.asked: tuple[Question, ...] = ()

    async def __call__(self, questions: tuple[Question, ...]) -> QuestionsReply:
        self.asked = questions
        return self.reply


async def call(user: User | None, **arguments: Any) -> ToolResult:
    coordinator = ModuleCoordinator()
    if user is not None:
        coordinator.register_capability(CAPABILITY, user)
    await tool_ask_user.mount(coordinator, {})
    result: ToolResult = await coordinator.get("tools", "ask_user").execute(arguments)
    return result


async def test_it_is_found_by_its_id() -> None:
    coordinator = ModuleCoordinator()
    mount = await ModuleLoader(coordinator).load("tool-ask-user", {})
    await mount(coordinator)
    assert list(coordinator.get("tools", "ask_user").input_schema["properties"]) == ["questions"]


async def test_the_answers_come_back_in_words() -> None:
    answers = (QuestionAnswer((1,), "the one we have"), QuestionAnswer(text="parcels"))
    user = User(QuestionsReply("answered", answers))
    result = await call(user, questions=[STORE, NAME])
    assert result.success
    assert user.asked[0].options[0] == QuestionOption("SQLite", "One file, no server")
    assert result.output == (
        "The user answered.\n\n"
        "1. Where are the prices kept?\n   - Postgres\n   In their own words: the one we have\n\n"
        "2. What is it called?\n   In their own words: parcels"
    )


async def test_several_answers_and_none_are_told_apart() -> None:
    several = {**STORE, "multi_select": True}
    user = User(QuestionsReply("answered", (QuestionAnswer((0, 1)), QuestionAnswer())))
    result = await call(user, questions=[several, NAME])
    assert "   - SQLite\n   - Postgres" in result.output
    assert result.output.endswith("Not answered: use your own judgement.")


async def test_declining_is_an_answer() -> None:
    result = await call(User(QuestionsReply("declined", reason="later")), questions=[NAME])
    assert result.success
    assert "declined" in result.output and result.output.endswith("They said: later")


@pytest.mark.parametrize("user", [None, User(QuestionsReply("unavailable"))])
async def test_where_nobody_can_be_asked_the_model_is_told_to_decide(user: User | None) -> None:
    result = await call(user, questions=[NAME])
    assert not result.success and result.error["type"] == "unavailable"
    assert "Decide yourself" in result.output


async def test_questions_that_are_taken_back_end_as_interrupted() -> None:
    reply = QuestionsReply("withdrawn", reason="the turn was stopped")
    result = await call(User(reply), questions=[NAME])
    assert not result.success and result.error["type"] == "interrupted"
    assert "the turn was stopped" in result.output


@pytest.mark.parametrize(
    ("questions", "said"),
    [
        (None, "must be a list"),
        ([], "must be a list"),
        ("what?", "must be a list, not a text"),
        ([NAME] * 5, "5 questions are too many at once; at most 4"),
        (["what?"], "Question 1 must be {question, header, options}"),
        ([NAME, {"header": "Name"}], "Question 2 has no `question`"),
        ([{"question": 3}], "`question` must be a text"),
        ([{"question": " \n"}], "Question 1 has no `question`"),
        ([{"question": "x" * 601}], "`question` has 601 characters"),
        ([{**NAME, "header": "x" * 25}], "at most 24"),
        ([{**NAME, "choices": []}], "Question 1 has `choices`, which is unknown"),
        ([{**NAME, "options": "a, b"}], "`options` must be a list"),
        ([{**NAME, "options": ["a"]}], "Question 1 has 1 options; give 2 to 8"),
        ([{**NAME, "options": list("abcdefghi")}], "has 9 options"),
        ([{**NAME, "options": ["Yes", "yes"]}], "two options with the same label"),
        ([{**NAME, "options": ["a", 2]}], "option 2 must be {label, description}"),
        ([{**NAME, "options": ["a", {"label": ""}]}], "option 2 has no `label`"),
        ([{**NAME, "multi_select": "yes"}], "`multi_select` must be true or false"),
    ],
)
async def test_what_is_wrong_with_a_call_is_its_result(questions: Any, said: str) -> None:
    user = User(QuestionsReply("answered"))
    result = await call(user, questions=questions)
    assert not result.success and result.error["type"] == "invalid_input"
    assert said in result.output
    assert not user.asked


async def test_an_argument_beside_the_questions_is_named() -> None:
    result = await call(None, questions=[NAME], title="x")
    assert "`title` is unknown" in result.output


def test_questions_are_also_read_from_json_and_in_the_spelling_of_others() -> None:
    read = read_questions('[{"question": "a?", "options": ["b", "c"], "multiSelect": true}]')
    assert read == (Question("a?", "", (QuestionOption("b"), QuestionOption("c")), True),)


def test_json_that_is_nested_too_deeply_is_refused_in_words() -> None:
    with pytest.raises(ValueError, match="must be a list, not a text"):
        read_questions("[" * 100_000)


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists, max_leaves=8))
def test_whatever_is_no_question_is_refused_in_words(value: Any) -> None:
    with pytest.raises(ValueError, match=r"."):
        read_questions(value)
