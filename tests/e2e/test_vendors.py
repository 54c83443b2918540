from typing import Any

import pytest

from tests.e2e.acting import (
    READY,
    ask,
    decide,
    deny_with_reason,
    quit_program,
    ready,
    switch_bundle,
)
from tests.e2e.machine import Machine, text_of
from tests.e2e.vendors import KINDS, Kind, lead_to
from tests.servers import LoopbackServer, Reply, Script, Text, Thinking, ToolUse, Usage, reply
from tests.servers.asked import last_tool_result, last_user, system_text

FIRST: dict[Kind, str] = {"anthropic": "coding", "responses": "work", "chat": "local"}
"""Shipped bundles where variables lead them to the server, else one of the project."""
PRICES = "def price(weight):\n    return 4 if weight < 2 else 6\n"


def _call(words: str, name: str, **arguments: Any) -> Reply:
    return reply(words, ToolUse(name, arguments), usage=Usage(900, 40))


def _after_denial(request: dict[str, Any]) -> Reply:
    return reply(Thinking("Denied, then."), Text(f"I was told: {last_tool_result(request)}"))


def _second_turn(request: dict[str, Any]) -> str:
    return f"{system_text(request).split('.')[0]}: {last_user(request)}"


@pytest.mark.parametrize("kind", KINDS)
def test_the_whole_journey_runs_through_the_vendors_own_sdk(machine: Machine, kind: Kind) -> None:
    prices = machine.file("prices.py", PRICES)
    script = Script(
        [
            _call("I read it first.", "read_file", file_path="prices.py"),
            _call(
                "One sign is missing.",
                "edit_file",
                file_path="prices.py",
                old_string="weight < 2",
                new_string="weight <= 2",
            ),
            _call("Now a check.", "bash", command="python3 -c 'import prices'"),
            _after_denial,
            _second_turn,
        ]
    )
    with LoopbackServer(script) as server:
        lead_to(server, machine, kind)
        lead_to(server, machine, kind, "review", instruction="You review.")
        terminal = machine.start("--bundle", FIRST[kind])
        ready(terminal, FIRST[kind])
        ask(terminal, "Fix the price of 2 kg")

        decide(terminal, "edit_file wants to change prices.py", "a")
        terminal.wait_until(lambda: "weight <= 2" in prices.read_text(), "the edit")
        deny_with_reason(terminal, "bash wants to run a command", "not on this machine")
        terminal.wait_for("not on this machine")
        terminal.wait_for("I was told:")
        terminal.wait_for(READY)

        switch_bundle(terminal, "review")
        ask(terminal, "and is it right?")
        terminal.wait_for("You review: and is it right?")
        terminal.wait_for(READY)
        printed = quit_program(terminal)

    assert [record.api for record in server.requests] == [kind] * 5
    assert "weight < 2" in last_tool_result(server.requests[1].json)
    assert "not on this machine" in last_tool_result(server.requests[3].json)
    assert "You review: and is it right?" in printed
    assert "-m amplifier_tui --resume" in printed
    first, second = machine.sessions
    assert "I was told:" in text_of(machine.transcript(first)[-1])
    assert "You review: and is it right?" in text_of(machine.transcript(second)[-1])
