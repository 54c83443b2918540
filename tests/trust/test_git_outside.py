"""Git that writes outside of the workspace, which fails in the sandbox, is asked about."""

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from amplifier_tui.host.events import Mode, ToolEnded
from amplifier_tui.host.gate.gate import Gate, GateDecision
from amplifier_tui.host.gate.modes import Verdict
from amplifier_tui.host.gate.rules.book import RuleBook
from amplifier_tui.host.gate.rules.text import parse_rule
from tests.host.driving import Driver, Project, calling
from tests.sandbox import needs_sandbox

AUTHOR = ("-c", "user.name=a", "-c", "user.email=a@b")
COMMIT = f"git {' '.join(AUTHOR)} commit -q --allow-empty -m second"
MESSAGE = """git add -A && git commit -q -m "$(cat <<'EOF'
Fix (it)
EOF
)\""""


def git(folder: Path, *words: str) -> str:
    told = subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, text=True)
    return told.stdout


def worktree(folder: Path, tree: Path) -> None:
    """Make a worktree of a new repository."""
    git(folder, "init", "-q", "main")
    git(folder / "main", *AUTHOR, "commit", "-q", "--allow-empty", "-m", "first")
    git(folder / "main", "worktree", "add", "-q", "-b", "side", str(tree))


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a checkout, `main`, and a worktree of it, `tree`."""
    folder = tmp_path_factory.mktemp("git")
    worktree(folder, folder / "tree")
    (folder / "tree" / "sub").mkdir()
    (folder / "main" / "sub").mkdir()
    git(folder / "tree", "init", "-q", "inner")
    return folder


def decide(workspace: Path, command: str, mode: Mode = "auto", *rules: str) -> GateDecision:
    held = [parse_rule(rule.removeprefix("-"), _verdict(rule)) for rule in rules]
    book = RuleBook([replace(rule, scope="session") for rule in held])
    gate = Gate(workspace, lambda: book, mode, sandbox=lambda: "")
    return gate.decide("bash", {"command": command}, confines=True)


def _verdict(rule: str) -> Verdict:
    return "deny" if rule.startswith("-") else "allow"


ALONE = [
    *("git add a", "git stash", "git tag v1", "git branch -D x", "git fetch", "git commit -m x"),
    *("git checkout -- a", "git rebase main", "git reset --hard", "git merge x", "git stash pop"),
    *("cd sub; git add a", "git -C sub add a", "(git add a)", MESSAGE, COMMIT, "git lfs pull"),
    *("for f in *; do git add $f; done", "git commit -F - <<EOF\n$x\nEOF", "git branch $name"),
    *("git apply --index a.patch", "x=$(git stash create)", "git bisect start"),
    # They lock the index all the same.
    *("git add --dry-run a", "git add -n .", "git rm -n x", "git commit --dry-run"),
    *("git reflog delete HEAD@{1}", "git submodule update", "git notes add -m x"),
]
"""Lines of git's own, which the sandbox lets write in the repository of a worktree."""


@pytest.mark.parametrize("command", ALONE)
def test_what_git_alone_writes_in_a_worktree_goes_in_mode_auto(place: Path, command: str) -> None:
    decision = decide(place / "tree", command)
    assert "outside of the workspace" not in decision.reason
    assert decision.verdict == decide(place / "main", command).verdict


@pytest.mark.parametrize("command", ALONE)
def test_in_another_worktree_or_a_folder_of_a_checkout_it_is_asked_about(
    place: Path, command: str
) -> None:
    elsewhere = f"cd ../main; {command}"
    for decision in (decide(place / "tree", elsewhere), decide(place / "main/sub", command)):
        assert (decision.verdict, decision.by_person) == ("ask", True)
    assert "outside of the workspace" in decide(place / "main/sub", command).reason


@pytest.mark.parametrize(
    "command",
    [
        *("pytest && git add -A && git commit -m x | tail", "git -c a.b=c commit"),
        *("bash -c 'git commit -m x'", "sudo -u me git add a", "git stage a"),
        *("git config user.name x", "git config --unset a.b", "git ci"),
        *("git --namespace x add a", "git --config-env a=b commit", "git bisect run true"),
        *("git symbolic-ref HEAD refs/heads/x", "git merge-tree --write-tree a b"),
        *("git merge-tree a b", "git bundle unbundle b", "git init", "git init -b main ."),
        *("git mergetool", "git hash-object -w a", "git rerere clear", "git fsck --lost-found"),
        *("git rerere", "git rebase -x x main", "git add a > b"),
    ],
)
def test_what_git_writes_in_a_worktree_beside_others_is_asked_about_in_mode_auto(
    place: Path, command: str
) -> None:
    decision = decide(place / "tree", command)
    assert (decision.verdict, decision.by_person) == ("ask", True)
    kept = place / "main" / ".git"
    assert f"git writes to {kept}, outside of the workspace" in decision.reason
    assert "outside of the workspace" not in decide(place / "main", command).reason


def test_making_a_worktree_is_asked_about(place: Path) -> None:
    assert "git makes a worktree" in decide(place / "tree", "git worktree add ../x").reason


@pytest.mark.parametrize(
    "command",
    [
        *("git status", "git log -p", "git diff > a.patch", "git branch -a", "git stash list"),
        *(
            "git tag -l $x",
            "git symbolic-ref --short HEAD",
            "git notes list",
            "git submodule status",
        ),
        *("git apply a.patch", "git commit --help", "echo git add a", "git -c a.b=c branch -a"),
        *("git rev-parse HEAD | tee head", "cd inner && git add a", "git -C inner commit -m x"),
        *("git config user.name", "git stash show -p", "git bisect log"),
        *("git reflog HEAD", "git reflog show x", "git hash-object a", "git rerere status"),
        *("git rerere diff", "git push -n", "git push --dry-run x", "git fmt-merge-msg"),
        *("git interpret-trailers a", "git am --show-current-patch=diff"),
        *("git config --file x a b", "git bundle create x HEAD", "git bundle verify x"),
        *("git merge-tree a b c", "git prune -n"),
        *("git --version", "git", "git fsck", "git format-patch -1"),
        *("git clean -n", "git cherry main", "git config get a.b", "git lfs status"),
        *("git reflog", "git worktree list", "git remote -v", "git am --show-current-patch"),
    ],
)
def test_what_git_does_without_writing_outside_goes_in_mode_auto(place: Path, command: str) -> None:
    assert decide(place / "tree", command).verdict == "allow"


def test_a_rule_that_allows_it_counts_in_a_worktree_and_not_beside_others(place: Path) -> None:
    for folder in ("main", "tree"):
        assert decide(place / folder, "git add a", "ask", "bash(git add *)").rule
    rules = ("bash(git add *)", "bash(pytest)")
    asked = decide(place / "tree", "pytest; git add a", "ask", *rules)
    assert (asked.verdict, asked.by_person, asked.rule) == ("ask", True, "")
    denied = decide(place / "tree", "git add a", "auto", "-bash(git add *)")
    assert (denied.verdict, denied.rule) == ("deny", "bash(git add *)")
    assert decide(place / "tree", "git add a", "plan").verdict == "deny"


def test_nothing_more_is_asked_where_there_is_no_sandbox(place: Path) -> None:
    book = RuleBook([parse_rule("bash(git add *)", "allow")])
    gate = Gate(place / "tree", lambda: book, sandbox=lambda: "it is switched off")
    assert gate.decide("bash", {"command": "git add a"}, confines=True).verdict == "allow"


@needs_sandbox
def test_a_yes_makes_the_commit_that_the_sandbox_would_not(
    project: Project, driver: Driver
) -> None:
    worktree(project.folder.parent, project.folder.parent / "tree")
    (project.folder.parent / "tree" / ".git").rename(project.folder / ".git")
    git(project.folder, "worktree", "repair")
    command = f"sh -c '{COMMIT}'"
    name = project.bundle(script=calling({"bash": {"command": command}}), tools=("tool-bash",))
    project.allow([f"bash({command})"])
    driver.open(name, mode="auto")
    driver.client.submit("go")
    asked = driver.allow_next()
    assert asked.scopes == ("once",)
    assert any("outside of the workspace" in reason for reason in asked.reasons)
    assert driver.wait(ToolEnded).ok
    assert git(project.folder, "log", "--format=%s").split() == ["second", "first"]
