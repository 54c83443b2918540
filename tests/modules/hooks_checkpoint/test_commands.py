import os
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from tests.modules.hooks_checkpoint.support import Session, write


def git(root: Path, *arguments: str) -> None:
    who = ("-c", "user.name=A", "-c", "user.email=a@example.com")
    subprocess.run(["git", *who, *arguments], cwd=root, check=True, capture_output=True)


@pytest.fixture(params=["plain", "git"])
async def session(request: pytest.FixtureRequest, tmp_path: Path) -> Session:
    session = await Session(tmp_path / "work", tmp_path / "store").mount()
    (session.root / "kept.txt").write_text("kept")
    (session.root / "changed.txt").write_text("before")
    (session.root / "gone.bin").write_bytes(b"\0gone")
    if request.param == "git":
        git(session.root, "init", "-q")
        (session.root / ".gitignore").write_text("*.log\n")
        git(session.root, "add", ".")
        git(session.root, "commit", "-qm", "x")
        # Changed as late as the index, a file may have changed once more without a trace.
        later = (session.root / ".git" / "index").stat().st_mtime_ns - 5_000_000_000
        for path in session.root.iterdir():
            if path.is_file():
                os.utime(path, ns=(later, later))
        git(session.root, "update-index", "--refresh")
    (session.root / "draft.txt").write_text("untracked")
    return session


def names(checkpoint: dict[str, Any]) -> dict[str, str]:
    return {file["path"]: file["action"] for file in checkpoint["files"]}


@pytest.mark.parametrize("most", [1, 100])
async def test_where_there_are_too_many_files_it_is_said_once_before_a_command_runs(
    session: Session, monkeypatch: pytest.MonkeyPatch, most: int
):
    for name in ("_MOST_LISTED", "_MOST_WALKED"):
        monkeypatch.setattr(f"amplifier_tui.modules.hooks_checkpoint.commands.{name}", most)
    for prompt in ("x", "y"):
        await session.turn(prompt)
        # What was begun beside the turn holds the files back until it is done.
        await session.call(*write("new.txt", "new"))
    told = [text for text in session.notices if "can't be taken back" in text]
    assert len(told) == (1 if most == 1 else 0)
    assert not told or " has over 1 files" in told[0]


async def test_what_a_command_changes_can_be_undone(session: Session):
    def run() -> None:
        (session.root / "changed.txt").write_text("after")
        (session.root / "gone.bin").unlink()
        (session.root / "draft.txt").write_text("overwritten")
        (session.root / "sub").mkdir()
        (session.root / "sub" / "made.txt").write_text("made")

    await session.turn("x")
    await session.command("make fmt", run)
    (checkpoint,) = await session.listed()
    assert names(checkpoint) == {
        "changed.txt": "changed",
        "gone.bin": "changed",
        "draft.txt": "changed",
        "sub/made.txt": "created",
    }
    assert {file["command"] for file in checkpoint["files"]} == {"make fmt"}
    copies = {copy.read_bytes() for copy in session.folder.glob("checkpoints/objects/*")}
    assert (b"kept" in copies) is not (session.root / ".git").exists(), "git has a copy itself"
    outcome = await session.restore(checkpoint["id"])
    assert outcome["removed"] == ["sub/made.txt"] and not outcome["failed"]
    assert session.read("changed.txt") == "before" and session.read("draft.txt") == "untracked"
    assert (session.root / "gone.bin").read_bytes() == b"\0gone"
    await session.restore(outcome["id"])
    assert session.read("changed.txt") == "after" and session.read("sub/made.txt") == "made"
    assert not (session.root / "gone.bin").exists()


async def test_a_command_that_only_reads_is_not_compared(session: Session):
    await session.turn("x")
    await session.command("cat kept.txt", lambda: (session.root / "kept.txt").write_text("hand"))
    assert await session.listed() == []


async def test_what_the_user_wrote_before_the_command_is_what_comes_back(session: Session):
    await session.turn("x", write("changed.txt", "by the agent"))
    (session.root / "changed.txt").write_text("by hand")
    await session.command("make", lambda: (session.root / "changed.txt").write_text("made"))
    (checkpoint,) = await session.listed()
    assert (await session.restore(checkpoint["id"]))["conflicts"] == ["changed.txt"]


async def test_what_was_ignored_before_is_left_alone(tmp_path: Path):
    session = await Session(tmp_path / "work", tmp_path / "store").mount()
    git(session.root, "init", "-q")
    (session.root / ".gitignore").write_text("*.log\n")
    (session.root / "old.log").write_text("precious")
    os.utime(session.root / "old.log", (1, 1))
    await session.turn("x")
    look = session.root / ".gitignore"

    def run() -> None:
        look.write_text("")
        (session.root / "new.log").write_text("made")

    while (session.root / "old.log").stat().st_ctime_ns > time.time_ns() - 30_000_000:
        pass
    await session.command("make", run)
    (checkpoint,) = await session.listed()
    assert names(checkpoint) == {".gitignore": "changed", "new.log": "created"}


async def test_a_commit_or_checkout_is_seen(tmp_path: Path):
    session = await Session(tmp_path / "work", tmp_path / "store").mount()
    git(session.root, "init", "-q")
    for text in ("one", "two"):
        (session.root / "a.txt").write_text(text)
        git(session.root, "add", ".")
        git(session.root, "commit", "-qm", text)
    await session.turn("x")
    await session.command(
        "git checkout HEAD~1", lambda: git(session.root, "checkout", "-q", "HEAD~1")
    )
    (checkpoint,) = await session.listed()
    assert names(checkpoint) == {"a.txt": "changed"}
    await session.restore(checkpoint["id"])
    assert session.read("a.txt") == "two"


async def test_keys_are_not_copied(tmp_path: Path):
    session = await Session(tmp_path / "work", tmp_path / "store").mount()
    (session.root / "id_rsa").write_text("a key")
    await session.turn("x")
    await session.command("make", lambda: (session.root / "id_rsa").write_text("another"))
    (checkpoint,) = await session.listed()
    assert "keys" in checkpoint["files"][0]["skipped"]
    copies = (session.folder / "checkpoints").glob("objects/*")
    assert not any(copy.read_text() == "a key" for copy in copies)


async def test_a_workspace_that_is_too_large_is_said(tmp_path: Path):
    session = await Session(tmp_path / "work", tmp_path / "store").mount()
    for number in range(2_001):
        (session.root / str(number)).touch()
    await session.turn("x")
    await session.command("make all", lambda: None)
    (checkpoint,) = await session.listed()
    assert checkpoint["files"] == []
    (why,) = (await session.preview(checkpoint["id"]))["unseen"]
    assert "`make all`" in why and "2,000 files" in why


async def test_what_goes_on_in_the_background_is_said_not_to_be_seen(session: Session):
    await session.turn("x")
    began = session.root / "began"
    await session.command("npm run dev", began.touch, run_in_background=True)
    (checkpoint,) = await session.listed()
    assert [file["path"] for file in checkpoint["files"]] == ["began"]
    (why,) = (await session.preview(checkpoint["id"]))["unseen"]
    assert why == "what `npm run dev` changed: it ran in the background"


async def test_a_command_whose_end_was_never_seen_is_told_of_after_a_crash(session: Session):
    await session.turn("x")
    data = {"tool_name": "bash", "tool_input": {"command": "make all"}, "tool_call_id": "c1"}
    hooks = session.coordinator.hooks
    await hooks.emit("tool:pre", data)
    await hooks.emit("approval:required", {"tool_call_id": "c1"})
    await hooks.emit("approval:granted", {"tool_call_id": "c1"})
    (session.root / "made.txt").write_text("half")
    again = await Session(session.root, session.folder).mount()
    (checkpoint,) = await again.listed()
    assert checkpoint["files"] == []
    (why,) = (await again.preview(checkpoint["id"]))["unseen"]
    assert why == "what `make all` changed: its end was not seen"
    await hooks.emit("tool:post", data)
    again = await Session(session.root, session.folder).mount()
    (checkpoint,) = await again.listed()
    assert names(checkpoint) == {"made.txt": "created"} and checkpoint["unseen"] == []


@pytest.mark.parametrize("answer", ["approval:denied", "none before the crash"])
async def test_a_command_that_was_asked_about_and_never_ran_is_not_told_of(
    session: Session, answer: str
):
    await session.turn("x")
    data = {"tool_name": "bash", "tool_input": {"command": "make all"}, "tool_call_id": "c1"}
    await session.coordinator.hooks.emit("tool:pre", data)
    await session.coordinator.hooks.emit("approval:required", {"tool_call_id": "c1"})
    await session.coordinator.hooks.emit(answer, {"tool_call_id": "c1"})
    again = await Session(session.root, session.folder).mount()
    assert await again.listed() == []


async def test_many_changed_files_are_read_from_git_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    session = await Session(tmp_path / "work", tmp_path / "store").mount()
    before = {f"f{number}": f"{number}\n" for number in range(60)} | {"same": "1\n", "none": ""}
    for name, text in before.items():
        (session.root / name).write_text(text)
    git(session.root, "init", "-q")
    git(session.root, "add", ".")
    later = (session.root / ".git" / "index").stat().st_mtime_ns - 5_000_000_000
    for name in before:
        os.utime(session.root / name, ns=(later, later))
    git(session.root, "update-index", "--refresh")

    def run() -> None:
        for name in before:
            (session.root / name).write_text("formatted")

    started: list[Any] = []
    popen = subprocess.Popen

    def start(*arguments: Any, **options: Any) -> Any:
        started.append(arguments)
        return popen(*arguments, **options)

    monkeypatch.setattr(subprocess, "Popen", start)
    await session.turn("x")
    await session.command("make fmt", run)
    assert len(started) < 20
    (checkpoint,) = await session.listed()
    assert (await session.restore(checkpoint["id"]))["failed"] == {}
    assert {name: session.read(name) for name in before} == before


async def test_a_file_whose_name_is_no_utf_8_comes_back(session: Session):
    name = os.fsencode(session.root) + b"/caf\xe9.txt"

    def put(text: str) -> None:
        with open(name, "w") as file:
            file.write(text)

    put("before")
    if (session.root / ".git").exists():
        git(session.root, "add", ".")
    await session.turn("x")
    await session.command("make fmt", lambda: put("after"))
    (checkpoint,) = await session.listed()
    await session.restore(checkpoint["id"])
    with open(name) as file:
        assert file.read() == "before"


async def test_what_changes_in_a_repository_inside_is_said_not_to_be_seen(tmp_path: Path):
    session = await Session(tmp_path / "work", tmp_path / "store").mount()
    library, inside = tmp_path / "library", session.root / "inside"
    for root in (session.root, library, inside):
        root.mkdir(exist_ok=True)
        git(root, "init", "-q")
        (root / "a.txt").write_text("before")
        git(root, "add", "a.txt")
        git(root, "commit", "-qm", "x")
    add = ("submodule", "add", "-q", str(library), "vendored")
    git(session.root, "-c", "protocol.file.allow=always", *add)
    await session.turn("one")
    await session.command("make nothing", lambda: None)
    assert await session.listed() == []
    await session.turn("two")
    await session.command("make a", lambda: (inside / "a.txt").write_text("after"))
    await session.turn("three")
    await session.command("make b", lambda: (session.root / "vendored/a.txt").write_text("after"))
    await session.turn("four")
    (session.root / "other").mkdir()
    await session.command("git init other", lambda: git(session.root / "other", "init", "-q"))
    (session.root / "other" / "b.txt").write_text("mine")
    await session.command("make c", lambda: (session.root / "a.txt").write_text("after"))
    said = [(names(each), each["unseen"]) for each in await session.listed()]
    words = "repositories inside are not looked into:"
    assert said == [
        ({}, [f"what `make a` changed: {words} inside"]),
        ({}, [f"what `make b` changed: {words} vendored"]),
        ({"a.txt": "changed"}, [f"what `git init other` changed: {words} other"]),
    ]
