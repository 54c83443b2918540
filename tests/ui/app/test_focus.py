import pytest
from textual import events
from textual.widgets import Input

from amplifier_tui.ui.app.app import AmplifierApp
from amplifier_tui.ui.dialogs.modules.leader import LeaderPopup
from amplifier_tui.ui.dialogs.pickers import ThemePicker
from tests.ui.driving import running
from tests.ui.state.make import turn


def in_the_background(app: AmplifierApp) -> None:
    app.set_reactive(AmplifierApp.app_focus, False)


async def test_a_program_that_starts_behind_another_window_takes_keys_once_it_is_in_front(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(AmplifierApp, "on_load", in_the_background, raising=False)
    async with running() as drive:
        assert drive.app.screen.focused is None
        drive.app.post_message(events.AppFocus())
        await drive.write("hello")
        assert drive.draft == "hello"


async def test_a_dialog_that_opens_behind_another_window_takes_keys_once_it_is_in_front() -> None:
    async with running() as drive:
        drive.app.post_message(events.AppBlur())
        await drive.settle()
        await drive.app.run_by_id("app.theme")
        dialog = await drive.dialog(ThemePicker)
        drive.app.post_message(events.AppFocus())
        await drive.write("li")
        assert dialog.query_one("#filter", Input).value == "li"


async def test_who_stops_a_turn_from_a_row_of_the_conversation_writes_next() -> None:
    async with running() as drive:
        await drive.push(turn(1, "Roll"))
        await drive.press("alt+up")
        await drive.press("escape")
        assert drive.client.named("interrupt") == [(False, 1)]
        await drive.write("not that")
        assert drive.draft == "not that"


@pytest.mark.parametrize("pasted", ["f", "# notes", "fork\nq"])
@pytest.mark.parametrize("at_once", [True, False])
async def test_what_is_pasted_after_the_leader_is_text_and_no_chord(
    pasted: str, at_once: bool
) -> None:
    async with running() as drive:
        if at_once:
            drive.app.post_message(events.Key("ctrl+x", None))
        else:
            await drive.press("ctrl+x")
            await drive.dialog(LeaderPopup)
        drive.app.post_message(events.Paste(pasted))
        await drive.until(lambda: drive.draft == pasted)
        await drive.closed()
        assert [name for name, *_ in drive.client.calls] == ["open"]
        await drive.press("ctrl+x")
        await drive.dialog(LeaderPopup)
