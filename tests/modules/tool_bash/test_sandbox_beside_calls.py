"""What the user lets run outside of the sandbox makes what it names, and may make more."""

from pathlib import Path

import pytest

from amplifier_tui.base.commands.beside import beside_confined, named_in
from amplifier_tui.base.files import replacing
from amplifier_tui.modules.tool_bash import confining
from tests.modules.tool_bash.confined import run, shell, told
from tests.modules.tool_bash.support import Shell
from tests.modules.tool_bash.test_sandbox_beside_others import COMMITTED, WAITING, holds
from tests.sandbox import needs_sandbox

__all__ = ["shell", "told"]

pytestmark = needs_sandbox

PLANTED = "mkdir -p sub/.git/objects sub/.git/refs; echo 'ref: refs/heads/main' > sub/.git/HEAD"


async def job(shell: Shell, command: str) -> None:
    """Have a job wait until it is let go on."""
    await run(shell, f"{WAITING} {command}; touch made; sleep 60", run_in_background=True)
    await holds((shell.root / "begun").exists, "the job to begin")


async def let_go_on(shell: Shell) -> None:
    (shell.root / "go").touch()
    await holds((shell.root / "made").exists, "the job to go on")


@pytest.mark.parametrize("command", ["git push", "git push origin HEAD", "git fetch; git init x"])
async def test_git_that_the_user_lets_run_makes_no_repository_that_it_does_not_name(
    shell: Shell, told: list[str], command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(confining, "LOOK_EVERY", 0.01)
    await run(shell, COMMITTED, None)
    await job(shell, f"{PLANTED}; cp -r sub/.git bare")
    async with beside_confined(named_in(command), command):
        await let_go_on(shell)
    await holds(lambda: len(told) > 1, "the user to be told")
    assert not (shell.root / "sub/.git").exists() and not (shell.root / "bare/HEAD").exists()


@pytest.mark.parametrize("command", ["git init", "git clone https://x/sub.git", "git init -q sub"])
def test_but_it_names_those_that_it_makes(tmp_path: Path, command: str) -> None:
    assert named_in(command)(tmp_path / "sub" / ".git")


def test_git_makes_the_marks_of_submodules(tmp_path: Path) -> None:
    (tmp_path / ".gitmodules").write_text('[submodule "x"]\n\tpath = lib/x\n\turl = ../x\n')
    for name in ("x", "y"):
        mark = tmp_path / "lib" / name / ".git"
        mark.parent.mkdir(parents=True)
        mark.write_text("gitdir: ../../.git/modules/x\n")
    names = named_in("git submodule update --init")
    assert names(tmp_path / "lib/x/.git") and not names(tmp_path / "lib/y/.git")


async def test_what_a_script_makes_that_the_user_lets_run_stays_and_is_told_once(
    shell: Shell, told: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(confining, "LOOK_EVERY", 0.01)
    await job(shell, "true")
    await job(shell, "true")
    async with beside_confined(named_in("npm install"), "npm install"):
        await run(shell, "mkdir -p .husky/_; echo x > .husky/_/h; echo A=1 > .env.local", None)
        await let_go_on(shell)
        await run(shell, "true")
    await run(shell, "true")
    await holds(lambda: told, "the user to be told")
    assert (shell.root / ".husky/_/h").exists() and (shell.root / ".env.local").exists()
    assert [text.partition(",")[0] for text in told] == [".env.local"]
    assert "came while `npm install` ran outside of the sandbox and a command in it" in told[0]


async def test_but_not_what_was_there_before_or_beside_a_program_that_makes_nothing(
    shell: Shell, told: list[str]
) -> None:
    await job(shell, "mkdir .vscode; echo evil > .vscode/tasks.json")
    async with beside_confined(named_in("curl x"), "A=1 curl x | head; git push"):
        await let_go_on(shell)
    await holds(lambda: told, "the user to be told")
    assert not (shell.root / ".vscode").exists() and told[0].startswith(".vscode would take effect")


async def test_what_comes_into_a_folder_while_this_program_writes_there_is_not_its_own(
    shell: Shell, told: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(confining, "LOOK_EVERY", 1_000)
    await job(shell, "true")
    rules = shell.root / ".amplifier" / "rules.yaml"
    for folder in (rules.parent, shell.root / "new"):
        with replacing(folder / "rules.yaml") as file:
            file.write(b"allow: []")
            (folder / ".vscode").mkdir()
            (folder / ".vscode/tasks.json").write_text("evil")
            (folder / "settings.yaml").write_text("evil")
    async with beside_confined(lambda place: False):
        """At its end there is a look."""
    assert (shell.root / "new/rules.yaml").exists() and not (shell.root / "new/.vscode").exists()
    assert sorted(each.name for each in rules.parent.iterdir()) == [".vscode", "rules.yaml"]


@pytest.mark.parametrize("command", ["vim notes.md", "less x", "npm install"])
async def test_no_call_excuses_a_repository_that_it_does_not_name_and_editors_nothing(
    shell: Shell, told: list[str], command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(confining, "LOOK_EVERY", 0.01)
    await job(shell, f"{PLANTED}; mkdir .vscode; echo evil > .vscode/tasks.json")
    async with beside_confined(named_in(command), command):
        await let_go_on(shell)
    await holds(lambda: len(told) > 1, "the user to be told")
    assert not (shell.root / "sub/.git").exists()
    assert (shell.root / ".vscode").exists() == (command == "npm install")


async def test_all_that_stays_is_named(shell: Shell, told: list[str]) -> None:
    await job(shell, "for each in a b c d e z; do mkdir -p $each/.idea; done")
    async with beside_confined(named_in("npm install"), "npm install"):
        await let_go_on(shell)
    await holds(lambda: told, "the user to be told")
    assert "z/.idea" in told[0]
