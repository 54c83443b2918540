"""The mode: what goes through without a question is shown, changed and explained."""

from amplifier_tui.host.events import ModeChanged
from amplifier_tui.ui.dialogs.pickers import ModePicker
from tests.ui.driving import running
from tests.ui.fake_client import SESSION


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


async def test_auto_is_chosen_where_its_meaning_is_read() -> None:
    async with running(size=(80, 24)) as drive:
        reason = "bubblewrap is not installed"
        await drive.push(ModeChanged(session_id=SESSION, mode="ask", sandbox=reason))
        await drive.write("/mode auto")
        await drive.press("enter")
        await drive.dialog(ModePicker)
        assert "runs commands in the sandbox" in drive.text()
        assert reason in drive.text()
        await drive.press("down", "down", "down", "enter")
        assert drive.client.calls[-1] == ("set_mode", "auto")


async def test_a_mode_can_be_named_and_one_that_is_none_is_refused() -> None:
    async with running(size=(80, 24)) as drive:
        await drive.write("/mode plan")
        await drive.press("enter")
        assert drive.client.calls[-1] == ("set_mode", "plan")
        await drive.write("/mode wild")
        await drive.press("enter")
        assert "There is no mode wild" in drive.text()
