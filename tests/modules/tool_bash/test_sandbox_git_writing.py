"""What code that git runs leaves in repositories' folders: it does not take effect on git later."""

import asyncio
import shlex
import struct
import subprocess
from hashlib import sha1
from pathlib import Path

import pytest

from amplifier_tui.kernel.session.grant import Grant
from amplifier_tui.modules.tool_bash.sandbox.made import Made
from tests.modules.tool_bash.confined import run, shell, told
from tests.modules.tool_bash.support import Shell
from tests.modules.tool_bash.test_sandbox_history import server
from tests.sandbox import needs_sandbox
from tests.waiting import within

__all__ = ["server", "shell", "told"]

pytestmark = needs_sandbox


def index_of(name: str) -> bytes:
    """Return an index of git that holds an empty file by some name."""
    blob = bytes.fromhex("e69de29bb2d1d6434b8b29ae775ad8c2e48c5391")
    entry = struct.pack(">10I", *(0, 0, 0, 0, 0, 0, 0o100644, 0, 0, 0)) + blob
    entry += struct.pack(">H", len(name)) + name.encode()
    data = b"DIRC" + struct.pack(">2I", 2, 1) + entry + bytes(8 - len(entry) % 8)
    return data + sha1(data).digest()


def git(folder: Path, *arguments: str) -> str:
    command = ["git", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout


async def repository(shell: Shell, folder: Path, *, hook: str) -> None:
    """Make a repository in which each commit runs a script of the checkout."""
    setup = (
        f"git init -q -b main {folder} && cd {folder} && git config user.email a@b && "
        "git config user.name a && touch empty && git add . && git commit -qm first && "
        f"printf '#!/bin/sh\\n%s\\n' {shlex.quote(hook)} > .git/hooks/post-commit && "
        "chmod +x .git/hooks/post-commit"
    )
    assert "exit code 0" in await run(shell, setup, None)


@pytest.mark.parametrize(
    "name", ["../outside", ".git/config", "x/../../outside", "sub/.GIT/config"]
)
async def test_an_index_that_leads_out_of_the_checkout_is_moved_aside(
    shell: Shell, name: str
) -> None:
    await repository(shell, shell.root, hook="sh ./script")
    (shell.root / "poison").write_bytes(index_of(name))
    (shell.root / "script").write_text("cp poison .git/index\n")
    output = await run(shell, "git commit -q --allow-empty -m second")
    assert ".git/index names files outside of its checkout" in output
    git(shell.root, "reset", "-q")
    git(shell.root, "checkout", "--", ".")
    assert git(shell.root, "ls-files").split() == ["empty"]
    assert not (shell.root.parent / "outside").exists()
    (shell.root / "script").write_text("")
    assert "names files" not in await run(shell, "git commit -q --allow-empty -m third; git status")


@pytest.mark.parametrize("name", ["commondir", "config.worktree", "branches", "worktrees/x/config"])
async def test_what_git_would_obey_in_the_repository_of_a_worktree_is_moved_aside(
    shell: Shell, name: str
) -> None:
    main = shell.root.parent / "main"
    await repository(shell, main, hook=f"sh {shell.root}/script")
    git(main, "worktree", "add", "-q", "-b", "side", str(shell.root))
    subprocess.run(["rm", "-rf", main / ".git/branches"], check=True)
    place = main / ".git" / name
    (shell.root / "script").write_text(f"mkdir -p {place.parent}; echo evil > {place}\n")
    output = await run(shell, "git commit -q --allow-empty -m second")
    assert f"{place} would take effect" in output
    assert not place.exists()
    assert git(main, "log", "--format=%s", "side").split() == ["second", "first"]


async def test_what_a_rebase_would_run_in_the_repository_of_a_worktree_is_moved_aside(
    shell: Shell,
) -> None:
    main = shell.root.parent / "main"
    await repository(shell, main, hook=f"sh {shell.root}/script")
    git(main, "worktree", "add", "-q", "-b", "side", str(shell.root))
    todo = main / ".git/worktrees/work/rebase-merge/git-rebase-todo"
    (shell.root / "script").write_text(f"mkdir {todo.parent}; echo 'exec evil' > {todo}\n")
    output = await run(shell, "git commit -q --allow-empty -m second")
    assert f"{todo} would run commands" in output
    assert "evil" not in todo.read_text()


async def test_a_worktree_that_another_makes_meanwhile_stays(shell: Shell) -> None:
    main = shell.root.parent / "main"
    await repository(shell, main, hook=f"sh {shell.root}/script")
    git(main, "worktree", "add", "-q", "-b", "side", str(shell.root))
    (shell.root / "script").write_text("touch begun; until [ -e go ]; do sleep 0.02; done\n")
    other = shell.root.parent / "other"
    made = f"(until [ -e begun ]; do sleep 0.02; done; git worktree add -q {other}; touch go)"
    making = subprocess.Popen(["sh", "-c", made], cwd=shell.root)
    output = await run(shell, "git commit -q --allow-empty -m second")
    assert making.wait() == 0
    assert "would take effect" not in output
    assert "On branch other" in git(other, "status")


async def test_what_shows_other_contents_for_files_is_taken_away(shell: Shell) -> None:
    await repository(shell, shell.root, hook="sh ./script")
    (shell.root / "evil").write_text("evil\n")
    evil = git(shell.root, "hash-object", "-w", "evil").strip()
    empty = git(shell.root, "rev-parse", "HEAD:empty").strip()
    user = git(shell.root, "commit-tree", "-m", "x", "HEAD^{tree}").strip()
    git(shell.root, "replace", user, "HEAD")
    (shell.root / "script").write_text(f"git replace {empty} {evil}; git pack-refs --all\n")
    output = await run(shell, "git commit -q --allow-empty -m second")
    assert ".git had references put into it that show other contents" in output
    assert git(shell.root, "replace").split() == [user]
    assert git(shell.root, "show", "HEAD:empty") == ""


async def test_a_repository_of_another_name_beside_its_worktrees_is_gits_alone(
    shell: Shell,
) -> None:
    await repository(shell, shell.root / "first", hook="true")
    setup = (
        "git clone -q --bare first .bare && rm -rf first && echo 'gitdir: ./.bare' > .git && "
        "git config user.email a@b && git config user.name a && git worktree add -q main"
    )
    assert "exit code 0" in await run(shell, setup, None)
    (shell.root / "poison").write_bytes(index_of("../../outside"))
    output = await run(shell, "cp poison .bare/worktrees/main/index; rm -rf .bare/refs")
    assert "Read-only file system" in output
    output = await run(shell, "cd main && git commit -q --allow-empty -m second && git status")
    assert "exit code 0" in output and "On branch main" in output
    assert git(shell.root / "main", "ls-files").split() == ["empty"]


async def test_what_makes_git_lose_older_commits_is_moved_aside(shell: Shell) -> None:
    await repository(shell, shell.root, hook="sh ./script")
    (shell.root / "script").write_text("git rev-parse HEAD > .git/shallow\n")
    output = await run(shell, "git commit -q --allow-empty -m second")
    assert ".git/shallow would have git take older commits for none" in output
    assert git(shell.root, "log", "--format=%s").split() == ["second", "first"]


async def test_what_a_fetch_of_less_ends_the_history_at_stays(shell: Shell, server: Path) -> None:
    origin = server / "origin"
    origin.mkdir()
    await repository(shell, origin, hook="true")
    for name in ("second", "third"):
        git(origin, "commit", "-q", "--allow-empty", "-m", name)
    await repository(shell, shell.root, hook="true")
    command = f"git fetch -q --depth=1 file://{origin} main:refs/remotes/origin/main"
    output = await run(shell, command, Grant("rule", network=True))
    assert "exit code 0" in output and "shallow" not in output
    assert git(shell.root, "log", "--format=%s", "origin/main").split() == ["third"]


async def test_settings_of_repositories_below_are_guarded_too(shell: Shell) -> None:
    below = shell.root / "sub"
    below.mkdir()
    await repository(shell, below, hook="true")
    git(below, "config", "include.path", "../../dev/settings")
    output = await run(shell, "mkdir dev; echo '[core] fsmonitor = evil' > dev/settings")
    assert "dev/settings would take effect" in output
    assert not (shell.root / "dev/settings").exists()


async def test_settings_that_the_repository_includes_are_read_only(shell: Shell) -> None:
    await repository(shell, shell.root, hook="true")
    settings = shell.root / "tools/settings"
    settings.parent.mkdir()
    settings.write_text("[alias]\n\tx = log\n")
    git(shell.root, "config", "include.path", "../tools/settings")
    output = await run(shell, "echo '[core] fsmonitor = evil' >> tools/settings")
    assert "Read-only file system" in output
    assert "evil" not in settings.read_text()


async def test_a_circle_of_links_hides_nothing(shell: Shell, told: list[str]) -> None:
    await repository(shell, shell.root, hook="true")
    git(shell.root, "config", "core.hooksPath", "tools/hooks")
    (shell.root / "tools").mkdir()
    await run(shell, "ln -s hooks tools/hooks; mkdir .vscode; echo 1 > .vscode/tasks.json")
    assert not (shell.root / ".vscode").exists()
    assert "exit code 0" in await run(shell, "echo 1 > x")


async def test_that_nothing_could_be_looked_at_is_told(
    shell: Shell, told: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **_more: object) -> None:
        raise RuntimeError("too many links")

    monkeypatch.setattr(Made, "_look", fail)
    assert "too many links" in await run(shell, "echo 1 > x")
    async with within(20, "the notice"):
        while not any("look at it yourself" in each for each in told):
            await asyncio.sleep(0.01)


async def test_what_a_link_in_the_home_leads_to_is_read_only(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (shell.root / "rc.sh").write_text("mine\n")
    home = tmp_path / "home"
    home.mkdir()
    (home / ".bashrc").symlink_to(shell.root / "rc.sh")
    monkeypatch.setenv("HOME", str(home))
    assert "Read-only file system" in await run(shell, "echo evil >> rc.sh")
    assert (shell.root / "rc.sh").read_text() == "mine\n"
