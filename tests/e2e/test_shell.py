"""The user's own commands in a real terminal."""

import re
import signal

from tests.e2e.acting import READY, quit_program, ready
from tests.e2e.machine import Machine
from tests.e2e.screen import Sight

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


def test_ctrl_c_behind_a_command_goes_back_and_ends_nothing(machine: Machine) -> None:
    terminal = machine.start("--demo", env={"SHELL": "/bin/bash"})
    ready(terminal, "demo")

    def run(command: str, seen: Sight) -> None:
        terminal.type(f"/terminal {command}")
        terminal.wait_for(f"/terminal {command}")
        terminal.press("enter")
        terminal.wait_for(seen)

    run("echo hi", "[exit code 0] enter goes back")
    terminal.press("ctrl+c")
    terminal.wait_for(READY)

    # The command hears it before; a key of habit more may find it ended, or come behind it.
    # Nothing is started after the word: a shell may lose a signal that comes while it does that.
    run("echo begun; read line", re.compile(r"^begun\b", re.MULTILINE))
    terminal.press("ctrl+c")
    terminal.wait_for("[ended by signal 2 (SIGINT)] enter goes back")
    # Nor does a key that stops a program, or has it dump its memory.
    terminal.type("\x1a\x1c")
    terminal.press("enter")
    terminal.wait_for(READY)

    # It can be told to end while it waits.
    run("echo over", "[exit code 0] enter goes back")
    terminal.signal(signal.SIGTERM)
    terminal.wait_end()
    terminal.assert_restored()


def test_ctrl_c_from_outside_ends_nothing_while_another_has_the_terminal(machine: Machine) -> None:
    editor = machine.file("bin/editor", EDITOR)
    editor.chmod(0o755)
    terminal = machine.start("--demo", env={"EDITOR": str(editor), "VISUAL": ""})
    ready(terminal, "demo")
    terminal.press("ctrl+g")
    terminal.wait_for("editing")
    # As one that comes when the program has not taken the terminal yet, or has just ended.
    terminal.signal(signal.SIGINT)
    terminal.type("x")
    terminal.wait_for("wrote x")
    terminal.press("ctrl+u")
    quit_program(terminal)


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
