import base64
import sys
from pathlib import Path

import pytest

from amplifier_tui.ui.terminal.clipboard import handed_on, native_command
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


async def test_a_copy_that_terminals_may_cut_and_one_that_is_no_utf_8_are_said() -> None:
    async with running() as drive:
        drive.app.copy("x\ud800", "answer")
        await drive.settle()
        assert "Copied the answer, 2 characters." in drive.text()
        drive.app.copy("x" * 80_000, "answer")
        await drive.settle()
        assert "Copied the answer, 80,000 characters. Many terminals take no more" in drive.text()
