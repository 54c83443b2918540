"""What is not a command's own is left alone, and what is moved aside is never lost."""

import asyncio
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from amplifier_tui.base.commands.beside import beside_confined, named_in
from amplifier_tui.base.files import nearby, write_atomic
from amplifier_tui.kernel.session.grant import SANDBOX_CAPABILITY, SandboxTerms
from amplifier_tui.modules.tool_bash import confining, mounted
from amplifier_tui.modules.tool_bash.sandbox.aside import move_aside
from amplifier_tui.modules.tool_bash.sandbox.opened import identity_of
from tests.modules.tool_bash.confined import named_git, run, shell, told
from tests.modules.tool_bash.support import Shell
from tests.sandbox import needs_sandbox
from tests.waiting import within

__all__ = ["named_git", "shell", "told"]

pytestmark = [needs_sandbox, pytest.mark.usefixtures("named_git")]

COMMITTED = (
    "git init -q -b main . && git config user.email a@b && git config user.name a && "
    "git commit -q --allow-empty -m first"
)
WAITING = "touch begun; while [ ! -e go ]; do sleep 0.02; done; "


async def holds(seen: Callable[[], object], what: str) -> None:
    async with within(20, what):
        while not seen():
            await asyncio.sleep(0.01)


def saved(place: Path, text: str) -> None:
    """Save a file as editors do: another is put in its place."""
    new = place.with_name("swap")
    new.write_text(text)
    new.replace(place)


async def test_what_was_there_is_not_taken_for_new_where_a_command_makes_room(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nearby, "_MOST_ENTRIES", 40)
    await run(shell, "mkdir dist && touch dist/$(seq -s ' dist/' 60)", None)
    await run(shell, "mkdir -p z/app && touch z/app/.env && git init -q z/lib", None)
    assert "take effect" not in await run(shell, "rm -rf dist")
    assert not (shell.root / "dist").exists()
    assert (shell.root / "z/app/.env").exists() and (shell.root / "z/lib/.git").exists()


async def test_a_folder_is_renamed_with_what_configures_programs_in_it(shell: Shell) -> None:
    await run(shell, "mkdir app && echo A=1 > app/.env && git init -q app", None)
    assert "take effect" not in await run(shell, "mv app renamed")
    assert (shell.root / "renamed/.env").read_text() == "A=1\n"
    assert (shell.root / "renamed/.git/config").exists()


async def test_what_the_sandbox_held_and_the_user_changed_meanwhile_stays(
    shell: Shell, told: list[str]
) -> None:
    await run(shell, COMMITTED, None)
    command = asyncio.create_task(run(shell, f"{WAITING} git status -s"))
    await holds((shell.root / "begun").exists, "the command to begin")
    await run(shell, "git remote add origin ../up; touch go", None)
    assert "take effect" not in await command
    assert "origin" in await run(shell, "git remote", None)
    await holds(lambda: told, "the user to be told")
    assert told[0].startswith(".git/config was changed while a command in the sandbox ran")


async def test_what_one_command_makes_was_not_there_before_another(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(confining, "LOOK_EVERY", 1_000)
    await run(shell, "touch .envrc begun; sleep 60", run_in_background=True)
    await holds((shell.root / "begun").exists, "the job to begin")
    assert ".envrc would take effect" in await run(shell, "echo evil > .envrc")
    assert not (shell.root / ".envrc").exists()


async def test_what_is_moved_aside_outlasts_the_session_and_the_user_is_told_where(
    shell: Shell, told: list[str], tmp_path: Path
) -> None:
    aside = tmp_path / "aside"
    shell.coordinator.register_capability(SANDBOX_CAPABILITY, SandboxTerms(aside=aside))
    await run(shell, "echo A=1 > .env")
    await holds(lambda: told, "the user to be told")
    await shell.close()
    (kept,) = aside.glob("*/.env")
    assert kept.read_text() == "A=1\n"
    assert told[0].startswith(".env would take effect") and str(kept.parent) in told[0]


async def test_what_the_user_takes_back_stays(
    shell: Shell, told: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(confining, "LOOK_EVERY", 0.01)
    aside = tmp_path / "aside"
    shell.coordinator.register_capability(SANDBOX_CAPABILITY, SandboxTerms(aside=aside))
    await run(shell, f"{WAITING} sleep 60", run_in_background=True)
    await holds((shell.root / "begun").exists, "the job to begin")
    (shell.root / ".env").write_text("A=1\n")
    await holds(lambda: told, "the user to be told")
    (kept,) = aside.glob("*/.env")
    kept.rename(shell.root / ".env")
    await run(shell, "true")
    assert (shell.root / ".env").read_text() == "A=1\n"
    assert len(told) == 1


async def test_what_something_makes_that_the_user_let_run_is_not_a_jobs(
    shell: Shell, told: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(confining, "LOOK_EVERY", 0.01)
    await run(shell, f"{WAITING} mkdir .vscode lib; sleep 60", run_in_background=True)
    await holds((shell.root / "begun").exists, "the job to begin")
    async with beside_confined(named_in("cp .env.example .env && git init lib")):
        (shell.root / ".env").write_text("A=1\n")
        await run(shell, "git init -q lib", None)
        # What it does not name is the job's, also meanwhile.
        (shell.root / "go").touch()
        await holds(lambda: told, "the user to be told")
    await run(shell, "true")
    assert [text.partition(" ")[0] for text in told] == [".vscode"]
    assert (shell.root / "lib/.git").exists() and (shell.root / ".env").exists()


async def test_what_was_moved_aside_and_removed_there_is_moved_again(
    shell: Shell, tmp_path: Path
) -> None:
    aside = tmp_path / "aside"
    shell.coordinator.register_capability(SANDBOX_CAPABILITY, SandboxTerms(aside=aside))
    for _ in range(3):
        await run(shell, "echo evil > .envrc")
        assert not (shell.root / ".envrc").exists()
        shutil.rmtree(aside)


async def test_no_number_of_files_makes_a_command_overlook_what_it_makes(
    shell: Shell, told: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nearby, "_MOST_ENTRIES", 40)
    await run(shell, "mkdir -p backend frontend", None)
    many = "mkdir -p new/lib; git init -q new/lib; touch $(seq 60)"
    await run(shell, many)
    assert not (shell.root / "new/lib/.git").exists()
    await run(shell, "touch backend/.envrc; git init -q frontend; mkdir deep; touch deep/.envrc")
    await run(shell, "rm $(seq 60)")
    left = [*shell.root.glob("*/.envrc"), *shell.root.glob("*/.git")]
    assert left == []


async def test_rights_that_a_command_takes_away_are_given_back_and_nothing_is_moved(
    shell: Shell,
) -> None:
    await run(shell, "mkdir vendor && touch vendor/.env && git init -q vendor/dep", None)
    output = await run(shell, "chmod -R a-x vendor")
    assert "vendor could not be listed any more" in output or os.geteuid() == 0
    await run(shell, "chmod -R u+X vendor", None)
    assert "take effect" not in await run(shell, "ls vendor")
    assert (shell.root / "vendor/.env").exists()
    assert (shell.root / "vendor/dep/.git").exists()


@pytest.mark.parametrize("name", ["lib", "refs/lib", "config/lib"])
@pytest.mark.parametrize("hiding", ["true", "rm HEAD; ln -s refs/heads/nothing HEAD"])
async def test_no_submodule_gets_hooks_whatever_its_name_or_its_head(
    shell: Shell, name: str, hiding: str
) -> None:
    module = f".git/modules/{name}"
    await run(shell, f"{COMMITTED} && git init -q --template= --bare {module}", None)
    await run(
        shell, f"cd {module} && {{ {hiding}; }} && mkdir hooks && touch hooks/x; : git status"
    )
    assert not (shell.root / module / "hooks").exists()


@pytest.mark.parametrize(
    ("command", "made"),
    [
        ("mkfifo .vscode/pipe; touch .vscode/tasks.json", ".vscode"),
        ("mkdir .git/remotes; echo 'URL: x' > .git/remotes/origin", ".git/remotes"),
        ("ln -s ../../../start .git/objects/info/commit-graph", ".git/objects/info/commit-graph"),
    ],
)
async def test_what_else_takes_effect_is_moved_aside(shell: Shell, command: str, made: str) -> None:
    await run(shell, COMMITTED, None)
    output = await run(shell, f"mkdir .vscode; {command}; : git status")
    assert not os.path.lexists(shell.root / made)
    assert f"{made} would take effect on other programs, so it was moved" in output


async def test_nothing_is_moved_through_a_link_that_is_put_in_the_place_of_a_folder(
    shell: Shell, tmp_path: Path
) -> None:
    home, aside = tmp_path / "home", tmp_path / "aside"
    for folder in (home, shell.root / "sub"):
        folder.mkdir()
        (folder / ".bashrc").write_text(folder.name)
    place = shell.root / "sub" / ".bashrc"
    identity = identity_of(place)
    assert identity is not None
    (shell.root / "sub").rename(shell.root / "other")
    (shell.root / "sub").symlink_to(home)
    for each in (identity, identity_of(place) or ()):
        with pytest.raises(OSError, match="sub"):
            move_aside(shell.root, place, each, aside)
    (shell.root / "sub").unlink()
    (shell.root / "other").rename(shell.root / "sub")
    place.unlink()
    place.write_text("another")
    with pytest.raises(FileNotFoundError):
        move_aside(shell.root, place, identity, aside)
    assert (home / ".bashrc").read_text() == "home" and place.read_text() == "another"


@pytest.mark.skipif(not Path("/dev/shm").is_dir(), reason="there is no second file system")
async def test_what_is_moved_to_another_file_system_is_whole(shell: Shell) -> None:
    if Path("/dev/shm").stat().st_dev == shell.root.stat().st_dev:
        pytest.skip("there is no second file system")
    with tempfile.TemporaryDirectory(dir="/dev/shm") as aside:
        terms = SandboxTerms(aside=Path(aside))
        shell.coordinator.register_capability(SANDBOX_CAPABILITY, terms)
        made = "mkdir -p .vscode/a; echo x > .vscode/a/b; ln -s a .vscode/c; mkfifo .vscode/d"
        await run(shell, f"{made}; chmod 500 .vscode/a; chmod 755 .vscode/a/b")
        assert not (shell.root / ".vscode").exists()
        (kept,) = Path(aside).glob("*/.vscode")
        assert (kept / "a/b").read_text() == "x\n" and os.access(kept / "a/b", os.X_OK)
        assert os.readlink(kept / "c") == "a" and not (kept / "d").exists()


async def test_what_a_command_leaves_running_is_looked_at_until_it_ends(
    shell: Shell, told: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(confining, "LOOK_EVERY", 0.01)
    await run(shell, f"setsid sh -c '{WAITING} touch .envrc; sleep 60' & echo done")
    await holds((shell.root / "begun").exists, "it to begin")
    (shell.root / "go").touch()
    # That it was left running is told as well.
    await holds(lambda: any(".envrc" in each for each in told), "the user to be told")
    assert not (shell.root / ".envrc").exists()


async def test_what_this_program_writes_itself_is_no_commands(
    shell: Shell, told: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(confining, "LOOK_EVERY", 0.01)
    await run(shell, f"{WAITING} touch .envrc; sleep 60", run_in_background=True)
    await holds((shell.root / "begun").exists, "the job to begin")
    rules = shell.root / ".amplifier" / "rules.yaml"
    source = shell.root / "src" / "app.py"
    for place in (rules, source):
        place.parent.mkdir()
        write_atomic(place, "allow: []")
    # What configures nothing is a command's to change, whoever wrote it.
    await run(shell, "echo changed > src/app.py; mv src old; mkdir src; mv old/app.py src")
    (shell.root / "go").touch()
    await holds(lambda: told, "the user to be told")
    assert rules.exists() and told[0].startswith(".envrc ")
    assert source.read_text() == "changed\n"


async def test_folders_exchange_their_names_with_what_is_in_them(shell: Shell) -> None:
    for name in ("a", "b"):
        await run(shell, f"git init -q {name}; echo {name} > {name}/.env", None)
    assert "take effect" not in await run(shell, "mv a t; mv b a; mv t b")
    assert (shell.root / "a/.env").read_text() == "b\n"
    assert (shell.root / "a/.git").is_dir() and (shell.root / "b/.git").is_dir()


async def test_nothing_is_put_where_a_link_leads(shell: Shell) -> None:
    await run(shell, "mkdir -p tools/husky; ln -s tools/husky .husky", None)
    assert "take effect" not in await run(shell, "touch a")
    swap = "mv tools t2; cp -r t2 tools; echo evil > tools/husky/pre-commit"
    assert ".husky would take effect" in await run(shell, swap)
    assert not (shell.root / ".husky").is_symlink()


async def test_what_is_too_much_to_be_mounted_may_be_touched_and_not_changed_nor_moved(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mounted, "_MOST_READ_ONLY", 1)
    await run(shell, "mkdir -p p/q; for i in a b c; do mkdir $i; echo $i > $i/.env; done", None)
    assert "take effect" not in await run(shell, "chmod g+w */.env; touch */.env; chmod -R g+w p")
    assert len([*shell.root.glob("*/.env")]) == 3
    await run(shell, "for i in a b c; do echo evil > $i/.env; done")
    (held,) = shell.root.glob("*/.env")
    assert held.read_text() == f"{held.parent.name}\n"
    await run(shell, "git init -q p/q; mv p/q/.git .git")
    assert not (shell.root / ".git").exists()


async def test_what_was_there_may_go_and_come_back_as_it_was(shell: Shell) -> None:
    await run(
        shell, f"{COMMITTED}; mkdir pkg; echo A=1 > pkg/.env; git add .; git commit -qm e", None
    )
    await run(shell, "true")
    command = asyncio.create_task(run(shell, WAITING))
    await holds((shell.root / "begun").exists, "the command to begin")
    await run(shell, "rm -r pkg; git checkout -q -- .; touch go", None)
    assert "take effect" not in await command
    assert (shell.root / "pkg/.env").read_text() == "A=1\n"


async def test_what_the_user_took_back_can_be_edited(
    shell: Shell, told: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(confining, "LOOK_EVERY", 0.01)
    aside = tmp_path / "aside"
    shell.coordinator.register_capability(SANDBOX_CAPABILITY, SandboxTerms(aside=aside))
    await run(shell, f"{WAITING} sleep 60", run_in_background=True)
    await holds((shell.root / "begun").exists, "the job to begin")
    place = shell.root / ".env"
    place.write_text("A=1\n")
    await holds(lambda: told, "the user to be told")
    (kept,) = aside.glob("*/.env")
    kept.rename(place)
    await run(shell, "true")
    place.write_text("A=2\n")
    await holds(lambda: len(told) > 1, "the user to be told again")
    assert told[1].startswith(".env was changed while a command in the sandbox ran, and stays")
    assert place.read_text() == "A=2\n"


async def test_what_is_new_in_a_file_that_was_saved_beside_a_command_is_shown_to_the_user(
    shell: Shell, told: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Where it can't be mounted anew, or a moment before that.
    monkeypatch.setattr(confining.Confined, "begin", lambda *_: None)
    monkeypatch.setattr(confining, "LOOK_EVERY", 0.01)
    (shell.root / ".envrc").write_text("export A=1\n")
    # Once it is saved by renaming, nothing is mounted over it any more. What is written in the
    # midst of that goes into what it was.
    tries = "echo touch OWNED >> .envrc; sleep 0.01"
    writes = f"until grep -q OWNED .envrc; do {tries}; done 2> /dev/null; "
    command = asyncio.create_task(run(shell, f"touch begun; {writes} true"))
    await holds((shell.root / "begun").exists, "the command to begin")
    saved(shell.root / ".envrc", "export A=2\n")
    await command
    await holds(lambda: any("`touch OWNED`" in text for text in told), "the user to be told")
    assert "New in it: `export A=2`" in told[0]
    assert "If it was not you who wrote that, look at it" in told[-1]


async def test_a_file_that_is_saved_again_and_again_beside_a_command_is_told_twice(
    shell: Shell, told: list[str]
) -> None:
    (shell.root / "AGENTS.md").write_text("one\n")
    command = asyncio.create_task(run(shell, WAITING))
    await holds((shell.root / "begun").exists, "the command to begin")
    for word in ("two", "three", "four"):
        saved(shell.root / "AGENTS.md", f"one\n{word}\n")
        async with beside_confined(lambda place: False):
            pass
    (shell.root / "go").touch()
    await command
    await holds(lambda: len(told) > 1, "the user to be told")
    first, again = told
    assert first.startswith("AGENTS.md was changed while") and "New in it: `two`" in first
    assert again.startswith("AGENTS.md was changed again while") and "New in it: `four`" in again


async def test_no_line_of_a_file_of_secrets_is_shown(shell: Shell, told: list[str]) -> None:
    (shell.root / ".env").write_text("A=1\n")
    command = asyncio.create_task(run(shell, WAITING))
    await holds((shell.root / "begun").exists, "the command to begin")
    saved(shell.root / ".env", "A=1\nPASSWORD=hush\n")
    (shell.root / "go").touch()
    await command
    await holds(lambda: told, "the user to be told")
    (text,) = told
    assert text.startswith(".env was changed") and "hush" not in text


@pytest.mark.parametrize("line", ["git add -A && git commit -qm x", "git commit -qam x"])
async def test_what_the_user_saves_beside_a_slow_hook_of_a_commit_stays(
    shell: Shell, told: list[str], line: str
) -> None:
    slow = "#!/bin/sh\ntouch begun; while [ ! -e go ]; do sleep 0.05; done\n"
    files = {".husky/pre-commit": slow, ".vscode/settings.json": "{}\n", ".vscode/staged": "1\n"}
    for name, text in {**files, "a": "1\n", ".gitignore": "go\nbegun\n"}.items():
        place = shell.root / name
        place.parent.mkdir(exist_ok=True)
        place.write_text(text)
    (shell.root / ".husky/pre-commit").chmod(0o755)
    await run(shell, f"{COMMITTED}; touch go; git add -A; git commit -qm 2; rm go", None)
    await run(shell, "git config core.hooksPath .husky; echo 2 > a; git add a", None)
    command = asyncio.create_task(run(shell, line))
    await holds((shell.root / "begun").exists, "the hook to run")
    saved(shell.root / ".vscode/settings.json", "{2}\n")
    saved(shell.root / ".husky/pre-commit", "#!/bin/sh\n")
    (shell.root / ".vscode/new.json").write_text("new")
    (shell.root / "go").touch()
    assert "take effect" not in await command
    assert (shell.root / ".vscode/settings.json").read_text() == "{2}\n"
    assert (shell.root / ".husky/pre-commit").read_text() == "#!/bin/sh\n"
    assert (shell.root / ".vscode/new.json").exists()
    assert await run(shell, "git log -1 --format=%s", None) != "2"


async def test_a_hook_of_a_commit_mends_what_is_staged_of_what_configures_programs(
    shell: Shell,
) -> None:
    hook = "#!/bin/sh\necho mended > .vscode/settings.json; git add .vscode/settings.json\n"
    (shell.root / ".vscode").mkdir()
    (shell.root / ".vscode/settings.json").write_text("{}\n")
    await run(shell, f"{COMMITTED}; git add -A; git commit -qm 2", None)
    (shell.root / ".git/hooks/pre-commit").write_text(hook)
    (shell.root / ".git/hooks/pre-commit").chmod(0o755)
    await run(shell, "echo 2 > .vscode/settings.json; git add -A", None)
    output = await run(shell, "git commit -qm 3")
    assert "Read-only" not in output
