"""Git is never taken back: what a rewind says of it, and what it leaves to the user."""

from pathlib import Path

import pytest

from amplifier_tui.host.events import SessionOpened
from amplifier_tui.host.session.rewinding.git_moves import GitMove, git_move
from tests.host.asking import CONTEXT, chat
from tests.host.driving import Driver, Project
from tests.host.session.worktree_stage import commit, git
from tests.servers import LoopbackServer, ToolUse, reply

A, B = "a" * 40, "b" * 40


@pytest.fixture
def opened(project: Project, driver: Driver, server: LoopbackServer) -> SessionOpened:
    name = project.bundle(
        context=CONTEXT,
        context_config={"providers": []},
        providers=[chat(server)],
        tools=("tool-filesystem", "tool-bash"),
        hooks=(("hooks-checkpoint", {}),),
    )
    folder = project.folder
    git(folder, "init", "-qb", "main")
    commit(folder, "main.txt")
    git(folder, "checkout", "-qb", "feat")
    commit(folder, "feat.txt")
    git(folder, "checkout", "-q", "main")
    return driver.open(name)


def run(driver: Driver, server: LoopbackServer, command: str) -> None:
    server.script.add(reply(ToolUse("bash", {"command": command})))
    server.script.add("Done")
    driver.turn(f"run {command}")


def short(folder: Path, name: str) -> str:
    return git(folder, "rev-parse", name)[:9]


def test_another_branch_is_named_with_what_to_do_before_its_files_are_overwritten(
    project: Project, driver: Driver, server: LoopbackServer, opened: SessionOpened
) -> None:
    main = short(project.folder, "main")
    run(driver, server, "echo more > main.txt; echo new > new.txt")
    git(project.folder, "commit", "-qam", "more")
    git(project.folder, "checkout", "-q", "feat")
    run(driver, server, "true > later.txt")
    feat = short(project.folder, "feat")
    preview = driver.client.preview_rewind(1).result(5)
    assert "new.txt" in {file.path for file in preview.files} and preview.elsewhere
    assert preview.git == (
        f"the branch was main ({main}) and is feat ({feat}) now: git is not taken back. "
        "`git checkout main` first, or go back without the files"
    )
    later = driver.client.preview_rewind(2).result(5)
    assert (later.git, later.elsewhere) == ("", False), "that turn began on feat"


def test_a_commit_is_said_to_stay_and_a_branch_without_any_change_of_files_too(
    project: Project, driver: Driver, server: LoopbackServer, opened: SessionOpened
) -> None:
    main = short(project.folder, "main")
    run(driver, server, "mkdir -p made")
    git(project.folder, "checkout", "-qb", "new")
    preview = driver.client.preview_rewind(1).result(5)
    assert not preview.files and not preview.elsewhere
    assert preview.git == (
        f"the branch was main ({main}) and is new ({main}) now: git is not taken back. "
        "`git checkout main` goes back there"
    )
    run(driver, server, "echo more > main.txt")
    git(project.folder, "commit", "-qam", "more")
    preview = driver.client.preview_rewind(2).result(5)
    assert preview.git == (
        f"new was at {main} and is at {short(project.folder, 'new')} now: commits stay, git is not "
        f"taken back. `git log {main}..` lists them, and files that go back show as changes"
    )
    assert not preview.elsewhere, "its files are of this branch"


def test_what_is_staged_is_said_to_stay_so(
    project: Project, driver: Driver, server: LoopbackServer, opened: SessionOpened
) -> None:
    run(driver, server, "true > new.txt")
    git(project.folder, "add", "new.txt")
    preview = driver.client.preview_rewind(1).result(5)
    assert preview.git == "what is staged in git stays so. `git reset` unstages it"
    assert not preview.elsewhere


@pytest.mark.parametrize(
    ("move", "elsewhere", "part"),
    [
        (GitMove("main", A, "", B), True, "is none (bbbbbbbbb) now"),
        (GitMove("", A, "", B), True, "`git checkout aaaaaaaaa` first"),
        (GitMove("a;b", A, "main", B), True, "`git checkout 'a;b'` first"),
        (GitMove("main", "", "main", B), False, "main had no commit and is at bbbbbbbbb now"),
        (GitMove("main", A, "feat", ""), True, "is feat (no commit) now"),
        (GitMove("main", A, "main", B, staged=True), False, "show as changes; what is staged"),
    ],
)
def test_each_way_git_may_have_gone_is_said(move: GitMove, elsewhere: bool, part: str) -> None:
    assert move.elsewhere is elsewhere and part in move.words(files=True)
    assert git_move(None) is None
