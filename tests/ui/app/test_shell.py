"""The user's own commands on screen."""

from pathlib import Path

import pytest
from textual import events

from amplifier_tui.host.events import ShellEnded, ShellStarted, ShellWaiting, TurnStarted
from amplifier_tui.ui.prompt.completion_popup import CompletionPopup
from amplifier_tui.ui.prompt.prompt import COMMAND, IDLE
from amplifier_tui.ui.prompt.shell import HINT, QUIET_HINT
from tests.ui.driving import running
from tests.ui.fake_client import SESSION, FakeClient, opened

BEGUN = ShellStarted(session_id=SESSION, command_id="c1", command="seq 30", at=1_000.0)
OUTPUT = "".join(f"row {number}\n" for number in range(30))
ENDED = ShellEnded(session_id=SESSION, command_id="c1", command="seq 30", output=OUTPUT)
WAITING = ShellWaiting(session_id=SESSION, command_ids=("c1",))


@pytest.mark.parametrize("size", [(40, 12), (80, 24), (120, 36)])
async def test_the_prompt_says_what_a_draft_with_a_bang_does(size: tuple[int, int]) -> None:
    async with running(size=size) as drive:
        await drive.write("!make test")
        assert HINT in drive.text() and "$ !make test" in drive.text()
        assert drive.app.main.prompt.has_class("-shell")
        await drive.press("home")
        await drive.write("!")
        assert QUIET_HINT[:30] in drive.text()
        await drive.press("enter")
        assert drive.client.named("shell") == [("make test", False, False)]
        assert drive.draft == "" and HINT not in drive.text()
        assert not drive.app.main.prompt.has_class("-shell")


async def test_while_a_turn_runs_a_command_runs_beside_it_and_steers_nothing() -> None:
    async with running() as drive:
        await drive.push(TurnStarted(session_id=SESSION, turn=1, prompt="hello"))
        await drive.write("!git status")
        await drive.press("enter")
        assert drive.client.named("shell") == [("git status", True, False)]
        assert drive.client.named("steer") == []


async def test_a_command_sent_before_the_session_is_open_runs_in_it() -> None:
    client = FakeClient(silent=True)
    async with running(client, opened=False) as drive:
        await drive.write("!ls")
        await drive.press("enter")
        assert client.named("shell") == []
        await drive.push(opened())
        await drive.until(lambda: client.named("shell"))
        assert client.named("shell") == [("ls", True, False)]


async def test_a_paste_runs_nothing_by_itself_and_nothing_at_all_from_behind_a_label() -> None:
    async with running() as drive:
        drive.app.post_message(events.Paste("!touch one\n!touch two\n"))
        await drive.settle()
        assert HINT in drive.text() and drive.client.named("shell") == []
        await drive.press("ctrl+c")
        drive.app.post_message(events.Paste("!touch hidden\n" * 20))
        await drive.settle()
        assert "[Pasted 20 lines]" in drive.text() and HINT not in drive.text()
        await drive.press("enter")
        assert drive.client.named("shell") == []
        ((sent,),) = drive.client.named("submit")
        assert sent.strip().startswith("!touch hidden")
        # Nor does it come back from the history as a command.
        drive.app.post_message(events.Paste("!touch other\n" * 20))
        await drive.settle()
        await drive.press("ctrl+c", "up")
        assert "[Pasted" in drive.text() and HINT not in drive.text()
        await drive.press("enter")
        assert drive.client.named("shell") == []


async def test_a_long_command_comes_back_from_the_history_as_a_command() -> None:
    script = "\n".join(f"echo {number}" for number in range(20))
    async with running() as drive:
        await drive.write("!!")
        drive.app.post_message(events.Paste(script))
        await drive.settle()
        await drive.press("enter", "up")
        assert drive.draft.startswith("!![Pasted 20 lines]") and QUIET_HINT in drive.text()
        await drive.press("enter")
        assert drive.client.named("shell") == [(script, False, False)] * 2


async def test_a_bang_alone_runs_nothing() -> None:
    async with running() as drive:
        await drive.write("! ")
        await drive.press("enter")
        assert drive.client.named("shell") == []
        assert "Write a command" in drive.text()


@pytest.mark.parametrize("size", [(80, 24), (120, 36)])
async def test_the_card_shows_the_end_of_the_output_and_opens(size: tuple[int, int]) -> None:
    async with running(size=size) as drive:
        await drive.push(BEGUN)
        assert drive.app.main.prompt.input.placeholder == COMMAND
        await drive.push(ENDED, WAITING)
        shown = drive.text()
        assert "row 29" in shown and "row 17\n" not in shown.replace(" \n", "\n")
        assert "… 18 more lines · ctrl+o" in shown
        assert "goes along with your next prompt" in shown
        assert drive.app.main.prompt.input.placeholder == IDLE
        await drive.press("ctrl+o")
        await drive.press("ctrl+home")
        assert "row 0 " in drive.text()


async def test_escape_stops_the_command_first_and_then_the_turn() -> None:
    async with running() as drive:
        await drive.push(TurnStarted(session_id=SESSION, turn=1, prompt="hello"), BEGUN)
        await drive.press("escape")
        assert drive.client.named("stop_shell") == [()]
        assert drive.client.named("interrupt") == []
        await drive.push(ENDED)
        await drive.press("escape")
        assert drive.client.named("interrupt") == [(False, 1)]


async def test_tab_completes_programs_and_paths(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs, project = tmp_path / "bin", tmp_path / "project"
    programs.mkdir()
    project.mkdir()
    for name in ("frobnicate", "frobble"):
        (programs / name).touch(0o755)
    (programs / "frozen").touch(0o644)
    (project / "my notes.txt").touch()
    (project / "docs").mkdir()
    monkeypatch.setenv("PATH", str(programs))
    client = FakeClient(on_open=[opened(cwd=str(project))])
    async with running(client) as drive:
        popup = drive.app.main.query_one(CompletionPopup)
        await drive.write("!fro")
        assert not popup.is_open
        await drive.press("tab")
        await drive.until(lambda: popup.is_open)
        await drive.press("down", "enter")
        assert drive.draft == "!frobnicate "
        await drive.write("my")
        await drive.press("tab")
        await drive.until(lambda: drive.draft == "!frobnicate my\\ notes.txt ")
        await drive.write("d")
        await drive.press("tab")
        await drive.until(lambda: drive.draft.endswith(" docs/"))
        await drive.press("enter")
        assert client.named("shell") == [("frobnicate my\\ notes.txt docs/", True, False)]


async def test_the_last_command_is_shown_before_it_runs_again_in_the_terminal() -> None:
    async with running() as drive:
        await drive.write("/terminal")
        await drive.press("enter")
        assert "Write a command behind it" in drive.text()
        await drive.push(ENDED)
        await drive.press("ctrl+x", "V")
        assert drive.draft == "/terminal seq 30" and not drive.client.named("shell")
        await drive.press("ctrl+x", "V")
        assert "Send or clear the draft first" in drive.text()
        await drive.press("enter")
        assert drive.client.named("shell") == [("seq 30", True, True)]


async def test_what_is_typed_over_the_last_command_stands_in_its_place() -> None:
    async with running() as drive:
        await drive.push(ENDED)
        await drive.write("/term")
        await drive.press("enter")
        await drive.until(lambda: drive.draft == "/terminal seq 30")
        await drive.write("vi b.txt")
        assert drive.draft == "/terminal vi b.txt"
        await drive.press("enter")
        assert drive.client.named("shell") == [("vi b.txt", True, True)]


@pytest.mark.parametrize("command", ["vim notes", "for i in 1 2\ndo echo $i\ndone"])
async def test_a_command_that_is_run_again_is_kept_from_the_agent_as_before(command: str) -> None:
    ended = ShellEnded(session_id=SESSION, command_id="c2", command=command, told=False)
    async with running() as drive:
        await drive.push(ended)
        await drive.press("ctrl+x", "V")
        assert drive.draft == f"/terminal !!{command}"
        await drive.press("enter")
        assert drive.client.named("shell") == [(command, False, True)]
