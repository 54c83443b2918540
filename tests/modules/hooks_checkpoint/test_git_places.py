import subprocess
from pathlib import Path

import pytest

from tests.modules.hooks_checkpoint.support import Session


def git(root: Path, *arguments: str) -> str:
    who = ("-c", "user.name=A", "-c", "user.email=a@example.com")
    run = ["git", *who, *arguments]
    return subprocess.run(run, cwd=root, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
async def session(tmp_path: Path) -> Session:
    session = await Session(tmp_path / "work", tmp_path / "store").mount()
    git(session.root, "init", "-qb", "main")
    (session.root / "a.txt").write_text("a")
    git(session.root, "add", ".")
    git(session.root, "commit", "-qm", "one")
    return session


async def test_a_turn_remembers_where_git_stood_also_in_a_later_run(
    session: Session, tmp_path: Path
):
    def run() -> None:
        (session.root / "a.txt").write_text("b")
        git(session.root, "checkout", "-qb", "feat")
        git(session.root, "commit", "-qam", "two")

    one = git(session.root, "rev-parse", "HEAD")
    await session.turn("x")
    await session.command("git commit && git checkout feat", run)
    two = git(session.root, "rev-parse", "HEAD")
    moved = {"then": {"branch": "main", "commit": one}, "now": {"branch": "feat", "commit": two}}
    again = await Session(session.root, tmp_path / "store").mount()
    for each in (session, again):
        (checkpoint,) = await each.listed()
        assert checkpoint["git"] is True
        assert (await each.preview(checkpoint["id"]))["git"] == moved
    git(session.root, "checkout", "-q", "main")
    assert (await session.preview(checkpoint["id"]))["git"] is None


async def test_without_a_repository_nothing_is_said_of_git(tmp_path: Path):
    session = await Session(tmp_path / "work", tmp_path / "store").mount()
    await session.turn("x")
    await session.command("touch a", lambda: (session.root / "a").touch())
    (checkpoint,) = await session.listed()
    assert checkpoint["git"] is False
    assert (await session.preview(checkpoint["id"]))["git"] is None
