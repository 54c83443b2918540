"""What waits, changed in its dialog."""

from dataclasses import replace

import pytest
from textual.events import Key

from amplifier_tui.host.events import QueueChanged, TurnEnded, TurnStarted
from amplifier_tui.ui.prompt.queue_sheet import QueueSheet
from amplifier_tui.ui.state.answer_keys import ALONE
from amplifier_tui.ui.terminal.input import key_time
from tests.ui.driving import Driver, running
from tests.ui.fake_client import SESSION
from tests.ui.trust_questions import asked, source

TURN = TurnStarted(session_id=SESSION, turn=1, prompt="hello")
END = TurnEnded(session_id=SESSION, turn=1, status="cancelled")


def queue(*prompts: str, steering: tuple[str, ...] = ()) -> QueueChanged:
    ids = tuple(f"id-{text[:6]}" for text in prompts)
    return QueueChanged(session_id=SESSION, items=prompts, ids=ids, steering=steering)


async def opened(drive: Driver, *prompts: str) -> QueueSheet:
    await drive.push(TURN, queue(*prompts, steering=("be brief",)))
    await drive.write("/queue")
    await drive.press("enter")
    return await drive.dialog(QueueSheet)


@pytest.mark.parametrize("size", [(40, 12), (80, 24), (120, 36)])
async def test_prompts_are_moved_dropped_and_sent_by_keys(size: tuple[int, int]) -> None:
    async with running(size=size) as drive:
        await opened(drive, "first [b]x", "second", "third")
        shown = drive.text()
        assert "1  first [b]x" in shown and "3  third" in shown and "be brief" in shown
        await drive.press("j", "J")
        assert drive.client.named("move_queued") == [("id-second", 2)]
        await drive.push(queue("first [b]x", "third", "second"))
        await drive.press("K", "s", "d")
        assert drive.client.named("move_queued")[1:] == [("id-second", 1)]
        assert drive.client.named("send_queued") == [("id-second",)]
        assert drive.client.named("unqueue") == [("id-second",)]
        await drive.push(queue("first [b]x"))
        await drive.press("K")
        assert len(drive.client.named("move_queued")) == 2
        await drive.press("escape")
        await drive.closed()


async def test_a_click_on_the_row_that_says_what_is_queued_opens_it() -> None:
    async with running(size=(80, 24)) as drive:
        await drive.push(TURN, queue("first", steering=("be brief",)))
        await drive.pilot.click("#notes", offset=(8, 1))
        await drive.dialog(QueueSheet)


async def test_a_prompt_is_edited_in_place_and_left_as_it_was_on_escape() -> None:
    async with running(size=(80, 24)) as drive:
        await opened(drive, "first", "second")
        await drive.press("enter")
        await drive.write(" one")
        await drive.press("shift+enter")
        await drive.write("more")
        await drive.press("enter")
        assert drive.client.named("edit_queued") == [("id-first", "first one\nmore")]
        await drive.press("j", "e")
        await drive.write("lost")
        await drive.press("escape")
        assert len(drive.client.named("edit_queued")) == 1
        await drive.press("escape")
        await drive.closed()


async def test_a_prompt_that_is_dropped_is_in_the_history_as_it_was_last() -> None:
    async with running(size=(80, 24)) as drive:
        await opened(drive, "first one", "second")
        await drive.press("d")
        await drive.push(queue("second"))
        await drive.press("e", *["backspace"] * len("second"), "enter")
        assert drive.client.named("edit_queued") == [("id-second", "")]
        await drive.push(queue())
        await drive.press("escape")
        await drive.closed()
        await drive.press("up")
        assert drive.draft == "second"
        await drive.press("up")
        assert drive.draft == "first one"


async def test_each_press_of_d_drops_one_though_they_follow_each_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(QueueSheet, "alone", ALONE)
    async with running(size=(40, 12)) as drive:
        await opened(drive, "first", "second", "third")
        at = key_time()
        for left in (("second", "third"), ("third",)):
            event = Key("d", "d")
            event.time = at = at + 0.2
            drive.app.post_message(event)
            await drive.settle()
            await drive.push(queue(*left))
        assert drive.client.named("unqueue") == [("id-first",), ("id-second",)]


async def test_a_prompt_that_begins_to_run_while_it_is_edited_says_so() -> None:
    async with running(size=(80, 24)) as drive:
        sheet = await opened(drive, "first", "second")
        await drive.press("e")
        assert sheet.has_class("-editing")
        await drive.push(queue("second"))
        assert not sheet.has_class("-editing")
        assert drive.client.named("edit_queued") == []
        assert drive.app.main.prompt.input.text == ""


@pytest.mark.parametrize("draft", ["", "a draft"])
async def test_what_was_changed_of_a_prompt_that_is_sent_meanwhile_is_not_lost(draft: str) -> None:
    async with running(size=(80, 24)) as drive:
        await opened(drive, "first", "second")
        prompt = drive.app.main.prompt.input
        prompt.set_draft(draft)
        await drive.press("e")
        await drive.write(" and more")
        await drive.push(queue("second"))
        assert prompt.text == (draft or "first and more")
        assert (prompt.past.items[-1:] == ("first and more",)) is bool(draft)


async def test_what_is_left_after_a_stop_is_sent_by_enter_on_an_empty_prompt() -> None:
    async with running(size=(80, 24)) as drive:
        await drive.push(TURN, queue("first", "second"))
        await drive.press("enter")
        assert drive.client.named("send_queued") == []
        held = replace(queue("first", "second"), held=True)
        await drive.push(END, held)
        assert "+2 queued  first" in drive.text() and "enter sends it" in drive.text()
        await drive.write("a draft")
        await drive.until(lambda: "enter sends it" not in drive.text())
        await drive.press("ctrl+c")
        await drive.until(lambda: "enter sends it" in drive.text())
        await drive.press("enter")
        assert drive.client.named("send_queued") == [("id-first",)]


async def test_a_queue_without_prompts_offers_no_key_that_does_nothing() -> None:
    async with running(size=(80, 24)) as drive:
        await opened(drive, "first")
        assert "Send now" in drive.text() and "Drop" in drive.text()
        await drive.push(queue())
        await drive.until(lambda: "Nothing waits" in drive.text())
        assert "Send now" not in drive.text() and "Drop" not in drive.text()
        assert "Close" in drive.text()


async def test_the_words_of_all_that_waits_begin_in_one_column() -> None:
    async with running(size=(80, 24)) as drive:
        await opened(drive, *(f"prompt {number}" for number in range(10)))
        rows = [row for row in drive.text().split("\n") if "prompt" in row]
        assert len({row.index("prompt") for row in rows if "queued" not in row}) == 1


async def test_of_what_waits_for_a_question_of_trust_it_is_said_that_it_goes_by_itself() -> None:
    async with running(size=(80, 24)) as drive:
        await drive.write("a")
        await drive.push(asked(source()), queue("first"))
        await drive.press("backspace")
        assert "+1 queued  first   goes when the question is answered" in drive.text()


@pytest.mark.parametrize("changed", [False, True])
async def test_a_prompt_that_was_sent_before_it_is_taken_back_is_not_in_the_draft_as_well(
    changed: bool,
) -> None:
    async with running(size=(80, 24)) as drive:
        await drive.push(TURN, queue("first", "second"))
        await drive.press("up")
        assert drive.client.named("unqueue") == [("id-second",)] and drive.draft == "second"
        if changed:
            await drive.write(" thoughts")
        sent = TurnStarted(session_id=SESSION, turn=2, prompt="second", prompt_id="id-second")
        await drive.push(END, queue("first"), sent)
        assert drive.draft == ("second thoughts" if changed else "")
        assert ("It was sent already" in drive.text()) is not changed
