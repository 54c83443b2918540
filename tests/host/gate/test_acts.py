"""What a call does, as far as the modes tell calls apart."""

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import pytest

from amplifier_tui.host.events import Scope
from amplifier_tui.host.gate.approvals.describe import act_of, describe_call
from amplifier_tui.host.gate.gate import Gate
from amplifier_tui.host.gate.modes import read_policy
from amplifier_tui.host.gate.rules.book import RuleBook
from amplifier_tui.host.gate.rules.text import parse_rule, planned_rule


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


@pytest.mark.parametrize(
    "line",
    [
        *("find .git -type f -delete", "find .git -delete", "gzip .git/HEAD", "python3 x.py .git"),
        *("sort -o .git/HEAD a", "rsync --delete a/ .git/", "tar xf a.tar -C .git"),
        *("git status && find .git -delete", "sort -o .envrc a", "perl -pi -e x .vscode/a.json"),
    ],
)
def test_a_program_that_gets_what_configures_others_and_may_change_it_is_guarded(
    tmp_path: Path, line: str
) -> None:
    for name in (".git", ".vscode"):
        (tmp_path / name).mkdir()
    for name in (".git/HEAD", ".envrc", ".vscode/a.json"):
        (tmp_path / name).write_text("x")
    call = {"command": line}
    assert act_of(describe_call("bash", call, tmp_path), "bash", call) == "guarded"
    for reads in ("ls -la .git", "cat .git/HEAD", "grep -r x .git", "find .git -name x"):
        call = {"command": reads}
        assert act_of(describe_call("bash", call, tmp_path), "bash", call) == "look"


@pytest.mark.parametrize(
    "line",
    [
        *("cat .env", "git show HEAD:.env", "git credential fill", "git credential-cache get"),
        "git -c a.b=c credential fill < asked",
        "echo host=x | /usr/lib/git-core/git-credential-store get",
    ],
)
def test_a_command_that_tells_keys_asks_a_person_in_mode_auto(tmp_path: Path, line: str) -> None:
    (tmp_path / ".env").write_text("K=x\n")
    rules = RuleBook([parse_rule(f"bash({line})", "allow")])
    gate = Gate(tmp_path, lambda: rules, "auto", sandbox=lambda: "")
    decision = gate.decide("bash", {"command": line}, confines=True)
    assert (decision.verdict, decision.by_person) == ("ask", True)
    assert decision.reason == "it touches keys or passwords"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("cat ../home/.gitconfig", "it reads settings that may hold keys or passwords"),
        ("cat ../home/.ssh/id_rsa", "it touches keys or passwords"),
        ("cat ../home/.gitconfig ../home/.ssh/id_rsa", "it touches keys or passwords"),
    ],
)
def test_settings_that_only_may_hold_keys_are_asked_about_in_other_words_than_keys(
    tmp_path: Path, line: str, said: str
) -> None:
    work, home = tmp_path / "work", tmp_path / "home"
    work.mkdir()
    (home / ".ssh").mkdir(parents=True)
    for name in (".gitconfig", ".ssh/id_rsa"):
        (home / name).write_text("x\n")
    gate = Gate(work, RuleBook, "auto", sandbox=lambda: "")
    decision = gate.decide("bash", {"command": line}, confines=True)
    assert (decision.verdict, decision.by_person) == ("ask", True)
    assert decision.reason == said
    assert said.removeprefix("it ") in decision.description.judgement.reasons


@pytest.mark.parametrize(
    ("line", "act"),
    [
        ("git add .gitattributes && git commit -m x .vscode/a.json", "other"),
        ("git reset HEAD .envrc; git restore --staged .vscode", "other"),
        ("cat .envrc; npm test", "other"),
        ("cat .vscode/a.json > copy", "other"),
        ("[ -f .env ] || touch x", "other"),
        ("[ -f .env ] && echo there", "look"),
        *(("ls -la .env", "look"), ("stat .env*", "look"), ("git check-ignore .env", "look")),
        *(("git add .env", "guarded"), ("cat .env", "guarded"), ("ls .env; cat .env", "guarded")),
        *(("git reset --hard .envrc", "guarded"), ("git restore .envrc", "guarded")),
        *(("git -C .git add x", "guarded"), ("git add x > .envrc", "guarded")),
        *(("cat .envrc; sort -o .envrc a", "guarded"), ("wc -l .env", "guarded")),
        ("ls ~/.ssh", "guarded"),
    ],
)
def test_what_is_only_looked_at_or_staged_takes_effect_on_nothing(
    tmp_path: Path, line: str, act: str
) -> None:
    for name in (".git", ".vscode"):
        (tmp_path / name).mkdir()
    for name in (".env", ".envrc", ".gitattributes", ".vscode/a.json"):
        (tmp_path / name).write_text("x")
    call = {"command": line}
    assert act_of(describe_call("bash", call, tmp_path), "bash", call) == act


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
        ("read_file", {"file_path": ".env"}, "a rule allows goes through that touches keys"),
        ("bash", {"command": "cat .env"}, "nothing goes through that touches keys or passwords"),
        ("read_file", {"file_path": "/etc/hostname"}, "that reads outside the workspace"),
        ("web_fetch", {"url": "http://example.org"}, "a rule allows goes through that reaches the"),
        ("web_search", {"query": "x"}, "a rule allows goes through that reaches the network"),
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


ALLOWED = (
    "write_file",
    "edit_file",
    "bash(touch x)",
    "make_issue",
    "read_file(/etc/*)",
    "web_fetch",
)
FAR = {"file_path": "/etc/hostname"}


@pytest.mark.parametrize("verdict", ["allow", "ask"])
@pytest.mark.parametrize("scope", ["session", "project", "always"])
@pytest.mark.parametrize(
    ("tool", "arguments", "opened"),
    [
        ("write_file", {"file_path": "a.py", "content": "x"}, False),
        ("bash", {"command": "touch x"}, False),
        ("make_issue", {"title": "x"}, False),
        ("read_file", FAR, True),
        ("read_file", FAR | {"content": "x"}, False),
        ("web_fetch", {"url": "http://example.org"}, True),
        ("web_fetch", {"url": "http://example.org", "file_path": "a", "content": "x"}, False),
    ],
)
def test_in_mode_plan_no_rule_lets_through_what_may_change_something(
    verdict: Literal["allow", "ask"],
    scope: Scope,
    tool: str,
    arguments: dict[str, Any],
    opened: bool,
    tmp_path: Path,
) -> None:
    rules = [replace(parse_rule(rule, verdict), scope=scope) for rule in ALLOWED]
    gate = Gate(tmp_path, lambda: RuleBook(rules), mode="plan")
    decision = gate.decide(tool, arguments, confines=True)
    assert decision.verdict == (verdict if opened else "deny")
    assert opened or "plan mode" in decision.reason
    assert gate.decide(tool, arguments, hooked=True).verdict == decision.verdict
    gate.mode = "ask"
    assert gate.decide(tool, arguments).verdict != "deny"


def test_a_bundle_opens_nothing_in_mode_plan_either_and_the_rule_is_named(tmp_path: Path) -> None:
    rule = planned_rule("bash(touch x)", "allow", "theirs")
    gate = Gate(tmp_path, lambda: RuleBook([rule]), mode="plan")
    decision = gate.decide("bash", {"command": "touch x"})
    assert (decision.verdict, decision.rule) == ("deny", "")
    assert decision.reason.endswith("the rule bash(touch x *) does not count in this mode")


@pytest.mark.parametrize(
    ("rule", "tool", "arguments", "others"),
    [
        (
            "write(src/**)",
            "write_file",
            {"file_path": "src/deep/a.py", "content": ""},
            {"file_path": "a.py", "content": ""},
        ),
        (
            "write(src/a.py)",
            "write_file",
            {"file_path": "src/a.py", "content": ""},
            {"file_path": "src/a.py/b", "content": ""},
        ),
        (
            "web(docs.example)",
            "web_fetch",
            {"url": "https://docs.example/a"},
            {"url": "https://evil.example/docs.example"},
        ),
        ('own_tool({"a": 1})', "own_tool", {"a": 1}, {"a": 2}),
    ],
)
def test_what_a_bundle_allows_of_files_servers_and_arguments_goes_and_no_other_call(
    rule: str, tool: str, arguments: dict[str, Any], others: dict[str, Any], tmp_path: Path
) -> None:
    gate = Gate(tmp_path, lambda: RuleBook([planned_rule(rule, "allow", "theirs")]), mode="ask")
    assert gate.decide(tool, arguments).verdict == "allow"
    assert gate.decide(tool, others).verdict == "ask"


@pytest.mark.parametrize("path", ["../near/made.txt", ".git/hooks/pre-commit", ".envrc"])
def test_a_bundle_allows_no_writing_outside_nor_of_what_configures_programs(
    path: str, tmp_path: Path
) -> None:
    rules = [planned_rule(f"write({path})", "allow", "theirs")]
    rules.append(planned_rule(f"write({tmp_path / path})", "allow", "theirs"))
    gate = Gate(tmp_path, lambda: RuleBook(rules), mode="ask")
    assert gate.decide("write_file", {"file_path": path, "content": ""}).verdict == "ask"


def test_a_bundles_rules_are_taken_as_they_are_written() -> None:
    config = {"deny": ["bash(rm:*)", "web"], "ask": ["write(src/**)"], "allow": ["read(docs/**)"]}
    plan = {"hooks": [{"module": "hooks-approval", "config": config}]}
    assert set(read_policy(plan).rules) == {
        ("allow", "read(docs/**)"),
        ("ask", "write(src/**)"),
        ("deny", "bash(rm:*)"),
        ("deny", "web"),
    }


@pytest.mark.parametrize("rule", ["bash(rm *)", "bash(rm:*)", "bash(rm)"])
@pytest.mark.parametrize("command", ["rm -f x", "sudo rm x", "cd a && rm x"])
def test_what_a_bundle_denies_of_commands_is_denied_by_the_gate_whatever_is_before_or_behind_it(
    tmp_path: Path, rule: str, command: str
) -> None:
    gate = Gate(tmp_path, lambda: RuleBook([planned_rule(rule, "deny", "theirs")]), mode="auto")
    decision = gate.decide("bash", {"command": command})
    assert (decision.verdict, decision.rule) == ("deny", "bash(rm *)")
    assert gate.decide("bash", {"command": "ls rm"}).verdict == "allow"
