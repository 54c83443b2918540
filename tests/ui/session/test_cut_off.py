"""A question is withdrawn while the user writes in it: the words are kept, and nothing is sent."""

import pytest
from textual import events

from amplifier_tui.host.events import HostEvent, QuestionsResolved, TurnStarted
from amplifier_tui.ui.dialogs.approval import ApprovalDialog
from amplifier_tui.ui.dialogs.ask.dialog import AskDialog
from amplifier_tui.ui.state.answer_keys import QUIET
from amplifier_tui.ui.terminal.input import key_time
from tests.ui.driving import Driver, running
from tests.ui.fake_client import SESSION
from tests.ui.questions import NAME, STORE, questions
from tests.ui.requests import ask, resolved

TURN = TurnStarted(session_id=SESSION, turn=1, prompt="go")
WITHDRAWN = QuestionsResolved(session_id=SESSION, request_id="q1", outcome="withdrawn")
STOPPED = resolved(outcome="withdrawn", by="stop")
CASES: tuple[tuple[HostEvent, str, HostEvent], ...] = (
    (questions(NAME), "", WITHDRAWN),
    (questions(STORE), "w", WITHDRAWN),
    (ask(), "f", STOPPED),
)


async def written(drive: Driver, asked: HostEvent, opens: str) -> None:
    await drive.push(TURN, asked)
    await drive.press("f8")
    await drive.until(lambda: isinstance(drive.app.screen, AskDialog | ApprovalDialog))
    await drive.press(*opens)
    await drive.write("the other file")
    await drive.until(lambda: "the other file" in drive.text())


@pytest.mark.usefixtures("no_grace")
@pytest.mark.parametrize(("asked", "opens", "gone"), CASES)
async def test_what_was_written_is_in_the_draft_and_what_is_typed_on_is_not_sent(
    asked: HostEvent, opens: str, gone: HostEvent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(AskDialog, "grace", 0.0)
    monkeypatch.setattr(AskDialog, "alone", 0.0)
    async with running(size=(80, 24)) as drive:
        await written(drive, asked, opens)
        await drive.push(gone)
        await drive.closed()
        assert drive.draft == "the other file"
        await drive.write(" please")
        await drive.press("enter")
        assert drive.draft == "the other file"
        assert not drive.client.named("steer") and not drive.client.named("submit")
        later = events.Key("enter", "\r")
        later.time = key_time() + QUIET + 1
        drive.app.post_message(later)
        await drive.until(lambda: drive.client.named("steer") == [("the other file",)])


@pytest.mark.usefixtures("no_grace")
async def test_an_edited_call_whose_question_is_withdrawn_is_in_the_draft() -> None:
    async with running(size=(80, 24)) as drive:
        await drive.push(TURN, ask(editable=True))
        dialog = await drive.dialog(ApprovalDialog)
        await drive.press("e")
        await drive.write("-2")
        await drive.push(STOPPED)
        await drive.until(lambda: drive.app.screen is not dialog)
        assert drive.draft == "rm -rf build-2"
        await drive.write("34")
        await drive.press("enter")
        assert drive.draft == "rm -rf build-2"
        assert not drive.client.named("steer") and not drive.client.named("submit")


@pytest.mark.usefixtures("no_grace")
@pytest.mark.parametrize(("outcome", "kept"), [("changed", ""), ("withdrawn", "rm -rf build-2")])
async def test_an_edited_call_that_was_judged_is_a_draft_only_where_it_was_not_taken(
    outcome: str, kept: str
) -> None:
    async with running(size=(80, 24)) as drive:
        await drive.push(TURN, ask(editable=True))
        dialog = await drive.dialog(ApprovalDialog)
        await drive.press("e")
        await drive.write("-2")
        await drive.press("ctrl+o")
        await drive.push(resolved(outcome=outcome))
        await drive.until(lambda: drive.app.screen is not dialog)
        assert drive.draft == kept


@pytest.mark.usefixtures("no_grace")
async def test_a_call_that_was_opened_and_left_as_it_is_becomes_no_draft() -> None:
    async with running(size=(80, 24)) as drive:
        await drive.push(TURN, ask(editable=True))
        dialog = await drive.dialog(ApprovalDialog)
        await drive.press("e")
        await drive.push(STOPPED)
        await drive.until(lambda: drive.app.screen is not dialog)
        assert not drive.draft
