"""What others replace beside a command in the sandbox stays kept from it."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from amplifier_tui.base.commands.beside import beside_confined
from amplifier_tui.base.commands.held import changes
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


def save(path: Path, text: str, mode: int = 0o644) -> None:
    """Save a file as editors do."""
    new = path.with_name("swap")
    new.write_text(text)
    new.chmod(mode)
    new.replace(path)


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
        save(path, f"{word}\n")
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


async def test_what_a_command_leaves_running_is_kept_from_what_is_saved(shell: Shell) -> None:
    (shell.root / ".envrc").write_text("one\n")
    tries = shell.root / "tries"
    await run(shell, f"({TRIES.format(place='.envrc')}) >/dev/null 2>&1 &")
    await holds(lambda: tries.exists() and "refused" in tries.read_text(), "it to be refused")
    save(shell.root / ".envrc", "two\n")
    await refused_again(tries)


async def test_where_nothing_was_guarded_what_the_program_makes_is_held(shell: Shell) -> None:
    tries = shell.root / "tries"
    job = "until [ -e go ]; do sleep 0.01; done; " + TRIES.format(place="AGENTS.md")
    await run(shell, job, run_in_background=True)
    write_atomic(shell.root / "AGENTS.md", b"one\n")
    (shell.root / "go").touch()
    await holds(tries.exists, "it to begin")
    await refused_again(tries)


async def test_a_file_that_is_saved_read_only_is_held_as_well(shell: Shell) -> None:
    path = shell.root / ".envrc"
    path.write_text("one\n")
    opens = "chmod 644 .envrc && echo evil >> .envrc"
    tries = shell.root / "tries"
    job = f"while true; do echo try >> tries; [ -e go ] && {opens} && echo wrote >> tries || "
    await run(shell, job + "echo refused >> tries; sleep 0.01; done", run_in_background=True)
    await holds(tries.exists, "it to begin")
    await refused_again(tries)
    save(path, "two\n", 0o444)
    await refused_again(tries)
    (shell.root / "go").touch()
    await refused_again(tries)
    assert path.read_text() == "two\n" and path.stat().st_mode & 0o777 == 0o444


FLOOD = """
import ctypes, sys
names = [(sys.argv[1] * 240 + each).encode() for each in "ab"]
for name in names:
    open(name, "w").close()
exchange = ctypes.CDLL(None).renameat2
for count in range(10**9):
    exchange(-100, names[0], -100, names[1], 2)
    if count == 10_000:
        open("flooded" + sys.argv[1], "w").close()
"""
"""Two changes with each call, and more of them than can be told."""


async def test_a_flood_of_changes_hides_no_save(shell: Shell) -> None:
    path = shell.root / ".envrc"
    path.write_text("one\n")
    (shell.root / "flood.py").write_text(FLOOD)
    tries = await begin(shell, ".envrc")
    many = "for each in {a..x}; do setsid python3 flood.py $each & done; wait"
    await run(shell, many, run_in_background=True)
    await holds(lambda: len([*shell.root.glob("flooded*")]) == 24, "the flood")
    for count in range(5):
        save(path, f"{count}\n")
        await refused_again(tries)


async def test_where_the_kernel_tells_of_no_changes_files_are_held_and_the_user_told_once(
    shell: Shell, told: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changes, "inotify", lambda: changes.NONE_LEFT)
    (shell.root / ".envrc").write_text("one\n")
    tries = await begin(shell, ".envrc")
    save(shell.root / ".envrc", "two\n")
    await refused_again(tries)
    await run(shell, "true")
    await holds(lambda: told, "the user to be told")
    assert len([text for text in told if "max_user_instances" in text]) == 1
