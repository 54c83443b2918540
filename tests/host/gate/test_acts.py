"""What a call does, as far as the modes tell calls apart."""

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from amplifier_tui.host.gate.approvals.describe import act_of, describe_call
from amplifier_tui.host.gate.gate import Gate
from amplifier_tui.host.gate.rules.book import RuleBook


@pytest.mark.parametrize(
    "arguments",
    [
        {"command": "touch x"},
        {"file_path": "x", "content": "y"},
        {"url": "https://example.com"},
        {"patch": "--- a\n+++ b\n@@ -1 +1 @@\n-a\n+b\n"},
    ],
)
@pytest.mark.parametrize("tool", ["task", "todo", "load_skill", "ask_user", "bash_job"])
def test_a_tool_with_a_harmless_name_is_judged_by_what_it_is_given(
    tool: str, arguments: dict[str, Any], tmp_path: Path
) -> None:
    assert act_of(describe_call(tool, arguments, tmp_path), tool, arguments) == "other"
    for usual in ({"instruction": "Look"}, {"todos": []}, {"name": "deploy", "file": "a.md"}):
        assert act_of(describe_call(tool, usual, tmp_path), tool, usual) == "read"


@pytest.mark.parametrize(
    ("arguments", "act"),
    [
        ({"action": "search", "query": "x"}, "read"),
        ({"action": "remember", "text": "x"}, "write"),
        ({"action": "remember", "text": "x", "everywhere": False}, "write"),
        ({"action": "remember", "text": "x", "everywhere": True}, "other"),
        ({"action": "forget", "id": 1}, "other"),
    ],
)
def test_a_note_for_every_project_is_no_change_of_the_workspace(
    tmp_path: Path, arguments: dict[str, Any], act: str
) -> None:
    assert act_of(describe_call("memory", arguments, tmp_path), "memory", arguments) == act


@pytest.mark.parametrize("line", ["git log -p", "cd sub; git log", "git -C sub log"])
def test_git_in_a_repository_that_stands_for_another_does_more_than_look(
    tmp_path: Path, line: str
) -> None:
    for name in ("other", "workspace"):
        subprocess.run(["git", "init", "-q", str(tmp_path / name)], check=True)
    workspace = tmp_path / "workspace"
    (workspace / "sub").mkdir()
    gate = Gate(workspace, RuleBook, sandbox=lambda: "")
    assert gate.decide("bash", {"command": line}, confines=True).verdict == "allow"
    shutil.rmtree(workspace / ".git")
    (workspace / ".git").write_text("gitdir: ../other/.git\n")
    assert gate.decide("bash", {"command": line}, confines=True).verdict == "ask"


@pytest.mark.parametrize(
    ("tool", "arguments", "why"),
    [
        ("read_file", {"file_path": ".env"}, "nothing goes through that touches keys or passwords"),
        ("bash", {"command": "cat .env"}, "nothing goes through that touches keys or passwords"),
        ("read_file", {"file_path": "/etc/hostname"}, "that reads outside the workspace"),
        ("bash", {"command": "for f in *; do cat $f; done"}, "not sure here"),
        ("bash", {"command": "touch x"}, "propose, do not change"),
        ("bash", {"command": "tee .env"}, "propose, do not change"),
        ("write_file", {"file_path": ".env", "content": "x"}, "propose, do not change"),
    ],
)
def test_plan_mode_says_of_what_changes_nothing_why_it_is_refused_all_the_same(
    tool: str, arguments: dict[str, Any], why: str, tmp_path: Path
) -> None:
    gate = Gate(tmp_path, load=RuleBook)
    gate.mode = "plan"
    decision = gate.decide(tool, arguments)
    assert decision.verdict == "deny"
    assert why in decision.reason
