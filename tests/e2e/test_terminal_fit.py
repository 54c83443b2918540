"""How the program fits itself to the terminal it is started in."""

import re

import pytest

from tests.e2e.acting import quit_program, ready
from tests.e2e.machine import Machine

PAPER = b"48;2;250;249;246"
INK = b"48;2;18;20;28"
GREY = rb"[34]8;2;(\d+);\1;\1(?!\d)"
# Whole: what has come so far may end in the middle of one.
HUE = rb"[34]8;2;(?!(\d+);\1;\1(?!\d))\d+;\d+;\d+[;m]"


def test_the_colours_follow_a_light_terminal_and_no_answer_reaches_the_prompt(
    machine: Machine,
) -> None:
    terminal = machine.start("--demo")
    terminal.answers[b"\x1b]11;?\x07"] = b"\x1b]11;rgb:fafa/fafa/fafa\x1b\\"
    terminal.answers[b"\x1b[?2031$p"] = b"\x1b[?2031;2$y"
    ready(terminal, "demo")
    terminal.wait_until(lambda: PAPER in terminal.raw, "the light theme")
    terminal.wait_until(lambda: b"\x1b[?2031h" in terminal.raw, "reports to be asked for")
    at = len(terminal.raw)
    terminal.write(b"\x1b[?997;1n")
    terminal.wait_until(lambda: INK in terminal.raw[at:], "the dark theme")
    # The prompt shows what it shows while it is empty.
    quit_program(terminal)


def test_modes_are_switched_on_as_the_terminal_has_them_and_off_at_the_end(
    machine: Machine,
) -> None:
    terminal = machine.start("--demo", env={"TMUX": "/nowhere/at/all,1,0"})
    ready(terminal, "demo")
    for sequence in (
        b"\x1b[?2026h",
        b"\x1b[>25u",
        b"\x1b[>4;1m",
        b"\x1bPtmux;\x1b\x1b]11;?\x07\x1b\\",
    ):
        assert sequence in terminal.raw, sequence
    # As tmux sends shift+enter to who asked for it.
    terminal.type("one")
    terminal.write(b"\x1b[13;2u")
    terminal.type("two")
    terminal.wait_for(re.compile(r"› one\n\W*two"))
    terminal.press("ctrl+c")
    terminal.wait_gone("one")
    quit_program(terminal)
    assert terminal.raw.rindex(b"\x1b[>4m") > terminal.raw.rindex(b"\x1b[>4;1m")
    # The terminal has not said that it reports other colours.
    assert b"\x1b[?2031h" not in terminal.raw


@pytest.mark.parametrize(
    ("env", "sent", "not_sent"),
    [
        ({"NO_COLOR": "1"}, GREY, HUE),
        ({"COLORTERM": ""}, rb"[34]8;5;", rb"[34]8;2;"),
        ({"COLORTERM": "", "TERM": "xterm"}, rb"[\[;](?:3|4|9|10)[0-7][;m]", rb"[34]8;[25];"),
    ],
    ids=["grey", "256", "16"],
)
def test_no_colour_is_sent_that_the_terminal_or_the_user_does_not_take(
    machine: Machine, env: dict[str, str], sent: bytes, not_sent: bytes
) -> None:
    terminal = machine.start("--demo", env=env)
    ready(terminal, "demo")
    assert re.search(sent, terminal.raw)
    assert not (found := re.search(not_sent, terminal.raw)), terminal.raw[found.start() :][:40]
