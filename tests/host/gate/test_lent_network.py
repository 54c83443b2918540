"""The network that a rule grants one command goes to no other of the line."""

from pathlib import Path

import pytest

from amplifier_tui.host.gate.gate import Gate, GateDecision
from amplifier_tui.host.gate.modes import Mode
from amplifier_tui.host.gate.rules.book import RuleBook
from amplifier_tui.host.gate.rules.text import parse_rule

RULES = ("bash(git fetch *)", "bash(python3 t.py)", "bash(git push *)")


def decided(line: str, folder: Path, mode: Mode = "ask", missing: str = "") -> GateDecision:
    book = RuleBook([parse_rule(rule, "allow") for rule in RULES])
    gate = Gate(folder, lambda: book, mode, sandbox=lambda: missing)
    return gate.decide("bash", {"command": line}, confines=True)


@pytest.mark.parametrize("mode", ["ask", "auto"])
@pytest.mark.parametrize(
    "line",
    ["git fetch origin; python3 t.py", "python3 t.py & git fetch origin"],
)
def test_a_line_of_which_a_part_does_not_need_it_is_asked_about(
    tmp_path: Path, line: str, mode: Mode
) -> None:
    decision = decided(line, tmp_path, mode)
    assert decision.verdict == "ask"
    assert decision.reason == (
        "the network that `git fetch origin` needs would be there for `python3 t.py` too"
    )


@pytest.mark.parametrize(
    "line",
    [
        "git fetch origin",
        "git fetch origin && ls",
        "git fetch origin 2>&1 | tail -3",
        "python3 t.py",
        "git fetch origin && git push origin main",
    ],
)
def test_a_line_goes_where_each_part_needs_it_or_only_reads(tmp_path: Path, line: str) -> None:
    decision = decided(line, tmp_path)
    assert (decision.verdict, decision.network) == ("allow", line != "python3 t.py")


def test_without_a_sandbox_every_command_has_it_anyhow(tmp_path: Path) -> None:
    assert decided("git fetch origin; python3 t.py", tmp_path, missing="none").verdict == "allow"
