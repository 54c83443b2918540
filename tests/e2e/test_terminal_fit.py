"""How the program fits itself to the terminal it is started in."""

from tests.e2e.acting import quit_program, ready
from tests.e2e.machine import Machine

PAPER = b"48;2;250;249;246"
INK = b"48;2;18;20;28"


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
