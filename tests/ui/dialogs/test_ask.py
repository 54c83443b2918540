from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_tui.base.capabilities.questions import Question, QuestionOption
from amplifier_tui.base.text import clean
from amplifier_tui.host.client import QuestionAnswer, QuestionsReply
from amplifier_tui.host.events import (
    LaneOpened,
    QuestionsResolved,
    ToolStarted,
    TurnEnded,
    TurnStarted,
)
from amplifier_tui.ui.dialogs.ask.dialog import AskDialog
from amplifier_tui.ui.dialogs.ask.form import AskForm, ask_rows, strip, tabs
from amplifier_tui.ui.state.conversation.entries import ToolEntry
from amplifier_tui.ui.state.session import SessionState
from amplifier_tui.ui.widgets.palette import CURSOR_MARK
from amplifier_tui.ui.widgets.pick_list import PickList
from tests.ui.driving import Driver, running
from tests.ui.fake_client import SESSION
from tests.ui.questions import NAME, STORE, questions


def resolved(request_id: str = "q1", **values: Any) -> QuestionsResolved:
    return QuestionsResolved(
        **{"session_id": SESSION, "request_id": request_id, "outcome": "withdrawn", **values}
    )


def replies(drive: Driver) -> list[QuestionsReply]:
    return [reply for _, reply in drive.client.named("answer_questions")]


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(AskDialog, "grace", 0.0)
    monkeypatch.setattr(AskDialog, "alone", 0.0)


def shown(form: AskForm, width: int = 60) -> str:
    return "\n".join(row.left.plain for row in ask_rows(form, width, "w"))


# --- the form ------------------------------------------------------------------------------


def test_one_option_takes_the_place_of_another_and_several_stand_side_by_side() -> None:
    form = AskForm(questions())
    for option in (0, 1):
        form.choose(option)
    form.step(1)
    for option in (2, 0, 1, 1):
        form.choose(option)
    assert form.answers == (QuestionAnswer((1,)), QuestionAnswer((0, 2)), QuestionAnswer())
    form.choose(0)
    form.choose(2)
    assert not form.is_answered(1)


def test_the_users_own_words_are_marked_as_what_is_sent_alone_or_beside_an_option() -> None:
    form = AskForm(questions())
    assert "w      In your own words" in shown(form)
    form.words[0] = "a file"
    assert "w  (●) a file" in shown(form)
    form.choose(1)
    assert "w  (+) a file" in shown(form) and "2  (●) Postgres" in shown(form)
    form.step(1)
    form.words[1] = "and types"
    form.choose(0)
    assert "w  [x] and types" in shown(form)


def test_steps_go_from_the_last_question_to_the_first_and_back() -> None:
    form = AskForm(questions())
    form.step(-1)
    assert form.question is NAME and form.is_last
    form.step(1)
    assert form.question is STORE


@pytest.mark.usefixtures("at_once")
async def test_the_last_question_says_how_many_its_answer_leaves_out() -> None:
    async with running(size=(80, 24)) as drive:
        await drive.push(questions())
        await drive.dialog(AskDialog)
        await drive.press("tab", "tab")
        assert "enter  Leave unanswered" in drive.text()
        await drive.write("Shop")
        assert "enter  Answer, 2 left out" in drive.text()
        await drive.press("tab")
        assert "1  ( ) SQLite" in drive.text()


def test_the_tabs_say_which_question_is_answered_and_name_those_without_a_head() -> None:
    form = AskForm(questions())
    form.choose(0)
    assert tabs(form).plain == "✓ Store   Checks   Question 3"


def test_markup_and_control_of_a_question_are_text() -> None:
    assert "[bold]now and later[/]" in shown(AskForm(questions()), 100)
    hostile = Question("\x1b[2Jgone\u202e", "a\nb", (QuestionOption("\x07x"), QuestionOption("y")))
    form = AskForm(questions(hostile))
    for text in (shown(form), tabs(form).plain, strip(form, "x", "F8", 1, 60).plain):
        assert clean(text) == text


@given(st.text(max_size=600), st.text(max_size=300), st.integers(12, 120))
def test_every_row_fits_and_no_word_is_lost(question: str, about: str, width: int) -> None:
    option = QuestionOption("Yes", about)
    form = AskForm(questions(Question(question, "", (option, QuestionOption("No")))))
    rows = ask_rows(form, width, "w")
    assert all(row.left.cell_length <= max(width, 16) for row in rows)
    assert [row.id for row in rows if row.id] == ["0", "1", "words"]
    said = "".join("".join(row.left.plain for row in rows).split())
    assert "".join(clean(question).split()) in said


def test_nothing_moves_while_all_of_it_waits_for_the_user() -> None:
    state = SessionState()
    call = {"session_id": SESSION, "call_id": "c1"}
    state.apply(
        [
            TurnStarted(session_id=SESSION, turn=1, prompt="go"),
            ToolStarted(**call, tool="ask_user", arguments={"questions": [{"question": "Why?"}]}),
            questions(call_id="c1"),
        ]
    )
    entry = state.entries[-1]
    assert isinstance(entry, ToolEntry)
    assert (entry.state, state.activity.phase) == ("waiting", None)
    assert [asked.request_id for asked in state.questions.pending] == ["q1"]
    state.apply([resolved(call_id="c1", outcome="answered", at=5.0)])
    assert entry.state == "running" and state.activity.phase is not None
    state.apply([questions(request_id="q2"), TurnEnded(session_id=SESSION, turn=1, status="error")])
    assert not state.questions.pending


# --- the dialog ----------------------------------------------------------------------------


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("size", [(80, 24), (120, 36)])
async def test_three_questions_are_answered_in_one_dialog(size: tuple[int, int]) -> None:
    async with running(size=size) as drive:
        await drive.push(
            TurnStarted(session_id=SESSION, turn=1, prompt="go"),
            ToolStarted(session_id=SESSION, call_id="c1", tool="ask_user", arguments={}),
            questions(call_id="c1"),
        )
        await drive.dialog(AskDialog)
        text = drive.text()
        assert "Store   Checks   Question 3" in text and "The agent asks" in text
        assert "1  ( ) SQLite  One file, no server" in text
        assert "Decline" in text and "Later" in text
        await drive.press("2")
        assert "2  (●) Postgres" in drive.text()
        await drive.press("enter")
        assert "Leave unanswered" in drive.text(), "of several the marked one is not taken"
        await drive.press("space", "j", "j", "space")
        assert "1  [x] lint" in drive.text() and "3  [x] tests" in drive.text()
        assert "Leave unanswered" not in drive.text()
        await drive.press("shift+tab")
        assert "2  (●) Postgres" in drive.text()
        await drive.press("tab", "tab")
        await drive.write("parcels 2")
        await drive.press("enter")
        await drive.closed()
        answers = (
            QuestionAnswer((1,)),
            QuestionAnswer((0, 2)),
            QuestionAnswer(text="parcels 2"),
        )
        assert replies(drive) == [QuestionsReply("answered", answers)]


@pytest.mark.usefixtures("at_once")
async def test_enter_takes_the_option_under_the_cursor() -> None:
    async with running() as drive:
        await drive.push(questions(STORE))
        await drive.dialog(AskDialog)
        await drive.press("down", "enter")
        await drive.closed()
        assert replies(drive) == [QuestionsReply("answered", (QuestionAnswer((1,)),))]


@pytest.mark.usefixtures("at_once")
async def test_an_option_of_several_rows_is_wholly_under_the_cursor() -> None:
    async with running(size=(50, 24)) as drive:
        await drive.push(questions(STORE))
        dialog = await drive.dialog(AskDialog)
        rows = dialog.query_one(PickList)

        def marked() -> list[str]:
            drawn = (rows.render_line(y) for y in range(len(rows.rows)))
            return [strip.text.strip() for strip in drawn if strip.text.startswith(CURSOR_MARK)]

        assert len(marked()) == 1
        await drive.press("down")
        first, *more = marked()
        assert "2  ( ) Postgres" in first and "now and later" in more[-1]
        assert not any("In your own words" in row for row in more)


@pytest.mark.usefixtures("at_once")
async def test_escape_puts_it_off_with_its_answers_and_declining_is_an_answer() -> None:
    async with running() as drive:
        await drive.push(questions(STORE))
        await drive.dialog(AskDialog)
        await drive.press("2", "w")
        await drive.write("why not")
        await drive.press("escape")
        await drive.press("escape")
        await drive.closed()
        assert not replies(drive)
        assert "? The agent asks: Where are the prices kept?" in drive.text()
        await drive.press("f8")
        await drive.dialog(AskDialog)
        assert "(●) Postgres" in drive.text() and "why not" in drive.text()
        await drive.press("x")
        await drive.closed()
        assert replies(drive) == [QuestionsReply("declined")]


@pytest.mark.usefixtures("at_once")
async def test_a_pane_is_looked_at_while_a_question_waits_with_what_was_chosen() -> None:
    async with running() as drive:
        await drive.push(questions(STORE))
        await drive.dialog(AskDialog)
        await drive.press("2", "f4")
        await drive.closed()
        await drive.until(lambda: drive.app.main.focused_pane() == "context")
        assert not replies(drive)
        await drive.press("f8")
        await drive.dialog(AskDialog)
        assert "(●) Postgres" in drive.text()


async def test_what_is_typed_goes_to_the_prompt_and_answers_nothing() -> None:
    async with running() as drive:
        await drive.push(questions(NAME))
        await drive.dialog(AskDialog)
        await drive.write("we go on with this")
        await drive.closed()
        assert drive.app.main.prompt.input.text == "we go on with this"
        assert not replies(drive)
        assert "? The agent asks: What is it called?" in drive.text()


@pytest.mark.usefixtures("at_once")
async def test_the_field_is_open_where_only_words_can_be_the_answer() -> None:
    async with running(size=(80, 24)) as drive:
        await drive.push(questions(NAME))
        await drive.dialog(AskDialog)
        await drive.write("xenon jukebox")
        await drive.press("enter")
        await drive.closed()
        assert replies(drive) == [
            QuestionsReply("answered", (QuestionAnswer(text="xenon jukebox"),))
        ]
        assert not drive.draft


@pytest.mark.parametrize("at", [1, 2])
@pytest.mark.usefixtures("at_once")
async def test_the_field_is_open_in_a_later_question_and_on_the_way_back(at: int) -> None:
    asked = [STORE, STORE, STORE]
    asked[at] = NAME
    async with running(size=(80, 24)) as drive:
        await drive.push(questions(*asked))
        await drive.dialog(AskDialog)
        await drive.press(*["2", "enter"] * at)
        await drive.write("x3")
        await drive.press("shift+tab")
        assert "2  (●) Postgres" in drive.text()
        await drive.press("tab")
        await drive.write(" and w")
        assert "x3 and w" in drive.text()
        await drive.press("enter")
        if at == 1:
            assert "1  ( ) SQLite" in drive.text()
            await drive.press("1", "enter")
        await drive.closed()
        [reply] = replies(drive)
        assert reply.answers[at] == QuestionAnswer(text="x3 and w")
        assert not drive.draft


async def test_a_question_that_was_put_off_takes_words_at_once_when_the_user_opens_it() -> None:
    async with running(size=(80, 24)) as drive:
        await drive.push(questions(NAME))
        await drive.dialog(AskDialog)
        await drive.press("escape")
        await drive.closed()
        assert not replies(drive)
        await drive.press("f8")
        await drive.dialog(AskDialog)
        await drive.write("xenon")
        await drive.press("escape")
        await drive.closed()
        await drive.press("f8")
        await drive.dialog(AskDialog)
        assert "xenon" in drive.text()
        await drive.write(" 2")
        await drive.until(lambda: "xenon 2" in drive.text())
        assert not drive.draft and not replies(drive)


@pytest.mark.usefixtures("at_once")
async def test_a_question_for_words_is_declined_by_a_key_that_types_nothing() -> None:
    async with running(size=(80, 24)) as drive:
        await drive.push(questions(NAME))
        await drive.dialog(AskDialog)
        assert "ctrl+d  Decline" in drive.text() and "esc  Later" in drive.text()
        await drive.write("x")
        await drive.press("left", "ctrl+d")
        assert not replies(drive), "it deletes what was written"
        await drive.press("ctrl+d")
        await drive.closed()
        assert replies(drive) == [QuestionsReply("declined")]


@pytest.mark.usefixtures("at_once")
async def test_a_pane_is_looked_at_from_an_open_field_that_is_empty() -> None:
    async with running() as drive:
        await drive.push(questions(NAME))
        await drive.dialog(AskDialog)
        await drive.press("f4")
        await drive.closed()
        await drive.until(lambda: drive.app.main.focused_pane() == "context")


@pytest.mark.usefixtures("at_once")
async def test_a_long_question_for_words_can_be_read_to_its_end() -> None:
    async with running(size=(40, 12)) as drive:
        await drive.push(questions(Question("What is it called? " * 25 + "END")))
        await drive.dialog(AskDialog)
        assert "END" not in drive.text() and "Your answer" in drive.text()
        await drive.press(*["pagedown"] * 3)
        assert "END" in drive.text()
        await drive.press("up", "up")
        assert "END" not in drive.text()


async def test_no_key_answers_before_the_questions_could_be_read() -> None:
    async with running() as drive:
        await drive.push(questions(STORE))
        dialog = await drive.dialog(AskDialog)
        await drive.press("enter")
        assert drive.app.screen is dialog
        assert not replies(drive)


@pytest.mark.usefixtures("at_once")
async def test_questions_wait_for_each_other_and_a_stop_closes_them() -> None:
    async with running() as drive:
        opened = LaneOpened(session_id=SESSION, lane="child", name="explorer", parent="main")
        second = questions(NAME, request_id="q2", agent="child")
        await drive.push(opened, questions(STORE), second)
        await drive.dialog(AskDialog)
        await drive.press("1", "enter")
        await drive.push(resolved(outcome="answered"))
        await drive.dialog(AskDialog)
        assert "explorer asks" in drive.text() and "What is it called?" in drive.text()
        await drive.push(resolved("q2"))
        await drive.closed()
        assert len(replies(drive)) == 1
        assert "asks" not in drive.text()


@pytest.mark.usefixtures("at_once")
async def test_all_of_it_can_be_read_on_a_small_screen() -> None:
    async with running(size=(40, 12)) as drive:
        options = tuple(QuestionOption(f"Option {n}", "about it " * 8 + "END") for n in range(8))
        await drive.push(questions(Question("Which of them? " * 3, "", options)))
        await drive.dialog(AskDialog)
        assert "Which of them?" in drive.text() and "Later" in drive.text()
        seen = drive.text()
        for _ in range(8):
            await drive.press("down")
            seen += drive.text()
        assert all(f"{n}  ( )" in seen for n in range(1, 9)) and "words" in seen
        await drive.press("pageup", "pagedown")
        assert not replies(drive)
