"""Programs that are files of the workspace get no network by a rule: agents write them unasked."""

import os
import shlex
from pathlib import Path

import pytest

from amplifier_tui.host.events import Mode
from amplifier_tui.host.gate.approvals.question import ApprovalQuestion
from amplifier_tui.host.gate.approvals.request import rules_to_offer
from amplifier_tui.host.gate.gate import Gate, GateDecision
from amplifier_tui.host.gate.rules.book import RuleBook
from amplifier_tui.host.gate.rules.text import parse_rule

PIP = "pip install requests"
NEEDS = "`{}` would give the network to {}, which the agent can change: that takes a yes each time"


def program(place: Path, text: str = "#!/bin/sh\n") -> Path:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text)
    place.chmod(0o755)
    return place


@pytest.fixture
def system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of programs outside of the workspace, the only one in which they are found."""
    folder = tmp_path / "system"
    for name in ("node", "python3", "uv", "poetry", "curl", "cargo", "bundle", "timeout"):
        program(folder / name)
    program(folder / "npm", "#!/usr/bin/env node\n")
    program(folder / "pip", f"#!{folder}/python3\n")
    monkeypatch.setenv("PATH", str(folder))
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX", "UV_PYTHON", "UV_PROJECT_ENVIRONMENT"):
        monkeypatch.delenv(name, raising=False)
    return folder


@pytest.fixture
def workspace(tmp_path: Path, system: Path) -> Path:
    (tmp_path / "w").mkdir()
    return tmp_path / "w"


def in_front(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


def decided(
    line: str, folder: Path, mode: Mode = "edits", *, missing: str = "", rules: bool = True
) -> GateDecision:
    rule = line.rpartition(" && ")[2]
    book = RuleBook([parse_rule(f"bash({rule})", "allow")] if rules else [])
    gate = Gate(folder, lambda: book, mode, sandbox=lambda: missing)
    return gate.decide("bash", {"command": line}, confines=True)


def asked(line: str, folder: Path, named: str) -> None:
    modes: tuple[Mode, ...] = ("ask", "edits", "auto")
    for mode in modes:
        decision = decided(line, folder, mode)
        assert (decision.verdict, decision.by_person) == ("ask", True), line
        assert decision.reason == NEEDS.format(line[:80], named)
    assert decided(line, folder, missing="none").verdict == "allow"


@pytest.mark.parametrize(
    "line", [PIP, "pip install --user 'x>=1'", "npm install lodash", "uv sync", "uv pip install x"]
)
def test_programs_of_the_system_go_by_the_rule(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    # Nothing of that name is in it.
    in_front(workspace / ".venv/bin", monkeypatch)
    decision = decided(line, workspace)
    assert (decision.verdict, decision.network) == ("allow", True), decision.reason


def test_a_program_of_the_workspace_that_is_found_first_is_asked_about(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("pip", "curl", "timeout"):
        program(workspace / ".venv/bin" / name)
    in_front(workspace / ".venv/bin", monkeypatch)
    asked(PIP, workspace, ".venv/bin/pip, a file of the workspace")
    asked("curl https://x.org", workspace, ".venv/bin/curl, a file of the workspace")
    asked("timeout 9 npm ci", workspace, ".venv/bin/timeout, a file of the workspace")


def test_so_is_one_that_is_named_by_its_place(workspace: Path) -> None:
    place = program(workspace / ".venv/bin/pip")
    named = ".venv/bin/pip, a file of the workspace"
    asked("./.venv/bin/pip install x", workspace, named)
    asked(shlex.join([str(place), "install", "x"]), workspace, named)


def test_python_of_an_environment_in_it_is_one_though_it_is_a_link(
    workspace: Path, system: Path
) -> None:
    (workspace / ".venv/bin").mkdir(parents=True)
    (workspace / ".venv/bin/python").symlink_to(system / "python3")
    line = ".venv/bin/python -m pip install x"
    asked(line, workspace, ".venv/bin/python, a file of the workspace")


@pytest.mark.parametrize("way", ["file", "folder", "between"])
def test_links_that_lead_through_it_are_followed(
    workspace: Path, system: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    own = tmp_path / "own"
    own.mkdir()
    if way == "file":
        (own / "pip").symlink_to(program(workspace / "bin/pip"))
    elif way == "folder":
        own = workspace / "bin"
        own.symlink_to(system)
    else:
        (workspace / "bin").symlink_to(system)
        (own / "pip").symlink_to(workspace / "bin/pip")
    in_front(own, monkeypatch)
    named = "bin" if way == "folder" else "bin/pip" if way == "file" else "bin"
    asked(PIP, workspace, f"{named}, a file of the workspace")


def test_so_is_what_the_first_line_of_a_script_asks_for(
    workspace: Path, system: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(workspace / "bin/node")
    in_front(workspace / "bin", monkeypatch)
    asked("npm ci", workspace, "bin/node, a file of the workspace")
    program(system / "pip", f"#!{workspace}/.venv/bin/python\n")
    asked(PIP, workspace, ".venv/bin/python, a file of the workspace")


def test_what_is_found_in_the_folder_of_the_command_counts(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(workspace / "a/bin/pip")
    in_front(Path("bin"), monkeypatch)
    (workspace / "b").mkdir()
    assert decided("cd b && pip install x", workspace).verdict == "allow"
    decision = decided("cd a && pip install x", workspace)
    assert "a/bin/pip, a file of the workspace" in decision.reason


@pytest.mark.parametrize("line", ["uv sync", "uv pip install x", "uv add x", "poetry install"])
def test_installers_are_asked_about_whose_interpreter_lies_in_it(
    workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    name = line.split()[0]
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path / "elsewhere"))
    assert decided(line, workspace).verdict == "allow"
    (workspace / ".venv").mkdir()
    asked(line, workspace, f".venv, with which `{name}` works")
    (workspace / ".venv").rmdir()
    (workspace / "env").mkdir()
    monkeypatch.setenv("VIRTUAL_ENV", str(workspace / "env"))
    asked(line, workspace, f"env, with which `{name}` works")
    monkeypatch.delenv("VIRTUAL_ENV")
    program(workspace / "bin/python3")
    in_front(workspace / "bin", monkeypatch)
    asked(line, workspace, f"bin/python3, with which `{name}` works")


def test_so_are_those_of_which_a_file_of_it_says_where_it_is(workspace: Path) -> None:
    (workspace / ".python-version").write_text("3.12\n")
    assert decided("uv sync", workspace).verdict == "allow"
    (workspace / ".python-version").write_text("./e\n")
    program(workspace / "e")
    asked("uv sync", workspace, "e, with which `uv` works")
    (workspace / "poetry.toml").write_text("[virtualenvs]\npath = 'x'\n")
    asked("poetry install", workspace, "poetry.toml, with which `poetry` works")


def test_what_runs_programs_of_a_project_is_asked_about(workspace: Path) -> None:
    named = "programs of the workspace, as `uv run` runs them"
    asked("uv run pip install x", workspace, named)


def test_so_is_what_runs_code_of_it(workspace: Path) -> None:
    named = "code of the workspace that it runs"
    asked("bundle install --gemfile https://x.org/g", workspace, named)
    asked("cargo build --config https://x.org/c", workspace, named)
    asked("cargo install --path . --index https://x.org/i", workspace, named)
    assert decided("cargo install --git https://x.org/g", workspace).verdict == "allow"


@pytest.mark.parametrize("line", ["bundle install", "cargo build", "cargo test"])
def test_these_get_none_by_a_rule_anyhow(workspace: Path, line: str) -> None:
    decision = decided(line, workspace)
    assert (decision.verdict, decision.network) == ("allow", False)


@pytest.mark.parametrize("line", ["python3 --version", "jq . a", "ls | rg x", "command -v rg"])
def test_one_that_would_only_read_is_asked_about_where_there_is_no_sandbox(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    for name in ("python3", "jq", "rg"):
        program(workspace / ".venv/bin" / name)
    assert decided(line, workspace, rules=False, missing="none").verdict == "allow"
    in_front(workspace / ".venv/bin", monkeypatch)
    assert decided(line, workspace, rules=False).verdict == "allow"
    decision = decided(line, workspace, rules=False, missing="none")
    if line.startswith("command"):
        # It says where it is, and does not run it.
        assert decision.verdict == "allow"
        return
    assert decision.verdict == "ask"
    assert ", a file of the workspace, is run outside of a sandbox" in decision.reason
    monkeypatch.setenv("HOME", str(workspace))
    assert decided(line, workspace, rules=False, missing="none").verdict == "allow"


def test_no_rule_is_offered_that_would_not_work(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(workspace / ".venv/bin/pip")
    in_front(workspace / ".venv/bin", monkeypatch)
    for rules in (True, False):
        decision = decided(PIP, workspace, "ask", rules=rules)
        assert decision.verdict == "ask" and not decision.lends
        question = ApprovalQuestion(
            "gate", tool="bash", description=decision.description, by_person=decision.by_person
        )
        judgement = decision.description.judgement
        assert rules_to_offer(question, decision.description, judgement, RuleBook()) == ()
    # In the sandbox, without the network, it goes unasked as all others do.
    assert decided(PIP, workspace, "auto", rules=False).verdict == "allow"
