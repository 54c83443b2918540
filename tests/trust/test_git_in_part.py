"""Git in a workspace that is a part of a checkout: what it may do there without a question."""

import subprocess
from pathlib import Path

import pytest

from amplifier_tui.host.events import ToolEnded
from tests.host.driving import Driver, Project, calling
from tests.sandbox import needs_sandbox
from tests.trust.test_git_outside import AUTHOR, MESSAGE, decide, git


@pytest.fixture
def part(tmp_path: Path) -> Path:
    """A workspace of two in one checkout, with files that git knows."""
    return checkout(tmp_path / "mono", tmp_path / "mono/packages/a")


def checkout(top: Path, part: Path) -> Path:
    other = part.parent / "other"
    for folder in (part / "sub", other):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "file").write_text("old\n")
    git(top, "init", "-q", "--template=")
    git(top, "add", ".")
    git(top, *AUTHOR, "commit", "-q", "-m", "first")
    return part


BELOW = [
    *("git commit", "git add .", "git add -A .", "git add sub/file new", "git mv a b"),
    *("cd sub && git add ../sub", "git -C sub add file", "git rm sub/x", "git add {part}/sub"),
    *("git add . && git commit -m x", "git commit -qm 'a b'", "git commit --amend --no-edit"),
    *(MESSAGE.replace("-A", "-A ."), "git add sub/*.py '*.md'", "git restore --staged sub"),
    *("git commit --author='x <y@z>' -F - <<EOF\nwords\nEOF", "git restore -- sub/file"),
    *("git status; git add . ; git log -1", "git commit -m --all", "git tag v1", "git branch x"),
    *("git switch -c x", "git checkout -b x", "git reset --soft HEAD~1"),
]
BEYOND = [
    *("git add", "git add -A", "git add -u", "git add :/", "git add ..", "git add -A :/"),
    *("git add ':(top)x'", "git add ../other/file", "git add $x", "git add .*", "git add ~/x"),
    *("git add {{sub,../other}}", "git add --pathspec-from-file=x", "git commit --"),
    *("git commit -a -m x", "git commit -am x", "git commit --all -m x", "git commit -mx y"),
    *("git commit -m x sub/file", "git commit -pm x", "git commit $x", "git commit --inter -m x"),
    *("git checkout main", "git checkout -- sub/file", "git reset --hard", "git stash"),
    *(
        "git merge x",
        "git rebase main",
        "git switch -c x main",
        "git rm -r ../other",
        "git restore :/",
    ),
    *("git restore -p", "git mv sub ../x", "cd ..; git add .", "cd $x; git add ."),
    *("git -C .. add .", "git add . && git commit -am x", "cd sub; cd ../..; git add ."),
    "make && git add .",
]


@pytest.mark.parametrize("command", BELOW)
def test_what_concerns_its_own_files_goes_in_mode_auto_and_by_a_rule(
    part: Path, command: str
) -> None:
    decision = decide(part, command.format(part=part))
    assert decision.verdict == "allow", decision.reason
    # Without a rule it is asked about as everywhere, and one can be made of the answer.
    assert not decide(part, command.format(part=part), "ask").by_person


@pytest.mark.parametrize("command", BEYOND)
def test_what_concerns_others_too_is_asked_about(part: Path, command: str) -> None:
    decision = decide(part, command.format())
    assert (decision.verdict, decision.by_person) == ("ask", True)
    assert "outside of the workspace" in decision.reason


def test_a_rule_for_a_commit_counts(part: Path) -> None:
    rules = ("bash(git add *)", "bash(git commit -m *)")
    assert decide(part, "git add . && git commit -m x", "ask", *rules).verdict == "allow"
    assert decide(part, "git commit -am x", "ask", *rules).by_person


@pytest.mark.parametrize("command", ["git add .", "git commit -m x"])
def test_what_is_staged_beside_the_workspace_is_not_committed_unasked(
    part: Path, command: str
) -> None:
    (part.parent / "other/file").write_text("the user's\n")
    assert decide(part, command).verdict == "allow"
    git(part.parent, "add", ".")
    assert decide(part, command).by_person is ("commit" in command)


@pytest.mark.parametrize("named", [False, True])
def test_where_a_hook_may_do_more_it_is_asked_about(part: Path, named: bool) -> None:
    top = part.parent.parent
    hook = top / (".husky" if named else ".git/hooks") / "pre-commit"
    hook.parent.mkdir()
    if named:
        git(top, "config", "core.hooksPath", ".husky")
    hook.with_suffix(".sample").touch(0o755)
    hook.touch(0o644)
    assert decide(part, "git commit -m x").verdict == "allow", "git runs neither"
    hook.chmod(0o755)
    assert decide(part, "git commit -m x").by_person


def test_where_a_filter_of_the_repository_may_do_more_it_is_asked_about(part: Path) -> None:
    git(part, "config", "filter.x.clean", "npm run x")
    assert decide(part, "git add .").by_person


def test_in_a_folder_that_git_knows_nothing_of_it_is_asked_about(part: Path) -> None:
    new = part.parent / "new"
    new.mkdir()
    assert decide(new, "git add .").by_person
    # As in one of a worktree.
    git(part, "worktree", "add", "-q", str(part.parents[2] / "tree"))
    tree = part.parents[2] / "tree/packages"
    assert decide(tree / "a", "git add . && git commit -m x").verdict == "allow"
    assert decide(tree, "git commit -am x").by_person


@needs_sandbox
def test_a_commit_is_made_in_the_sandbox_and_nothing_beside_the_workspace_changes(
    project: Project, driver: Driver
) -> None:
    checkout(project.folder.parent, project.folder)
    (project.folder / "file").write_text("new\n")
    config = project.folder.parent / ".git/config"
    before = config.read_text()
    command = f"git add file && git {' '.join(AUTHOR)} commit -qm second"
    name = project.bundle(script=calling({"bash": {"command": command}}), tools=("tool-bash",))
    driver.open(name, mode="auto")
    assert driver.turn("go").status == "success"
    (ended,) = driver.of(ToolEnded)
    assert ended.ok and "exit code 0" in ended.output, ended.output
    shown = subprocess.run(
        ["git", "show", "--format=%s", "--name-only"], cwd=project.folder, capture_output=True
    )
    assert shown.stdout.decode().split() == ["second", f"{project.folder.name}/file"]
    assert config.read_text() == before
