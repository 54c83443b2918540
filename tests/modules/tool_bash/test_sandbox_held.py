"""What others replace beside a command in the sandbox stays kept from it."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from amplifier_tui.base.commands.beside import beside_confined
from amplifier_tui.base.files import write_atomic
from amplifier_tui.modules.tool_bash import confining
from tests.modules.tool_bash.confined import run, shell, told
from tests.modules.tool_bash.support import Shell
from tests.sandbox import needs_sandbox
from tests.waiting import within

__all__ = ["shell", "told"]

pytestmark = needs_sandbox

TRIES = (
    "touch begun; while true; do echo try >> tries; "
    "echo evil >> {place} && echo wrote >> tries || echo refused >> tries; sleep 0.01; done"
)


async def holds(seen: Callable[[], object], what: str) -> None:
    async with within(20, what):
        while not seen():
            await asyncio.sleep(0.01)


async def begin(shell: Shell, place: str) -> Path:
    """Have a job try to write to a place again and again; return what it says of that."""
    tries = shell.root / "tries"
    await run(shell, TRIES.format(place=place), run_in_background=True)
    await holds(lambda: tries.exists() and "refused" in tries.read_text(), "it to be refused")
    return tries


async def refused_again(tries: Path) -> None:
    """Wait until it is refused five times in a row."""
    ends = "try\nrefused\n" * 5
    begun = len(tries.read_text())
    await holds(lambda: tries.read_text()[begun:].endswith(ends), "it to be refused again")


@pytest.mark.parametrize("place", [".envrc", ".vscode/tasks.json", "pkg/AGENTS.md"])
async def test_a_file_that_is_saved_by_renaming_stays_read_only(shell: Shell, place: str) -> None:
    path = shell.root / place
    path.parent.mkdir(exist_ok=True)
    path.write_text("one\n")
    tries = await begin(shell, place)
    for word in ("two", "three"):
        new = path.with_name("swap")
        new.write_text(f"{word}\n")
        new.replace(path)
        await refused_again(tries)
        assert path.read_text().startswith(word)
    size = path.stat().st_size
    await refused_again(tries)
    assert path.stat().st_size == size


async def test_a_folder_that_is_made_anew_stays_read_only(shell: Shell) -> None:
    (shell.root / ".husky").mkdir()
    (shell.root / ".husky" / "x").write_text("one\n")
    tries = await begin(shell, ".husky/x")
    (shell.root / ".husky").rename(shell.root / "old")
    (shell.root / "old").rename(shell.root / ".husky")
    await refused_again(tries)


async def test_what_the_program_writes_for_the_user_stays_as_it_was_approved(shell: Shell) -> None:
    path = shell.root / ".envrc"
    path.write_text("one\n")
    tries = await begin(shell, ".envrc")
    write_atomic(path, b"two\n")
    await refused_again(tries)
    size = path.stat().st_size
    await refused_again(tries)
    assert path.stat().st_size == size


async def test_what_the_program_makes_for_the_user_is_read_only_as_well(shell: Shell) -> None:
    tries = shell.root / "tries"
    (shell.root / ".envrc").write_text("one\n")
    await begin(shell, ".envrc")
    write_atomic(shell.root / "AGENTS.md", b"two\n")
    await run(shell, "touch begun", None)
    output = await run(shell, "echo evil >> AGENTS.md")
    assert "Read-only file system" in output and (shell.root / "AGENTS.md").read_text() == "two\n"
    await refused_again(tries)


async def test_what_comes_where_it_was_gone_is_moved_aside(
    shell: Shell, told: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(confining, "LOOK_EVERY", 1_000)
    path = shell.root / ".envrc"
    path.write_text("one\n")
    waits = "touch begun; while [ -e .envrc ] || [ ! -e go ]; do sleep 0.01; done; "
    command = asyncio.create_task(run(shell, f"{waits} echo evil > .envrc"))
    await holds((shell.root / "begun").exists, "the command to begin")
    path.unlink()
    async with beside_confined(lambda place: False):
        pass
    (shell.root / "go").touch()
    assert ".envrc would take effect on other programs" in await command
    assert not path.exists()


async def test_no_link_is_followed_to_what_is_mounted_anew(shell: Shell) -> None:
    """What a sandbox hides would be seen where that was mounted over the place."""
    secret = shell.root.parent / "state" / "keys.env"
    (shell.root / "pkg" / "state").mkdir(parents=True)
    (shell.root / "pkg" / ".npmrc").write_text("one\n")
    tries = shell.root / "tries"
    job = "mv pkg was; touch begun; while true; do echo try >> tries; "
    job += f"cat {secret} >> tries 2>&1 || true; sleep 0.01; done"
    await run(shell, job, run_in_background=True)
    await holds(lambda: tries.exists() and tries.read_text().count("try") > 2, "it to begin")
    (shell.root / "pkg").symlink_to(shell.root.parent)
    (shell.root.parent / ".npmrc").symlink_to("state")
    (shell.root / "was" / ".npmrc").touch()
    count = tries.read_text().count("try")
    await holds(lambda: tries.read_text().count("try") > count + 20, "it to go on")
    assert "hush" not in tries.read_text()
