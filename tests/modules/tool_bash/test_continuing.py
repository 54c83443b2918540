"""A rebase or cherry-pick that a command leaves open runs nothing outside the sandbox."""

import asyncio
import subprocess
from pathlib import Path

import pytest

from amplifier_tui.base.commands.beside import beside_confined
from amplifier_tui.base.watcher.process import has_proc
from amplifier_tui.kernel.session.grant import SANDBOX_CAPABILITY, Grant, SandboxTerms
from amplifier_tui.modules.tool_bash import confining
from tests.modules.tool_bash.confined import named_git, told
from tests.modules.tool_bash.support import Shell
from tests.modules.tool_bash.test_sandbox import BY_RULE, run, shell
from tests.sandbox import needs_sandbox
from tests.waiting import within

__all__ = ["named_git", "shell", "told"]

pytestmark = [needs_sandbox, pytest.mark.usefixtures("named_git")]

PERSON = Grant("person")
SETUP = """
git init -q -b main . && git config user.email a@b && git config user.name a
for each in one two three; do echo $each > $each; git add . && git commit -qm $each; done
git checkout -qb side HEAD~2 && echo side > side && git add . && git commit -qm side
git checkout -q main && mkdir git-merge- && printf '#!/bin/sh\\ntouch made\\nexit 1' > git-merge-/x
chmod +x git-merge-/x
"""
STOPPED = """
git checkout -q --detach; main=$(git rev-parse main) side=$(git rev-parse side)
mkdir .git/rebase-merge && cd .git/rebase-merge && echo refs/heads/main > head-name
echo $main | tee onto > orig-head; echo 1 | tee msgnum > end; touch interactive done
"""
PICK = "pick $side side"
CONTINUE = "GIT_EDITOR=true git rebase --continue; ls made"


@pytest.fixture
async def stopped(shell: Shell) -> Shell:
    assert "exit code 0" in await run(shell, SETUP, PERSON)
    return shell


@pytest.mark.parametrize("line", ["exec touch made", " x\ttouch made", "x touch made; #"])
async def test_a_rebase_that_a_command_made_up_runs_nothing_when_it_is_continued(
    stopped: Shell, line: str
) -> None:
    output = await run(
        stopped, f"{STOPPED} printf '%s\n%s\n' '{line}' \"{PICK}\" > git-rebase-todo"
    )
    assert ".git/rebase-merge/git-rebase-todo would run commands" in output
    assert "what else was in it is still there" in output
    output = await run(stopped, CONTINUE, PERSON)
    assert "Successfully rebased" in output and "cannot access 'made'" in output
    assert (stopped.root / "side").exists()


async def test_a_list_that_the_user_moves_back_stays(stopped: Shell, tmp_path: Path) -> None:
    terms = SandboxTerms(aside=tmp_path / "aside")
    stopped.coordinator.register_capability(SANDBOX_CAPABILITY, terms)
    job = "while [ ! -e go ]; do sleep 0.02; done; sleep 60"
    await run(stopped, f"git version; {job}", BY_RULE, run_in_background=True)
    await run(stopped, f"{STOPPED} echo exec touch mine > git-rebase-todo")
    todo = stopped.root / ".git" / "rebase-merge" / "git-rebase-todo"
    assert todo.read_text() == ""
    await run(stopped, f"mv {tmp_path}/aside/*/git-rebase-todo {todo}", PERSON)
    for _ in range(2):
        async with beside_confined(lambda place: False):
            pass  # The job is looked at.
        assert "would run" not in await run(stopped, "git status")
    assert todo.read_text() == "exec touch mine\n"


@pytest.mark.parametrize("strategy", ["/x", "index"])
async def test_a_strategy_that_is_none_of_gits_own_is_moved_aside(
    stopped: Shell, strategy: str
) -> None:
    planted = f'echo "{PICK}" > git-rebase-todo; echo {strategy} > strategy'
    assert "rebase-merge/strategy would run" in await run(stopped, f"{STOPPED} {planted}")
    output = await run(stopped, CONTINUE, PERSON)
    assert "Successfully rebased" in output and "cannot access 'made'" in output


@pytest.mark.parametrize("option", ["strategy = /x", "STRATEGY=\\\\\n/x", 'strategy = "/x"'])
async def test_a_cherry_pick_that_a_command_made_up_runs_nothing_when_it_is_continued(
    stopped: Shell, option: str
) -> None:
    planted = (
        "mkdir .git/sequencer; cd .git/sequencer; git rev-parse main > head; "
        f'printf "%s\n%s\n" "{PICK}" "{PICK}" > todo; printf \'[options]\n{option}\n\' > opts'
    )
    assert ".git/sequencer/opts would run commands" in await run(stopped, planted)
    output = await run(stopped, "git cherry-pick --continue; ls made", PERSON)
    assert "cannot access 'made'" in output


async def test_a_rebase_without_commands_stays_as_it_is_and_goes_on(stopped: Shell) -> None:
    editor = "export GIT_SEQUENCE_EDITOR='sed -i s/^pick/edit/'"
    output = await run(stopped, f"{editor}; git checkout -q side; git rebase -s ort main -i")
    assert "You can amend the commit" in output and "aside" not in output
    assert "would run" not in output
    output = await run(stopped, "git rebase --continue")
    assert "Successfully rebased" in output and "would run" not in output


async def test_a_rebase_with_commands_that_stops_goes_on_without_them(stopped: Shell) -> None:
    output = await run(stopped, "git rebase -x 'test -e ok' HEAD~2")
    assert "would run commands" in output
    output = await run(stopped, "touch ok; git rebase --continue; git log --format=%s | tee log")
    assert "Successfully rebased" in output
    assert (stopped.root / "log").read_text().split() == ["three", "two", "one"]


async def test_the_commands_of_a_rebase_that_a_person_began_stay(stopped: Shell) -> None:
    await run(stopped, "git rebase --reschedule-failed-exec -x 'test -e ok' HEAD~2", PERSON)
    todo = stopped.root / ".git" / "rebase-merge" / "git-rebase-todo"
    before = todo.read_text()
    assert "exec test -e ok" in before
    assert "would run" not in await run(stopped, "git status; echo 'exec test -e ok' | wc -l")
    assert todo.read_text() == before
    output = await run(stopped, "git rebase --continue; echo 'exec touch made' >> " + str(todo))
    assert "would run commands" in output
    assert "exec test -e ok" in todo.read_text() and "made" not in todo.read_text()


async def test_a_rebase_of_a_worktree_elsewhere_is_looked_at_too(
    stopped: Shell, tmp_path: Path
) -> None:
    await run(stopped, f"git worktree add -q {tmp_path}/tree side", PERSON)
    planted = "mkdir .git/worktrees/tree/rebase-merge; echo exec x > $_/git-rebase-todo; git status"
    assert "worktrees/tree/rebase-merge/git-rebase-todo would run" in await run(stopped, planted)


async def test_what_is_no_list_of_a_rebase_is_moved_aside_whole(
    stopped: Shell, tmp_path: Path
) -> None:
    (tmp_path / "keys").write_text("exec hush-hush\nhush-hush\n")
    todo = stopped.root / ".git" / "rebase-merge" / "git-rebase-todo"
    for made in (f"ln -s {tmp_path}/keys", "mkfifo", "mkdir"):
        await run(stopped, f"git status; mkdir -p .git/rebase-merge; {made} {todo}")
        assert not todo.is_symlink() and not todo.exists()


async def ran(place: Path) -> None:
    async with within(30, f"the commands of the rebase to make {place.name}"):
        while not place.exists():
            await asyncio.sleep(0.01)


@pytest.mark.skipif(not has_proc(), reason="processes can not be looked at here")
async def test_a_rebase_that_goes_on_in_a_terminal_runs_all_it_was_called_with(
    stopped: Shell, told: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(confining, "LOOK_EVERY", 0.01)
    await run(stopped, "git version; sleep 60", BY_RULE, run_in_background=True)
    wait = "touch begun; while [ ! -e go ]; do sleep 0.02; done; echo ran >> log"
    rebasing = subprocess.Popen(
        ["git", "rebase", "-q", "-x", wait, "--force-rebase", "HEAD~2"], cwd=stopped.root
    )
    await ran(stopped.root / "begun")
    todo = stopped.root / ".git" / "rebase-merge" / "git-rebase-todo"
    await run(stopped, "git version")
    with todo.open("a") as file:
        file.write("exec touch injected\n")
    async with within(30, "the user to be told"):
        while not told:
            await asyncio.sleep(0.01)
    await run(stopped, "touch go", PERSON)
    assert await asyncio.to_thread(rebasing.wait, 30) == 0
    assert (stopped.root / "log").read_text() == "ran\nran\n"
    (text,) = told
    assert "goes on while a command" in text and "runs: touch injected. If you" in text
