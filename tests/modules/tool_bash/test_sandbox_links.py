"""What links that programs obey lead to in a workspace: no command writes it, and git may."""

import os
from pathlib import Path

import pytest

from tests.modules.tool_bash.confined import run, shell, told
from tests.modules.tool_bash.support import Shell
from tests.modules.tool_bash.test_sandbox_history import git, until_told
from tests.sandbox import needs_sandbox

__all__ = ["shell", "told"]

pytestmark = needs_sandbox

SETUP = """
git init -q -b main . && git config user.email a@b && git config user.name a && mkdir scripts
echo main > scripts/check.sh && git add . && git commit -qm first && git checkout -q -b topic
echo topic > scripts/check.sh && git commit -qam second && git checkout -q main
ln -s ../../scripts/check.sh .git/hooks/pre-push
"""
EVIL = "--- a/scripts/check.sh\n+++ b/scripts/check.sh\n@@ -1 +1 @@\n-main\n+evil\n"


@pytest.fixture
async def repository(shell: Shell) -> Shell:
    """A script is a hook by a link, and branches have it in two versions."""
    assert "exit code 0" in await run(shell, SETUP, None)
    return shell


async def test_git_brings_the_script_that_a_hook_leads_to(repository: Shell) -> None:
    script = repository.root / "scripts/check.sh"
    output = await run(repository, "git checkout -q topic")
    assert "exit code 0" in output and "would take effect" not in output
    assert script.read_text() == "topic\n" and not git(repository, "status", "--short")
    await run(repository, "echo evil > scripts/check.sh")
    assert script.read_text() == "topic\n"
    output = await run(repository, "git reset -q --hard main")
    assert script.read_text() == "main\n" and "would take effect" not in output


@pytest.mark.parametrize("command", ["git apply x.patch", "git apply --index x.patch"])
async def test_but_not_what_a_command_has_it_make_of_that(repository: Shell, command: str) -> None:
    (repository.root / "x.patch").write_text(EVIL)
    output = await run(repository, command)
    assert "scripts/check.sh would take effect" in output
    assert (repository.root / "scripts/check.sh").read_text() == "main\n"


async def test_a_commit_of_a_command_that_changes_it_does_not_count(repository: Shell) -> None:
    (repository.root / "x.patch").write_text(EVIL)
    output = await run(repository, "git apply --cached x.patch && git commit -qnm evil")
    assert "holds scripts/check.sh, which would take effect" in output
    await run(repository, "git reset -q --hard")
    assert (repository.root / "scripts/check.sh").read_text() == "main\n"


async def test_what_a_new_link_leads_to_stays_where_it_is(shell: Shell) -> None:
    (shell.root / "mine.sh").write_text("mine\n")
    output = await run(shell, "ln -s mine.sh .envrc")
    assert ".envrc would take effect" in output
    assert (shell.root / "mine.sh").read_text() == "mine\n"


async def test_settings_of_the_home_count_in_repositories_below(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text("[core]\nhooksPath = git-hooks\n")
    monkeypatch.setenv("HOME", str(home))
    hook = shell.root / "below/git-hooks/pre-commit"
    hook.parent.mkdir(parents=True)
    hook.write_text("mine\n")
    await run(shell, "git init -q below", None)
    await run(shell, "echo evil >> below/git-hooks/pre-commit")
    assert hook.read_text() == "mine\n"


TEXT = "repos:/own"
"""What is in a file, and where a link may lead."""
SAME = f"""
git init -q -b main . && git config user.email a@b && git config user.name a && git config gc.auto 0
printf {TEXT} > .pre-commit-config.yaml && ln -s {TEXT} .envrc && git add . && git commit -qm first
"""
SWAPPED = f"""
git clone -q . /tmp/evil && cd /tmp/evil && git config user.email a@b && git config user.name a
ln -sf {TEXT} .pre-commit-config.yaml && rm .envrc && printf {TEXT} > .envrc
git add . && git commit -qm evil
"""


async def test_a_link_is_not_the_file_whose_text_says_where_it_leads(
    shell: Shell, told: list[str]
) -> None:
    """A commit may turn the one into the other without a change of what git keeps of it."""
    assert "exit code 0" in await run(shell, SAME, None)
    output = await run(shell, SWAPPED + "mkdir $OLDPWD/repos: && echo evil > $OLDPWD/repos:/own")
    assert "exit code 0" in output
    output = await run(shell, "git fetch -q /tmp/evil HEAD && git reset -q --hard FETCH_HEAD")
    for name in (".pre-commit-config.yaml", ".envrc"):
        assert f"{name} would take effect" in output
        assert not os.path.lexists(shell.root / name)
    await until_told(told, "holds .envrc, .pre-commit-config.yaml")


@pytest.mark.parametrize("name", [".github", ".gradle"])
async def test_a_link_for_a_folder_of_which_parts_take_effect_counts(
    shell: Shell, name: str
) -> None:
    output = await run(shell, f"mkdir -p x/hooks && ln -s x {name}")
    assert f"{name} would take effect" in output and not os.path.lexists(shell.root / name)
    (shell.root / name).symlink_to("x")
    (shell.root / name / "hooks/a").write_text("mine")
    output = await run(shell, f"echo evil > x/hooks/a; ls {name}/hooks")
    assert (shell.root / "x/hooks/a").read_text() == "mine" and "a" in output
    await run(shell, f"mkdir y; ln -sfn y {name}")
    assert os.path.realpath(shell.root / name) != str(shell.root / "y")


async def test_so_it_does_in_a_commit(repository: Shell) -> None:
    prepare = (
        "git clone -q . /tmp/evil && cd /tmp/evil && git config user.email a@b && git config "
        "user.name a && mkdir -p x/hooks && echo > x/hooks/a && ln -s x .github && git add . && "
        "git commit -qm evil"
    )
    assert "exit code 0" in await run(repository, prepare)
    output = await run(repository, "git fetch -q /tmp/evil HEAD:got")
    assert "holds .github, which would take effect" in output


@pytest.mark.parametrize(
    ("led", "there", "evil"),
    [
        (".git/hooks/pre-commit -> ../../a", "a -> real", "ln -sfn e a"),
        (".git/hooks/pre-commit -> ../../scripts/real", "scripts -> .", "ln -sfn evil scripts"),
        ("tools -> a", "a -> real", "ln -sfn e a"),
        (".vscode/tasks.json -> ../a", "a -> real", "rm a; cp e a"),
        (".claude/skills -> ../sk", "sk/a -> ../real", "echo evil > real"),
    ],
)
async def test_no_link_on_the_way_is_led_elsewhere(
    shell: Shell, led: str, there: str, evil: str
) -> None:
    await run(shell, "git init -q && git config filter.x.clean 'sh ./tools'", None)
    for folder in (".vscode", ".claude", "sk", "evil"):
        (shell.root / folder).mkdir()
    (shell.root / "real").write_text("mine\n")
    for each in (there, led):
        link, _, target = each.partition(" -> ")
        (shell.root / link).symlink_to(target)
    link = led.partition(" ")[0]
    await run(shell, f"echo evil > e; echo evil > evil/real; {evil}")
    for found in (shell.root / link, shell.root / link / "a"):
        assert not found.is_file() or found.read_text() == "mine\n"


async def test_nor_is_one_in_a_commit(shell: Shell, told: list[str]) -> None:
    made = (
        "git init -q -b main . && git config user.email a@b && git config user.name a && "
        "echo mine > real && ln -s real a && ln -s ../../a .git/hooks/pre-push && git add . && "
        "git commit -qm first && git checkout -qb other && cp real r2 && ln -sf r2 a && "
        "git add . && git commit -qm other && git checkout -q main"
    )
    assert "exit code 0" in await run(shell, made, None)
    output = await run(shell, "git checkout -q other && git checkout -q main && git merge -q other")
    assert "exit code 0" in output and "would take effect" not in output
    prepare = (
        "git clone -q . /tmp/evil && cd /tmp/evil && git config user.email a@b && git config "
        "user.name a && echo evil > e && ln -sf e a && git add . && git commit -qm evil"
    )
    assert "exit code 0" in await run(shell, prepare)
    output = await run(shell, "git fetch -q /tmp/evil HEAD:got && git reset -q --hard got")
    assert "holds a, which would take effect" in output
    hook = shell.root / ".git/hooks/pre-push"
    assert not hook.exists() or hook.read_text() == "mine\n"


async def test_what_is_written_by_another_name_of_a_file_takes_no_effect(
    shell: Shell, told: list[str]
) -> None:
    place = shell.root / ".envrc"
    place.write_text("mine\n")
    (shell.root / "other").hardlink_to(place)
    assert "take effect" not in await run(shell, "cat other; touch unrelated")
    assert place.read_text() == "mine\n"
    assert ".envrc would take effect" in await run(shell, "echo evil >> other")
    assert not place.exists()
