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
from tests.e2e.machine import Machine

SEQUEL = """---
bundle:
  name: sequel
  version: 1.0.0
  description: What comes after.

session:
  orchestrator: {module: loop-streaming}
  context: {module: context-simple}

providers:
  - module: provider-mock
    config: {script: .amplifier/sequel.yaml}
---

You go on.
"""
SCRIPT = """name: Goes on
scenarios:
  - name: on
    steps:
      only:
        say: "In the sequel you said: {{prompt}}."
"""


@pytest.mark.parametrize(("columns", "rows"), [(80, 24), (120, 36)])
def test_the_demo_is_a_whole_session_with_approvals_and_a_switch_of_bundles(
    machine: Machine, columns: int, rows: int
) -> None:
    machine.bundle("sequel", SEQUEL)
    machine.file(".amplifier/sequel.yaml", SCRIPT)
    terminal = machine.start("--demo", columns=columns, rows=rows)
    ready(terminal, "demo")

    ask(terminal, "Why does a parcel of exactly 2 kg cost too much?")
    terminal.wait_for("edit_file wants to change parcels/rates.py")
    (rates,) = machine.home.glob(".local/state/**/demo-project/parcels/rates.py")
    assert "weight < bracket.limit" in rates.read_text()
    decide(terminal, "edit_file wants to change", "e")
    terminal.wait_for("Judge it anew")
    terminal.press("ctrl+o")
    decide(terminal, "edit_file wants to change", "a")
    terminal.wait_until(lambda: "weight <= bracket.limit" in rates.read_text(), "the edit")

    deny_with_reason(terminal, "bash wants to run a command", "no tests on Fridays")
    terminal.wait_for("You denied them: “no tests on Fridays”")
    terminal.wait_for(READY)

    switch_bundle(terminal, "sequel")
    ask(terminal, "and now?")
    terminal.wait_for("In the sequel you said: and now?.")
    terminal.wait_for(READY)

    printed = quit_program(terminal)
    assert "In the sequel you said: and now?." in printed
    assert "-m amplifier_tui --resume" in printed
