import asyncio
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.modules.hooks_checkpoint.support import Session, write
from tests.waiting import within


@pytest.fixture
async def session(tmp_path: Path) -> Session:
    return await Session(tmp_path / "work", tmp_path / "store").mount()


def conflicts(preview: dict[str, Any]) -> dict[str, str]:
    return {file["path"]: file["conflict"] for file in preview["files"]}


async def test_a_preview_says_what_would_happen_and_changes_nothing(session: Session):
    (session.root / "a.txt").write_text("one")
    await session.turn("x", write("a.txt", "two"), write("new.txt", "n"))
    (checkpoint,) = await session.listed()
    preview = await session.preview(checkpoint["id"])
    assert [(file["path"], file["action"]) for file in preview["files"]] == [
        ("a.txt", "restored"),
        ("new.txt", "removed"),
    ]
    assert (preview["damaged"], preview["unseen"]) == (False, [])
    assert session.read("a.txt") == "two" and session.read("new.txt") == "n"
    content = session.coordinator.get_capability("checkpoint.content")
    assert await content(checkpoint["id"], "a.txt") == b"one"
    assert await content(checkpoint["id"], "new.txt") is None


async def test_what_was_not_copied_has_no_content_to_go_back_to(tmp_path: Path):
    session = await Session(tmp_path / "w", tmp_path / "s").mount(max_file_bytes=3)
    (session.root / "big.txt").write_text("large")
    await session.turn("x", write("big.txt", "two"))
    (checkpoint,) = await session.listed()
    content = session.coordinator.get_capability("checkpoint.content")
    with pytest.raises(OSError, match="larger than 3 bytes"):
        await content(checkpoint["id"], "big.txt")
    (file,) = (await session.preview(checkpoint["id"]))["files"]
    assert "larger than 3 bytes" in file["problem"] and file["action"] == "unchanged"


async def test_what_was_put_back_can_be_undone(session: Session):
    (session.root / "a.txt").write_text("one")
    await session.turn("x", write("a.txt", "two"), write("new.txt", "n"))
    (checkpoint,) = await session.listed()
    outcome = await session.restore(checkpoint["id"])
    assert session.read("a.txt") == "one"
    again = await Session(session.root, session.folder).mount()
    undone = await again.restore(outcome["id"])
    assert undone["restored"] == ["a.txt", "new.txt"]
    assert session.read("a.txt") == "two" and session.read("new.txt") == "n"
    assert [each["id"] for each in await again.listed()] == [checkpoint["id"]], "it stands again"
    await again.restore(undone["id"])
    assert session.read("a.txt") == "one" and not (session.root / "new.txt").exists()


async def test_what_was_taken_back_is_not_taken_back_twice(session: Session):
    (session.root / "a.txt").write_text("0")
    await session.turn("one", write("a.txt", "1"))
    await session.turn("two", write("a.txt", "2"))
    first, second = await session.listed()
    await session.restore(second["id"])
    await session.turn("another two", write("a.txt", "another 2"))
    assert [turn["prompt"] for turn in await session.listed()] == ["one", "another two"]
    assert (await session.restore(first["id"]))["conflicts"] == []
    assert session.read("a.txt") == "0"


async def test_what_the_user_wrote_between_two_turns_is_asked_about(session: Session):
    (session.root / "a.txt").write_text("one")
    await session.turn("x", write("a.txt", "two"))
    (session.root / "a.txt").write_text("by hand")
    await session.turn("y", write("a.txt", "three"))
    first, second = await session.listed()
    assert conflicts(await session.preview(second["id"])) == {"a.txt": ""}
    assert "in between" in conflicts(await session.preview(first["id"]))["a.txt"]
    assert (await session.restore(first["id"]))["conflicts"] == ["a.txt"]
    assert session.read("a.txt") == "three"
    outcome = await session.restore(first["id"], force=["a.txt"])
    assert outcome["restored"] == ["a.txt"] and session.read("a.txt") == "one"


async def test_what_the_user_wrote_between_two_calls_is_asked_about(session: Session):
    (session.root / "a.txt").write_text("one")
    await session.turn("x", write("a.txt", "two"))
    (session.root / "a.txt").write_text("by hand")
    await session.call(*write("a.txt", "three"))
    again = await Session(session.root, session.folder).mount()
    (checkpoint,) = await again.listed()
    assert (await again.restore(checkpoint["id"]))["conflicts"] == ["a.txt"]


async def test_what_the_user_wrote_while_they_were_asked_is_what_comes_back(session: Session):
    (session.root / "a.txt").write_text("one")
    await session.turn("x")
    tool, given = write("a.txt", "two")
    data = {"tool_name": tool, "tool_input": given, "tool_call_id": "c1"}
    await session.coordinator.hooks.emit("tool:pre", data)
    (session.root / "a.txt").write_text("by hand")
    await session.coordinator.hooks.emit("approval:granted", {"tool_call_id": "c1"})
    (session.root / "a.txt").write_text("two")
    await session.coordinator.hooks.emit("tool:post", data)
    (checkpoint,) = await session.listed()
    await session.restore(checkpoint["id"])
    assert session.read("a.txt") == "by hand"


@pytest.mark.parametrize("other", [write("b.txt", "two"), ("bash", {"command": "true"})])
@pytest.mark.parametrize("ends", ["approval:denied", "tool:error"])
async def test_a_file_that_a_changed_call_no_longer_names_is_not_of_its_turn(
    session: Session, other: tuple[str, dict[str, Any]], ends: str
):
    (session.root / "a.txt").write_text("one")
    await session.turn("x")
    data: dict[str, Any] = {}
    for tool, given in (write("a.txt", "two"), other):
        data = {"tool_name": tool, "tool_input": given, "tool_call_id": "c1"}
        await session.coordinator.hooks.emit("tool:pre", data)
    await session.coordinator.hooks.emit(ends, data)
    assert not await session.listed()
    await session.turn("y", write("a.txt", "three"))
    (turn,) = await session.listed()
    assert turn["prompt"] == "y"
    (first, *_) = await session.coordinator.get_capability("checkpoint.list")()
    await session.restore(first["id"])
    assert session.read("a.txt") == "one"


async def test_a_call_that_was_killed_leaves_a_question(session: Session):
    (session.root / "a.txt").write_text("one")
    await session.turn("x")
    tool, given = write("a.txt", "two")
    await session.coordinator.hooks.emit("tool:pre", {"tool_name": tool, "tool_input": given})
    (session.root / "a.txt").write_text("half, or by hand")
    again = await Session(session.root, session.folder).mount()
    (checkpoint,) = await again.listed()
    preview = await again.preview(checkpoint["id"])
    assert "not known" in conflicts(preview)["a.txt"]
    assert (await again.restore(checkpoint["id"]))["conflicts"] == ["a.txt"]


async def test_a_restore_that_was_changed_again_is_undone_only_by_force(session: Session):
    (session.root / "a.txt").write_text("one")
    await session.turn("x", write("a.txt", "two"))
    (checkpoint,) = await session.listed()
    outcome = await session.restore(checkpoint["id"])
    await session.turn("y", write("a.txt", "three"))
    assert (await session.restore(outcome["id"]))["conflicts"] == ["a.txt"]
    assert session.read("a.txt") == "three"


async def test_a_damaged_record_is_said(session: Session):
    await session.turn("x", write("a.txt", "1"))
    index = session.folder / "checkpoints" / "index.jsonl"
    with index.open("a") as file:
        file.write("damage\n")
    await session.turn("y", write("b.txt", "1"))
    again = await Session(session.root, session.folder).mount()
    first, second = await again.listed()
    assert (await again.preview(first["id"]))["damaged"]
    assert not (await again.preview(second["id"]))["damaged"], "it is from after the damage"


async def test_what_the_user_wrote_is_asked_about_also_after_later_turns_were_taken_back(
    session: Session,
):
    (session.root / "a.txt").write_text("one")
    await session.turn("x", write("a.txt", "two"))
    (session.root / "a.txt").write_text("by hand")
    await session.turn("y", write("a.txt", "three"))
    first, second = await session.listed()
    await session.restore(second["id"])
    assert session.read("a.txt") == "by hand"
    assert (await session.restore(first["id"]))["conflicts"] == ["a.txt"]
    assert session.read("a.txt") == "by hand"


async def test_a_turn_whose_line_is_lost_is_said_and_no_later_one_takes_its_id(session: Session):
    for number in (1, 2, 3):
        await session.turn("x", write("a.txt", str(number)))
    index = session.folder / "checkpoints" / "index.jsonl"
    first, *lines = index.read_text().splitlines(keepends=True)
    index.write_text("".join((first.replace('"at": "', '"at": "x'), *lines)))
    again = await Session(session.root, session.folder).mount()
    second, third = await again.listed()
    assert (await again.preview(second["id"]))["damaged"], "it may not be the first that changed"
    assert not (await again.preview(third["id"]))["damaged"]
    await again.turn("y", write("a.txt", "4"))
    assert [each["id"] for each in await again.listed()] == ["0002", "0003", "0004"]


class Editor:
    """Holds a text of a file that it has not saved."""

    reads = writes = True

    def __init__(self, root: Path, text: str) -> None:
        self.root, self.text = root, text

    async def read(self, path: Path) -> str:
        return self.text


@pytest.mark.parametrize("unsaved", [False, True])
async def test_what_an_editor_has_not_saved_is_not_written_over(session: Session, unsaved: bool):
    (session.root / "a.txt").write_text("one")
    await session.turn("x", write("a.txt", "two"))
    (checkpoint,) = await session.listed()
    editor = Editor(session.root, "two, and my words" if unsaved else "two")
    session.coordinator.register_capability("client.files", editor)
    assert ("not saved" in conflicts(await session.preview(checkpoint["id"]))["a.txt"]) is unsaved
    outcome = await session.restore(checkpoint["id"])
    assert (outcome["conflicts"], outcome["restored"]) == (
        (["a.txt"], []) if unsaved else ([], ["a.txt"])
    )
    assert session.read("a.txt") == ("two" if unsaved else "one")


class SilentEditor(Editor):
    """Answers about no file before it was asked about two."""

    def __init__(self, root: Path) -> None:
        super().__init__(root, "")
        self.asked = 0
        self.enough = asyncio.Event()

    async def read(self, path: Path) -> str:
        self.asked += 1
        if self.asked == 2:
            self.enough.set()
        await self.enough.wait()
        raise OSError("no answer")


async def test_an_editor_that_does_not_answer_is_waited_for_once(session: Session):
    for name in ("a.txt", "b.txt"):
        (session.root / name).write_text("one")
    await session.turn("x", write("a.txt", "two"), write("b.txt", "two"))
    (checkpoint,) = await session.listed()
    session.coordinator.register_capability("client.files", SilentEditor(session.root))
    async with within(20):
        found = conflicts(await session.preview(checkpoint["id"]))
    assert all("not saved" in found[name] for name in ("a.txt", "b.txt"))


class SavingEditor(Editor):
    """Its user saves the file while it is asked about it."""

    async def read(self, path: Path) -> str:
        path.write_text("my words")
        return self.text


async def test_what_is_saved_while_an_editor_is_asked_is_not_written_over(session: Session):
    (session.root / "a.txt").write_text("one")
    await session.turn("x", write("a.txt", "two"))
    (checkpoint,) = await session.listed()
    session.coordinator.register_capability("client.files", SavingEditor(session.root, "two"))
    assert (await session.restore(checkpoint["id"]))["conflicts"] == ["a.txt"]
    assert session.read("a.txt") == "my words"


async def test_nothing_is_put_back_where_the_folder_of_the_session_is_gone(session: Session):
    (session.root / "a.txt").write_text("one")
    await session.turn("x", write("a.txt", "two"))
    (checkpoint,) = await session.listed()
    shutil.rmtree(session.root)
    outcome = await session.restore(checkpoint["id"], force=True)
    assert outcome["failed"] == {"a.txt": "the folder of the session is gone"}
    assert not session.root.exists()
