"""What the user's git brings while a command in the sandbox runs."""

import asyncio
import shlex
import subprocess
from pathlib import Path

import pytest

from amplifier_tui.modules.tool_bash.sandbox import made
from amplifier_tui.modules.tool_bash.sandbox.git_outside import makes_repository_outside
from tests.modules.tool_bash.confined import run, shell
from tests.modules.tool_bash.support import Shell
from tests.sandbox import needs_sandbox

__all__ = ["shell"]

pytestmark = needs_sandbox

SETUP = """
git init -q -b main . && git config user.email a@b && git config user.name a
git commit -q --allow-empty -m first && git checkout -q -b other
mkdir -p new/.vscode && echo 1 > new/.vscode/settings.json && echo a > new/AGENTS.md
ln -s AGENTS.md new/CLAUDE.md && git add -A && git commit -qm second && git checkout -q main
"""
WAITING = "until [ -e go ]; do sleep 0.02; done"


def git(shell: Shell, *arguments: str) -> str:
    command = ["git", *arguments]
    return subprocess.run(
        command, cwd=shell.root, capture_output=True, text=True, check=True
    ).stdout


async def meanwhile(shell: Shell, command: str, *arguments: str) -> str:
    """Run a command in the sandbox, and git outside of it meanwhile; it sees `go` afterwards."""
    running = asyncio.create_task(run(shell, command))
    while not (shell.root / "begun").exists():
        assert not running.done(), running.result()
        await asyncio.sleep(0.01)
    await asyncio.to_thread(git, shell, *arguments)
    (shell.root / "go").touch()
    return await running


async def test_what_a_checkout_in_a_terminal_brings_stays(shell: Shell) -> None:
    assert "exit code 0" in await run(shell, SETUP, None)
    output = await meanwhile(shell, f"touch begun; {WAITING}", "checkout", "-q", "other")
    assert "would take effect" not in output
    assert git(shell, "status", "--short").split() == ["??", "begun", "??", "go"]


async def test_what_a_command_changes_of_it_does_not_stay(shell: Shell) -> None:
    assert "exit code 0" in await run(shell, SETUP, None)
    evil = "echo evil > new/AGENTS.md; touch new/.vscode/tasks.json"
    output = await meanwhile(shell, f"touch begun; {WAITING}; {evil}", "checkout", "-q", "other")
    assert "new/AGENTS.md would take effect" in output
    assert not (shell.root / "new/.vscode").exists() and not (shell.root / "new/AGENTS.md").exists()


async def test_no_repository_of_a_commands_own_says_what_stays(shell: Shell) -> None:
    await run(shell, "mkdir sub", None)
    made = "cd sub; git init -q .; echo evil > .envrc; git add .envrc"
    assert "sub/.envrc would take effect" in await run(shell, made)
    assert not (shell.root / "sub/.envrc").exists()


async def test_the_folder_of_a_repository_that_git_makes_in_a_terminal_stays_and_is_told(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(made, "makes_repository_outside", lambda workspace: workspace == shell.root)
    output = await meanwhile(shell, f"touch begun; {WAITING}", "init", "-q", "sub")
    assert "would take effect" not in output
    assert (shell.root / "sub/.git/config").exists()


async def test_git_of_a_terminal_is_told_from_that_of_the_sandbox(shell: Shell) -> None:
    assert "exit code 0" in await run(shell, SETUP, None)
    # An alias that waits: git stays while it runs.
    waits = ["-c", "alias.w=!cat", "w", "-", "clone"]
    inside = f"touch begun; {{ {WAITING}; }} | git {shlex.join(waits)}"
    running = asyncio.create_task(run(shell, inside))
    while not (shell.root / "begun").exists():
        assert not running.done(), running.result()
        await asyncio.sleep(0.01)
    assert not makes_repository_outside(shell.root)
    for words, makes in ((waits, True), (waits[:-1], False)):
        command = ["git", *words]
        with subprocess.Popen(command, cwd=shell.root, stdin=subprocess.PIPE) as outside:
            while not Path(f"/proc/{outside.pid}/cmdline").read_bytes():
                await asyncio.sleep(0.01)
            assert makes_repository_outside(shell.root) is makes
            assert not makes_repository_outside(shell.root / "new")
            assert not makes_repository_outside(shell.root.parent / "state")
            outside.communicate()
    parent, elsewhere = shell.root.parent, shell.root.parent / "elsewhere" / "work"
    for words, folder, makes in (
        (["/server/x.git", str(shell.root)], Path("/"), True),
        (["/server/x.git", "work/sub"], parent, True),
        (["/server/work.git"], parent, True),
        # This program fetches bundles so.
        (["/server/x.git", str(elsewhere)], Path("/"), False),
        (["/server/other.git"], parent, False),
    ):
        command = ["git", *waits, "--", *words]
        with subprocess.Popen(command, cwd=folder, stdin=subprocess.PIPE) as outside:
            while not Path(f"/proc/{outside.pid}/cmdline").read_bytes():
                await asyncio.sleep(0.01)
            assert makes_repository_outside(shell.root) is makes, (words, folder)
            outside.communicate()
    (shell.root / "go").touch()
    await running


async def test_a_checkout_in_the_sandbox_is_whole(shell: Shell) -> None:
    assert "exit code 0" in await run(shell, SETUP, None)
    await run(shell, "echo mine > AGENTS.md; git add .; git commit -qm third", None)
    for branch in ("other", "main", "other"):
        output = await run(shell, f"git switch -q {branch}")
        assert "would take effect" not in output and "exit code 0" in output
        assert git(shell, "status", "--short") == ""
    assert (shell.root / "new/.vscode/settings.json").exists()
    assert "exit code 0" in await run(shell, "git merge -q -m merged main; git stash list")
    assert git(shell, "status", "--short") == ""


async def test_what_a_command_has_git_take_up_is_moved_aside(shell: Shell) -> None:
    setup = "git init -q -b main . && git config user.email a@b && git config user.name a"
    committed = "echo 1 > AGENTS.md; git add . && git commit -qm first"
    assert "exit code 0" in await run(shell, f"{setup} && {committed}", None)
    patch = (
        "--- a/AGENTS.md\n+++ b/AGENTS.md\n@@ -1 +1 @@\n-1\n+evil\n"
        "--- /dev/null\n+++ b/.envrc\n@@ -0,0 +1 @@\n+evil\n"
    )
    (shell.root / "x.patch").write_text(patch)
    output = await run(shell, "git apply --index x.patch && git commit -qm evil")
    assert "AGENTS.md would take effect" in output and ".envrc would take effect" in output
    output = await run(shell, "git checkout -qf HEAD~1 && git checkout -q main")
    assert ".envrc would take effect" in output
    assert not (shell.root / ".envrc").exists()


async def test_what_git_does_not_know_stays_read_only_to_it(shell: Shell) -> None:
    assert "exit code 0" in await run(shell, SETUP, None)
    await run(shell, "echo mine > .envrc", None)
    output = await run(shell, "git clean -fdx; git checkout -q other; git add -A; git stash -q")
    assert (shell.root / ".envrc").read_text() == "mine\n", output
