import re

import pytest

from tests.e2e.acting import READY, ask, quit_program, ready
from tests.e2e.machine import Machine, text_of
from tests.e2e.vendors import KINDS, Kind, lead_to
from tests.servers import Gate, LoopbackServer, Reply, Text, reply

PACE = 0.1
LONG = [f"word-{number} " for number in range(200)]
"""Twenty seconds at `PACE`."""


@pytest.mark.parametrize("kind", KINDS)
def test_words_are_on_the_screen_while_the_server_is_still_sending(
    machine: Machine, kind: Kind
) -> None:
    gate = Gate("rest")
    with LoopbackServer(
        [reply(Text(["The first ", "words", gate, " and ", "the last."]))]
    ) as server:
        lead_to(server, machine, kind)
        terminal = machine.start("--bundle", "work")
        ready(terminal, "work")
        ask(terminal, "tell me")
        terminal.wait_for("The first words")
        terminal.watch(0.5)
        assert terminal.shows("The first words")
        assert not terminal.shows("the last.")
        assert not server.requests[0].answered.is_set()
        gate.open()
        terminal.wait_for("The first words and the last.")
        terminal.wait_for(READY)
        quit_program(terminal)


def test_escape_is_acknowledged_and_the_second_one_ends_the_stream(machine: Machine) -> None:
    replies = [Reply([Text(LONG)], pace=PACE), "All is well again."]
    with LoopbackServer(replies) as server:
        lead_to(server, machine, "anthropic")
        terminal = machine.start("--bundle", "work")
        ready(terminal, "work")
        ask(terminal, "talk for long")
        terminal.wait_for("word-3")

        terminal.press("escape")
        terminal.wait_for("Stopping after this step")
        stream = server.requests[0]
        assert not stream.disconnected.is_set()

        terminal.press("escape")
        terminal.wait_until(stream.disconnected.is_set, "the server to lose its client")
        terminal.wait_for(READY)

        assert not stream.answered.is_set()
        assert terminal.shows("word-3")
        terminal.wait_for(re.compile("stopped|interrupted"))
        ask(terminal, "and now?")
        terminal.wait_for("All is well again.")
        terminal.wait_for(READY)
        quit_program(terminal)
    (session,) = machine.sessions
    partial = machine.transcript(session)[1]
    assert "word-3" in text_of(partial)
    assert "word-199" not in text_of(partial)
    assert partial["metadata"]["interrupted"] is True
