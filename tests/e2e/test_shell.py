"""The user's own commands in a real terminal."""

import signal

from tests.e2e.acting import READY, quit_program, ready
from tests.e2e.machine import Machine

EDITOR = """\
#!/bin/sh
trap '' INT
stty -echo -icanon min 1
printf '\\033[?1049h\\033[2J\\033[Hediting %s in %s' "$1" "$(basename "$PWD")"
key=$(dd bs=1 count=1 2>/dev/null)
printf '\\033[?1049l'
echo "wrote $key" > "$1"
"""


def test_a_full_screen_program_gets_the_terminal_and_gives_it_back(machine: Machine) -> None:
    editor = machine.file("bin/vim", EDITOR)
    editor.chmod(0o755)
    path = f"{editor.parent}:{machine.env['PATH']}"
    terminal = machine.start("--demo", env={"PATH": path, "SHELL": "/bin/bash"})
    ready(terminal, "demo")
    terminal.type("!vim notes.txt")
    terminal.wait_for("shell: runs as you, not asked")
    terminal.press("enter")
    terminal.wait_for("editing notes.txt in demo-project")
    # It belongs to the program now, which takes no notice of it.
    terminal.press("ctrl+c")
    terminal.type("x")
    terminal.wait_for("in the terminal")
    terminal.wait_for(READY)
    (notes,) = machine.home.glob(".local/state/**/demo-project/notes.txt")
    assert notes.read_text() == "wrote x\n"

    # What only asks leaves its last words until they have been read.
    terminal.type("/terminal read -p who'?' name; echo hello $name")
    terminal.wait_for("hello $name")
    terminal.press("enter")
    terminal.wait_for("who?")
    terminal.type("you\n")
    terminal.wait_for("hello you")
    terminal.press("enter")
    terminal.wait_for(READY)

    # The program can be ended while another has its terminal.
    terminal.type("!vim notes.txt")
    terminal.press("enter")
    terminal.wait_for("editing notes.txt in demo-project")
    terminal.signal(signal.SIGTERM)
    terminal.wait_end()
    terminal.assert_restored()


def test_an_editor_that_fails_gives_the_terminal_back_and_leaves_the_draft(
    machine: Machine,
) -> None:
    terminal = machine.start("--demo", env={"EDITOR": "false", "VISUAL": ""})
    ready(terminal, "demo")
    terminal.type("my draft")
    terminal.press("ctrl+g")
    terminal.wait_for("false ended with status 1. The draft is unchanged.")
    terminal.type(" goes on")
    terminal.wait_for("my draft goes on")
    terminal.press("ctrl+u")
    quit_program(terminal)
