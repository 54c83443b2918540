import json

from tests.e2e.acting import GRACE, READY, ask, quit_program, ready
from tests.e2e.machine import Machine, text_of
from tests.e2e.terminal import Terminal
from tests.e2e.vendors import lead_to
from tests.servers import LoopbackServer

NOTE = "the deploy key lives in the blue vault"
SUMMARY = "They talked about keys and vaults, and agreed on blue."

AT_LENGTH = "This answer takes its time. " * 20


def _turn(terminal: Terminal, prompt: str, answer: str) -> None:
    ask(terminal, prompt)
    terminal.wait_for(answer)
    terminal.wait_for(READY)


def test_a_note_is_recalled_a_summary_replaces_the_past_and_a_fork_goes_its_own_way(
    machine: Machine,
) -> None:
    said = [
        f"{AT_LENGTH} In the vault.",
        f"{AT_LENGTH} Blue it is.",
        f"{AT_LENGTH} That is all.",
        SUMMARY,
        "After it.",
        "In the fork.",
    ]
    with LoopbackServer(said) as server:
        lead_to(server, machine, "anthropic")
        terminal = machine.start("--bundle", "coding", columns=120, rows=36)
        ready(terminal, "coding")
        ask(terminal, f"/remember {NOTE}")
        terminal.wait_for("Remembered")

        _turn(terminal, "where is the deploy key?", "In the vault.")
        assert NOTE in json.dumps(server.requests[0].json)
        _turn(terminal, "and its colour?", "Blue it is.")
        _turn(terminal, "what else?", "That is all.")

        terminal.press("ctrl+x", "c")
        terminal.wait_for("Compact the conversation")
        terminal.wait_for("Summary by")
        terminal.watch(GRACE)
        terminal.press("s")
        terminal.wait_for("in a summary")
        terminal.wait_for(READY)
        stored = machine.transcript(machine.sessions[0])
        assert any("In the vault." in text_of(row) for row in stored)

        _turn(terminal, "go on", "After it.")
        sent = json.dumps(server.requests[4].json)
        assert SUMMARY in sent
        assert "In the vault." not in sent

        terminal.press("ctrl+x", "f")
        terminal.wait_for("Forked.")
        _turn(terminal, "another way", "In the fork.")
        assert SUMMARY in json.dumps(server.requests[5].json)
        quit_program(terminal)

    first, second = ([text_of(row) for row in machine.transcript(s)] for s in machine.sessions)
    assert second[: len(first)] == first
    assert second[len(first) :] == ["another way", "In the fork."]

    terminal = machine.start("--resume")
    ready(terminal, "coding")
    terminal.wait_for("In the fork.")
    quit_program(terminal)
