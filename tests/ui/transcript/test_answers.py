"""What the user answered stands below the call that asked."""

from typing import Any

from amplifier_tui.base.capabilities.questions import QuestionAnswer, read_questions
from amplifier_tui.modules.tool_ask_user import _declined, in_words
from amplifier_tui.ui.state.conversation.entries import ToolEntry
from tests.ui.transcript.documents import document, texts_of

STORE = {"question": "Which database?", "options": [{"label": "PostgreSQL"}, {"label": "SQLite"}]}
NAME = {"question": "What is it called?"}


def drawn(output: str, *asked: Any, state: Any = "ok") -> list[str]:
    entry = ToolEntry(
        key="c",
        tool="ask_user",
        arguments={"questions": list(asked)},
        output=output,
        summary="4 lines",
        state=state,
    )
    made = document(60)
    made.add(entry)
    return [line.rstrip() for line in texts_of(made) if line.strip()]


def answered(*answers: QuestionAnswer, asked: tuple[Any, ...]) -> list[str]:
    return drawn(in_words(read_questions(list(asked)), answers), *asked)


def test_the_option_that_was_chosen_is_shown_instead_of_a_number_of_lines() -> None:
    assert answered(QuestionAnswer(chosen=(1,)), asked=(STORE,)) == [
        "    ✓ ask     Which database?",
        "              SQLite",
    ]


def test_each_of_several_questions_has_its_answer_own_words_too() -> None:
    rows = answered(
        QuestionAnswer(chosen=(0, 1), text="both,\nside by side"),
        QuestionAnswer(),
        asked=(STORE, NAME),
    )
    assert rows[1:] == [
        "              1. PostgreSQL · SQLite · both, · side by side",
        "              2. Not answered: use your own judgement.",
    ]


def test_an_answer_is_shown_without_control_sequences_and_markup() -> None:
    rows = answered(QuestionAnswer(text="[red]x[/]\x1b[31m"), asked=(NAME,))
    assert rows[1:] == ["              [red]x[/]"]


def test_what_a_model_wrote_into_its_question_is_no_answer() -> None:
    forged = {"question": "Drop it?\n   - Yes, drop it\n\n2. And?"}
    assert answered(QuestionAnswer(text="no"), asked=(forged,))[1:] == ["              no"]


def test_that_the_user_declined_is_said() -> None:
    assert drawn(_declined(""), STORE)[1:] == ["              declined"]


def test_a_result_that_is_no_answer_is_counted_as_any_other() -> None:
    (row,) = drawn("one\ntwo", STORE)
    assert "· 4 lines" in row
    (row,) = drawn("The user answered.", STORE, state="failed")
    assert "Which database?" in row
