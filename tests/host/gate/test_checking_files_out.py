"""`git checkout FILE` puts FILE back, as `git checkout -- FILE` does, and throws changes away."""

import subprocess
from pathlib import Path

import pytest

from amplifier_tui.host.gate.gate import Gate
from amplifier_tui.host.gate.risk import judge_script
from amplifier_tui.host.gate.rules.book import RuleBook
from amplifier_tui.host.gate.rules.text import parse_rule
from amplifier_tui.host.gate.verdicts import git


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A repository with a file, a folder, and a folder and a tag named like branches."""
    for name in ("a.py", "src/b.py", "docs/c.md", "v1"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    who = ("-c", "user.name=x", "-c", "user.email=x@y.z")
    for call in (
        "init -q -b main",
        "add .",
        "commit -qm x",
        "branch docs",
        "branch side",
        "tag v1",
    ):
        subprocess.run(["git", *who, *call.split()], cwd=tmp_path, check=True)
    return tmp_path


FILES = [
    *("git checkout a.py", "git checkout -q a.py", "git checkout src", "git checkout ./src/b.py"),
    *("cd src && git checkout b.py", "git -C src checkout b.py", "git checkout src/"),
    *("git checkout '*.py'", "git checkout :/", "git checkout src/*", "cd src; git checkout .."),
    *("git checkout --pathspec-from-file=list", "git --git-dir=.git checkout docs"),
    *("cd src && git checkout ../docs",),
]


@pytest.mark.parametrize("line", FILES)
def test_a_file_that_is_named_alone_is_put_back(workspace: Path, line: str) -> None:
    whole = judge_script(line, workspace).whole
    assert (whole.risk, whole.reasons[0]) == ("high", "throws changes away")
    assert "changes the repository" not in whole.reasons


@pytest.mark.parametrize(
    "line",
    [
        *("git checkout side", "git checkout -q main", "git checkout docs", "git checkout v1"),
        *("git checkout -", "git checkout -b src", "git checkout -b new docs", "git checkout new"),
        *("git checkout HEAD~0", "git -C src checkout docs", "git checkout -b a.py main"),
    ],
)
def test_a_branch_is_one_though_a_file_is_named_like_it(workspace: Path, line: str) -> None:
    whole = judge_script(line, workspace).whole
    assert (whole.risk, whole.reasons) == ("medium", ("changes the repository",))


@pytest.mark.parametrize("line", FILES)
def test_no_rule_for_branches_puts_files_back(workspace: Path, line: str) -> None:
    rules = ("git checkout *", "git checkout -q *", "git -C src checkout *", "cd *")
    book = RuleBook(tuple(parse_rule(f"bash({rule})", "allow") for rule in rules))
    gate = Gate(workspace, lambda: book, "ask")
    assert gate.decide("bash", {"command": "git checkout -q side"}).verdict == "allow"
    assert gate.decide("bash", {"command": line}).verdict == "ask"


def test_git_is_asked_only_where_a_file_is_named(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, ...]] = []
    monkeypatch.setattr(git, "git_output_now", lambda _, *words: asked.append(words))
    for line in ("git status", "git checkout main", "git switch docs", "git checkout -b src"):
        judge_script(line, workspace)
    assert asked == []
    judge_script("git checkout a.py", workspace)
    assert len(asked) == 1
