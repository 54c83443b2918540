import json
import subprocess
from pathlib import Path

import pytest

from tests.modules.hooks_checkpoint.support import Session
from tests.modules.hooks_checkpoint.test_whose_change import Together


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
    moved = {
        "then": {"branch": "main", "commit": one},
        "now": {"branch": "feat", "commit": two},
        "staged": False,
    }
    again = await Session(session.root, tmp_path / "store").mount()
    for each in (session, again):
        (checkpoint,) = await each.listed()
        assert checkpoint["git"] is True
        assert (await each.preview(checkpoint["id"]))["git"] == moved
    git(session.root, "checkout", "-q", "main")
    assert (await session.preview(checkpoint["id"]))["git"] is None


async def test_what_a_turn_staged_is_known_from_what_was_staged_before_it(
    session: Session, tmp_path: Path
):
    (session.root / "b.txt").write_text("b")
    git(session.root, "add", ".")
    await session.turn("x")
    await session.command("git rm a", lambda: git(session.root, "rm", "-q", "a.txt"))
    again = await Session(session.root, tmp_path / "store").mount()
    for each in (session, again):
        (checkpoint,) = await each.listed()
        moved = (await each.preview(checkpoint["id"]))["git"]
        assert moved["staged"] and moved["then"] == moved["now"]
    git(session.root, "reset", "-q", "--", "a.txt")
    assert (await session.preview(checkpoint["id"]))["git"] is None
    git(session.root, "reset", "-q")
    assert (await session.preview(checkpoint["id"]))["git"] is None


async def test_a_record_that_does_not_tell_what_was_staged_is_read(
    session: Session, tmp_path: Path
):
    await session.turn("x")
    await session.command("touch c", lambda: (session.root / "c").touch())
    (record,) = (tmp_path / "store").rglob("*.jsonl")
    rows = [json.loads(line) for line in record.read_text().splitlines()]
    for row in rows:
        row.get("git", {}).pop("staged", None)
    record.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    git(session.root, "add", ".")
    again = await Session(session.root, tmp_path / "store").mount()
    (checkpoint,) = await again.listed()
    assert checkpoint["git"] is True
    assert (await again.preview(checkpoint["id"]))["git"] is None


async def test_without_a_repository_nothing_is_said_of_git(tmp_path: Path):
    session = await Session(tmp_path / "work", tmp_path / "store").mount()
    await session.turn("x")
    await session.command("touch a", lambda: (session.root / "a").touch())
    (checkpoint,) = await session.listed()
    assert checkpoint["git"] is False
    assert (await session.preview(checkpoint["id"]))["git"] is None


async def test_what_a_turn_deleted_of_git_is_told_with_what_brings_it_back(session: Session):
    root = session.root
    (root / ".gitignore").write_text("data/\nbuild/\n*.db\n")
    for name in ("data/d.txt", "build/x", "x.db"):
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).touch()
    git(root, "branch", "old")
    git(root, "commit", "-qm", "two", "--allow-empty")
    git(root, "branch", "named")
    git(root, "tag", "-am", "x", "v1")
    (root / "a.txt").write_text("b")
    git(root, "stash")
    stash, tag = (git(root, "rev-parse", name)[:10] for name in ("refs/stash", "v1"))
    one = git(root, "rev-parse", "old")[:10]

    def run() -> None:
        git(root, "branch", "-D", "old")
        git(root, "branch", "-m", "named", "renamed")
        git(root, "tag", "-d", "v1")
        git(root, "stash", "drop")
        for name in ("data/d.txt", "build/x"):
            (root / name).unlink()
            (root / name).parent.rmdir()

    await session.turn("x")
    await session.command("./clean-up", run)
    (checkpoint,) = await session.listed()
    assert sorted((await session.preview(checkpoint["id"]))["unseen"]) == [
        f"`./clean-up` deleted the branch old: `git branch old {one}` brings it back",
        f"`./clean-up` deleted the tag v1: `git tag v1 {tag}` brings it back",
        f"`./clean-up` dropped a stash: `git stash store {stash}` brings it back",
        "`./clean-up` took data/ away, which git ignores",
    ]
    git(root, "stash", "store", stash)
    assert git(root, "rev-parse", "refs/stash").startswith(stash)


async def test_what_git_has_no_more_after_commands_that_ran_together_is_told_once(session: Session):
    git(session.root, "branch", "old")
    commands = "make x", "git branch -D old", "ls"
    await session.turn("x")
    together = Together(session)
    await together.begin(*commands)
    git(session.root, "branch", "-D", "old")
    await together.end(*commands)
    (turn,) = await session.listed()
    (told,) = (await session.preview(turn["id"]))["unseen"]
    assert told.startswith("One of 2 commands that ran together deleted the branch old")
