import subprocess
import sys
import textwrap

import pytest

from amplifier_tui.ui.app.app import AmplifierApp
from amplifier_tui.ui.terminal.leave import Farewell
from tests.ui.driving import running
from tests.ui.fake_client import FakeClient


async def test_ending_at_once_names_what_the_disk_has_not_taken() -> None:
    async with running(FakeClient(hang=True)) as drive:
        drive.app.state.facts.saved = False
        drive.app.quitting.quit_by_signal("SIGTERM")
        drive.app.action_leave()
        await drive.until(lambda: drive.app.return_value is not None)
        assert drive.app.return_value is not None
        assert "did not take by now is lost" in drive.app.last_words()


@pytest.mark.parametrize("signalled", [True, False])
async def test_only_what_a_signal_ends_is_offered_again(signalled: bool) -> None:
    async with running() as drive:
        await drive.app.run_by_id("session.beside")
        quitting, clients = drive.app.quitting, [drive.client, *drive.client.others]
        quitting.quit_by_signal("SIGHUP") if signalled else quitting.quit()
        await drive.until(lambda: drive.app.return_value is not None)
    assert len(clients) == 2
    for client in clients:
        calls = [name for name, *_ in client.calls if name in ("keep_left_open", "close")]
        assert calls == (["keep_left_open"] if signalled else []) + ["close"]


def test_ctrl_c_after_the_screen_has_ended_ends_at_once_with_words_and_no_traceback() -> None:
    code = """
        import signal, time
        from amplifier_tui.ui.terminal.guard import TerminalGuard, end_on_interrupt
        end_on_interrupt(TerminalGuard(), lambda: "What is lost.")
        signal.raise_signal(signal.SIGINT)
        time.sleep(60)
    """
    command = [sys.executable, "-c", textwrap.dedent(code)]
    ended = subprocess.run(command, capture_output=True, text=True)
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "What is lost.\n", "")


async def test_ctrl_c_is_taken_care_of_when_the_screen_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    taken: list[object] = []
    monkeypatch.setattr(
        "amplifier_tui.ui.app.app.end_on_interrupt", lambda _, words: taken.append(words())
    )
    async with running() as drive:
        monkeypatch.setattr(AmplifierApp, "is_headless", False)
        drive.app.exit(Farewell(problem="Something is lost."))
        await drive.app.on_unmount()
        monkeypatch.undo()
    assert taken == ["Something is lost."]
