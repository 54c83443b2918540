"""Git works in repositories that a command, or a clone, may have made: what these have it run."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

import pytest

from amplifier_tui.base.commands.git_lines.own import line_keeps_to_own
from amplifier_tui.host.events import Mode, Scope
from amplifier_tui.host.gate.gate import Gate
from amplifier_tui.host.gate.rules.book import RuleBook
from amplifier_tui.host.gate.rules.text import parse_rule
from amplifier_tui.kernel.session.grant import Grant
from tests.modules.tool_bash.confined import run, shell
from tests.modules.tool_bash.support import Shell
from tests.sandbox import needs_sandbox
from tests.trust.test_git_outside import AUTHOR, decide, git

__all__ = ["shell"]

RULES = ("bash(git *)", "bash(git push *)", "bash(git fetch *)", "bash(git status)")


@pytest.fixture
def cloned(tmp_path: Path) -> Path:
    """A clone that has brought a whole repository, and a file that leads to it."""
    source, work = tmp_path / "source", tmp_path / "work"
    git(tmp_path, "init", "-q", "-b", "main", "source")
    git(source, "init", "-q", "--bare", "fixtures/x.git")
    for name in ("objects", "refs/heads"):
        (source / "fixtures/x.git" / name / "keep").touch()
    (source / "up").write_text("gitdir: fixtures/x.git\n")
    (source / "parts").mkdir()
    (source / "parts/HEAD").write_text("ref: refs/heads/main\n")
    (source / "parts/commondir").write_text("../fixtures/x.git\n")
    (source / "fixtures/x.git/in").symlink_to("../../main")
    (source / "main").mkdir()
    (source / "main" / "file").touch()
    git(source, "add", "-f", ".")
    git(source, *AUTHOR, "commit", "-qm", "first")
    work.mkdir(exist_ok=True)
    git(work, "clone", "-q", str(source), ".")
    git(work, "remote", "set-url", "origin", "ssh://host/x")
    git(work, "remote", "add", "brought", "./fixtures/x.git")
    git(work, "remote", "add", "own", ".")
    (work / "sub").mkdir()
    (work / "way").symlink_to("fixtures/x.git")
    return work


@pytest.mark.parametrize("mode", ["ask", "edits"])
@pytest.mark.parametrize(
    "command",
    [
        *("git push ./fixtures/x.git main", "git push fixtures/x main", "git push ./up main"),
        *("git push --repo=./up", "git push brought main", "git push way main"),
        *("git push /tmp/r.git main", "git push file:///tmp/r.git", "git push ext::sh main"),
        *("git -C fixtures/x.git tag t", "cd fixtures/x.git && git add a", "git -C way fetch"),
        *("cd fixtures/x.git/refs && git fetch", "cd sub; cd ../fixtures/x.git; git push origin"),
        *("git push ./parts main", "git -C parts fetch", "cd fixtures/x.git/in/.. && git fetch"),
        *("git archive --remote=./up main", "git send-pack ./up main"),
        *("git pull && git push ./new main", "git checkout x; git push fixtures/new main"),
        *("git -C /tmp/w fetch", "cd $TMPDIR/w && git fetch", "git --git-dir=up status"),
    ],
)
def test_no_rule_covers_git_in_a_repository_that_a_clone_brought(
    cloned: Path, mode: Mode, command: str
) -> None:
    decision = decide(cloned, command, mode, *RULES)
    assert decision.verdict == "ask" and not decision.rule


@pytest.mark.parametrize(
    "command",
    [
        *("git fetch origin main", "git push origin main", "git status", "cd sub && git status"),
        *("git pull && git push origin main", "git fetch && git push"),
        *("git push own main", "git fetch . main:other", "git fetch ./up", "cd sub; git add a"),
    ],
)
def test_rules_cover_git_in_the_repository_of_the_workspace(cloned: Path, command: str) -> None:
    git(cloned, "remote", "remove", "brought")
    decision = decide(cloned, command, "ask", *RULES)
    assert decision.verdict == "allow" and decision.rule


MOVING = ("bash(cd *)", "bash(pushd *)", "bash(popd)", "bash(ls)", "bash(git *)")


@pytest.fixture
def ordinary() -> Iterator[Path]:
    """A repository with some folders, where the sandbox has no folder of its own."""
    with TemporaryDirectory(dir="/var/tmp") as made:
        work = Path(made).resolve() / "work"
        for name in ("vendor/lib", "fixtures"):
            (work / name).mkdir(parents=True)
        git(work, "init", "-q")
        yield work


@pytest.mark.parametrize(
    "command",
    [
        *("pushd vendor && git status && popd", "pushd vendor; git add a; popd"),
        "cd vendor; ls; cd ../fixtures; ls; cd ../vendor/lib; ls; cd ../..; git status",
        "git status; cd vendor; git status; cd ..; git status; cd fixtures; git status; cd ..; ls",
    ],
)
def test_rules_cover_lines_that_move_within_the_workspace(ordinary: Path, command: str) -> None:
    decision = decide(ordinary, command, "ask", *MOVING)
    assert decision.verdict == "allow" and decision.rule, decision.reason
    assert line_keeps_to_own(command, ordinary, ordinary)


def test_a_line_is_asked_about_by_its_true_reason(ordinary: Path) -> None:
    unsure = decide(ordinary, "cd -P vendor && git add a", "ask", *MOVING, "bash(cd -P vendor)")
    assert unsure.verdict == "ask" and "not sure in which folder" in unsure.reason
    by_no_rule = decide(ordinary, "cd -P vendor && git add a", "ask")
    assert by_no_rule.verdict == "ask" and by_no_rule.reason.startswith("mode ask")


@pytest.mark.parametrize(
    "command",
    [
        *("mkdir new; cd new/x.git; git add a", "git checkout x; cd new/x.git; git add a"),
        *("pushd bare.git && git add a", "cd vendor; pushd ../bare.git; popd; git add a"),
    ],
)
def test_git_keeps_to_no_repository_that_a_line_moves_into(ordinary: Path, command: str) -> None:
    git(ordinary, "init", "-q", "--bare", "bare.git")
    keeps = line_keeps_to_own(command, ordinary, ordinary)
    assert keeps is ("new" in command), "What is not there yet holds no repository that is known"


def test_a_file_that_names_a_repository_elsewhere_is_asked_about_like_that(cloned: Path) -> None:
    (cloned.parent / "other").mkdir()
    git(cloned.parent / "other", "init", "-q")
    (cloned / "there").write_text("gitdir: ../other/.git\n")
    for address in ("../other", "./there"):
        assert decide(cloned, f"git fetch {address}", "edits", *RULES).verdict == "ask"


def without_sandbox(workspace: Path, command: str, scope: Scope) -> str:
    rule = replace(parse_rule("bash(git status)", "allow"), scope=scope)
    gate = Gate(workspace, lambda: RuleBook([rule]), "ask", sandbox=lambda: "none")
    return gate.decide("bash", {"command": command}, confines=True).verdict


@pytest.mark.parametrize(("scope", "verdict"), [("always", "ask"), ("project", "allow")])
def test_without_a_sandbox_a_rule_for_all_projects_runs_no_program_of_an_archive(
    cloned: Path, scope: Scope, verdict: str
) -> None:
    git(cloned, "config", "filter.x.clean", "./evil")
    assert without_sandbox(cloned, "git status", scope) == verdict
    assert without_sandbox(cloned, "cd fixtures/x.git && git status", scope) == "ask"


MAKES = """
mkdir /tmp/h
for name in reference-transaction post-commit post-receive; do
  printf '#!/bin/sh\nrm -rf {git}/objects {git}/refs\n' > /tmp/h/$name; chmod +x /tmp/h/$name
done
git init -q --bare /tmp/r.git; git -C /tmp/r.git config core.hooksPath /tmp/h
git init -q /tmp/w; git -C /tmp/w config user.email a@b; git -C /tmp/w config user.name a
git -C /tmp/w config core.hooksPath /tmp/h; ln -s /tmp/w there; echo 'gitdir: /tmp/r.git' > up
"""


@needs_sandbox
@pytest.mark.parametrize(
    "command",
    [
        *("git -C /tmp/w commit --allow-empty -m x", "cd /tmp/w && git commit --allow-empty -m x"),
        *(
            "git -C there commit --allow-empty -m x",
            "git push ./up main",
            "git push /tmp/r.git HEAD",
        ),
        "git status; git -C /tmp/w tag t",
    ],
)
@pytest.mark.parametrize("outside", [False, True])
async def test_a_hook_that_a_command_made_deletes_no_history(
    shell: Shell, command: str, outside: bool
) -> None:
    main = shell.root.parent / "main" if outside else shell.root
    if outside:
        git(shell.root.parent, "init", "-q", "-b", "main", "main")
        git(main, *AUTHOR, "commit", "-q", "--allow-empty", "-m", "first")
        git(main, "worktree", "add", "-q", str(shell.root))
    else:
        git(main, "init", "-q", "-b", "main")
        git(main, *AUTHOR, "commit", "-q", "--allow-empty", "-m", "first")
    await run(shell, MAKES.format(git=main / ".git"), Grant("mode"))
    output = await run(shell, command, Grant("mode"))
    assert "first" in git(shell.root, "log", "--format=%s"), output


@needs_sandbox
@pytest.mark.parametrize(
    "command",
    [
        "git checkout -q evil -- d && git -C d commit --allow-empty -m x",
        "git checkout -q evil && cd d && git commit --allow-empty -m x",
    ],
)
@pytest.mark.parametrize("by", ["mode", "rule"])
async def test_a_repository_that_a_checkout_brings_runs_nothing(
    shell: Shell, command: str, by: Literal["mode", "rule"]
) -> None:
    root = shell.root
    git(root, "init", "-q", "-b", "main")
    git(root, *AUTHOR, "commit", "-q", "--allow-empty", "-m", "first")
    git(root, "checkout", "-q", "-b", "evil")
    for name in ("objects", "refs", "hooks"):
        (root / "d" / name).mkdir(parents=True)
        (root / "d" / name / "keep").touch()
    (root / "d/HEAD").write_text("ref: refs/heads/main\n")
    (root / "d/config").write_text("[core]\nbare = false\nworktree = ..\n[user]\nname=a\nemail=b\n")
    hook = root / "d/hooks/pre-commit"
    hook.write_text("#!/bin/sh\ntouch $OLDPWD/ran ../ran ran\n")
    hook.chmod(0o755)
    git(root, "add", "-f", ".")
    git(root, *AUTHOR, "commit", "-q", "-m", "evil")
    git(root, "checkout", "-q", "main")
    output = await run(shell, command, Grant(by))
    assert not list(root.rglob("ran")), output
    assert "cannot use bare repository" in output
