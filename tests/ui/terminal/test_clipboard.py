import base64
import sys
from pathlib import Path

import pytest

from amplifier_tui.ui.app.session_app import SessionApp
from amplifier_tui.ui.terminal.clipboard import copy_to_tmux, handed_on, native_command
from tests.ui.driving import running


def test_a_copy_goes_through_tmux_and_to_the_desktop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert handed_on("hé", {"TMUX": "x"}) == "\x1bPtmux;\x1b\x1b]52;c;aMOp\x07\x1b\\"
    assert handed_on("hé", {}) == ""
    parts = handed_on("word " * 1_000, {"STY": "1.tty"}).split("\x1b\\")
    assert all(part.startswith("\x1bP") and len(part) < 768 for part in parts[:-1])
    whole = "".join(part.removeprefix("\x1bP") for part in parts)
    payload = whole.removeprefix("\x1b]52;c;").removesuffix("\x07")
    assert base64.b64decode(payload, validate=True) == b"word " * 1_000
    (tmp_path / "wl-copy").write_text("#!/bin/sh\n")
    (tmp_path / "wl-copy").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "platform", "linux")
    assert native_command({"WAYLAND_DISPLAY": "w"}) == ["wl-copy"]
    assert native_command({"DISPLAY": ":0"}) is None
    assert native_command({"WAYLAND_DISPLAY": "w", "SSH_CONNECTION": "x"}) is None


def tmux_that_takes(
    folder: Path, monkeypatch: pytest.MonkeyPatch, options: str, clipboard: str = "external"
) -> Path:
    """Put a tmux on the PATH that writes what it takes into the file that is returned."""
    taken = folder / "taken"
    script = f"""#!/bin/sh
[ "$1" = show-options ] && echo {clipboard} && exit
[ "$*" = "load-buffer {options}" ] || exit 1
/bin/cat > {taken}
"""
    (folder / "tmux").write_text(script)
    (folder / "tmux").chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))
    return taken


@pytest.mark.parametrize("options", ["-w -", "-"], ids=["tmux 3.2", "older"])
def test_a_copy_goes_to_tmux_itself_which_takes_none_from_programs(
    options: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = tmux_that_takes(tmp_path, monkeypatch, options)
    copy_to_tmux("hé\n" * 40_000)
    assert taken.read_text() == "hé\n" * 40_000


def test_a_tmux_that_takes_copies_from_programs_gets_no_second_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = tmux_that_takes(tmp_path, monkeypatch, "-w -", clipboard="on")
    copy_to_tmux("text")
    assert not taken.exists()


def test_a_tmux_that_is_not_there_hinders_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    copy_to_tmux("text")


async def test_what_is_copied_in_tmux_is_in_its_buffer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running() as drive:
        taken = tmux_that_takes(tmp_path, monkeypatch, "-w -")
        monkeypatch.setenv("TMUX", "/tmp/tmux,1,0")
        monkeypatch.setattr(SessionApp, "is_headless", False)
        drive.app.copy("copied", "answer")
        await drive.until(taken.exists)
        await drive.app.workers.wait_for_complete()
        assert taken.read_text() == "copied"


async def test_a_copy_that_terminals_may_cut_and_one_that_is_no_utf_8_are_said() -> None:
    async with running() as drive:
        drive.app.copy("x\ud800", "answer")
        await drive.settle()
        assert "Copied the answer, 2 characters." in drive.text()
        drive.app.copy("x" * 80_000, "answer")
        await drive.settle()
        assert "Copied the answer, 80,000 characters. Many terminals take no more" in drive.text()
