import pytest

from amplifier_tui.host.events import SavingChanged, SessionClosed, TurnEnded, TurnStarted
from amplifier_tui.ui.app import quitting
from amplifier_tui.ui.dialogs.questions import Unsaved
from amplifier_tui.ui.terminal.leave import Farewell
from tests.ui.driving import running
from tests.ui.fake_client import SESSION, FakeClient


async def test_quitting_asks_while_turns_are_not_on_disk_and_tries_to_write_them_again() -> None:
    lost = "2 turns of this session are not on disk: No space left on device"
    client = FakeClient(
        unsaved=[lost, lost],
        closing=SessionClosed(session_id=SESSION, resume_command="amplifier-tui --resume s1"),
    )
    async with running(client) as drive:
        await drive.push(SavingChanged(session_id=SESSION, problem="No space left on device"))
        await drive.press("ctrl+x", "q")
        first = await drive.dialog(Unsaved)
        await drive.until(lambda: lost in drive.text())
        await drive.press("r")
        await drive.until(lambda: isinstance(now := drive.app.screen, Unsaved) and now is not first)
        await drive.until(lambda: lost in drive.text())
        assert len(client.named("save_again")) == 2
        await drive.press("escape")
        await drive.closed()
        assert not client.named("close")
        await drive.press("ctrl+x", "q")
        await drive.until(lambda: bool(client.named("close")))


@pytest.mark.parametrize(
    ("action", "argument", "call"),
    [("session.new", "", "switch_bundle"), ("session.sessions", "s2", "resume")],
)
async def test_another_session_in_its_place_asks_while_turns_are_not_on_disk(
    action: str, argument: str, call: str
) -> None:
    lost = "2 turns of this session are not on disk: No space left on device"
    client = FakeClient(unsaved=[lost, lost])
    async with running(client) as drive:
        await drive.push(SavingChanged(session_id=SESSION, problem="No space left on device"))
        await drive.app.run_by_id(action, argument)
        await drive.dialog(Unsaved)
        await drive.until(lambda: lost in drive.text() and "Go on and lose it" in drive.text())
        await drive.press("escape")
        await drive.closed()
        assert not client.named(call)
        await drive.app.run_by_id(action, argument)
        await drive.dialog(Unsaved)
        await drive.press("y")
        await drive.until(lambda: client.named(call))


async def test_what_was_lost_is_said_beside_the_way_back() -> None:
    lost = "1 turn of this session is not on disk: No space left on device"
    client = FakeClient(
        unsaved=[lost],
        closing=SessionClosed(session_id=SESSION, resume_command="resume it", unsaved=lost),
    )
    async with running(client) as drive:
        await drive.push(SavingChanged(session_id=SESSION, problem="No space left on device"))
        await drive.press("ctrl+x", "q")
        await drive.dialog(Unsaved)
        await drive.press("y")
        await drive.until(lambda: drive.app.return_value is not None)
        assert drive.app.return_value == Farewell("", "resume it", f"{lost}.")


@pytest.mark.parametrize("said", [True, False])
async def test_how_to_resume_is_said_also_of_a_session_that_does_not_close_in_time(
    said: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quitting, "CLOSE_TIMEOUT", 0.05)
    async with running(FakeClient(hang=True)) as drive:
        if said:
            await drive.push(TurnStarted(session_id=SESSION, turn=1, prompt="hi"))
            await drive.push(TurnEnded(session_id=SESSION, turn=1, status="success"))
        await drive.press("ctrl+x", "q")
        await drive.until(lambda: drive.app.return_value is not None)
        farewell = drive.app.return_value
        assert farewell is not None and "did not close within" in farewell.problem
        assert farewell.resume_command == (f"amplifier-tui --resume {SESSION}" if said else "")
