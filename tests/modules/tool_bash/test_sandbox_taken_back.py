"""What the user moves back stays; what a command makes like it does not."""

import asyncio
import os
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from amplifier_tui.base.commands.beside import beside_confined
from amplifier_tui.base.commands.set_aside import list_set_aside, put_back
from amplifier_tui.base.files import write_atomic
from amplifier_tui.kernel.session.grant import SANDBOX_CAPABILITY, SandboxTerms
from amplifier_tui.modules.tool_bash import confining
from amplifier_tui.modules.tool_bash.sandbox import kept
from amplifier_tui.modules.tool_bash.sandbox.configuring import Look
from amplifier_tui.modules.tool_bash.sandbox.kept import Aside
from amplifier_tui.modules.tool_bash.sandbox.made import Made
from tests.modules.tool_bash.confined import named_git, run, shell, told
from tests.modules.tool_bash.support import Shell
from tests.sandbox import needs_sandbox
from tests.waiting import within

__all__ = ["named_git", "shell", "told"]

pytestmark = [needs_sandbox, pytest.mark.usefixtures("named_git")]

WAITING = "touch begun; while [ ! -e go ]; do sleep 0.02; done; "
MADE = {
    ".env": "echo A=1 > .env",
    ".husky": "mkdir scripts; ln -s scripts .husky",
    ".vscode": "mkdir -p .vscode/a; echo x > .vscode/a/b; ln -s a .vscode/c; chmod 555 .vscode",
}


@pytest.fixture(params=["here", "elsewhere"])
def aside(shell: Shell, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Path]:
    """The folder of what is moved aside, also on another file system."""
    with tempfile.TemporaryDirectory() as here:
        elsewhere = Path("/dev/shm")
        if request.param == "elsewhere":
            if not elsewhere.is_dir() or elsewhere.stat().st_dev == shell.root.stat().st_dev:
                pytest.skip("there is no second file system")
            here = tempfile.mkdtemp(dir=elsewhere)
        folder = Path(here) / "aside"
        shell.coordinator.register_capability(SANDBOX_CAPABILITY, SandboxTerms(aside=folder))
        yield folder
        shutil.rmtree(here, ignore_errors=True)


async def looked_at() -> None:
    """Have every command that runs looked at."""
    async with beside_confined(lambda place: False):
        pass


async def holds(seen: Callable[[], object], what: str) -> None:
    async with within(20, what):
        while not seen():
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("how", ["mv", "asked"])
@pytest.mark.parametrize("name", MADE)
async def test_what_the_user_moves_back_stays(
    shell: Shell,
    told: list[str],
    aside: Path,
    name: str,
    how: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(confining, "LOOK_EVERY", 0.01)
    await run(shell, f"{WAITING} sleep 60", run_in_background=True)
    await holds((shell.root / "begun").exists, "the job to begin")
    await run(shell, MADE[name], None)
    await holds(lambda: told, "the user to be told")
    assert not os.path.lexists(shell.root / name)
    if how == "mv":
        await run(shell, f"mv {aside}/*/{name} {name}", None)
    else:
        (item,) = list_set_aside(aside, shell.root.resolve())
        put_back(item)
    await run(shell, "true")
    await run(shell, "true")
    assert os.path.lexists(shell.root / name)
    assert len(told) == 1


def test_what_is_still_on_its_way_back_is_waited_for(tmp_path: Path) -> None:
    aside, place = Aside(tmp_path / "aside", print), tmp_path / ".env"
    moved = tmp_path / "moved" / ".env"
    moved.parent.mkdir()
    moved.write_text("A=1\n")
    aside.moved_to(moved, place)
    place.write_text("A=1\n")
    threading.Timer(0.02, shutil.copystat, (moved, place)).start()
    assert aside.is_taken_back(place, aside.patience())
    assert not aside.is_taken_back(place, aside.patience())


async def test_what_goes_on_changing_is_waited_for_once_in_a_look(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    changing = "for n in 1 2 3; do mkdir -p $n; echo evil >> $n/.envrc; done"
    await run(shell, changing)
    asked: list[Path] = []

    def another(place: Path) -> kept.Mark:
        asked.append(place)
        return len(asked), b""

    monkeypatch.setattr(kept, "mark_of", another)
    assert "3/.envrc would take effect" in await run(shell, changing)
    assert set(asked) == {shell.root / f"{n}/.envrc" for n in (1, 2, 3)}
    assert len([place for place in set(asked) if asked.count(place) > 1]) <= 1


@pytest.mark.parametrize(
    "again",
    [
        "ln keep .envrc",
        "mv keep .envrc",
        "echo evil > .envrc; touch -d @1000.123456789 .envrc",
    ],
)
async def test_what_a_command_makes_like_it_is_not_taken_for_the_users(
    shell: Shell, aside: Path, again: str
) -> None:
    await run(shell, "echo evil > keep; touch -d @1000.123456789 keep; ln keep .envrc")
    assert not (shell.root / ".envrc").exists()
    shutil.rmtree(aside)
    assert ".envrc would take effect" in await run(shell, again)
    assert not (shell.root / ".envrc").exists()


async def test_what_the_user_made_beside_a_job_is_no_later_commands(
    shell: Shell, told: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(confining, "LOOK_EVERY", 0.01)
    (shell.root / "pkg").mkdir()
    await run(shell, f"{WAITING} sleep 60", run_in_background=True)
    await holds((shell.root / "begun").exists, "the job to begin")
    write_atomic(shell.root / "pkg/.envrc", "mine\n")
    # The job had it before it was there, and may be another program of the user's.
    (shell.root / "pkg/.envrc").write_text("changed\n")
    await holds(lambda: told, "the user to be told")
    assert "and stays" in told[0]
    await shell.tool.jobs.close()
    swap = "mv pkg old; mkdir pkg; echo evil > pkg/.envrc"
    assert "pkg/.envrc would take effect" in await run(shell, swap)
    assert not (shell.root / "pkg/.envrc").exists()


async def test_what_comes_where_the_users_is_gone_is_moved_aside(
    shell: Shell, told: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(confining, "LOOK_EVERY", 0.01)
    job = "while [ -e .envrc ]; do sleep 0.02; done; while [ ! -e go2 ]; do sleep 0.02; done"
    await run(shell, f"{WAITING} {job}; echo evil > .envrc; sleep 60", run_in_background=True)
    await holds((shell.root / "begun").exists, "the job to begin")
    write_atomic(shell.root / ".envrc", "mine\n")
    await run(shell, "touch go; rm .envrc", None)
    await looked_at()
    (shell.root / "go2").touch()
    await holds(lambda: told, "the user to be told")
    assert told[0].startswith(".envrc would take effect")
    assert not (shell.root / ".envrc").exists()


async def test_beside_several_jobs_what_the_user_took_back_can_be_edited(
    shell: Shell, told: list[str], aside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(confining, "LOOK_EVERY", 0.01)
    for _ in range(3):
        (shell.root / "begun").unlink(missing_ok=True)
        await run(shell, f"{WAITING} sleep 60", run_in_background=True)
        await holds((shell.root / "begun").exists, "the job to begin")
    place = shell.root / ".env"
    place.write_text("A=1\n")
    await holds(lambda: told, "the user to be told")
    await run(shell, f"mv {aside}/*/.env .env", None)
    await looked_at()
    place.with_name("new").write_text("A=2\n")
    place.with_name("new").rename(place)
    await holds(lambda: len(told) > 1, "the user to be told again")
    await looked_at()
    assert [text for text in told[1:] if "and stays" not in text] == []
    assert place.read_text() == "A=2\n"


async def test_no_command_gets_the_file_of_a_worktree_taken_for_gits(shell: Shell) -> None:
    commit = "git -c user.email=a@b -c user.name=a commit -q --allow-empty -m 1"
    await run(shell, f"git init -q main; cd main; {commit}; git worktree add -q ../wt", None)
    swap = (
        "cd main/.git/worktrees; mv wt {0}; cp -r {0} wt; printf '{1}' > wt/commondir; git version"
    )
    place = shell.root / "main/.git/worktrees/wt/commondir"
    assert "commondir would" not in await run(shell, swap.format("o1", "../..\\n"))

    async def is_kept_away(kept: str, written: str) -> bool:
        said = await run(shell, swap.format(kept, written))
        if "wt/commondir: Read-only file system" in said:
            # It was mounted read-only anew before the command came to it.
            return place.read_text() == "../..\n"
        return "wt/commondir would" in said and not place.exists()

    assert await is_kept_away("o2", "../../../../evil\\n")
    await run(shell, "echo ../.. > main/.git/worktrees/wt/commondir", None)
    assert await is_kept_away("o3", "../..\\n\\n")


async def test_what_is_moved_back_as_another_command_is_looked_at_is_no_news(
    shell: Shell, told: list[str], aside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(confining, "LOOK_EVERY", 3600.0)
    jobs: list[Made] = []
    begin = Made.begin

    def begun(self: Made, *given: Any, **named: Any) -> None:
        jobs.append(self)
        begin(self, *given, **named)

    monkeypatch.setattr(Made, "begin", begun)
    await run(shell, f"{WAITING} sleep 60", run_in_background=True)
    await holds((shell.root / "begun").exists, "the job to begin")
    await run(shell, "echo A=1 > .env", None)
    await looked_at()
    made_since = Look.made_since

    def meanwhile(self: Look, now: Look) -> list[Path]:
        found = made_since(self, now)
        monkeypatch.setattr(Look, "made_since", made_since)
        # The job's look takes it back while that of the other command has found it already.
        jobs[0].look()
        return found

    running = asyncio.create_task(
        run(shell, "touch second; while [ ! -e end ]; do sleep 0.02; done")
    )
    await holds((shell.root / "second").exists, "the other command to begin")
    await run(shell, f"mv {aside}/*/.env .env", None)
    monkeypatch.setattr(Look, "made_since", meanwhile)
    (shell.root / "end").touch()
    assert "would take effect" not in await running
    assert (shell.root / ".env").exists()
    assert len(told) == 1


async def test_a_repository_that_the_user_puts_back_is_whole_beside_a_job(
    shell: Shell, told: list[str], aside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(confining, "LOOK_EVERY", 0.01)
    await run(shell, f"{WAITING} sleep 60", run_in_background=True)
    await holds((shell.root / "begun").exists, "the job to begin")
    await run(shell, "git init -q ../made && git -C ../made remote add up x", None)
    (shell.root.parent / "made").rename(shell.root / "proj")
    await holds(lambda: told, "the user to be told")
    for item in list_set_aside(aside, shell.root.resolve()):
        put_back(item)
    await looked_at()
    await run(shell, "git -C proj config user.name a", None)
    await looked_at()
    await run(shell, "true")
    assert "up" in await run(shell, "git -C proj remote; ls proj/.git", None)
    assert (shell.root / "proj" / ".git" / "hooks").is_dir()
    assert [text for text in told if "aside puts it back" in text] == told[:1]


@pytest.mark.parametrize("around", [True, False])
async def test_for_which_repository_git_answers_until_then_is_said(
    shell: Shell, told: list[str], around: bool
) -> None:
    if around:
        await run(shell, "git init -q .", None)
    await run(shell, "mkdir proj; git init -q proj")
    await holds(lambda: told, "the user to be told")
    said = "Until then git in proj works on the repository around it"
    assert (said in told[0]) == around
