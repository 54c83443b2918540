import re
import signal
from pathlib import Path

import pytest

from tests.e2e.acting import DIALOG_KEYS, READY, RUNNING, ask, decide, quit_program, ready
from tests.e2e.machine import Machine, text_of
from tests.e2e.terminal import PATIENCE, Terminal
from tests.e2e.vendors import lead_to
from tests.servers import Gate, LoopbackServer, Reply, Stall, Text, ToolUse, reply
from tests.servers.asked import last_user


def fits(terminal: Terminal) -> bool:
    """Say whether the status bar is on the last row and the prompt above it."""
    return terminal.lines[-1].lstrip().startswith("▸ ") and any(
        "›" in row for row in terminal.lines[-5:]
    )


def test_a_window_resized_while_an_answer_streams_shows_all_of_it(machine: Machine) -> None:
    sizes = [(60, 18), (200, 50), (80, 24), (120, 36)]
    gates = [Gate(f"size {number}") for number in range(len(sizes))]
    chunks: list[str | Gate] = []
    for number, gate in enumerate(gates):
        chunks += [f"Paragraph {number} ", "of some words. " * 12, f"end-{number}\n\n", gate]
    with LoopbackServer([reply(Text([*chunks, "All is said."]))]) as server:
        lead_to(server, machine, "chat")
        terminal = machine.start("--bundle", "work")
        ready(terminal, "work")
        ask(terminal, "talk")
        for number, (gate, size) in enumerate(zip(gates, sizes, strict=True)):
            terminal.wait_for(f"end-{number}")
            terminal.resize(*size)
            terminal.wait_for(fits)
            terminal.wait_for(f"end-{number}")
            gate.open()
        terminal.wait_for("All is said.")
        terminal.wait_for(READY)
        for number in range(len(sizes)):
            assert terminal.shows(f"end-{number}")
        assert terminal.shows("Modules")
        quit_program(terminal)


def test_a_small_window_has_room_for_a_whole_journey(machine: Machine) -> None:
    notes = machine.file("notes.txt", "old\n")
    replies = [
        reply(
            "I change it.",
            ToolUse(
                "edit_file",
                {"file_path": "notes.txt", "old_string": "old", "new_string": "new"},
            ),
        ),
        "\n\n".join([*(f"Line {number}." for number in range(40)), "It is changed."]),
    ]
    with LoopbackServer(replies) as server:
        lead_to(server, machine, "chat")
        terminal = machine.start("--bundle", "work", columns=60, rows=18)
        ready(terminal, "work")
        ask(terminal, "change it")
        terminal.wait_for("edit_file wants to change")
        terminal.wait_for(DIALOG_KEYS)
        terminal.wait_for(re.compile(r"^█? +1 \+ +new|\+ ?new", re.MULTILINE))
        decide(terminal, "edit_file wants to change", "a")
        terminal.wait_for("It is changed.")
        terminal.press("f2")
        terminal.wait_for("tool-filesystem")
        terminal.press("f2")
        terminal.wait_for("It is changed.")
        printed = quit_program(terminal)
    # With the shell's own line below.
    assert "lines more in the session" in printed and len(printed.splitlines()) < 18
    assert notes.read_text() == "new\n"


def test_two_thousand_pasted_lines_are_one_chip_and_arrive_whole(machine: Machine) -> None:
    pasted = "\n".join(f"line {number} \x1b[31mred\x1b[0m [bold] 漢字" for number in range(2000))
    with LoopbackServer([lambda request: f"You sent {len(last_user(request))}."]) as server:
        lead_to(server, machine, "chat")
        terminal = machine.start("--bundle", "work")
        ready(terminal, "work")
        terminal.type("look: ")
        terminal.paste(pasted)
        terminal.wait_for(re.compile(r"look: .*2,?000 lines"))
        terminal.press("enter")
        terminal.wait_for("You sent")
        terminal.wait_for(READY)
        quit_program(terminal)
    expected = pasted.replace("\x1b[31m", "").replace("\x1b[0m", "")
    assert last_user(server.requests[0].json) == f"look: {expected}"
    (session,) = machine.sessions
    assert text_of(machine.transcript(session)[0]) == f"look: {expected}"


def test_a_paste_cannot_answer_a_dialog(machine: Machine) -> None:
    call = ToolUse("bash", {"command": "touch pasted"})
    with LoopbackServer([reply("I run.", call), "Denied."]) as server:
        lead_to(server, machine, "chat")
        terminal = machine.start("--bundle", "work")
        ready(terminal, "work")
        ask(terminal, "run it")
        terminal.wait_for("bash wants to run a command")
        terminal.wait_for(DIALOG_KEYS)
        terminal.watch(1)
        terminal.paste("a\x1baaaa\r\x1b[Aa")
        terminal.watch(1)
        assert terminal.shows("bash wants to run a command")
        terminal.wait_for("› aaaa")
        decide(terminal, "bash wants to run a command", "d")
        terminal.wait_for("Denied.")
        terminal.press("ctrl+c")  # clears what was pasted
        terminal.wait_gone("› aaaa")
        quit_program(terminal)
    assert not (machine.project / "pasted").exists()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_in_mid_turn_ends_in_order(machine: Machine, number: signal.Signals) -> None:
    with LoopbackServer([reply(Text(["Half an ", "answer", Stall()]))]) as server:
        lead_to(server, machine, "chat")
        terminal = machine.start("--bundle", "work")
        ready(terminal, "work")
        ask(terminal, "begin")
        terminal.wait_for("Half an answer")
        terminal.signal(number)
        terminal.wait_end()
        terminal.assert_restored()
        server.requests[0].disconnected.wait_blocking()
    assert f"Ended by {number.name}." in terminal.printed
    assert "-m amplifier_tui --resume" in terminal.printed
    (session,) = machine.sessions
    assert [text_of(row) for row in machine.transcript(session)] == ["begin", "Half an answer"]


def test_a_terminal_that_is_gone_ends_the_program_in_order_where_no_signal_says_so(
    machine: Machine,
) -> None:
    with LoopbackServer([reply(Text(["Half an ", "answer", Stall()]))]) as server:
        lead_to(server, machine, "chat")
        # Only the leader of a session is told that its terminal is gone.
        script = ("sh", "-c", "trap '' HUP; \"$@\"; exit $?", "script")
        terminal = machine.start("--bundle", "work", through=script)
        ready(terminal, "work")
        ask(terminal, "begin")
        terminal.wait_for("Half an answer")
        terminal.hang_up()
        terminal.reap(PATIENCE)
        server.requests[0].disconnected.wait_blocking()
    (session,) = machine.sessions
    assert [text_of(row) for row in machine.transcript(session)] == ["begin", "Half an answer"]


def test_a_signal_ends_the_program_however_often_it_was_told_to_go_on(machine: Machine) -> None:
    terminal = machine.start("--demo")
    ready(terminal, "demo")
    for _ in range(50):
        terminal.signal(signal.SIGCONT)
        terminal.read(0.01)
    terminal.signal(signal.SIGTERM)
    terminal.wait_end()
    terminal.assert_restored()
    assert "Ended by SIGTERM." in terminal.printed


def test_ctrl_c_stops_the_turn_and_quits_only_at_rest(machine: Machine) -> None:
    with LoopbackServer([Reply([Text(["Half an ", "answer", Stall()])])]) as server:
        lead_to(server, machine, "chat")
        terminal = machine.start("--bundle", "work")
        ready(terminal, "work")
        ask(terminal, "begin")
        terminal.wait_for("Half an answer")
        terminal.wait_for(RUNNING)
        terminal.press("ctrl+c")
        terminal.wait_for("Stopping after this step")
        terminal.press("ctrl+c")
        terminal.wait_for("partial answer kept")
        terminal.wait_for(READY)
        printed = quit_program(terminal)
    assert "Half an answer" in printed


def test_leaving_by_command_closes_in_order(machine: Machine) -> None:
    terminal = machine.start("--demo")
    ready(terminal, "demo")
    terminal.type("/quit")
    terminal.press("enter")
    assert terminal.wait_end() == 0
    terminal.assert_restored()
    assert terminal.printed == ""


def test_all_of_the_screen_is_drawn_again_when_the_shell_brings_it_back(machine: Machine) -> None:
    with LoopbackServer(["Hello."]) as server:
        lead_to(server, machine, "chat")
        terminal = machine.start("--bundle", "work")
        ready(terminal, "work")
        terminal.type("/suspend")
        terminal.wait_for("Suspend to the shell")
        terminal.press("enter")
        terminal.wait_until(lambda: _is_stopped(terminal.pid), "the program to stop")
        # The shell's screen: what was drawn is gone.
        terminal.took(b"\x1b[2J")
        terminal.signal(signal.SIGCONT)
        terminal.wait_for(fits)
        quit_program(terminal)


def test_all_of_the_screen_is_drawn_again_after_the_program_was_stopped_from_outside(
    machine: Machine,
) -> None:
    with LoopbackServer(["Hello."]) as server:
        lead_to(server, machine, "chat")
        terminal = machine.start("--bundle", "work")
        ready(terminal, "work")
        terminal.signal(signal.SIGSTOP)
        terminal.wait_until(lambda: _is_stopped(terminal.pid), "the program to stop")
        terminal.took(b"\x1b[2J")
        terminal.signal(signal.SIGCONT)
        terminal.wait_for(fits)
        ask(terminal, "still there")
        terminal.wait_for("Hello.")
        quit_program(terminal)


def _is_stopped(pid: int) -> bool:
    stat = Path(f"/proc/{pid}/stat").read_text()
    return stat.rpartition(")")[2].split()[0] == "T"
