"""What only counts now, because settings or links of the user's name it, while a job runs."""

import asyncio
from collections.abc import Iterable
from pathlib import Path

import pytest

from amplifier_tui.base.commands.beside import beside_confined
from amplifier_tui.base.commands.held import changes
from amplifier_tui.modules.tool_bash import confining
from amplifier_tui.modules.tool_bash.sandbox import configuring, tracked
from amplifier_tui.modules.tool_bash.sandbox.configuring import Look
from tests.modules.tool_bash.confined import run, shell, told
from tests.modules.tool_bash.support import Shell
from tests.modules.tool_bash.test_sandbox_beside_calls import job, let_go_on
from tests.modules.tool_bash.test_sandbox_beside_others import COMMITTED, WAITING, holds
from tests.modules.tool_bash.test_sandbox_history import until_told
from tests.sandbox import needs_sandbox

__all__ = ["shell", "told"]

pytestmark = needs_sandbox

NAMED = (
    "git config core.hooksPath tools/hooks; git config filter.nb.clean 'sh clean.sh'; "
    "ln -s $PWD/bash/rc ~/.myrc"
)
FILES = ("tools/hooks/pre-commit", "clean.sh", "bash/rc")


@pytest.fixture
async def files(shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    """Files that are no part of the repository, and older than what comes."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    made = (
        "mkdir -p ev/hooks; echo evil > ev/hooks/pre-commit; mkdir -p tools/hooks bash; for i in "
        + " ".join(FILES)
        + "; do echo mine > $i; done"
    )
    await run(shell, f"{COMMITTED}; {made}", None)
    await run(shell, "sleep 0.3", None)
    return shell


async def test_files_that_are_older_than_a_job_stay_where_they_are(
    files: Shell, told: list[str]
) -> None:
    await job(files, "true")
    await run(files, NAMED, None)
    await let_go_on(files)
    await run(files, "true")
    assert [(files.root / each).read_text() for each in FILES] == ["mine\n"] * 3
    assert not [text for text in told if "would take effect" in text]


@pytest.mark.parametrize(
    "command",
    [
        "echo evil > tools/hooks/pre-commit",
        "rm -r tools/hooks; mv ev/hooks tools/hooks",
        "rm -r tools; mv ev tools",
    ],
)
async def test_but_not_what_the_job_made_of_them(
    files: Shell, told: list[str], command: str
) -> None:
    await job(files, command)
    await let_go_on(files)
    await run(files, NAMED, None)
    await run(files, "true")
    async with beside_confined(lambda place: False):
        """At its end there is a look."""
    assert not (files.root / "tools/hooks/pre-commit").exists()
    assert (files.root / "clean.sh").exists()


async def test_what_hides_behind_very_many_links_or_folders_is_found(
    shell: Shell, told: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(configuring, "_MOST_FOLDERS", 30)
    await run(shell, f"{COMMITTED}; mkdir -p pkg/sub z", None)
    await run(shell, "mkdir 0; for i in $(seq 60); do ln -s x 0/$i; mkdir -p 1/$i; done")
    made = "for d in pkg/n pkg z/q; do mkdir -p $d/.vscode; touch $d/.vscode/tasks.json; done"
    await run(shell, f"{made}; git init -q pkg/n; rm -r 0 1")
    left = [*shell.root.rglob(".vscode"), *shell.root.glob("pkg/**/.git")]
    assert left == []


async def test_that_a_workspace_is_too_large_to_be_looked_at_is_told_once(
    shell: Shell, told: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(configuring, "_MOST_FOLDERS", 30)
    await run(shell, "for i in $(seq 40); do mkdir -p $i/a; done", None)
    for _ in range(2):
        await run(shell, "true")
    await until_told(told, "more folders than can be looked at")
    assert len(told) == 1


async def test_each_of_very_many_repositories_counts_alike(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tracked, "_MOST_CHECKOUTS", 2)
    many = "for i in a b c; do (mkdir $i && cd $i && " + COMMITTED + "); done"
    await run(shell, many, None)
    for each in "abc":
        made = f"mkdir .vscode; echo {each} > .vscode/x; git add .; git commit -qm evil"
        await run(shell, f"mkdir /tmp/{each}; cd /tmp/{each}; {COMMITTED}; {made}")
        await run(shell, f"git -C {each} fetch -q /tmp/{each} HEAD")
        await run(shell, f"git -C {each} reset -q --hard FETCH_HEAD")
    await run(shell, "for i in a b c; do mkdir -p $i/.vscode; echo $i > $i/.vscode/x; done")
    assert [*shell.root.glob("[abc]/.vscode/x")] == []


@pytest.mark.parametrize("followed", [True, False])
async def test_what_was_out_of_the_way_while_a_command_started_is_not_held(
    shell: Shell, told: list[str], monkeypatch: pytest.MonkeyPatch, followed: bool
) -> None:
    if not followed:
        monkeypatch.setattr(changes, "inotify", lambda: changes.NONE_LEFT)
    # A moment before it is mounted anew.
    monkeypatch.setattr(confining.Confined, "begin", lambda *_: None)
    pkg, other, name = shell.root / "pkg", shell.root / "other", Path(".vscode", "tasks.json")
    other.mkdir()
    (pkg / name.parent).mkdir(parents=True)
    (pkg / name).write_text("mine")

    def swap() -> None:
        """What a job may do at any time."""
        pkg.rename(shell.root / "between")
        other.rename(pkg)
        (shell.root / "between").rename(other)

    hold = Look.hold

    def late(self: Look, places: Iterable[Path]) -> None:
        """Have what is mounted by its name be another's."""
        hold(self, places)
        (other / name.parent).mkdir()
        swap()

    monkeypatch.setattr(Look, "hold", late)
    command = f"{WAITING} echo evil > pkg/{name}; cat pkg/{name}"
    running = asyncio.create_task(run(shell, command))
    await holds((shell.root / "begun").exists, "the command to begin")
    swap()
    (shell.root / "go").touch()
    assert "evil" in await running
    assert not (pkg / name).exists()
