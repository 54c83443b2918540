"""Several sessions in one window: each keeps its conversation, draft, place and work."""

from dataclasses import replace
from pathlib import Path

import pytest

from amplifier_tui.host.client import OpenRequest, SessionCard, SpendLimit
from amplifier_tui.host.events import (
    Failed,
    HostEvent,
    JobChanged,
    LimitAsked,
    Notice,
    TitleChanged,
)
from amplifier_tui.ui.dialogs.approval import ApprovalDialog
from amplifier_tui.ui.dialogs.ask.dialog import AskDialog
from amplifier_tui.ui.dialogs.questions import Confirm
from amplifier_tui.ui.dialogs.sessions.picker import SessionPicker
from amplifier_tui.ui.session.keyboard import Keyboard
from amplifier_tui.ui.session.tabs.tabs import MOST
from amplifier_tui.ui.terminal import guard
from tests.ui.driving import Driver, running
from tests.ui.fake_client import FakeClient, opened
from tests.ui.questions import questions
from tests.ui.requests import ask
from tests.ui.state.make import delta, ended, make, started, turn, turn_ended


async def tell(drive: Driver, client: FakeClient, *happened: HostEvent) -> None:
    """Have this happen in a session that need not be shown, and wait until it is taken."""
    assert drive.app.tabs is not None
    link = next(link for link in drive.app.tabs.links if link.tab.client is client)
    client.push(*(replace(event, session_id=client.session) for event in happened))
    link._feed.flush()
    await drive.settle()


async def beside(drive: Driver) -> FakeClient:
    """Open a session beside the others; it is shown."""
    await drive.press("ctrl+x", "plus")
    client = drive.client.others[-1]
    await tell(drive, client)
    assert drive.app.client is client
    return client


def talk(name: str, rows: int = 60) -> tuple[HostEvent, ...]:
    text = "\n\n".join(f"{name} {n}" for n in range(rows))
    return turn(1, f"about {name}"), ended("b1", text), turn_ended()


@pytest.mark.parametrize("size", [(80, 24), (120, 36)])
async def test_to_and_fro_each_session_keeps_draft_place_and_conversation(
    size: tuple[int, int],
) -> None:
    async with running(size=size) as drive:
        app = drive.app
        await drive.push(*talk("apples"))
        assert app.main.transcript is not None
        app.main.transcript.follow = False
        app.main.transcript.scroll_to(y=30, animate=False)
        await drive.write("a draft of one")
        other = await beside(drive)
        assert "1 · about apples" in drive.text() and "2 ·" in drive.text()
        assert other.named("open")[0][0].bundle == "coding" and drive.draft == ""
        await tell(drive, other, *talk("pears", 3))
        assert "pears 2" in drive.text() and "apples 3" not in drive.text()
        await drive.write("two")
        await drive.press("ctrl+x", "1")
        assert app.client is drive.client and drive.draft == "a draft of one"
        assert app.main.transcript.scroll_offset.y == 30 and "pears 2" not in drive.text()
        await drive.press("ctrl+x", "full_stop")
        assert drive.draft == "two" and "pears 2" in drive.text()
        await drive.press("enter")
        assert other.named("submit") == [("two",)] and not drive.client.named("submit")


async def test_the_terminal_is_called_as_the_session_in_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    called: list[str] = []
    monkeypatch.setattr(guard, "set_title", lambda app, title: called.append(title))
    async with running(size=(144, 24)) as drive:
        await drive.push(turn(1, "count the\napples"))
        assert called[-1] == "◐ count the apples"
        assert "main  count the apples" in drive.text().splitlines()[-1]
        await drive.push(turn_ended(), make(TitleChanged, title="Apples"))
        assert called[-1] == "Apples" and "main  Apples" in drive.text().splitlines()[-1]
        other = await beside(drive)
        assert called[-1] == "coding"
        await tell(drive, other, *talk("pears", 3), ask())
        assert called[-1] == "! about pears"


async def test_a_session_works_on_unseen_and_the_strip_says_what_it_does() -> None:
    async with running(size=(100, 30)) as drive:
        other = await beside(drive)
        first = drive.client
        await tell(drive, first, turn(1, "count"), started("b1"), delta("b1", "ichi "))
        assert "1 ◐ count" in drive.text() and "ichi" not in drive.text()
        await tell(drive, first, ended("b1", "ichi ni san"), turn_ended())
        assert "1 ✓ count" in drive.text()
        await drive.press("ctrl+x", "1")
        assert "1 · count" in drive.text() and "ichi ni san" in drive.text()
        await tell(drive, other, make(Notice, level="warning", text="low disk"))
        assert "coding: low disk" in drive.text()


async def test_what_an_unseen_session_asks_is_named_and_answered_without_going_there() -> None:
    async with running(size=(80, 24)) as drive:
        other = await beside(drive)
        await drive.press("ctrl+x", "1")
        await tell(drive, other, turn(1, "clean up"), ask())
        assert "2 ! clean up" in drive.text() and "clean up: " in drive.text().split("›")[0]
        assert not isinstance(drive.app.screen, ApprovalDialog)
        await drive.press("f8")
        dialog = await drive.dialog(ApprovalDialog)
        assert "clean up   1 of 1" in drive.text()
        dialog.dismiss()
        await drive.closed()
        await drive.press("ctrl+x", "0")
        assert drive.app.client is other


async def test_going_to_a_session_that_waits_opens_what_it_asks_though_a_key_was_pressed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Keyboard, "question_wait", lambda self: 600.0)
    async with running(size=(80, 24)) as drive:
        second = await beside(drive)
        await drive.press("ctrl+x", "1")
        third = await beside(drive)
        await drive.press("ctrl+x", "1")
        await tell(drive, second, turn(1, "clean up"), ask("r2"))
        await tell(drive, third, turn(1, "choose"), questions())
        await drive.press("ctrl+x", "0")
        dialog = await drive.dialog(ApprovalDialog)
        assert drive.app.client is second and "1 of 1" in drive.text()
        dialog.dismiss()
        await drive.closed()
        await drive.press("ctrl+x", "0")
        await drive.dialog(AskDialog)
        assert drive.app.client is third


@pytest.mark.parametrize("by_mouse", [False, True])
async def test_leader_and_strip_lead_away_from_a_question_which_stays_for_its_session(
    by_mouse: bool,
) -> None:
    async with running(size=(80, 24)) as drive:
        other = await beside(drive)
        await tell(drive, other, turn(1, "clean up"), ask())
        assert drive.app.link is not None
        drive.app.link.keyboard._rule.pressed(float("-inf"))
        await drive.press("f8")
        await drive.dialog(ApprovalDialog)
        if by_mouse:
            await drive.pilot.click(offset=(2, 0))
        else:
            await drive.press("ctrl+x", "1")
        await drive.closed()
        assert drive.app.client is drive.client and drive.draft == ""
        assert not other.named("decide") and "2 ! clean up" in drive.text()


async def test_the_own_question_of_the_session_on_screen_comes_before_what_others_ask() -> None:
    async with running(size=(80, 24)) as drive:
        other = await beside(drive)
        await tell(drive, drive.client, turn(1, "clean up"), ask())
        await tell(drive, other, turn(1, "choose"), questions())
        await drive.dialog(AskDialog)
        await drive.press("escape")
        await drive.closed()
        assert "The agent asks" in drive.text(), "not what the other one asks"
        await drive.press("f8")
        await drive.dialog(AskDialog)
        await drive.press("escape")
        await drive.closed()
        await drive.press("ctrl+x", "1")
        await drive.dialog(ApprovalDialog)
        await drive.press("escape")
        await drive.closed()
        assert "The agent asks" not in drive.text()
        await drive.press("f8")
        await drive.dialog(ApprovalDialog)


async def test_a_question_that_was_put_off_is_named_as_another_sessions_once_one_has_gone() -> None:
    async with running(size=(80, 24)) as drive:
        await beside(drive)
        await tell(drive, drive.client, turn(1, "choose a base"), questions())
        await drive.press("ctrl+x", "1")
        await drive.dialog(AskDialog)
        await drive.press("escape")
        await drive.closed()
        assert "? The agent asks: " in drive.text()
        await drive.press("ctrl+x", "2")
        assert "? choose a base: The agent asks: " in drive.text()


async def test_a_failure_and_a_limit_of_an_unseen_session_are_not_missed() -> None:
    async with running(size=(100, 24)) as drive:
        other = await beside(drive)
        await drive.press("ctrl+x", "1")
        await tell(drive, other, turn(1, "clean up"))
        await tell(drive, other, make(Failed, kind="turn", message="no such model", prompt="go"))
        assert "clean up: no such model" in drive.text()
        await tell(drive, other, turn_ended(status="error"))
        assert "2 ✗ clean up" in drive.text()
        await tell(drive, other, turn(2, "again"), make(LimitAsked, request_id="l1"))
        assert "2 ! clean up" in drive.text()
        await drive.press("f8")
        assert drive.app.client is other


async def test_closing_asks_only_where_something_runs_and_shows_the_neighbour() -> None:
    async with running(size=(80, 24)) as drive:
        await drive.press("ctrl+x", "minus")
        assert "It is the only session" in drive.text()
        await drive.write("mine")
        other = await beside(drive)
        await tell(drive, other, turn(1, "work"))
        await drive.press("ctrl+x", "minus")
        await drive.dialog(Confirm)
        await drive.press("y")
        await drive.closed()
        await drive.until(lambda: other.named("close"))
        assert drive.app.client is drive.client and drive.draft == "mine"
        assert "2 " not in drive.text().splitlines()[0]
        third = await beside(drive)
        await drive.press("ctrl+x", "minus")
        await drive.until(lambda: third.named("close"))
        fourth = await beside(drive)
        await tell(drive, fourth, make(JobChanged, job_id="j1", command="make", running=True))
        await drive.press("ctrl+x", "minus")
        await drive.dialog(Confirm)
        assert "The background command make is running. Closing the session stops" in drive.text()


async def test_the_draft_of_a_session_that_is_closed_is_in_the_history() -> None:
    async with running(size=(80, 24)) as drive:
        other = await beside(drive)
        await drive.write("a long thought")
        await drive.press("ctrl+x", "minus")
        await drive.until(lambda: other.named("close"))
        await drive.until(lambda: "its draft is in the history" in drive.text())
        assert drive.draft == ""
        await drive.press("up")
        assert drive.draft == "a long thought"


async def test_a_session_that_is_closed_takes_its_question_along() -> None:
    async with running(size=(80, 24)) as drive:
        other = await beside(drive)
        await drive.press("ctrl+x", "1")
        await tell(drive, other, questions())
        assert drive.app.main.strip is not None and drive.app.main.strip.display
        assert drive.app.tabs is not None
        await drive.app.tabs.close(drive.app.tabs.links[1], 5)
        await drive.settle()
        assert not drive.app.main.strip.display


async def test_quitting_names_what_runs_and_closes_every_session() -> None:
    async with running(size=(80, 24)) as drive:
        other = await beside(drive)
        await tell(drive, drive.client, turn(1, "count"))
        await tell(drive, other, turn(1, "clean up"))
        await drive.app.run_by_id("app.quit")
        await drive.dialog(Confirm)
        await drive.until(lambda: "count: A turn" in drive.text())
        assert "clean up: A turn" in drive.text()
        await drive.press("y")
        await drive.until(lambda: drive.client.named("close") and other.named("close"))


async def test_what_is_sent_while_a_session_opens_unseen_is_sent_to_that_one() -> None:
    async with running(size=(80, 24)) as drive:
        assert drive.app.tabs is not None
        await beside(drive)
        link = drive.app.tabs.shown
        link.opening = True
        await drive.write("for two")
        await drive.press("enter")
        await drive.press("ctrl+x", "1")
        client = drive.client.others[0]
        await tell(drive, client, opened())
        assert client.named("submit") == [("for two",)] and not drive.client.named("submit")


async def test_the_list_of_sessions_shows_those_of_the_window_as_open_and_goes_to_them() -> None:
    async with running(size=(100, 24)) as drive:
        other = await beside(drive)
        elsewhere = SessionCard(session_id=other.session, title="Pears", cwd="/elsewhere")
        drive.client.stored = (elsewhere,)
        await drive.press("ctrl+x", "1")
        await drive.press("ctrl+x", "l")
        await drive.dialog(SessionPicker)
        await drive.until(lambda: "open now" in drive.text())
        await drive.press("enter")
        await drive.closed()
        assert drive.app.client is other


async def test_what_the_program_was_started_with_holds_for_a_session_beside() -> None:
    limit = SpendLimit(cost="2")
    request = OpenRequest(cwd=Path.cwd(), mode="plan", limit=limit)
    async with running(size=(80, 24), request=request) as drive:
        beside_it = (await beside(drive)).named("open")[0][0]
        assert (beside_it.mode, beside_it.limit) == ("plan", limit)


async def test_a_new_session_begins_in_the_mode_the_program_was_started_with() -> None:
    async with running(request=OpenRequest(cwd=Path.cwd(), mode="plan")) as drive:
        drive.client.set_mode("edits")
        await drive.press("ctrl+x", "n")
        assert drive.client.named("switch_bundle") == [("coding", False, "plan")]


async def test_a_session_beside_one_that_still_opens_is_the_one_that_was_asked_for() -> None:
    request = OpenRequest(cwd=Path.cwd(), bundle="mine", model="luna", demo=True)
    async with running(
        FakeClient(silent=True), size=(80, 24), request=request, opened=False
    ) as drive:
        await drive.press("ctrl+x", "plus")
        found = drive.client.others[-1].named("open")[0][0]
        assert (found.bundle, found.model, found.demo) == ("mine", "luna", True)


async def test_a_session_beside_a_stored_one_that_still_opens_has_a_bundle_of_its_own() -> None:
    request = OpenRequest(cwd=Path.cwd(), resume="last", model="luna")
    async with running(
        FakeClient(silent=True), size=(80, 24), request=request, opened=False
    ) as drive:
        await drive.press("ctrl+x", "plus")
        found = drive.client.others[-1].named("open")[0][0]
        assert (found.bundle, found.model, found.resume) == ("", "", "")


async def test_no_more_sessions_are_opened_than_there_are_digits() -> None:
    async with running(size=(40, 12)) as drive:
        for _ in range(MOST):
            await drive.press("ctrl+x", "plus")
        assert drive.app.tabs is not None and len(drive.app.tabs.links) == MOST
        assert "9 sessions are ope…  ctrl+x i" in drive.text()
        assert drive.text().splitlines()[0].lstrip().startswith("1 ")


async def test_a_session_of_the_window_is_found_by_the_beginning_of_its_id() -> None:
    async with running(size=(80, 24)) as drive:
        other = await beside(drive)
        other.session = "s2-abcdef"
        await tell(drive, other, opened(other.session))
        await drive.press("ctrl+x", "1")
        await drive.write("/resume s2-abc")
        await drive.press("enter")
        assert drive.app.client is other and not drive.client.named("resume")
        await drive.write("/resume s")
        await drive.press("enter")
        assert other.named("resume") == [("s",)], "what fits several is for the host to say"
