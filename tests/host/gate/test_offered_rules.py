"""The rules that a question offers: each of them answers the same call the next time."""

import asyncio
from pathlib import Path

import pytest

from amplifier_tui.host.client import Decision
from amplifier_tui.host.events import ApprovalRequested, HostEvent
from amplifier_tui.host.gate.approvals.question import ApprovalQuestion
from amplifier_tui.host.gate.approvals.queue import ApprovalQueue
from amplifier_tui.host.gate.gate import Gate, GateDecision
from amplifier_tui.host.gate.rules.book import RuleBook
from amplifier_tui.host.gate.rules.text import parse_rule
from amplifier_tui.host.gate.session_gate import SessionGate
from tests.host.gate.test_lent_to_installs import PREINSTALL, write


async def offered(
    folder: Path, line: str, *rules: str, missing: str = "", hooked: bool = False
) -> tuple[ApprovalRequested, str]:
    """Return what is asked about a line, and what comes of it once the widest offer was taken."""
    book = RuleBook([parse_rule(rule, "ask" if "push" in rule else "allow") for rule in rules])
    gate = Gate(folder, lambda: book, "ask", sandbox=lambda: missing)
    guard = SessionGate(gate)
    sent: list[HostEvent] = []
    queue = ApprovalQueue("s", folder, sent.append, rules=lambda: book, keep=lambda *_: None)

    def decided() -> GateDecision:
        return gate.decide("bash", {"command": line}, confines=True, hooked=hooked)

    decision = decided()
    question = ApprovalQuestion(
        "gate",
        tool="bash",
        arguments={"command": line},
        description=decision.description,
        by_person=decision.by_person,
        judge_anew=decided,
        lends=decision.lends,
        network=decision.network and not missing,
    )
    guard._open[id(question)] = decision
    asking = asyncio.create_task(queue.ask(question))
    while not queue.waiting:
        await asyncio.sleep(0)
    request = next(each for each in reversed(sent) if isinstance(each, ApprovalRequested))
    queue.decide(request.request_id, Decision(allow=True, scope=request.scopes[-1]))
    guard.answered(question, await asking)
    return request, decided().verdict


@pytest.mark.parametrize("line", ["npm ci", "pip install requests", "uv sync --frozen"])
async def test_an_offer_says_that_its_rule_lends_the_network(tmp_path: Path, line: str) -> None:
    request, again = await offered(tmp_path, line)
    assert request.rule and request.network and again == "allow"
    request, again = await offered(tmp_path, line, missing="no sandbox here")
    assert request.rule and not request.network and again == "allow"


async def test_one_for_a_command_without_network_does_not(tmp_path: Path) -> None:
    request, again = await offered(tmp_path, "python3 t.py")
    assert request.rule and not request.network and again == "allow"


@pytest.mark.parametrize("hooked", [False, True])
@pytest.mark.parametrize(
    "line",
    ["pip install .", "pytest && pip install requests", "pip install -r r.txt"],
)
async def test_none_is_offered_where_the_line_is_asked_about_each_time(
    tmp_path: Path, line: str, hooked: bool
) -> None:
    write(tmp_path, {"r.txt": "-e ."})
    request, again = await offered(tmp_path, line, hooked=hooked)
    assert (request.scopes, request.rule, request.network) == (("once",), "", False)
    assert again == "ask"


@pytest.mark.parametrize("rules", [(), ("bash(npm ci)",)])
async def test_scripts_of_the_workspace_are_let_be_for_the_session_at_most(
    tmp_path: Path, rules: tuple[str, ...]
) -> None:
    write(tmp_path, {"package.json": PREINSTALL})
    request, again = await offered(tmp_path, "npm ci", *rules)
    assert (request.scopes, again) == (("once", "session"), "allow")


async def test_none_is_offered_that_a_rule_which_asks_would_pass_over(tmp_path: Path) -> None:
    request, again = await offered(tmp_path, "git push x", "bash(git push *)")
    assert (request.scopes, again) == (("once",), "ask")
