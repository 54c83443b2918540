"""The network that a rule grants one command goes to no other of the line."""

import asyncio
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from amplifier_tui.host.client import Decision
from amplifier_tui.host.events import ApprovalRequested, HostEvent, Mode, Scope
from amplifier_tui.host.gate.approvals.question import ApprovalQuestion
from amplifier_tui.host.gate.approvals.queue import ApprovalQueue
from amplifier_tui.host.gate.gate import Gate, GateDecision
from amplifier_tui.host.gate.rules.book import RuleBook
from amplifier_tui.host.gate.rules.text import parse_rule
from amplifier_tui.host.gate.session_gate import SessionGate

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


TESTS = "#!/bin/sh\nsh ./test.sh\n"
LFS = (
    '#!/bin/sh\ncommand -v git-lfs >/dev/null 2>&1 || { printf >&2 "\\n%s\\n\\n" '
    '"\'git-lfs\' was not found on your path."; exit 2; }\ngit lfs pre-push "$@"\n'
)
HUSKY = '#!/usr/bin/env sh\n. "$(dirname "$0")/h"\n'
BRANCH = (
    "#!/bin/bash\nwhile read ref sha remote other; do\n"
    "  commit=$(git rev-list -n 1 --grep '^WIP' \"$sha\")\n"
    '  if [ -n "$commit" ]; then echo >&2 "WIP in $ref"; exit 1; fi\ndone\nexit 0\n'
)


def hook(folder: Path, name: str, text: str, place: str = ".git/hooks") -> None:
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    file = folder / place / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    file.chmod(0o755)


@pytest.mark.parametrize(
    ("line", "name", "text"),
    [
        ("git push origin main", "pre-push", TESTS),
        ("git push origin main", "pre-push", "npm test\n"),
        ("git push origin main", "pre-push", "#!/bin/sh\nPATH=./bin:$PATH\necho x\n"),
        ("git push origin main", "reference-transaction", TESTS),
        ("git fetch origin", "reference-transaction", TESTS),
        ("git fetch origin && git push origin main", "pre-push", TESTS),
    ],
)
def test_hooks_that_may_run_files_of_the_workspace_are_not_lent_it_unasked(
    tmp_path: Path, line: str, name: str, text: str
) -> None:
    hook(tmp_path, name, text)
    modes: tuple[Mode, ...] = ("ask", "edits", "auto")
    for mode in modes:
        decision = decided(line, tmp_path, mode)
        assert decision.verdict == "ask" and not decision.by_person
        assert f"would be there for the hook {name} too" in decision.reason
    assert decided(line, tmp_path, missing="none").verdict == "allow"


@pytest.mark.parametrize(
    ("line", "name", "text"),
    [
        ("git push origin main", "pre-push", LFS),
        ("git push origin main", "pre-push", BRANCH),
        ("git push origin main", "pre-push.sample", TESTS),
        ("git push origin main", "pre-commit", TESTS),
        ("git push origin main", "commit-msg", TESTS),
        ("git fetch origin", "pre-push", TESTS),
    ],
)
def test_others_and_those_that_run_nothing_of_it_are_no_reason_to_ask(
    tmp_path: Path, line: str, name: str, text: str
) -> None:
    hook(tmp_path, name, text)
    assert decided(line, tmp_path).verdict == "allow"


def test_of_husky_only_the_hooks_count_that_somebody_wrote(tmp_path: Path) -> None:
    for name in ("pre-push", "pre-commit"):
        hook(tmp_path, name, HUSKY, ".husky/_")
    subprocess.run(["git", "config", "core.hooksPath", ".husky/_"], cwd=tmp_path, check=True)
    (tmp_path / ".husky/pre-commit").write_text("npm test\n")
    assert decided("git push origin main", tmp_path).verdict == "allow"
    (tmp_path / ".husky/pre-push").write_text("npm test\n")
    assert decided("git push origin main", tmp_path).verdict == "ask"


def test_nor_are_programs_of_the_workspace_that_gits_settings_name(tmp_path: Path) -> None:
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools/s.sh").write_text("sh helper.sh\n")
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    assert decided("git fetch origin", tmp_path).verdict == "allow"
    given = ["config", "filter.n.smudge", "sh tools/s.sh"]
    subprocess.run(["git", *given], cwd=tmp_path, check=True)
    decision = decided("git fetch origin", tmp_path)
    assert decision.verdict == "ask"
    assert "for s.sh, which git's settings have it run, too" in decision.reason


async def test_it_is_asked_about_once_in_a_session_if_the_user_says_so(tmp_path: Path) -> None:
    hook(tmp_path, "pre-push", TESTS)
    rule = parse_rule("bash(git push *)", "allow")
    book = RuleBook([replace(rule, scope="always", origin="rules.yaml")])
    gate = Gate(tmp_path, lambda: book, "ask", sandbox=lambda: "")
    guard = SessionGate(gate)
    sent: list[HostEvent] = []
    queue = ApprovalQueue("s", tmp_path, sent.append, rules=lambda: book)

    def pushed() -> GateDecision:
        return gate.decide("bash", {"command": "git push origin main"}, confines=True)

    answers: tuple[tuple[Scope, str], ...] = (("once", "ask"), ("session", "allow"))
    for scope, verdict in answers:
        decision = pushed()
        assert decision.verdict == "ask"
        question = ApprovalQuestion(
            "gate",
            tool="bash",
            arguments={"command": "git push origin main"},
            why=decision.reason,
            description=decision.description,
            judge_anew=pushed,
            lends=decision.lends,
        )
        guard._open[id(question)] = decision
        asking = asyncio.create_task(queue.ask(question))
        while not queue.waiting:
            await asyncio.sleep(0)
        request = next(each for each in reversed(sent) if isinstance(each, ApprovalRequested))
        assert request.scopes == ("once", "session")
        queue.decide(request.request_id, Decision(allow=True, scope=scope))
        guard.answered(question, await asking)
        assert pushed().verdict == verdict
    hook(tmp_path, "pre-push", TESTS + "sh ./more.sh\n")
    assert pushed().verdict == "ask"
