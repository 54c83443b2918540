"""Whether shift+enter arrives: what the terminal answers, and who is told which key does."""

from pathlib import Path

import pytest
from textual import events
from textual.message import Message

from amplifier_tui.ui.app.preferences import Preferences
from amplifier_tui.ui.terminal.input import GuardedParser
from amplifier_tui.ui.terminal.shift_enter import KeysTold, terminal_name
from tests.ui.driving import Driver, running

HINT = "New line: ctrl+j. shift+enter may send."


@pytest.fixture(autouse=True)
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("STY", "TMUX", "LC_TERMINAL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM_PROGRAM", "Plain")


@pytest.mark.parametrize(
    ("answer", "apart"),
    [
        ("\x1b[?25u\x1b[0n", [True, False]),
        ("\x1b[?0u\x1b[0n", [False, False]),
        ("\x1b[0n", [False]),
        ("\x1b[?62;4c", []),
        ("\x1b[13;2u", []),
    ],
)
def test_an_answer_about_keys_is_taken_for_one_and_presses_none(
    answer: str, apart: list[bool]
) -> None:
    parser = GuardedParser()
    found: list[Message] = [*parser.feed(answer[:2]), *parser.feed(answer[2:])]
    assert [event.apart for event in found if isinstance(event, KeysTold)] == apart
    if apart:
        assert not any(isinstance(event, events.Key) for event in found)


@pytest.mark.parametrize(
    ("environ", "name"),
    [
        ({"TERM": "xterm", "TERM_PROGRAM": "WezTerm"}, "WezTerm"),
        ({"TERM": "tmux-256color", "TERM_PROGRAM": "tmux", "TMUX": "x"}, "tmux"),
        ({"TERM": "screen", "STY": "1.tty"}, "screen"),
        ({"TERM": "xterm"}, "xterm"),
        ({}, ""),
    ],
)
def test_a_terminal_is_known_by_what_stands_nearest(environ: dict[str, str], name: str) -> None:
    assert terminal_name(environ) == name


async def test_who_sends_a_line_where_shift_enter_is_enter_is_told_once_in_each_terminal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with running() as drive:
        await _answered(drive, False)
        await _sent(drive, "/motion")
        assert HINT not in _said(drive)
        await _sent(drive, "one")
        await drive.until(lambda: Preferences().was_told_of_newlines("Plain"))
        await _sent(drive, "two")
        assert _said(drive).count(HINT) == 1
    async with running() as drive:
        await _answered(drive, False)
        await _sent(drive, "three")
        assert HINT not in _said(drive)
    monkeypatch.setenv("TERM_PROGRAM", "Other")
    async with running() as drive:
        await _answered(drive, False)
        await _sent(drive, "four")
        await drive.until(lambda: HINT in _said(drive))


async def test_nothing_is_said_where_the_key_arrives_or_nothing_is_known_of_it() -> None:
    async with running() as drive:
        await _sent(drive, "one")
        await _answered(drive, True, False)
        await _sent(drive, "two")
        assert HINT not in _said(drive)
    assert not Preferences().was_told_of_newlines("Plain")


@pytest.mark.parametrize("value", ["on", "off"])
async def test_inside_tmux_its_option_decides(
    value: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "bin" / "tmux"
    script.parent.mkdir()
    script.write_text(f'#!/bin/sh\necho asked >>"$0.log"\necho {value}\n')
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{script.parent}:/bin:/usr/bin")
    monkeypatch.setenv("TMUX", "/nowhere,1,0")
    async with running() as drive:
        await _answered(drive, False)
        await _sent(drive, "one")
        await drive.until(script.with_suffix(".log").exists)
        await drive.until(lambda: value == "on" or HINT in _said(drive))
        assert (HINT in _said(drive)) is (value == "off")


async def _answered(drive: Driver, *answers: bool) -> None:
    for apart in answers:
        drive.app.post_message(KeysTold(apart))
    await drive.settle()


async def _sent(drive: Driver, text: str) -> None:
    await drive.write(text)
    await drive.press("escape", "enter") if text.startswith("/") else await drive.press("enter")


def _said(drive: Driver) -> list[str]:
    assert drive.app.state is not None
    return [shown.notice.text for shown in drive.app.state.notices.history]
