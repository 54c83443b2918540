"""What ctrl+c means: copy, clear, stop, quit, in this order."""

import pytest
from textual.widgets import Input

from amplifier_tui.host.events import JobChanged, QueueChanged, ShellStarted, TurnStarted
from amplifier_tui.ui.dialogs.approval import ApprovalDialog
from amplifier_tui.ui.dialogs.ask.dialog import AskDialog
from amplifier_tui.ui.dialogs.questions import AskLine, Confirm
from amplifier_tui.ui.transcript.view import TranscriptView
from tests.ui.driving import running
from tests.ui.fake_client import SESSION
from tests.ui.questions import STORE, questions
from tests.ui.requests import ask

TURN = TurnStarted(session_id=SESSION, turn=1, prompt="hello")


async def test_a_selection_is_copied_and_that_is_said() -> None:
    async with running() as drive:
        await drive.write("some words")
        await drive.press("shift+home", "ctrl+c")
        assert drive.app.clipboard == "some words" and drive.draft == "some words"
        assert "Copied the selection, 10 characters." in drive.text()
        await drive.press("ctrl+c")
        assert drive.draft == ""


@pytest.mark.parametrize("pane", ["", "f2", "f3", "f4"])
async def test_what_was_dragged_over_in_the_conversation_is_copied_and_that_is_said(
    pane: str,
) -> None:
    async with running(size=(120, 36)) as drive:
        await drive.push(TURN)
        if pane:
            await drive.press(pane)
            await drive.until(lambda: drive.app.main.focused_pane() is not None)
        view = drive.app.screen.query_one(TranscriptView)
        rows = [view.render_line(y).text for y in range(view.size.height)]
        y = next(at for at, row in enumerate(rows) if "hello" in row)
        x = rows[y].index("hello")
        await drive.pilot.mouse_down(view, offset=(x, y))
        await drive.pilot.hover(view, offset=(x + 3, y))
        await drive.pilot.mouse_up(view, offset=(x + 3, y))
        await drive.settle()
        await drive.press("ctrl+c")
        await drive.until(lambda: "Copied the selection, 4 characters." in drive.text())
        assert drive.app.clipboard == "hell"
        assert drive.client.named("interrupt") == []


async def test_a_cleared_draft_comes_back_with_the_arrow_also_before_what_is_queued() -> None:
    async with running() as drive:
        await drive.push(TURN, QueueChanged(session_id=SESSION, items=("later",), ids=("i",)))
        await drive.write("half a thought")
        await drive.press("ctrl+c")
        assert drive.draft == "" and drive.client.named("interrupt") == []
        await drive.press("up")
        assert drive.draft == "half a thought" and drive.client.named("unqueue") == []
        assert drive.client.named("submit") == []


async def test_without_a_draft_it_stops_the_turn_as_escape_does() -> None:
    async with running() as drive:
        await drive.push(TURN)
        await drive.press("ctrl+c")
        await drive.press("ctrl+c")
        assert drive.client.named("interrupt") == [(False, 1), (True, 1)]
        assert "quits" not in drive.text()


async def test_below_a_question_it_stops_the_turn_and_answers_nothing() -> None:
    for asked, kind in ((ask(), ApprovalDialog), (questions(STORE), AskDialog)):
        async with running() as drive:
            await drive.push(TURN, asked)
            await drive.dialog(kind)
            await drive.press("ctrl+c")
            await drive.closed()
            await drive.until(lambda: drive.client.named("interrupt") == [(False, 1)])
            assert not drive.client.named("decide") and not drive.client.named("answer_questions")


@pytest.mark.usefixtures("no_grace")
async def test_a_reason_that_is_being_written_is_given_up_first() -> None:
    async with running() as drive:
        await drive.push(TURN, ask())
        await drive.dialog(ApprovalDialog)
        await drive.press("f")
        await drive.until(lambda: isinstance(drive.app.focused, Input))
        await drive.write("no")
        await drive.press("ctrl+c")
        await drive.until(lambda: not isinstance(drive.app.focused, Input))
        assert isinstance(drive.app.screen, ApprovalDialog)
        assert drive.client.named("interrupt") == [] and drive.client.named("decide") == []


async def test_in_another_dialog_it_closes_that() -> None:
    async with running() as drive:
        await drive.write("/limit")
        await drive.press("enter")
        await drive.dialog(AskLine)
        await drive.write("5")
        await drive.press("ctrl+c")
        await drive.closed()
        assert drive.client.named("set_limit") == [] and "quits" not in drive.text()


async def test_it_stops_the_users_own_command() -> None:
    async with running() as drive:
        await drive.push(ShellStarted(session_id=SESSION, command_id="c", command="sleep 9"))
        await drive.press("ctrl+c")
        assert drive.client.named("stop_shell") == [()]


async def test_at_rest_it_takes_two_to_quit() -> None:
    async with running() as drive:
        await drive.press("ctrl+c")
        assert "The same key again quits." in drive.text()
        assert drive.client.named("close") == []
        await drive.press("ctrl+c")
        await drive.until(lambda: drive.client.named("close"))


async def test_that_it_takes_two_is_said_only_as_long_as_it_is_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("amplifier_tui.ui.app.quitting.QUIT_WINDOW", 0.1)
    async with running() as drive:
        await drive.press("ctrl+c")
        assert "The same key again quits." in drive.text()
        await drive.until(lambda: "quits" not in drive.text())
        await drive.press("ctrl+c")
        assert drive.client.named("close") == []


async def test_nothing_quits_while_work_runs_without_a_question() -> None:
    async with running() as drive:
        await drive.push(TURN)
        await drive.press("ctrl+d", "ctrl+d")
        await drive.dialog(Confirm)
        assert "A turn is running." in drive.text()
        await drive.press("escape")
        await drive.closed()
        await drive.write("/quit")
        await drive.press("enter")
        await drive.dialog(Confirm)
        assert drive.client.named("close") == []
        await drive.press("y")
        await drive.until(lambda: drive.client.named("close"))


async def test_the_question_before_quitting_names_each_command_in_the_background() -> None:
    async with running() as drive:
        for number, command in enumerate(("make", "npm run dev"), start=1):
            job_id = f"job-{number}"
            await drive.push(
                JobChanged(session_id=SESSION, job_id=job_id, command=command, running=True)
            )
        await drive.press("ctrl+d", "ctrl+d")
        await drive.dialog(Confirm)
        said = drive.text()
        assert "The background command make" in said and "command npm run dev" in said
        assert "Quitting stops them; what they did so far is kept." in said


async def test_the_question_before_quitting_stays_when_ctrl_c_is_pressed_again() -> None:
    async with running() as drive:
        job = JobChanged(session_id=SESSION, job_id="job-1", command="make", running=True)
        await drive.push(job)
        await drive.press("ctrl+c", "ctrl+c")
        await drive.dialog(Confirm)
        await drive.press("ctrl+c", "ctrl+c")
        await drive.dialog(Confirm)
        await drive.press("y")
        await drive.until(lambda: drive.client.named("close"))
