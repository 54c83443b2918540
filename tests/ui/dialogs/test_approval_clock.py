"""The clocks of approval requests: what they say, and what stops them."""

import time

import pytest

from amplifier_tui.ui.dialogs.approval import ApprovalDialog
from tests.ui.driving import running
from tests.ui.requests import ask, resolved

pytestmark = pytest.mark.usefixtures("no_grace")


async def test_a_key_stops_the_clock_of_a_request_that_would_allow_itself() -> None:
    async with running() as drive:
        await drive.push(ask(timeout=90.0, default="allow"))
        await drive.dialog(ApprovalDialog)
        assert "allows itself in 1:" in drive.text()
        await drive.press("down", "down")
        assert drive.client.named("hold") == [("r1",)]
        assert "clock stopped" in drive.text()


async def test_a_key_stops_the_clocks_of_all_that_wait_behind_the_question_also_of_later_ones() -> (
    None
):
    async with running() as drive:
        await drive.push(ask(timeout=90.0), ask("r2", payload="make", began=1.0, timeout=90.0))
        await drive.dialog(ApprovalDialog)
        assert not drive.client.named("hold"), "nobody need be there"
        await drive.press("down", "down")
        assert drive.client.named("hold") == [("r1",), ("r2",)]
        await drive.push(ask("r3", payload="make test", began=2.0, timeout=90.0))
        assert drive.client.named("hold")[2:] == [("r3",)]
        await drive.press("d")
        dialog = await drive.dialog(ApprovalDialog)
        assert dialog.request.request_id == "r2" and "clock stopped" in drive.text()


async def test_a_question_that_comes_when_the_others_are_answered_has_its_own_clock() -> None:
    async with running() as drive:
        await drive.push(ask())
        await drive.dialog(ApprovalDialog)
        await drive.press("d")
        await drive.push(resolved("r1", outcome="denied", by="user"))
        await drive.closed()
        await drive.push(ask("r2", timeout=300.0))
        await drive.dialog(ApprovalDialog)
        assert "then deny" in drive.text()
        assert not drive.client.named("hold")


async def test_an_answer_stops_the_clocks_of_those_that_waited_behind_it() -> None:
    async with running() as drive:
        await drive.push(ask(timeout=90.0), ask("r2", payload="make", began=1.0, timeout=90.0))
        await drive.dialog(ApprovalDialog)
        await drive.press("d")
        assert ("r2",) in drive.client.named("hold")
        await drive.push(resolved("r1", outcome="denied", by="user"))
        await drive.until(lambda: "clock stopped" in drive.text())


async def test_the_countdown_says_what_happens_without_an_answer() -> None:
    async with running() as drive:
        await drive.push(ask(timeout=272.9, at=time.time()))
        await drive.dialog(ApprovalDialog)
        assert "4:3" in drive.text() and "then deny" in drive.text()
