import json
import os
import re
from pathlib import Path

import pytest
import yaml

from amplifier_tui.base.commands import sandbox
from amplifier_tui.cli.group import run
from amplifier_tui.host.gate.rules.file import user_rules_path
from amplifier_tui.host.session.places.worktrees import make_worktree
from amplifier_tui.host.store.metadata import now
from amplifier_tui.paths import amplifier_home, sessions_dir
from tests.host.session.worktree_stage import make_repository


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def said(capsys: pytest.CaptureFixture[str], *arguments: str, status: int = 0) -> str:
    assert run(["rules", *arguments]) == status
    captured = capsys.readouterr()
    return captured.out + captured.err


EVERYWHERE = "It holds in every project.\n"


def test_a_rule_is_added_listed_and_removed(capsys: pytest.CaptureFixture[str]) -> None:
    told = said(capsys, "list")
    assert (
        told.startswith("There is no rule.\n") and "What a bundle itself allows or denies" in told
    )
    assert (
        said(capsys, "add", "bash(npm run test *)") == f"allow bash(npm run test *)\n{EVERYWHERE}"
    )
    said(capsys, "add", "--deny", "bash(git push *)")
    told = said(capsys, "add", "--project", "--ask", "read(notes/**)")
    assert told == f"ask read(notes/**)\nIt holds in {Path.cwd()}.\n"
    listed = said(capsys, "list")
    assert said(capsys) == listed
    assert (
        said(capsys, "--json") == said(capsys, "list", "--json") == said(capsys, "--json", "list")
    )
    assert "allow  bash(npm run test *)" in listed and "deny   bash(git push *)" in listed
    assert f"{user_rules_path()}:" in listed
    said(capsys, "remove", "bash(git push *)")
    assert "git push" not in said(capsys, "list")
    assert "is no rule of yours" in said(capsys, "remove", "read(notes/**)", status=1)
    assert "is no rule of yours" in said(
        capsys, "remove", "--project", "deny read(notes/**)", status=1
    )
    said(capsys, "remove", "--project", "ask read(notes/**)")


def test_a_rule_of_a_project_holds_in_its_worktrees_and_one_of_a_worktree_is_the_projects(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    repository = make_repository(project)
    tree = make_worktree(repository, "fix").path
    monkeypatch.chdir(repository)
    assert "worktree" not in said(capsys, "add", "--deny", "--project", "write(secrets/**)")
    monkeypatch.chdir(tree)
    assert "It is denied" in said(capsys, "explain", "write(secrets/plan.txt)")
    assert "write(secrets/**)" in said(capsys, "list")
    kept = f"Kept for {repository.resolve()}, of which this is a worktree."
    assert kept in said(capsys, "add", "--project", "bash(npm test)")
    assert "worktree" not in said(capsys, "add", "web")
    said(capsys, "remove", "--project", "write(secrets/**)")
    monkeypatch.chdir(repository)
    listed = said(capsys, "list")
    assert "bash(npm test)" in listed and "secrets" not in listed


def test_a_rule_of_a_project_that_denies_holds_in_its_subfolders_and_is_listed_there(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    top = make_repository(project).resolve()
    monkeypatch.chdir(top)
    said(capsys, "add", "--project", "deny read(**/secret/**)")
    said(capsys, "add", "--project", "deny write(**)")
    said(capsys, "add", "--project", "bash(npm test)")
    assert "do not count" not in said(capsys, "list")
    monkeypatch.chdir(top / "docs")
    told = said(capsys, "explain", "bash(cat secret/plan.txt)")
    assert "It is denied: The rule read(**/secret/**)" in told
    assert f"The rule is in {user_rules_path()}:4, for {top}." in told
    listed = said(capsys, "list")
    assert f"{user_rules_path()}:4, for {top}\n" in listed and "npm" not in listed
    assert f"write on any path in {top} " in listed
    not_counted = f"Rules for {top} that allow do not count in this folder (1).\n"
    assert not_counted in listed and not_counted in said(capsys, "explain", "bash(npm test)")


@pytest.mark.parametrize(
    ("rule", "near"),
    [
        *(("wirte(secrets/**)", "write(secrets/**)"), ("Edit(secrets/**)", "write(secrets/**)")),
        *(("write(a)", ""), ("mcp_x_*", ""), ("deploy", "")),
    ],
)
def test_a_tool_that_is_spelt_like_one_of_the_programs_is_warned_about(
    capsys: pytest.CaptureFixture[str], rule: str, near: str
) -> None:
    told = said(capsys, "add", "--deny", rule)
    assert told.startswith(f"deny {rule}\n")
    warned = f"is called {rule.partition('(')[0]}; write {near}. The rule is kept as it is."
    assert (warned in told) is ("Warning" in told) is bool(near)
    listed = said(capsys, "list")
    assert (f"{user_rules_path()}:" in listed) and (f"; write {near}\n" in listed) is bool(near)


@pytest.mark.parametrize(
    ("rule", "better"),
    [("bush(ls)", "bash(ls)"), ("reed(src/**)", "read(src/**)"), ("web_fetcher(a.b)", "web_fetch")],
)
def test_a_typed_rule_with_words_for_a_tool_that_is_none_is_told_the_nearest(
    capsys: pytest.CaptureFixture[str], rule: str, better: str
) -> None:
    assert (
        f"Warning: no tool of the program is called {rule.partition('(')[0]}; write {better}"
        in (told := said(capsys, "add", rule))
        and told.startswith(f"allow {rule}\n")
    )


@pytest.mark.parametrize("rule", ["bush", 'bush({"a": 1})', "deploy(ls)", "read_pdf({})"])
def test_a_typed_rule_that_may_be_of_a_module_is_taken_without_a_word(
    capsys: pytest.CaptureFixture[str], rule: str
) -> None:
    assert "Warning" not in said(capsys, "add", rule)


def test_a_rule_that_covers_no_command_is_warned_about_and_a_near_one_is_explained(
    capsys: pytest.CaptureFixture[str],
) -> None:
    told = said(capsys, "add", "bash(make *)")
    assert told.startswith("allow bash(make *)\n") and "as in bash(make NAME *)" in told
    assert said(capsys, "add", "bash(make test *)") == f"allow bash(make test *)\n{EVERYWHERE}"
    assert said(capsys, "add", "--deny", "bash(env *)") == f"deny bash(env *)\n{EVERYWHERE}"
    said(capsys, "add", "bash(pytest *)")
    assert "commands that begin with pytest, without options" in said(capsys, "list")
    told = said(capsys, "explain", "bash(pytest -q)")
    assert "The rule bash(pytest *) does not cover -q; bash(pytest -q *) would cover it.\n" in told
    assert json.loads(said(capsys, "explain", "--json", "bash(pytest)"))["near"] == ""


def test_a_rule_that_is_about_no_file_is_warned_about_and_listed_as_that(
    capsys: pytest.CaptureFixture[str],
) -> None:
    told = said(capsys, "add", "--deny", "read(src/*/../keys)")
    assert told.startswith(
        f"deny read(src/*/../keys)\n{EVERYWHERE}Warning: it is about no file: `..` behind"
    )
    assert "no path: `..` behind" in said(capsys, "list")
    assert (
        said(capsys, "add", "--deny", "read(./secrets/**)")
        == f"deny read(./secrets/**)\n{EVERYWHERE}"
    )
    assert "It is denied" in said(capsys, "explain", "read_file", "secrets/plan.txt")


def test_a_rule_about_names_in_the_top_folder_alone_says_so_and_names_the_wider_one(
    capsys: pytest.CaptureFixture[str],
) -> None:
    hint = "It is about the top folder alone; {} is about every folder.\n"
    assert said(capsys, "add", "write(*.lock)").endswith(hint.format("write(**/*.lock)"))
    assert said(capsys, "add", "--deny", "read(.env)").endswith(hint.format("read(**/.env)"))
    for rule in ("write(**/*.lock)", "write(src/*.py)", "write(**)", "write(../*.py)", "web(*.x)"):
        assert said(capsys, "add", rule) == f"allow {rule}\n{EVERYWHERE}"
    assert "in the top folder; write(**/*.lock)" in said(capsys, "list")


@pytest.mark.parametrize("rule", ["bash(pip install *)", "bash(pip install -r dev.txt)"])
def test_a_rule_for_an_installer_of_the_projects_environment_says_that_it_asks_all_the_same(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, rule: str
) -> None:
    monkeypatch.setattr(sandbox, "sandbox_problem", lambda: "")
    (project / ".venv/bin").mkdir(parents=True)
    (project / ".venv/bin/pip").write_text("#!/bin/sh\n")
    (project / ".venv/bin/pip").chmod(0o755)
    monkeypatch.setenv("PATH", f"{project}/.venv/bin:{os.environ['PATH']}")
    told = said(capsys, "add", rule)
    assert "In this folder it is asked about all the same: `pip install" in told
    assert ".venv/bin/pip, a file of the workspace, which the agent can change" in told
    monkeypatch.setattr(sandbox, "sandbox_problem", lambda: "there is none")
    assert "all the same" not in said(capsys, "add", rule)
    assert "all the same" not in said(capsys, "add", "bash(ls *)")


def test_what_happens_to_a_call_may_stand_before_the_rule_as_on_the_screen(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for line in ("deny bash(git push *)", "ask web", "allow bash(ls)"):
        assert said(capsys, "add", line) == f"{line}\n{EVERYWHERE}"
    kept = yaml.safe_load(user_rules_path().read_text())
    assert kept == {"deny": ["bash(git push *)"], "ask": ["web"], "allow": ["bash(ls)"]}
    assert "column 11: the name of a tool" in said(capsys, "add", "deny write x", status=1)
    assert "column 4: the name of a tool" in said(capsys, "add", "--deny", "ask web", status=1)


def test_what_is_no_rule_is_refused_with_its_column(capsys: pytest.CaptureFixture[str]) -> None:
    assert "column 9: a `*` stands alone" in said(capsys, "add", "bash(git*)", status=1)
    assert not user_rules_path().exists()


def test_a_call_may_be_written_as_in_a_rule_or_with_its_tool_apart(
    capsys: pytest.CaptureFixture[str],
) -> None:
    said(capsys, "add", "bash(sleep 1)")
    apart = said(capsys, "explain", "bash", "sleep 1")
    assert "It goes: by the rule bash(sleep 1)." in apart
    for whole in ("bash(sleep 1)", "bash 'sleep 1'", "sleep 1"):
        assert said(capsys, "explain", whole) == apart
    assert "Tool: bash.\n" in apart
    assert "Tool: write_file.\n" in said(capsys, "explain", "write_file src/a.py")
    assert "Tool: mcp__github__x.\n" in said(capsys, "explain", "mcp__github__x")


def test_a_call_is_explained_with_the_rule_and_the_file(
    capsys: pytest.CaptureFixture[str],
) -> None:
    said(capsys, "add", "bash(npm run test *)")
    text = said(capsys, "explain", "bash", "npm run test unit")
    assert "It goes: by the rule bash(npm run test *)." in text
    assert f"The rule is in {user_rules_path()}:" in text
    assert "It asks" in said(capsys, "explain", "bash", "npm run test --script-shell=/tmp/x")
    assert "It goes: mode ask: lets through" in said(capsys, "explain", "bash", "git status")
    assert "plan mode" in said(capsys, "explain", "--mode", "plan", "write", "src/a.py")
    assert "No call here in the last 30 days that the rule bash(npm run test *) decides.\n" in text
    assert "What a bundle itself allows or denies" in text
    assert "Risk: critical" in said(capsys, "explain", "bash", "rm -rf /")
    assert "as JSON" in said(capsys, "explain", "mcp_x", "what", status=2)


def test_a_call_is_explained_in_the_mode_of_the_settings(
    capsys: pytest.CaptureFixture[str],
) -> None:
    amplifier_home().mkdir(parents=True, exist_ok=True)
    (amplifier_home() / "settings.yaml").write_text("mode: plan\n")
    text = said(capsys, "explain", "write_file src/a.py")
    assert "It is denied: plan mode" in text
    assert text.endswith("No call here in the last 30 days of write_file.\n")
    assert "It asks" in said(capsys, "explain", "--mode", "ask", "write_file src/a.py")


@pytest.mark.parametrize(("theirs", "what"), [("edits", "asks"), ("plan", "is denied")])
def test_a_project_that_is_not_trusted_loosens_no_explanation(
    theirs: str, what: str, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / ".amplifier").mkdir()
    (project / ".amplifier" / "settings.yaml").write_text(f"mode: {theirs}\n")
    assert f"It {what}: " in said(capsys, "explain", "write_file src/a.py")


def test_an_explanation_says_what_the_rule_decided_before(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = sessions_dir(project.resolve()) / "s1"
    folder.mkdir(parents=True)
    calls = [
        {"ts": now(), "tool": "bash", "outcome": "allowed", "by": "user",
         "arguments": {"command": "npm run test unit"}},
        {"ts": now(), "tool": "bash", "outcome": "denied", "by": "user",
         "arguments": {"command": "npm run deploy"}},
        {"ts": now(), "tool": "bash", "outcome": "denied", "by": "hook", "asker": "hooks-sunday",
         "arguments": {"command": "npm run test lint"}},
        {"ts": "2001-01-01T00:00:00+00:00", "tool": "bash", "outcome": "denied",
         "arguments": {"command": "npm run test old"}},
    ]  # fmt: skip
    rows = "".join(json.dumps({"row": 1, "approval": call}) + "\n" for call in calls)
    (folder / "display.jsonl").write_text(rows)
    said(capsys, "add", "bash(npm run test *)")
    text = said(capsys, "explain", "bash", "npm run test all")
    assert "2 calls here in the last 30 days" in text
    assert "npm run test unit" in text and "deploy" not in text and "old" not in text
    assert re.search("allowed +by user +now goes", text)
    assert "denied   by hook hooks-sunday  now goes" in text


def test_the_audit_is_listed_newest_first_and_by_words_and_as_json(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert said(capsys, "audit") == "Nothing was decided here.\n"
    calls = [
        {"ts": now(), "tool": "bash", "outcome": "allowed", "by": "mode", "mode": "auto",
         "arguments": {"command": "ls"}},
        {"ts": now(), "tool": "write_file", "outcome": "denied", "by": "user",
         "arguments": {"file_path": "a\x1b[31m.py", "more": "\u202e\u009b never shown"}},
        "no entry", {"ts": 7, "tool": [], "arguments": "what"},
    ]  # fmt: skip
    folder = sessions_dir(project.resolve()) / "s1"
    folder.mkdir(parents=True)
    rows = "".join(json.dumps({"row": 1, "approval": call}) + "\n" for call in calls)
    (folder / "display.jsonl").write_text(rows + '{"row": 1, "approval": {"ts"')
    _, first, second = said(capsys, "audit").splitlines()
    assert "denied   user       write_file  a‹U+001B›[31m.py" in first and "\x1b" not in first
    assert "allowed  mode auto  bash        ls" in second
    assert said(capsys, "audit", "bash", "allowed").count("\n") == 2
    text = said(capsys, "audit", "never shown")
    assert "a‹U+001B›[31m.py" in text and "never" not in text
    printed = said(capsys, "audit", "--json", "denied")
    assert "\u202e" not in printed and "\u009b" not in printed
    (found,) = json.loads(printed)
    assert (found["session_id"], found["tool"]) == ("s1", "write_file")
    said(capsys, "add", "--deny", "bash(git push)")
    (rule,) = json.loads(said(capsys, "list", "--json"))
    assert (rule["verdict"], rule["rule"]) == ("deny", "bash(git push)")
    found = json.loads(said(capsys, "explain", "--json", "bash", "git push"))
    assert (found["verdict"], found["rule"]) == ("deny", "bash(git push)")


def test_what_a_projects_file_says_sends_no_control_sequence_to_the_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".amplifier").mkdir()
    text = '"\\e]0;title\\a\\e[31mallow": 3\n'
    (tmp_path / ".amplifier" / "rules.yaml").write_text(text)
    assert run(["rules", "list"]) == 0
    told = capsys.readouterr().err
    assert "is unknown here" in told and "\x1b" not in told and "\a" not in told


@pytest.mark.parametrize(("problem", "verdict"), [("", "It goes"), ("no bwrap", "It asks")])
def test_what_mode_auto_does_with_a_command_depends_on_the_sandbox_as_in_a_session(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, problem: str, verdict: str
) -> None:
    monkeypatch.setattr(sandbox, "sandbox_problem", lambda: problem)
    assert verdict in said(capsys, "explain", "--mode", "auto", "python3 foo.py")
    settings = amplifier_home() / "settings.yaml"
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text("sandbox: off\n")
    assert "It asks" in said(capsys, "explain", "--mode", "auto", "python3 foo.py")
