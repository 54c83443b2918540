"""Who gets the keys: the strip above the prompt, the dialog, and the way between them."""

import pytest
from textual import events
from textual.widgets import Input

from amplifier_tui.host.client import Decision
from amplifier_tui.ui.dialogs.approval import ApprovalDialog
from amplifier_tui.ui.dialogs.modules.commands import CommandPalette
from amplifier_tui.ui.dialogs.parts.sheet import Sheet
from amplifier_tui.ui.dialogs.permissions.rules import RuleList
from amplifier_tui.ui.state.answer_keys import LOOK_AGAIN
from amplifier_tui.ui.widgets.question_strip import QuestionStrip
from tests.ui.driving import Driver, running
from tests.ui.questions import questions
from tests.ui.requests import ask, resolved


def decisions(drive: Driver) -> list[tuple[str, Decision]]:
    return drive.client.named("decide")


def strip(drive: Driver) -> str:
    """Return the row of the strip, empty when there is none."""
    shown = drive.app.main.query_one(QuestionStrip)
    return drive.text().split("\n")[shown.region.y] if shown.display else ""


async def test_a_request_waits_above_a_begun_text_and_says_what_it_wants() -> None:
    async with running() as drive:
        await drive.write("please ")
        await drive.push(ask(timeout=60.0), ask("r2"))
        row = strip(drive)
        assert "▲▲ bash wants to run a command  rm -rf build" in row
        assert "2 wait" in row and "then deny" in row and "F8  answer" in row
        await drive.write("wait with that")
        assert drive.draft == "please wait with that"
        assert drive.app.screen is drive.app.main and decisions(drive) == []


async def test_the_strip_counts_all_that_waits_for_the_user() -> None:
    async with running() as drive:
        await drive.write("please ")
        await drive.push(ask(), ask("r2"), questions(), questions(request_id="q2"))
        assert "4 wait" in strip(drive)
        await drive.push(resolved("r1"), resolved("r2"))
        assert "The agent asks" in strip(drive) and "2 wait" in strip(drive)


async def test_f8_opens_what_the_strip_names() -> None:
    async with running() as drive:
        await drive.write("please ")
        await drive.push(ask())
        await drive.press("f8")
        dialog = await drive.dialog(ApprovalDialog)
        assert dialog.request.request_id == "r1" and strip(drive) == ""


@pytest.mark.usefixtures("no_grace")
async def test_a_pane_and_the_palette_are_looked_at_while_a_request_waits() -> None:
    async with running() as drive:
        await drive.push(ask(timeout=300.0))
        await drive.dialog(ApprovalDialog)
        await drive.press("f3")
        await drive.closed()
        assert drive.client.named("hold") == [("r1",)]
        await drive.until(lambda: drive.app.main.focused_pane() == "events")
        assert "F8" in drive.text() and decisions(drive) == []
        await drive.press("f8")
        await drive.dialog(ApprovalDialog)
        await drive.press("ctrl+p")
        await drive.dialog(CommandPalette)
        await drive.press("escape", "f8")
        await drive.dialog(ApprovalDialog)
        await drive.press("f")
        await drive.until(lambda: isinstance(drive.app.focused, Input))
        await drive.press("f3")
        await drive.settle()
        assert isinstance(drive.app.screen, ApprovalDialog), "a reason is being written"
        assert decisions(drive) == []


@pytest.mark.usefixtures("no_grace")
async def test_what_is_looked_at_first_is_not_covered_by_the_next_request() -> None:
    async with running() as drive:
        await drive.push(ask(), ask("r2", payload="ls"))
        await drive.dialog(ApprovalDialog)
        await drive.press("f3")
        await drive.settle()
        assert drive.app.screen is drive.app.main and "2 wait" in strip(drive)
        await drive.until(lambda: drive.app.main.focused_pane() == "events")
        await drive.press("f8")
        await drive.dialog(ApprovalDialog)
        await drive.press("ctrl+p")
        await drive.dialog(CommandPalette)
        await drive.press("escape")
        await drive.closed()
        await drive.press("f8")
        dialog = await drive.dialog(ApprovalDialog)
        assert dialog.request.request_id == "r1" and decisions(drive) == []


async def test_a_click_on_the_strip_opens_it() -> None:
    async with running() as drive:
        await drive.write("please ")
        await drive.push(ask())
        await drive.pilot.click(QuestionStrip)
        await drive.dialog(ApprovalDialog)


async def test_a_letter_without_meaning_puts_the_strip_back_and_lands_in_the_prompt() -> None:
    async with running() as drive:
        await drive.push(ask())
        await drive.dialog(ApprovalDialog)
        await drive.write("wait with that")
        await drive.closed()
        assert drive.draft == "wait with that" and "F8" in strip(drive)
        assert decisions(drive) == []


@pytest.mark.parametrize("text", ["and so on", "add it", "delete it", "fix it", "run it", "k then"])
async def test_a_sentence_that_begins_with_a_deciding_letter_lands_whole(text: str) -> None:
    async with running() as drive:
        await drive.push(ask())
        dialog = await drive.dialog(ApprovalDialog)
        await drive.until(lambda: dialog.armed)
        await drive.write(text)
        await drive.closed()
        assert drive.draft == text and decisions(drive) == []


@pytest.mark.parametrize("text", ["a", "d\n", "a\na\n", "y"])
async def test_a_paste_decides_nothing_and_lands_in_the_prompt(text: str) -> None:
    async with running() as drive:
        await drive.push(ask())
        dialog = await drive.dialog(ApprovalDialog)
        await drive.until(lambda: dialog.armed)
        drive.app.post_message(events.Paste(text))
        await drive.closed()
        assert drive.draft == text and decisions(drive) == []


async def test_typing_on_a_critical_request_confirms_nothing() -> None:
    async with running() as drive:
        await drive.push(ask(risk="critical"))
        dialog = await drive.dialog(ApprovalDialog)
        await drive.until(lambda: dialog.armed)
        await drive.press("a")
        await drive.until(lambda: "Allow this, once" in drive.text())
        for key in (events.Key("enter", "\r"), events.Key("x", "x")):
            drive.app.post_message(key)
        await drive.closed()
        assert decisions(drive) == []


async def test_a_reason_is_not_sent_by_an_enter_that_came_in_a_burst() -> None:
    async with running() as drive:
        await drive.push(ask())
        dialog = await drive.dialog(ApprovalDialog)
        await drive.until(lambda: dialog.armed)
        await drive.press("f")
        await drive.until(lambda: "Deny, and say this" in drive.text())
        for key in (events.Key("x", "x"), events.Key("enter", "\r")):
            drive.app.post_message(key)
        await drive.settle()
        assert decisions(drive) == [] and drive.app.screen is dialog


async def test_the_clock_that_a_key_stopped_stands_still_on_the_strip_and_in_the_next_dialog() -> (
    None
):
    async with running() as drive:
        await drive.push(ask(timeout=60.0))
        await drive.dialog(ApprovalDialog)
        await drive.write("wait")
        await drive.closed()
        await drive.until(lambda: "clock stopped" in strip(drive))
        await drive.press("f8")
        await drive.dialog(ApprovalDialog)
        await drive.until(lambda: "clock stopped" in drive.text())
        assert drive.client.named("hold") == [("r1",)]


async def test_the_strip_goes_with_its_request() -> None:
    async with running() as drive:
        await drive.write("please ")
        await drive.push(ask(), ask("r2", action="write_file wants to make b.py", risk="low"))
        await drive.push(resolved(outcome="timed_out", by="timeout"))
        assert "write_file wants to make b.py" in strip(drive)
        await drive.push(resolved("r2", outcome="cancelled", by="stop"))
        assert strip(drive) == "" and drive.draft == "please "


@pytest.mark.parametrize("way", ["f1", "ctrl+p", "/sessions"])
async def test_no_question_opens_over_a_list_that_the_user_opened(way: str) -> None:
    async with running() as drive:
        if way.startswith("/"):
            await drive.write(way)
            await drive.push(ask())
            await drive.press("enter")
        else:
            await drive.press(way)
            await drive.push(ask())
        await drive.until(lambda: isinstance(drive.app.screen, Sheet))
        below = drive.app.screen
        # However long the user does nothing there.
        drive.app.link.keyboard._rule.pressed(float("-inf"))
        assert drive.app.link.keyboard.question_wait() == LOOK_AGAIN
        await drive.settle()
        await drive.write("a")
        assert drive.app.screen is below and below.focused.value == "a" and not decisions(drive)
        await drive.press("escape", "escape")
        await drive.dialog(ApprovalDialog)


@pytest.mark.parametrize("size", [(40, 12), (60, 18), (80, 24), (120, 36)])
@pytest.mark.parametrize("default", ["deny", "allow"])
async def test_the_strip_says_clock_and_key_at_every_width(
    size: tuple[int, int], default: str
) -> None:
    async with running(size=size) as drive:
        await drive.write("please ")
        await drive.push(ask(timeout=272.9, default=default), ask("r2"))
        await drive.until(lambda: "F8" in strip(drive))
        row = strip(drive)
        assert "▲▲" in row and "4:3" in row and "2 wait" in row
        assert ("allows" in row) == (default == "allow")


async def test_on_the_smallest_screen_a_clock_that_stands_gives_its_room_to_what_the_key_does() -> (
    None
):
    async with running(size=(40, 12)) as drive:
        await drive.push(ask(timeout=60.0))
        await drive.dialog(ApprovalDialog)
        await drive.write("wait")
        await drive.closed()
        await drive.until(lambda: "F8  answer" in strip(drive))
        assert "clock" not in strip(drive)


async def test_a_click_chooses_how_long_a_grant_holds() -> None:
    async with running(size=(100, 30)) as drive:
        await drive.push(ask())
        dialog = await drive.dialog(ApprovalDialog)
        row = next(
            y for y, line in enumerate(drive.text().splitlines()) if "○ this project" in line
        )
        at = drive.text().splitlines()[row].index("this project")
        await drive.pilot.click(offset=(at, row))
        await drive.settle()
        assert "● this project" in drive.text() and "○ just now" in drive.text()
        await drive.until(lambda: dialog.armed)
        await drive.press("a")
        await drive.closed()
        assert decisions(drive) == [("r1", Decision(allow=True, scope="project"))]


async def test_of_two_requests_that_change_places_while_one_opens_one_is_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Nobody has seen the first one yet.
    monkeypatch.setattr(ApprovalDialog, "grace", 60.0)
    async with running() as drive:
        higher = {"payload": "echo\n" * 9, "segments": ()}
        drive.app.link.take([ask("r2", action="bash wants to be second", began=2.0, **higher)])
        drive.app.link.take([ask("r1", action="bash wants to be first", began=1.0)])
        await drive.settle()
        dialog = await drive.dialog(ApprovalDialog)
        assert dialog.request.request_id == "r1"
        assert "to be first" in drive.text() and "to be second" not in drive.text()
        await drive.push(resolved("r1"))
        await drive.until(lambda: "to be second" in drive.text())
        assert "to be first" not in drive.text()
        await drive.push(resolved("r2"))
        await drive.closed()


async def test_what_is_looked_at_is_shown_though_a_question_has_just_opened() -> None:
    async with running() as drive:
        await drive.push(ask(timeout=300.0))
        dialog = await drive.dialog(ApprovalDialog)
        assert not dialog.armed, "no key decides yet"
        await drive.press("f5")
        # A letter that follows is for the list, and no answer.
        await drive.dialog(RuleList)
        assert decisions(drive) == [] and drive.client.named("hold") == [("r1",)]
