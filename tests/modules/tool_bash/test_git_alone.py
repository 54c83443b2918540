"""Which command lines may write in the folders of repositories."""

from pathlib import Path

import pytest

from amplifier_tui.base.commands.git_lines.alone import (
    advice_for_git,
    is_of_git_alone,
    remotes_fetched,
)
from tests.modules.tool_bash.confined import run, shell
from tests.modules.tool_bash.support import Shell
from tests.sandbox import needs_sandbox

__all__ = ["shell"]

ALONE = [
    """git add -A && git commit -m "$(cat <<'EOF'\nfix: x\nEOF\n)\"""",
    "cd sub && git add x",
    "git commit -m 'x' 2>&1 | tail -3",
    "GIT_EDITOR=true git rebase --continue",
    "git add a.py b/*.py; echo done",
    "(git add . ; git commit -m x)",
    "git branch -D x || true",
    "for f in a b; do git add $f; done",
    "if git diff --quiet; then git commit -m x; fi",
    "git -c user.name=a -c user.email=b commit -m x",
    "git -C sub rm -q --cached x && git status --short",
    "git checkout -b x && git stash && git stash pop",
    "git fetch origin && git merge origin/main && git push origin main",
    "git pull --rebase",
    "# words\ngit commit -m x",
    "git add -A && git commit -F - <<'EOF'\nfix: x\n\nwhy - <<'x'\nEOF\n",
    "git commit -F - <<EOF\n$x\nEOF",
    "set -euo pipefail\ngit add .\ngit commit -m x",
    "git commit -m x; echo $?",
    "time git commit -m x",
    "export GIT_EDITOR=true; git commit --amend",
    "B=$(git branch --show-current) && git branch bk-$B",
    "branch=$(git rev-parse --abbrev-ref HEAD); git push origin main",
    "git -c commit.gpgsign=false -c core.editor=true rebase --continue",
    "SKIP=lint git commit -m x",
    "GIT_SEQUENCE_EDITOR=\"sed -i '2s/^pick/squash/'\" git rebase -i HEAD~2",
    "git merge -s ours x && git cherry-pick --strategy=recursive -X theirs y",
    "git am *.patch",
    "git remote prune origin",
    "for ref in a b; do git branch $ref; done",
    ': "${x:=y}"; git tag ${x%y} ${x:0:7} ${#x} ${a[0]} v$((1 + 2))',
    "git bisect start && git bisect bad HEAD && git bisect good v1",
    "git commit -F - <<'EOF'\n${PATH:=x} $((PATH=1))\nEOF",
    "git submodule update",
    "printf '%s\n' a | git commit -F -",
    "git add a & git add b; wait",
]
WITH_OTHERS = [
    "git add .; python3 x",
    "git add . & evil",
    "git add . > .git/index",
    "git add <(evil)",
    "git add .; git log > x",
    "git diff --output=.git/x; git add .",
    "git rebase -x evil main",
    "git rebase -ix evil",
    "git rebase --exe=evil main",
    "git rebase $x",
    "git fetch --upload-pack=evil",
    "git pull -s ./evil",
    "git apply --build-f=x p",
    "git submodule foreach evil",
    "git bisect run evil",
    "git -c core.fsmonitor=evil add .",
    "git $x add",
    "$g add",
    "./git add .",
    "git() { evil; }; git add .",
    "alias git=evil; git add .",
    "git commit -m `evil`",
    'git commit -m "$(evil)"',
    "GIT_INDEX_FILE=x git add .",
    "EDITOR=evil git commit",
    "PATH=. git add .",
    "PATH=.\ngit add .",
    "export PATH=.; git add x",
    ". x; git add .",
    "eval git add .",
    "env git add .",
    "trap evil EXIT; git add .",
    "git add 'x",
    "git -c core.editor=evil commit",
    "git -c core.sshCommand=evil fetch",
    "GIT_SEQUENCE_EDITOR='sed -i 1e evil' git rebase -i x",
    "GIT_SEQUENCE_EDITOR=\"sed -i 's/^pick/squash/e'\" git rebase -i x",
    "git merge -s ./evil x",
    "git merge -s evil x",
    "git merge --strat=evil x",
    "git pull --strategy evil",
    "GIT_DIR=x; git add .",
    "PATH=.; git add .",
    "IFS=x; git add .",
    "export PATH=.; git add .",
    "set -- x; git add .",
    "printf -v PATH %s .; git add .",
    "echo x > .git/index; git add .",
    "echo x | tee .git/index; git add .",
    "git log -1; sh plant.sh",
    "git commit -F - <<EOF\n$(evil)\nEOF",
    "git commit -F - <<EOF\n`evil`\nEOF",
    "git commit -F - <<< $(evil)",
    'printf -vPATH "$PWD/bin:$PATH"; git tag z',
    "printf 1%n PATH; git tag z",
    'printf "$x" PATH; git tag z',
    "wait -np PATH; git tag z",
    "for PATH in $PWD/bin; do git tag z; done",
    "select PATH in $PWD/bin; do git tag z; done",
    "for HOME in $PWD/h; do git tag z; done",
    ": $((PATH=1)); git tag z",
    ": $[PATH=1]; git tag z",
    "x='a[$(evil)]'; git tag $((x))",
    ": ${PATH:=x}; git tag z",
    ": ${PATH=x}; git tag z",
    'git tag "${x:-${PATH:=y}}"',
    "x='$(evil)'; git tag ${x@P}",
    "x='a[$(evil)]'; git tag ${!x}",
    "x=PATH=1; git tag ${a[x]}",
    "git tag ${a[PATH=1]}",
    "a=([PATH=1]=x); git tag z",
    "git bisect view evil",
    "git bisect replay evil",
    'x="run ./evil"; git bisect $x',
    "git bisect $(echo run) ./evil",
    "git submodule --quiet foreach evil",
    "git apply --unsafe-paths x.patch",
    "git apply --uns x.patch",
    "",
]


@pytest.mark.parametrize("line", ALONE)
def test_git_is_alone(line: str) -> None:
    assert is_of_git_alone(line)


@pytest.mark.parametrize("line", WITH_OTHERS)
def test_git_is_not_alone(line: str) -> None:
    assert not is_of_git_alone(line)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("npm test && git commit -m x", "as it can in a command line of its own"),
        ("git rebase --exec 'npm test' main", "as it would run what it was told to"),
        ("git status; npm test", ""),
        ("npm test", ""),
    ],
)
def test_it_is_said_what_helps(line: str, says: str) -> None:
    said = advice_for_git(line)
    assert says in said and bool(says) is bool(said)


@needs_sandbox
async def test_only_a_line_of_gits_own_writes_in_a_repository(shell: Shell) -> None:
    (shell.root / "plant.sh").write_text("echo evil > .git/index; echo evil > .git/MERGE_RR\n")
    setup = "git init -q . && git config user.email a@b && git config user.name a"
    assert "exit code 0" in await run(shell, setup, None)
    together = await run(shell, "git add -A; sh plant.sh; git commit -qm first")
    assert "git could not write, as it can in a command line of its own" in together
    git = Path(shell.root / ".git")
    assert not (git / "index").exists() and not (git / "MERGE_RR").exists()
    assert "first" in await run(shell, "git add -A && git commit -qm first; git log --format=%s")


@pytest.mark.parametrize(
    ("line", "remotes"),
    [
        ("git pull", ("",)),
        ("git fetch -q origin; git merge -q origin/main", ("origin",)),
        ("git pull --rebase origin main", ("origin",)),
        ("git switch topic && git pull", ()),
        ("git switch topic && git pull origin", ("origin",)),
        ("git fetch --all", ()),
        ("git -C sub fetch origin", ()),
        ("git fetch origin x:y", ()),
        ("git fetch origin; git commit -m x", ()),
    ],
)
def test_the_remotes_that_a_line_fetches_from_are_told(line: str, remotes: tuple[str, ...]) -> None:
    assert remotes_fetched(line) == remotes
