"""A rule about reading files holds for the commands of git that print what is in them."""

from pathlib import Path
from typing import Final

import pytest

from amplifier_tui.host.gate.gate import Gate, GateDecision
from amplifier_tui.host.gate.modes import Verdict
from amplifier_tui.host.gate.rules.book import RuleBook
from amplifier_tui.host.gate.rules.text import parse_rule

READ: Final = "read(secrets/**)"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    for name in ("secrets/k.txt", "src/a.py", "src/deep/b.py", ".git/HEAD"):
        file = tmp_path / "w" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("x")
    return tmp_path / "w"


def decide(workspace: Path, line: str, rule: str = READ, verdict: Verdict = "deny") -> GateDecision:
    """What happens to a command in mode auto where there is a sandbox."""
    book = RuleBook((parse_rule(rule, verdict),))
    gate = Gate(workspace, lambda: book, "auto", sandbox=lambda: "")
    return gate.decide("bash", {"command": line}, confines=True)


PRINTS: Final = [
    *("git diff", "git diff HEAD", "git diff --cached", "git diff -- :/", "git diff -- ."),
    *("git -P diff",),
    *("git diff -- ':!src'", "git diff -- '*.txt'"),
    *("git diff -- 's\\ecrets'", "git diff -- {src,secrets}", "git diff $X", "git diff -- src $X"),
    *("git diff --stat -p", "git diff -p --stat", "git diff --stat -U1", "git diff -s --patch"),
    *("git diff --stat --check", "git diff --numstat --unified=1", "git diff --stat --binary"),
    *("git diff --stat --submodule=diff", "git diff --ext-diff --stat", "git diff main..side"),
    *("git diff HEAD~:./ HEAD:./", "git diff --word-diff", "git diff -- src :/"),
    *("git diff src ':/'",),
    *("git show", "git show HEAD", "git show HEAD~2 -p --stat", "git show HEAD^{/src:a.py}"),
    *("git show 'HEAD^{/x/*}'", "git diff src ':/'", "git diff '*.txt' src"),
    *("git show HEAD@{12:30}", "git show -s 0123abcd", "git show --stat 0123abcd"),
    *("git show :/words",),
    *("git log -p", "git log -u", "git log --patch", "git log -1p", "git log -G x -p"),
    *("git log -Sx -u",),
    *("git log -L 1,5:src/a.py", "git log -U3", "git log --cc"),
    *("git log -c", "git log --patch-with-stat", "git log --binary", "git log --remerge-diff"),
    *("git log -p --full-diff -- src", "git log -p --follow -- src/a.py", "git log --pat"),
    *("git log -p $X",),
    *("git whatchanged -p", "git reflog -p", "git reflog show -p", "git stash list -p"),
    *("git stash show -p", "git stash show", "git stash -p", "git stash push --pat"),
    *("git cat-file --batch-all-objects --batch", "git cat-file --batch"),
    *("git cat-file -p 0123abcd",),
    *("git cat-file blob 0123abcd", "git cat-file --batch-check --batch"),
    *("git cat-file --batch-command",),
    *("git diff-tree -p HEAD", "git diff-index -p HEAD", "git diff-files -u"),
    *("git diff-tree --stdin -p",),
    *("git format-patch --stdout HEAD~", "git archive HEAD", "git range-diff a b c"),
    *("git difftool -y",),
    *("git fast-export --all", "git bundle create - --all", "git merge-tree a b"),
    *("git rerere diff",),
    *("git checkout-index --temp -a", "git unpack-file 0123abcd", "git request-pull -p a b"),
    *("git status -v", "git status -vv", "git status --verb", "git status -sv", "git status $X"),
    *("git add -p", "git add -i", "git add -e", "git add --pat", "git checkout -p"),
    *("git restore -p",),
    *("git reset --patch", "git commit -v --dry-run", "git commit -nv", "git commit -p"),
    *("git am --show-current-patch=diff", "git rebase --show"),
    *("git config --blob=:secrets/k.txt -l",),
    *("git grep x HEAD", "git grep --cached x", "git grep -e x HEAD -- .", "git lg", "git $X"),
    *("git -c alias.d=diff d", "git --icase-pathspecs diff -- SECRETS", "git -p diff"),
    *("git --git-dir=x diff",),
    *("cd src && git diff", "cd src; git show HEAD", "git -C src diff", "git -C src log -p"),
    *("cd $X; git diff",),
    *("sh -c 'git diff'", "/usr/bin/git diff", "env git show", "GIT_PAGER=cat git diff"),
    *("git diff | cat",),
    *("echo HEAD | xargs git show", "command git log -p", "git diff > out", "timeout 5 git diff"),
]


@pytest.mark.parametrize("line", PRINTS)
def test_what_git_may_print_is_asked_about(workspace: Path, line: str) -> None:
    (workspace / "secrets" / "k.txt").unlink()  # It may have been committed.
    for verdict, done in (("deny", "denies"), ("ask", "asks about")):
        found = decide(workspace, line, verdict=verdict)
        assert (found.verdict, found.rule) == ("ask", READ)
        assert found.reason == f"it may read what the rule {READ} {done}"


@pytest.mark.parametrize(
    "line",
    [
        *("git show HEAD:secrets/k.txt", "git show :0:secrets/k.txt", "git show :secrets/k.txt"),
        *("cd src && git show HEAD:secrets/k.txt", "git -C src show HEAD:secrets/k.txt"),
        *("git -C secrets show HEAD:./k.txt", "git cat-file -p HEAD:secrets/k.txt"),
        *("git diff HEAD:secrets/k.txt HEAD~:secrets/k.txt", "git diff -- secrets"),
        *("git diff -- 's*'", "git diff -- ':(top)secrets'", "git log -L1,5:secrets/k.txt"),
        *("git diff secrets/k.txt", "git log -p -- secrets", "git blame secrets/k.txt"),
        *("git show HEAD:secrets/k.txt -- src", "git cat-file blob :2:secrets/k.txt"),
    ],
)
def test_what_git_is_told_to_print_is_denied(workspace: Path, line: str) -> None:
    found = decide(workspace, line)
    assert (found.verdict, found.rule) == ("deny", READ)


@pytest.mark.parametrize(
    "line",
    [
        *("git diff --stat", "git diff --name-only", "git diff --name-status HEAD", "git diff -s"),
        *("git diff --numstat", "git diff --shortstat", "git diff --quiet", "git diff --stat -w"),
        *("git diff -- src/", "git diff -- src", "git diff HEAD -- src/a.py", "git diff src/a.py"),
        *("git diff HEAD src", "git diff -- 'src/*.py'", "git diff -p --stat -- src"),
        *("git diff -- src/*",),
        *("git diff 'src/*.py'", "git -C src diff -- a.py", "git diff -- src/../src"),
        *("git show --stat", "git show --name-only HEAD", "git show HEAD:src/a.py"),
        *("git show -s HEAD",),
        *("git show :src/a.py", "cd src && git show HEAD:./a.py", "git show HEAD -- src"),
        *("git show HEAD:src/a.py --",),
        *("git diff HEAD:src/a.py HEAD~:src/a.py", "git cat-file -p HEAD:src/a.py"),
        *("git cat-file -t HEAD",),
        *("git cat-file blob HEAD:src/a.py", "git cat-file --batch-check"),
        *("git log", "git log --oneline -5", "git log --stat", "git log --name-only"),
        *("git log -S x",),
        *("git log -G x", "git log -p -- src", "git log -p -3 src/a.py"),
        *("git log --format=%b --all",),
        *("git whatchanged", "git reflog", "git stash list", "git diff-tree HEAD"),
        *("git rev-list HEAD",),
        *("git status", "git status -sb", "git branch -a", "git ls-files", "git ls-tree -r HEAD"),
        *("git blame src/a.py", "git rev-parse HEAD", "git grep x src", "git grep x -- src"),
        *("git tag",),
        *("git add .", "git add -A", "git commit -am 'verbose -p'", 'git commit -m "$(cat x)"'),
        *("git",),
        *("git commit -mpv", "git stash", "git stash pop", "git reset HEAD~", "git rm src/a.py"),
        *("cat src/a.py && git status", "git config --get user.name", "git --version"),
    ],
)
def test_what_git_does_besides_is_as_without_the_rule(workspace: Path, line: str) -> None:
    found, plain = decide(workspace, line), decide(workspace, line, "bash(nothing)")
    assert (found.verdict, found.reason) == (plain.verdict, plain.reason)


@pytest.mark.parametrize(
    ("rule", "line", "verdict"),
    [
        *(("read(**/*.key)", "git diff", "ask"), ("read(**/*.key)", "git diff -- src", "ask")),
        ("read(**/*.key)", "git diff -- src/a.py", "allow"),
        ("read(src/a.py)", "git diff", "ask"),
        ("read(src/a.py)", "git diff -- src", "ask"),
        ("read(src/a.py)", "git diff -- src/deep", "allow"),
        ("read(src/*/x)", "git diff -- src/deep", "ask"),
        ("read(../other/**)", "git diff", "allow"),
        ("read(../other/**)", "git -C .. diff", "ask"),
        ("read(/elsewhere/**)", "git show", "allow"),
        *(("write(secrets/**)", "git diff", "allow"), ("web(x.org)", "git diff", "allow")),
    ],
)
def test_it_is_asked_where_the_rule_may_be_about_it(
    workspace: Path, rule: str, line: str, verdict: Verdict
) -> None:
    found = decide(workspace, line, rule)
    if verdict == "ask":
        assert (found.verdict, found.rule) == ("ask", rule)
    else:
        assert found.rule == ""


def test_a_workspace_below_the_top_of_its_repository_is_shown_what_lies_beside_it(
    tmp_path: Path,
) -> None:
    workspace = tmp_path / "all" / "w"
    for folder in (workspace, workspace.parent / ".git"):
        folder.mkdir(parents=True)
    assert decide(workspace, "git diff", "read(../other/**)").rule == "read(../other/**)"
    assert decide(workspace, "git diff -- .", "read(../other/**)").rule == ""
