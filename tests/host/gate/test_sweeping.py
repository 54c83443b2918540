"""What git takes away of what it does not track, and can't in the sandbox, is asked about."""

import subprocess
from pathlib import Path

import pytest

from amplifier_tui.host.gate.gate import Gate, GateDecision
from amplifier_tui.host.gate.rules.book import RuleBook


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A repository with files that are not tracked, some of them ignored."""
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    (tmp_path / ".gitignore").write_text(".env\n.venv\n")
    for name in ("a.py", "src/b.py", "node_modules/x/.npmrc", ".venv/pyvenv.cfg"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    return tmp_path


def decide(workspace: Path, command: str) -> GateDecision:
    gate = Gate(workspace, RuleBook, "auto", sandbox=lambda: "")
    return gate.decide("bash", {"command": command}, confines=True)


@pytest.mark.parametrize(
    ("command", "file"),
    [
        ("git stash -u", "src/CLAUDE.md"),
        ("git stash push --include-untracked -m x && git switch main", "src/CLAUDE.md"),
        ("cd src && git stash save -u x", "CLAUDE.md"),
        ("mkdir -p docs; git stash -qu", "src/CLAUDE.md"),
        ("git clean -fd", "src/CLAUDE.md"),
        ("git -C src clean -f", "CLAUDE.md"),
        ("git clean -d --force", ".vscode/settings.json"),
        ("cd src && git stash -u", "../.vscode/settings.json"),
        ("git stash --all", ".env"),
        ("git clean -fdX", ".env"),
    ],
)
def test_what_takes_a_file_away_that_is_read_only_is_asked_about(
    workspace: Path, command: str, file: str
) -> None:
    place = workspace / ("src" if "src" in command.split() else "") / file
    place.parent.mkdir(exist_ok=True)
    assert decide(workspace, command).verdict == "allow", "there is none yet"
    place.touch()
    decision = decide(workspace, command)
    assert (decision.verdict, decision.by_person) == ("ask", True)
    assert f"git takes {file} away, which is read-only in the sandbox" in decision.reason


@pytest.mark.parametrize(
    "command",
    [
        "git stash",
        "git stash pop",
        "git clean -nd",
        "git stash push -m x",
        "git clean -n",
        "git add .",
    ],
)
def test_what_leaves_untracked_files_goes(workspace: Path, command: str) -> None:
    (workspace / "CLAUDE.md").touch()
    assert decide(workspace, command).verdict == "allow"


def test_what_git_tracks_or_ignores_is_no_hindrance(workspace: Path) -> None:
    (workspace / "CLAUDE.md").touch()
    (workspace / ".env").touch()
    subprocess.run(["git", "add", "CLAUDE.md"], cwd=workspace, check=True)
    assert decide(workspace, "git stash -u").verdict == "allow"


@pytest.mark.parametrize(
    ("command", "verdict"),
    [
        ("git clean -fd dist", "allow"),
        ("git clean -fdx -- dist/a build", "allow"),
        ("git clean -fd src", "ask"),
        ("git clean -fd dist src", "ask"),
        ("git clean -fd dist $x", "ask"),
        ("git clean -fd -e src dist", "ask"),
    ],
)
def test_of_the_files_only_those_in_named_folders_count(
    workspace: Path, command: str, verdict: str
) -> None:
    (workspace / "src/CLAUDE.md").touch()
    assert decide(workspace, command).verdict == verdict


@pytest.mark.parametrize(
    ("command", "verdict"),
    [
        ("git mv a.py AGENTS.md", "ask"),
        ("git mv -f CLAUDE.md AGENTS.md && git commit -qm x", "ask"),
        ("git mv src/tasks.json .vscode", "ask"),
        ("git mv a.py .github/hooks/x.json", "ask"),
        ("git mv a.py b.py src", "allow"),
        ("git mv src lib", "allow"),
    ],
)
def test_a_new_name_by_which_a_file_takes_effect_is_asked_about(
    workspace: Path, command: str, verdict: str
) -> None:
    assert decide(workspace, command).verdict == verdict


def test_a_push_to_a_repository_of_this_machine_is_asked_about(workspace: Path) -> None:
    for name, address in (("disk", "../origin.git"), ("net", "https://a.b/c"), ("own", "./x")):
        command = ["git", "remote", "add", name, address]
        subprocess.run(command, cwd=workspace, check=True)
    for words in ("disk", "disk HEAD", "file:///srv/x main", "../x"):
        decision = decide(workspace, f"git push {words}")
        assert (decision.verdict, decision.by_person) == ("ask", True)
        assert "outside of the workspace: that fails in the sandbox" in decision.reason
    assert "outside of" not in decide(workspace, "git push net").reason
    assert decide(workspace, "git push -n disk").verdict == "allow"


@pytest.mark.parametrize(
    ("command", "verdict"),
    [
        ("git gc --prune=0", "ask"),
        ("git gc --prun=1.second.ago", "ask"),
        ("git gc --prune=today", "ask"),
        ("git gc --p=now", "ask"),
        ("git gc --prune=01.week.ago", "ask"),
        ("git gc --prune=00.weeks.ago", "ask"),
        ("git gc --prune=2.weeks.ago", "allow"),
        ("git gc --prune=never", "allow"),
        ("git gc", "allow"),
    ],
)
def test_a_collection_that_takes_what_was_just_dropped_is_asked_about(
    workspace: Path, command: str, verdict: str
) -> None:
    assert decide(workspace, command).verdict == verdict


def test_git_is_asked_about_where_it_would_take_hidden_files_for_deleted(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(workspace))
    (workspace / ".ssh").mkdir()
    (workspace / ".ssh/config").touch()
    assert decide(workspace, "git commit -qam x").verdict == "allow"
    subprocess.run(["git", "add", ".ssh/config"], cwd=workspace, check=True)
    decision = decide(workspace, "git commit -qam x")
    assert (decision.verdict, decision.by_person) == ("ask", True)
    assert ".ssh/config is hidden in the sandbox" in decision.reason


def test_so_it_is_where_the_workspace_is_a_part_of_the_home(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(workspace.parent))
    workspace = workspace.rename(workspace.parent / ".config")
    (workspace / "gh").mkdir()
    (workspace / "gh/config.yml").touch()
    assert decide(workspace, "git commit -qam x").verdict == "allow"
    subprocess.run(["git", "add", "gh"], cwd=workspace, check=True)
    assert "gh/config.yml is hidden" in decide(workspace, "git commit -qam x").reason


@pytest.mark.parametrize(
    ("command", "verdict"),
    [
        ("git fetch --depth=1 origin", "ask"),
        ("git pull --depth 3", "ask"),
        ("git fetch --shallow-since=2020-01-01 origin", "ask"),
        ("git submodule update --init --depth 1", "ask"),
        ("git fetch --unshallow origin", "allow"),
    ],
)
def test_what_cuts_off_the_history_is_asked_about(
    workspace: Path, command: str, verdict: str
) -> None:
    address = ["git", "remote", "add", "origin", "../origin.git"]
    subprocess.run(address, cwd=workspace, check=True)
    assert decide(workspace, command).verdict == verdict
