"""Hooks that lie in a checkout: a line of git that brings others runs those that were there."""

from pathlib import Path

import pytest

from amplifier_tui.kernel.session.grant import Grant
from tests.modules.tool_bash.confined import run, shell
from tests.modules.tool_bash.support import Shell
from tests.sandbox import needs_sandbox
from tests.trust.test_git_outside import AUTHOR, git

__all__ = ["shell"]

pytestmark = needs_sandbox

MODE = Grant("mode")
WITHOUT = ("-c", "core.hooksPath=/dev/null")
HOOKS = (
    *("post-checkout", "pre-commit", "post-merge", "reference-transaction", "post-index-change"),
    *("post-commit", "post-rewrite", "prepare-commit-msg", "pre-merge-commit"),
)
HUSKY = 's=$(dirname "$(dirname "$0")")/$(basename "$0")\n[ -f "$s" ] && sh -e "$s"'
"""What husky has git run, for what is beside it."""


def hook(place: Path, text: str) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(f"#!/bin/sh\n{text}\n")
    place.chmod(0o755)


def commit(root: Path) -> None:
    git(root, "add", "-f", ".")
    git(root, *WITHOUT, "commit", "-q", "-m", "more")


def repository(root: Path, hooks: str) -> None:
    git(root, "init", "-q", "-b", "main")
    for name, value in (("user.name", "a"), ("user.email", "a@b"), ("core.hooksPath", hooks)):
        git(root, "config", name, value)
    (root / "file").touch()
    commit(root)


@pytest.mark.parametrize(("hooks", "there"), [("tools/hooks", False), (".husky/_", True)])
@pytest.mark.parametrize(
    "command",
    [
        *("git checkout -q evil", "git checkout evil -- . && git commit -qm x"),
        *("git merge -q --no-ff evil", "git switch -q evil; git switch -q main", "git rebase evil"),
        *("git cherry-pick evil", "git reset -q --hard evil && git commit --allow-empty -qm x"),
        "git worktree add -q wt evil && git -C wt commit --allow-empty -qm x",
        "git checkout -q evil & git commit --allow-empty -qm x; wait",
    ],
)
async def test_hooks_that_a_line_of_git_brings_do_not_run_in_it(
    shell: Shell, hooks: str, command: str, there: bool
) -> None:
    root = shell.root
    repository(root, hooks)
    if there:
        for name in HOOKS:
            hook(root / hooks / name, "true")
        commit(root)
    git(root, "checkout", "-q", "-b", "evil")
    for folder in {hooks, hooks.removesuffix("/_")}:
        for name in HOOKS:
            hook(root / folder / name, 'touch "$(git rev-parse --git-common-dir)/ran"')
    commit(root)
    git(root, *WITHOUT, "checkout", "-q", "main")
    (root / ".git/ran").unlink(missing_ok=True)

    await run(shell, command, MODE)

    assert not (root / ".git/ran").exists()


@pytest.mark.parametrize("to", ["/tmp/h", "/tmp/.git/hooks", "../made"])
async def test_hooks_behind_a_link_that_a_line_brings_do_not_run_in_it(
    shell: Shell, to: str
) -> None:
    root = shell.root
    repository(root, "tools/hooks")
    hook(root / "tools/hooks/post-checkout", "true")
    commit(root)
    git(root, "checkout", "-q", "-b", "evil")
    git(root, "rm", "-q", "-r", "tools")
    (root / "tools").mkdir(exist_ok=True)
    (root / "tools/hooks").symlink_to(to)
    commit(root)
    git(root, *WITHOUT, "checkout", "-q", "main")
    runs = "#!/bin/sh\ntouch ran"
    await run(
        shell,
        f"cd tools && mkdir -p {to} && printf '{runs}' > {to}/post-checkout"
        f" && chmod +x {to}/post-checkout",
        MODE,
    )

    await run(shell, "git checkout -q evil", MODE)

    assert (root / "tools/hooks").is_symlink() and not (root / "ran").exists()


async def test_a_patch_that_brings_hooks_does_not_reach_the_history(shell: Shell) -> None:
    root = shell.root
    repository(root, ".githooks")
    hook(root / ".githooks/post-checkout", 'rm -rf "$(git rev-parse --git-common-dir)/refs"')
    git(root, "add", ".githooks")
    (root / "patch").write_text(git(root, "diff", "--cached"))
    git(root, *WITHOUT, "rm", "-q", "-f", "-r", ".githooks")

    await run(
        shell,
        "git apply --cached patch && git commit -qm x && git reset -q --hard"
        " && git checkout -q -b z",
        MODE,
    )

    assert (root / ".git/refs").is_dir()


@pytest.mark.parametrize("hooks", [".githooks", ".husky/_", ".git/hooks"])
@pytest.mark.parametrize(
    "command",
    [
        *("git add file && git commit -qm x", "git checkout -q -b x && git commit -qam x"),
        "git checkout -q -b x && git commit -qam \"$(cat <<'EOF'\nwords\nEOF\n)\"",
        "git stash -q && git stash pop -q && git commit -qam x",
    ],
)
async def test_hooks_of_a_checkout_run_as_they_are(shell: Shell, hooks: str, command: str) -> None:
    root = shell.root
    repository(root, hooks)
    if hooks == ".husky/_":
        hook(root / ".husky/_/pre-commit", HUSKY)
        hook(root / ".husky/pre-commit", "sh tools/check.sh")
    else:
        hook(root / hooks / "pre-commit", 'sh "$(dirname "$0")/../tools/check.sh" || exit 1')
    tools = root / (".git/tools" if hooks == ".git/hooks" else "tools")
    tools.mkdir()
    (tools / "check.sh").write_text("echo checked; exit 1\n")
    if hooks != ".git/hooks":
        commit(root)
    (root / "file").write_text("more\n")
    before = git(root, "rev-parse", "HEAD")

    assert "checked" in await run(shell, command, MODE)
    assert git(root, "rev-parse", "HEAD") == before


async def test_hooks_run_as_they_were_when_a_line_changes_them(shell: Shell) -> None:
    root = shell.root
    repository(root, ".githooks")
    hook(root / ".githooks/post-merge", "echo as before")
    commit(root)
    git(root, "checkout", "-q", "-b", "side")
    hook(root / ".githooks/post-merge", "echo as brought")
    commit(root)
    git(root, *WITHOUT, "checkout", "-q", "main")

    assert "as before" in await run(shell, "git merge -q side", MODE)
    assert "as brought" in (root / ".githooks/post-merge").read_text()


async def test_a_commit_is_left_to_a_line_of_its_own_where_its_check_was_brought(
    shell: Shell,
) -> None:
    root = shell.root
    repository(root, ".githooks")
    git(root, "checkout", "-q", "-b", "side")
    hook(root / ".githooks/pre-commit", "echo checked")
    commit(root)
    git(root, *WITHOUT, "checkout", "-q", "main")
    line = "git commit -q --allow-empty -m x"

    output = await run(shell, f"git checkout -q side && {line}", MODE)

    assert "pre-commit was not run" in output and "of its own" in output
    assert "checked" in await run(shell, line, MODE)


async def test_hooks_of_other_repositories_run_beside_them(shell: Shell) -> None:
    root = shell.root
    repository(root, ".githooks")
    hook(root / ".githooks/post-checkout", "echo of the outer")
    commit(root)
    (root / "inner").mkdir()
    git(root / "inner", "init", "-q")
    git(root / "inner", *AUTHOR, "commit", "-q", "--allow-empty", "-m", "first")
    hook(root / "inner/.git/hooks/post-checkout", "echo of the inner")

    output = await run(shell, "git checkout -q -b x && cd inner && git checkout -q -b y", MODE)

    assert "of the outer" in output and "of the inner" in output
