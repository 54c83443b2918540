"""What a terminal is sent for a user who looks elsewhere, and the user's own command."""

import asyncio
import json
import os
import sys
from pathlib import Path

import pytest

from amplifier_tui.host.events import ApprovalRequested
from amplifier_tui.ui.app.preferences import Preferences
from amplifier_tui.ui.session import attention
from amplifier_tui.ui.terminal import notifying
from amplifier_tui.ui.terminal.notifying import notification, run_command
from tests.ui.driving import running
from tests.ui.fake_client import SESSION
from tests.waiting import within

ASKED = ApprovalRequested(
    session_id=SESSION, request_id="r", asker="amplifier-tui", action="bash wants to run a command"
)


@pytest.mark.parametrize(
    ("environ", "sent"),
    [
        ({}, "\x07"),
        ({"TERM": "xterm-256color", "TMUX": "x"}, "\x07"),
        ({"KITTY_WINDOW_ID": "1"}, "\x1b]99;i=1:d=0;A;b\x07\x1b]99;i=1:p=body;c\x07"),
        ({"GHOSTTY_RESOURCES_DIR": "/x"}, "\x1b]777;notify;A,b;c\x07"),
        ({"TERM": "foot"}, "\x1b]777;notify;A,b;c\x07"),
        ({"TERM_PROGRAM": "iTerm.app"}, "\x1b]9;A;b: c\x07"),
        ({"WT_SESSION": "x"}, "\x1b]9;A;b: c\x07"),
        (
            {"WEZTERM_PANE": "0", "TMUX": "x"},
            "\x1bPtmux;\x1b\x1b]777;notify;A,b;c\x07\x1b\\\x07",
        ),
        ({"VTE_VERSION": "7000", "STY": "x"}, "\x1bP\x1b]777;notify;A,b;c\x07\x1b\\\x07"),
    ],
)
def test_each_terminal_is_told_in_its_own_form(environ: dict[str, str], sent: str) -> None:
    assert notification("A;b", "c", environ) == sent


def test_what_a_model_says_is_no_sequence_of_the_terminal() -> None:
    sent = notification("a\x1b]0;evil\x07", "b\x07\x1b[2Jc\n" + "x" * 999, {"TERM": "foot"})
    assert sent.count("\x1b") == 1 and sent.count("\x07") == 1 and "\n" not in sent
    assert len(sent) < 500


@pytest.mark.parametrize("variable", ["ConEmuPID", "WT_SESSION", "LC_TERMINAL"])
@pytest.mark.parametrize("title", ['7;"calc.exe"', "\u200b4;1;50", " 9;C:\\evil", "12"])
def test_a_title_that_begins_with_a_number_is_no_other_command_of_the_terminal(
    variable: str, title: str
) -> None:
    sent = notification(title, "c", {variable: "iTerm2"})
    assert sent.startswith("\x1b]9;Session ")
    assert sent.endswith(": c\x07")


async def test_a_user_who_looks_elsewhere_is_told_once_and_in_the_manner_they_chose(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    said = tmp_path / "said.json"
    code = f"import sys; open({str(said)!r}, 'a').write(sys.stdin.read())"
    sent: list[str] = []

    def write(app: object, text: str) -> None:
        if "]99;" in text:
            sent.append(text)

    monkeypatch.setattr(attention.guard, "write", write)
    monkeypatch.setenv("KITTY_WINDOW_ID", "1")
    monkeypatch.delenv("TMUX", raising=False)
    async with running() as drive:
        preferences = drive.app.preferences
        preferences._data["notify_command"] = [sys.executable, "-c", code]
        await drive.push(ASKED)
        assert sent == [] and not said.exists()
        drive.app.app_focus = False
        await drive.push(ASKED)
        assert len(sent) == 1 and "bash wants to run a command" in sent[0]
        await drive.app.workers.wait_for_complete()
        told = json.loads(said.read_text())
        assert (told["kind"], told["text"]) == ("decision", "bash wants to run a command")
        await drive.app.run_by_id("app.notify", "off")
        await drive.app.workers.wait_for_complete()
        await drive.push(ASKED)
        assert len(sent) == 1
        await drive.app.workers.wait_for_complete()
        assert Preferences(preferences.path).notify == "off"


async def test_a_command_that_does_not_work_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "No such file" in await run_command(["/nowhere/at/all"], {})
    assert "ended with 3" in await run_command([sys.executable, "-c", "exit(3)"], {})
    monkeypatch.setattr(notifying, "_PATIENCE", 0.01)
    slow = [sys.executable, "-c", "import time; time.sleep(60)"]
    assert "more than 0.01 s" in await run_command(slow, {})


async def test_a_command_goes_with_the_program(tmp_path: Path) -> None:
    begun = tmp_path / "begun"
    code = f"import os, time; os.symlink(str(os.getpid()), {str(begun)!r}); time.sleep(60)"
    running = asyncio.create_task(run_command([sys.executable, "-c", code], {}))
    async with within(20):
        while not begun.is_symlink():
            await asyncio.sleep(0.02)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    with pytest.raises(ProcessLookupError):
        os.kill(int(os.readlink(begun)), 0)
