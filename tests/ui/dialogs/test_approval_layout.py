"""The approval dialog at every size of the terminal, and beside what else is on the screen."""

import pytest

from amplifier_tui.host.events import BlockEnded, TurnStarted
from amplifier_tui.ui.dialogs.approval import ApprovalDialog
from amplifier_tui.ui.dialogs.parts.sheet import KeyRow
from amplifier_tui.ui.widgets.scroll_lines import ScrollLines
from tests.ui.driving import running
from tests.ui.fake_client import SESSION
from tests.ui.requests import ask

pytestmark = pytest.mark.usefixtures("no_grace")


async def test_the_end_of_the_conversation_stays_in_view_above_the_dialog() -> None:
    async with running(size=(80, 24)) as drive:
        answer = "\n\n".join(f"line {n}" for n in range(30))
        await drive.push(
            TurnStarted(session_id=SESSION, turn=1, prompt="go"),
            BlockEnded(session_id=SESSION, block_id="b", kind="text", text=answer),
        )
        await drive.until(lambda: "line 29" in drive.text())
        await drive.push(ask())
        await drive.dialog(ApprovalDialog)
        await drive.until(lambda: "line 29" in drive.text())
        await drive.press("d")
        await drive.closed()
        await drive.until(lambda: "line 20" in drive.text())


async def test_a_resize_while_the_dialog_is_open_loses_nothing() -> None:
    async with running(size=(120, 36)) as drive:
        await drive.push(ask(timeout=60.0, reasons=("cannot be undone",)))
        dialog = await drive.dialog(ApprovalDialog)
        for size in ((60, 18), (80, 24), (40, 12), (120, 36), (200, 50)):
            await drive.pilot.resize_terminal(*size)
            small = size[0] < 80 or size[1] < 20
            await drive.until(
                # Nothing below it is hidden, and no row between stays empty.
                lambda size=size, small=small: (
                    ("Ask for anything" in drive.text()) != small
                    and dialog.sheet.region.bottom + (0 if small else 4) == size[1]
                )
            )
            text = drive.text()
            assert "rm -rf build" in text and "then deny" in text and "Later" in text
            assert "cannot be undone" in text or size == (40, 12)


async def test_the_prompt_has_no_cursor_and_names_no_keys_behind_a_dialog() -> None:
    async with running() as drive:
        prompt = drive.app.main.prompt.input
        assert prompt.show_cursor and "? keys" in drive.text()
        await drive.push(ask())
        await drive.dialog(ApprovalDialog)
        assert not prompt.show_cursor and "? keys" not in drive.text()
        first, *_ = prompt.render_line(0)
        assert first.text == "Ask for anything"
        await drive.push(TurnStarted(session_id=SESSION, turn=1, prompt="go"))
        assert "tab queues" not in drive.text()
        await drive.press("d")
        await drive.closed()
        assert prompt.show_cursor and "tab queues" in drive.text()


async def test_the_long_form_says_that_a_key_has_stopped_the_clock_and_moves_no_choice() -> None:
    async with running(size=(80, 24)) as drive:
        await drive.push(ask(timeout=300.0))
        dialog = await drive.dialog(ApprovalDialog)
        place = dialog.query_one(KeyRow).region
        await drive.press("question_mark")
        assert "deny after" not in drive.text() and "a key stopped the clock" in drive.text()
        assert dialog.query_one(KeyRow).region == place


async def test_a_choice_that_does_nothing_is_not_offered() -> None:
    async with running(size=(80, 24)) as drive:
        payload = "\n".join(f"echo {n}" for n in range(200))
        await drive.push(ask(payload=payload, segments=()))
        dialog = await drive.dialog(ApprovalDialog)
        assert " r  Remember" not in drive.text() and "Edit" not in drive.text()
        # More of the screen is for what is asked than for all about it.
        assert dialog.query_one(ScrollLines).region.height >= 12
        await drive.press("end")
        await drive.until(lambda: " r  Remember" in drive.text())


async def test_that_it_leads_outside_is_said_where_not_all_about_it_has_room() -> None:
    async with running(size=(80, 24)) as drive:
        why = "the mode ask asks about commands, the network and what lies outside " * 3
        rule = "write_file(" + "/tmp/a/long/way" * 14 + ")"
        await drive.push(ask(outside=True, why=why, rule=rule, payload="x\ny\nz", segments=()))
        await drive.dialog(ApprovalDialog)
        assert "outside the workspace" in drive.text() and "the network" not in drive.text()


async def test_the_long_form_leaves_every_key_on_a_small_screen_and_scrolls_to_its_end() -> None:
    async with running(size=(40, 12)) as drive:
        await drive.push(ask(timeout=300.0, reasons=("far " * 60,)))
        await drive.dialog(ApprovalDialog)
        await drive.press("question_mark")
        await drive.until(lambda: "asked by" in drive.text())
        text = drive.text()
        assert all(word in text for word in ("Deny", "Allow", "Why", "Later"))
        assert "without an answer" not in text
        await drive.press("end")
        await drive.until(lambda: "without an answer" in drive.text())
        await drive.press("question_mark")
        await drive.until(lambda: "without an answer" not in drive.text())
