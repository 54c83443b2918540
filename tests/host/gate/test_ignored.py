"""In mode auto what git ignores is not deleted without a question: going back has no copy of it."""

import subprocess
from pathlib import Path

import pytest

from amplifier_tui.host.gate.gate import Gate, GateDecision
from amplifier_tui.host.gate.rules.book import RuleBook
from amplifier_tui.host.gate.rules.text import parse_rule

IGNORED = "data/\n*.db\nbuild\ndist/\nnode_modules\n__pycache__\n.venv\ntarget\n*.log\nlink\n"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A repository in which files are ignored, some of which tools make anew."""
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    (tmp_path / ".gitignore").write_text(IGNORED)
    for name in (
        *("data/d.txt", "src/a.py", "src/b.db", "build/data/x", "dist/x.js", "target/debug/x"),
        *("node_modules/a/data/x", "src/__pycache__/a.pyc", "run.log", "docs/x.md", ".venv/x"),
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "link").symlink_to("data")
    return tmp_path


def decide(workspace: Path, command: str, *rules: str) -> GateDecision:
    book = RuleBook([parse_rule(rule, "allow") for rule in rules])
    gate = Gate(workspace, lambda: book, "auto", sandbox=lambda: "")
    return gate.decide("bash", {"command": command}, confines=True)


@pytest.mark.parametrize(
    ("command", "file"),
    [
        *(("rm -rf ~+/data", "data/d.txt"), ("rm -rf {data,x}", "data/d.txt")),
        ("git -c clean.requireForce=false clean -dX", "data/d.txt"),
        *(("rm -rf data", "data/d.txt"), ("rm -rf ./data/", "data/d.txt")),
        *(("rm data/d.txt", "data/d.txt"), ("cd data && rm d.txt", "data/d.txt")),
        *(("rm -rf dist data && ls", "data/d.txt"), ("rm -r src", "src/b.db")),
        *(("rm -f src/*.db", "src/b.db"), ("cd src; rm -f *", "src/b.db")),
        *(("find data -delete", "data/d.txt"), ("find . -name '*.db' -delete", "src/b.db")),
        *(("find data -type f -exec rm {} +", "data/d.txt"), ("shred -u src/b.db", "src/b.db")),
        *(("git clean -fdX", "data/d.txt"), ("git clean -fx src", "src/b.db")),
        *(("rm link", "link"), ("bash -c 'rm -rf data'", "data/d.txt")),
    ],
)
def test_what_is_ignored_is_not_deleted_without_a_question(
    workspace: Path, command: str, file: str
) -> None:
    decision = decide(workspace, command)
    assert (decision.verdict, decision.by_person) == ("ask", False)
    assert f"deletes {file}" in decision.reason
    assert "going back would not bring it back" in decision.reason


@pytest.mark.parametrize(
    "command",
    [
        "rm -rf node_modules build dist .pytest_cache __pycache__ target .venv",
        *("rm -rf docs", "rm src/a.py", "rm -f run.log", "rm -rf nothing", "ls data"),
        *("find . -name __pycache__ -exec rm -rf {} +", "find . -name '*.pyc' -delete"),
        *("cd build && rm -rf data", "rm -rf packages/*/node_modules", "git clean -fd docs"),
        *("git clean -ndX", "git clean -fdX build", "rm -rf src/__pycache__"),
    ],
)
def test_what_tools_make_anew_goes_as_what_git_keeps(workspace: Path, command: str) -> None:
    assert decide(workspace, command).verdict == "allow"


def test_a_rule_of_the_users_lets_it_go(workspace: Path) -> None:
    assert decide(workspace, "rm -rf data", "bash(rm -rf data)").verdict == "allow"
