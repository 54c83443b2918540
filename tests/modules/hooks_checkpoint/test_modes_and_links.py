import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from amplifier_tui.modules.hooks_checkpoint import commands
from amplifier_tui.modules.hooks_checkpoint.store import CopyStore
from tests.modules.hooks_checkpoint.support import Session, write
from tests.modules.hooks_checkpoint.test_commands import git, names


@pytest.fixture(params=["plain", "git"])
async def session(request: pytest.FixtureRequest, tmp_path: Path) -> Session:
    session = await Session(tmp_path / "work", tmp_path / "store").mount()
    root = session.root
    (root / "pkg").mkdir()
    (root / "pkg" / "calc.py").write_text("calc")
    (root / "run.sh").write_text("#!/bin/sh")
    (root / "run.sh").chmod(0o755)
    (root / "link.py").symlink_to("pkg/calc.py")
    (root / "gone").symlink_to("pkg")
    if request.param == "git":
        git(root, "init", "-q")
        git(root, "add", ".")
        git(root, "commit", "-qm", "x")
        later = (root / ".git" / "index").stat().st_mtime_ns - 5_000_000_000
        for path in ("pkg/calc.py", "run.sh", "link.py", "gone"):
            os.utime(root / path, ns=(later, later), follow_symlinks=False)
        git(root, "update-index", "--refresh")
    return session


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def relink(path: Path, target: str) -> None:
    path.unlink()
    path.symlink_to(target)


async def run(session: Session, *steps: Callable[[], object]) -> str:
    await session.turn("x")
    await session.command("make it", lambda: [step() for step in steps])
    return (await session.listed())[-1]["id"]


async def test_modes_and_links_that_a_command_changed_come_back_and_are_redone(session: Session):
    root = session.root
    change = await run(
        session,
        lambda: (root / "run.sh").chmod(0o644),
        lambda: relink(root / "link.py", "run.sh"),
        (root / "gone").unlink,
        lambda: (root / "fresh").symlink_to("run.sh"),
    )
    preview = await session.preview(change)
    found = {
        file["path"]: (file["action"], file["note"], file["conflict"] + file["problem"])
        for file in preview["files"]
    }
    assert found == {
        "run.sh": ("restored", "mode 755", ""),
        "link.py": ("restored", "link to pkg/calc.py", ""),
        "gone": ("restored", "link to pkg", ""),
        "fresh": ("removed", "", ""),
    }
    inode = (root / "run.sh").stat().st_ino
    outcome = await session.restore(change)
    assert outcome["restored"] == ["gone", "link.py", "run.sh"]
    assert outcome["removed"] == ["fresh"] and not outcome["failed"]
    assert mode(root / "run.sh") == 0o755 and (root / "run.sh").stat().st_ino == inode
    assert os.readlink(root / "link.py") == "pkg/calc.py" and os.readlink(root / "gone") == "pkg"
    assert not os.path.lexists(root / "fresh") and session.read("pkg/calc.py") == "calc"
    again = await Session(root, session.folder).mount()
    assert not (await again.restore(outcome["id"]))["failed"]
    assert mode(root / "run.sh") == 0o644 and os.readlink(root / "link.py") == "run.sh"
    assert not os.path.lexists(root / "gone") and os.readlink(root / "fresh") == "run.sh"


async def test_modes_and_links_of_the_user_are_asked_about(session: Session):
    root = session.root
    change = await run(
        session,
        lambda: (root / "run.sh").chmod(0o644),
        lambda: relink(root / "link.py", "run.sh"),
    )
    (root / "run.sh").chmod(0o600)
    relink(root / "link.py", "pkg")
    outcome = await session.restore(change)
    assert outcome["conflicts"] == ["link.py", "run.sh"]
    assert mode(root / "run.sh") == 0o600 and os.readlink(root / "link.py") == "pkg"
    outcome = await session.restore(change, force=True)
    assert mode(root / "run.sh") == 0o755 and os.readlink(root / "link.py") == "pkg/calc.py"


async def test_a_mode_the_user_set_between_two_turns_is_asked_about(session: Session):
    await session.turn("x", write("a.txt", "one"))
    (session.root / "a.txt").chmod(0o600)
    await session.turn("y", write("a.txt", "two"))
    first, _ = await session.listed()
    assert (await session.restore(first["id"]))["conflicts"] == ["a.txt"]


async def test_what_was_there_before_a_link_or_a_folder_comes_back_both_ways(session: Session):
    """`d` is a folder, then a link out of the workspace; `pkg` goes the other way."""
    root, outside = session.root, session.folder / "outside"
    outside.mkdir(parents=True)
    (outside / "a.txt").write_text("precious")

    def swap() -> None:
        (root / "pkg" / "calc.py").unlink()
        (root / "pkg").rmdir()
        (root / "pkg").symlink_to(outside)
        (root / "gone").unlink()
        (root / "gone" / "deep").mkdir(parents=True)
        (root / "gone" / "deep" / "b.txt").write_text("made")

    change = await run(session, swap)
    preview = await session.preview(change)
    assert names(preview) == {
        "pkg": "removed",
        "pkg/calc.py": "restored",
        "gone": "restored",
        "gone/deep/b.txt": "removed",
    }
    assert not any(file["problem"] or file["conflict"] for file in preview["files"])
    outcome = await session.restore(change)
    assert not outcome["failed"] and not (root / "pkg").is_symlink()
    assert session.read("pkg/calc.py") == "calc" and os.readlink(root / "gone") == "pkg"
    outcome = await session.restore(outcome["id"])
    assert not outcome["failed"] and os.readlink(root / "pkg") == str(outside)
    assert session.read("gone/deep/b.txt") == "made"
    assert [path.name for path in outside.iterdir()] == ["a.txt"]
    assert (outside / "a.txt").read_text() == "precious"


async def test_what_lies_behind_a_link_is_not_copied(session: Session):
    outside = session.folder / "outside"
    outside.mkdir(parents=True)
    (outside / "calc.py").write_text("precious")
    (session.root / "pkg" / "calc.py").unlink()
    (session.root / "pkg").rmdir()
    (session.root / "pkg").symlink_to(outside)
    await run(session, (session.root / "new.txt").touch)
    copies = {copy.read_bytes() for copy in session.folder.glob("checkpoints/objects/*")}
    assert b"precious" not in copies


async def test_a_folder_of_the_user_in_place_of_a_link_stays_and_is_told_of(session: Session):
    change = await run(session, (session.root / "gone").unlink)
    (session.root / "gone").mkdir()
    (session.root / "gone" / "mine.txt").write_text("mine")
    (file,) = (await session.preview(change))["files"]
    assert file["problem"] == "what is in its place is no file"
    assert list((await session.restore(change, force=True))["failed"]) == ["gone"]
    assert session.read("gone/mine.txt") == "mine"


async def test_a_file_that_can_not_be_read_any_more_hides_no_other(
    session: Session, monkeypatch: pytest.MonkeyPatch
):
    from amplifier_tui.modules.hooks_checkpoint import states

    def refuse(path: Path, **more: bool) -> object:
        if path.name == "run.sh":
            raise PermissionError(13, "Permission denied")
        return opened(path, **more)

    opened = states.open_resolved
    monkeypatch.setattr(states, "open_resolved", refuse)
    change = await run(
        session,
        lambda: (session.root / "run.sh").chmod(0),
        lambda: (session.root / "pkg" / "calc.py").write_text("other"),
    )
    preview = await session.preview(change)
    assert {file["path"]: file["problem"] for file in preview["files"]} == {
        "pkg/calc.py": "",
        "run.sh": "Permission denied",
    }


async def test_a_folder_that_a_command_moved_is_back_and_nowhere_else(
    session: Session, monkeypatch: pytest.MonkeyPatch
):
    # As of files that were made long before: what is below a folder that moves does not change.
    monkeypatch.setattr(commands, "_CLOCK_NS", -60_000_000_000)
    root = session.root
    change = await run(session, lambda: (root / "pkg").rename(root / "moved"))
    preview = await session.preview(change)
    assert {file["path"] for file in preview["files"]} >= {"pkg/calc.py", "moved/calc.py"}
    await session.restore(change)
    assert (root / "pkg" / "calc.py").read_text() == "calc"
    assert not (root / "moved" / "calc.py").exists()


@pytest.mark.parametrize("change", ["changed", "removed", "made", "mode", "link"])
async def test_going_back_follows_no_link_that_a_command_puts_there_meanwhile(
    session: Session, monkeypatch: pytest.MonkeyPatch, change: str
):
    pkg, outside = session.root / "pkg", session.root.parent / "outside"
    outside.mkdir()
    (pkg / "to").symlink_to("calc.py")
    file = pkg / {"made": "fresh", "link": "to"}.get(change, "calc.py")
    steps: dict[str, Callable[[], object]] = {
        "changed": lambda: file.write_text("new"),
        "removed": file.unlink,
        "made": lambda: file.write_text("new"),
        "mode": lambda: file.chmod(0o700),
        "link": lambda: relink(file, "../run.sh"),
    }
    turn = await run(session, steps[change])
    for name in ("calc.py", "fresh", "to"):
        (outside / name).write_text("theirs")
    before = {each.name: (each.read_text(), mode(each)) for each in outside.iterdir()}
    add = CopyStore.add

    def then(*arguments: Any, **more: Any) -> object:
        found = add(*arguments, **more)
        if not pkg.is_symlink():
            pkg.rename(session.root / "moved")
            pkg.symlink_to(outside)
        return found

    monkeypatch.setattr(CopyStore, "add", then)
    outcome = await session.restore(turn, force=True)
    assert pkg.is_symlink() and list(outcome["failed"]) == [f"pkg/{file.name}"]
    assert {each.name: (each.read_text(), mode(each)) for each in outside.iterdir()} == before
