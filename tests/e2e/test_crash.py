import signal

from tests.e2e.acting import READY, ask, decide, quit_program, ready
from tests.e2e.machine import Machine, text_of
from tests.e2e.vendors import lead_to
from tests.servers import Gate, LoopbackServer, Text, ToolUse, reply


def test_what_was_on_the_screen_before_a_kill_is_there_after_it(machine: Machine) -> None:
    machine.file("notes.txt", "the cellar is dry\n")
    never = Gate("never")
    replies = [
        "The first answer.",
        reply("I look.", ToolUse("read_file", {"file_path": "notes.txt"}, id="call_read")),
        reply(
            "And I run.", ToolUse("bash", {"command": "touch ran && echo ran here"}, id="call_bash")
        ),
        reply(Text(["Half of ", "a sentence", never, " that never ends."])),
        "The answer afterwards.",
    ]
    with LoopbackServer(replies) as server:
        lead_to(server, machine, "chat")
        terminal = machine.start("--bundle", "work")
        ready(terminal, "work")
        ask(terminal, "the first prompt")
        terminal.wait_for("The first answer.")
        terminal.wait_for(READY)
        ask(terminal, "the second prompt")
        decide(terminal, "bash wants to run 2 commands", "a")
        terminal.wait_for("Half of a sentence")
        terminal.signal(signal.SIGKILL)
        assert terminal.wait_end() == -signal.SIGKILL

        (session,) = machine.sessions
        rows = machine.transcript(session)
        assert [row["role"] for row in rows] == [
            "user", "assistant", "user", "assistant", "tool", "assistant", "tool",
        ]  # fmt: skip
        said = [text_of(row) for row in rows]
        for words in ("the first prompt", "The first answer.", "the second prompt", "I look."):
            assert words in said
        assert "the cellar is dry" in said[4]
        assert "ran here" in said[6]

        terminal = machine.start("--resume", columns=120, rows=50)
        ready(terminal, "work")
        for words in (
            "the first prompt",
            "The first answer.",
            "the second prompt",
            "I look.",
            "notes.txt",
            "And I run.",
            "touch ran && echo ran here",
            "Half of a sentence",
        ):
            terminal.wait_for(words)
        ask(terminal, "go on")
        terminal.wait_for("The answer afterwards.")
        terminal.wait_for(READY)
        quit_program(terminal)

    assert machine.sessions == [session]
    stored = [text_of(row) for row in machine.transcript(session)]
    assert "Half of a sentence" in stored[7]
    assert stored[-2:] == ["go on", "The answer afterwards."]
    assert "Half of a sentence" in str(server.requests[-1].json)


def test_a_fault_of_the_program_itself_is_said_where_the_screen_was(machine: Machine) -> None:
    lost = "import sys\nsys.modules['amplifier_tui.ui.session.tabs.tabs'] = None\n"
    folder = machine.file("start/sitecustomize.py", lost).parent
    terminal = machine.start("--demo", env={"PYTHONPATH": str(folder)})
    assert terminal.wait_end() == 1
    assert "because of a fault of its own (ModuleNotFoundError)" in terminal.printed
    assert "Report: " in terminal.printed
    terminal.assert_restored()
