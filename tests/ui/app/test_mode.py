"""The mode: what goes through without a question is shown, changed and explained."""

import pytest

from amplifier_tui.host.events import (
    BlockEnded,
    ModeChanged,
    PlanProposed,
    TurnEnded,
    TurnStarted,
)
from amplifier_tui.ui.dialogs.approval import ApprovalDialog
from amplifier_tui.ui.dialogs.permissions.mode_picker import MODES, ModePicker
from amplifier_tui.ui.dialogs.questions import Confirm
from tests.ui.driving import running
from tests.ui.fake_client import SESSION
from tests.ui.requests import ask, resolved


async def test_the_status_bar_shows_the_mode_the_gate_applies() -> None:
    async with running(size=(80, 24)) as drive:
        await drive.push(ModeChanged(session_id=SESSION, mode="edits"))
        assert "▸ edits" in drive.text()


async def test_a_key_goes_through_the_modes_and_never_to_auto() -> None:
    async with running(size=(80, 24)) as drive:
        await drive.push(ModeChanged(session_id=SESSION, mode="auto"))
        for mode in ("plan", "ask", "edits", "plan"):
            await drive.press("shift+tab")
            assert drive.client.calls[-1] == ("set_mode", mode)
            await drive.until(lambda mode=mode: f"▸ {mode}" in drive.text())


async def test_while_a_turn_runs_a_mode_that_is_only_passed_is_never_set() -> None:
    async with running(size=(80, 24)) as drive:
        await drive.push(TurnStarted(session_id=SESSION, turn=1, prompt="write"))
        await drive.push(ask(tool="write_file"))
        await drive.press("escape", "shift+tab")
        assert "Mode edits in a moment" in drive.text()
        await drive.press("shift+tab")
        assert drive.client.named("set_mode") == []
        await drive.until(lambda: drive.client.named("set_mode"))
        assert drive.client.named("set_mode") == [("plan",)]
        assert "in a moment" not in drive.text() and "▸ plan" in drive.text()


async def test_a_mode_the_key_went_to_gives_way_to_one_that_is_named() -> None:
    async with running(size=(80, 24)) as drive:
        await drive.push(TurnStarted(session_id=SESSION, turn=1, prompt="write"))
        await drive.press("shift+tab")
        await drive.write("/mode plan")
        await drive.press("enter")
        assert drive.client.named("set_mode") == [("plan",)]
        assert "in a moment" not in drive.text()
        await drive.until(lambda: "▸ plan" in drive.text())
        await drive.press("shift+tab")
        await drive.until(lambda: len(drive.client.named("set_mode")) == 2)
        assert drive.client.named("set_mode")[1] == ("ask",)


async def test_auto_is_chosen_where_its_meaning_is_read() -> None:
    async with running(size=(80, 24)) as drive:
        reason = "bubblewrap is not installed"
        await drive.push(ModeChanged(session_id=SESSION, mode="ask", sandbox=reason))
        await drive.write("/mode auto")
        await drive.press("enter")
        await drive.dialog(Confirm)
        assert f"There is no sandbox here ({reason})" in " ".join(drive.text().split())
        await drive.press("escape")
        assert not drive.client.named("set_mode")
        await drive.push(ModeChanged(session_id=SESSION, mode="ask"))
        await drive.press("ctrl+x", "u")
        await drive.dialog(ModePicker)
        await drive.until(lambda: "runs commands in the sandbox" in drive.text())
        await drive.press("down", "down", "enter")
        await drive.dialog(Confirm)
        await drive.until(lambda: "run in the sandbox" in " ".join(drive.text().split()))
        await drive.press("y")
        assert drive.client.calls[-1] == ("set_mode", "auto")


async def test_that_commands_can_not_be_undone_here_is_read_before_auto_is_chosen() -> None:
    async with running(size=(80, 24)) as drive:
        why = "the folder is no git repository and has over 2,000 files"
        await drive.push(ModeChanged(session_id=SESSION, mode="ask", uncopied=why))
        await drive.press("ctrl+x", "u")
        await drive.dialog(ModePicker)
        await drive.until(lambda: "! commands can't be undone here: the folder" in drive.text())
        await drive.press("down", "down", "enter")
        await drive.dialog(Confirm)
        told = f"No copies are kept of what commands change here ({why}): going back does not undo"
        await drive.until(lambda: told in " ".join(drive.text().split()))
        assert "what git does not have asks." in " ".join(drive.text().split())
        assert "Go to auto" in drive.text()


@pytest.mark.parametrize("size", [(80, 24), (120, 36)])
async def test_a_plan_is_carried_out_or_gone_on_with_from_its_card(size: tuple[int, int]) -> None:
    async with running(size=size) as drive:
        plan = (
            ModeChanged(session_id=SESSION, mode="plan"),
            TurnStarted(session_id=SESSION, turn=1, prompt="tidy up"),
            BlockEnded(session_id=SESSION, block_id="b", kind="text", text="First this."),
            TurnEnded(session_id=SESSION, turn=1, status="success"),
            PlanProposed(session_id=SESSION, turn=1),
        )
        await drive.push(*plan)
        assert "The plan waits for you." in drive.text()
        rows = drive.text().splitlines()
        row = next(at for at, line in enumerate(rows) if "do it, asking" in line)
        await drive.pilot.click(offset=(rows[row].index("do it, asking") + 1, row))
        await drive.until(lambda: drive.client.named("carry_out") == [("ask",)])
        await drive.press("ctrl+x", "P")
        assert drive.client.named("carry_out")[-1] == ("edits",)
        await drive.write("/go-on-planning")
        await drive.press("enter")
        assert "The plan waits" not in drive.text()
        await drive.push(plan[-1])
        assert "The plan waits" in drive.text()
        await drive.push(ModeChanged(session_id=SESSION, mode="edits"))
        assert "The plan waits" not in drive.text()


async def test_a_dialog_that_another_mode_answers_closes_and_says_so() -> None:
    async with running(size=(80, 24)) as drive:
        await drive.push(ask(tool="write_file"))
        await drive.press("f8")
        await drive.dialog(ApprovalDialog)
        words = "mode edits: lets through writing in the workspace"
        await drive.push(resolved(by="mode", tool="write_file", reason=words))
        await drive.closed()
        assert "write_file: allowed, mode edits: lets through" in drive.text()


async def test_a_mode_can_be_named_and_one_that_is_none_is_refused() -> None:
    async with running(size=(80, 24)) as drive:
        await drive.write("/mode plan")
        await drive.press("enter")
        assert drive.client.calls[-1] == ("set_mode", "plan")
        await drive.write("/mode wild")
        await drive.press("enter")
        assert "There is no mode wild" in drive.text()


async def test_a_refusal_ends_with_the_next_command_that_is_right() -> None:
    async with running(size=(80, 24)) as drive:
        for wrong, said, kept in (
            ("/mode wild", "There is no mode wild", ""),
            ("/nosuch", "There is no command /nosuch", "/nosuch"),
        ):
            await drive.write(wrong)
            await drive.press("enter")
            assert said in drive.text()
            await drive.press(*["backspace"] * len(kept))
            await drive.write("/mode plan")
            await drive.press("enter")
            assert drive.client.calls.pop() == ("set_mode", "plan")
            assert said not in drive.text()


@pytest.mark.parametrize("size", [(80, 24), (40, 12)])
async def test_what_a_mode_means_can_be_read_whole(size: tuple[int, int]) -> None:
    async with running(size=size) as drive:
        await drive.press("ctrl+x", "u")
        await drive.dialog(ModePicker)
        shown = MODES.values() if size[0] == 80 else [MODES["auto"]]
        await drive.press("down", "down")
        await drive.until(lambda: all(words in " ".join(drive.text().split()) for words in shown))
