"""The line mode in a real terminal: a change is allowed by number, and the session resumed."""

import re

from tests.e2e.acting import GRACE
from tests.e2e.machine import Machine
from tests.e2e.vendors import lead_to
from tests.servers import LoopbackServer, ToolUse, reply


def test_a_journey_in_lines_on_a_dumb_terminal(machine: Machine) -> None:
    notes = machine.file("notes.txt", "old\n")
    change = {"file_path": "notes.txt", "old_string": "old", "new_string": "new"}
    replies = [reply("I change it.", ToolUse("edit_file", change)), "It is changed ✓."]
    env = {"TERM": "dumb", "LC_ALL": "C", "PYTHONIOENCODING": "ascii"}
    with LoopbackServer(replies) as server:
        lead_to(server, machine, "chat")
        terminal = machine.start("--bundle", "work", env=env)
        terminal.wait_for("Bundle work")
        terminal.type("change it\n")
        terminal.wait_for("A number:")
        terminal.watch(GRACE)
        terminal.type("1\n")
        terminal.wait_for(re.compile(r"^It is changed \?\.\n>", re.MULTILINE))
        assert notes.read_text() == "new\n"
        terminal.press("ctrl+c")
        terminal.wait_for("The same again ends the program.")
        terminal.press("ctrl+c")
        assert terminal.wait_end() == 0
    shown = terminal.raw.decode()
    assert "| -old\r\n| +new\r\n" in shown and "Tool edit_file notes.txt: " in shown
    assert "\x1b" not in shown
    terminal.assert_restored()
    (again,) = re.findall(r"amplifier_tui (--resume \S+ --plain)", shown)
    terminal = machine.start(*again.split())
    terminal.wait_for("You wrote: change it")
    terminal.wait_for("The answer was: It is changed ✓.")
    terminal.type("/quit\n")
    assert terminal.wait_end() == 0
