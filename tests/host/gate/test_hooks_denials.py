"""What a hook refuses is a decision like others: it is in the audit log, and its rule was used."""

from pathlib import Path

import pytest

from amplifier_tui.host.client import AuditCard, RuleCard
from amplifier_tui.host.events import ApprovalResolved, ToolEnded
from amplifier_tui.ui.dialogs.permissions.words import decided_by, rule_right
from tests.host.driving import Driver, Project, calling


def denied(
    project: Project, driver: Driver, hook: tuple[str, dict[str, object]], call: dict[str, object]
) -> tuple[AuditCard, tuple[RuleCard, ...]]:
    driver.open(
        project.bundle(hooks=(hook,), tools=("tool-test", "tool-bash"), script=calling(call))
    )
    driver.turn("go")
    (ended,) = driver.of(ToolEnded)
    assert ended.denied and ended.denied_by == hook[0]
    assert [event.outcome for event in driver.of(ApprovalResolved)] == ["denied"]
    (card,) = driver.client.audit().result(10)
    return card, driver.client.rules().result(10)


@pytest.mark.parametrize("rule", ["bash(rm:*)", "bash(rm *)", "bash"])
def test_a_call_that_a_bundles_rule_denies_is_a_use_of_that_rule(
    project: Project, driver: Driver, tmp_path: Path, rule: str
) -> None:
    hook = ("hooks-approval", {"deny": [rule, "bash(shred *)"]})
    card, rules = denied(project, driver, hook, {"bash": {"command": "rm -r build"}})
    assert (card.tool, card.outcome, card.by) == ("bash", "denied", "rule")
    assert card.arguments == {"command": "rm -r build"} and rule in card.reason
    used, other = [each for each in rules if each.owner == "bundle"]
    assert used.uses == 1 and card.rule == used.text and "1 use" in rule_right(used)
    assert (other.uses, rule_right(other)) == (0, "not used")


def test_a_call_that_another_hook_denies_is_in_the_audit_log_with_hook_and_reason(
    project: Project, driver: Driver
) -> None:
    answer = {"action": "deny", "reason": "not on Sundays", "data": {"rule": "echo"}}
    hook = ("hooks-answer", {"tool:pre": [answer]})
    card, _ = denied(project, driver, hook, {"echo": {"text": "x"}})
    assert (card.outcome, card.by, card.reason) == ("denied", "hook", "not on Sundays")
    assert decided_by(card) == "hook hooks-answer" and not card.rule
