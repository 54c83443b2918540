"""Files through an editor that offers its own file system."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from acp import RequestError, schema

from tests.cli.acp.editor import TestEditor
from tests.host.driving import Project, calling
from tests.host.session.worktree_stage import git
from tests.waiting import within

Connect = Callable[..., Awaitable[TestEditor]]
TOOLS = ("tool-filesystem", "tool-apply-patch")
OFFERED = schema.FileSystemCapabilities(read_text_file=True, write_text_file=True)
WRITE = {"write_file": {"file_path": "a.txt", "content": "new\n"}}
EDIT = {"edit_file": {"file_path": "a.txt", "old_string": "unsaved", "new_string": "edited"}}
READ = {"read_file": {"file_path": "a.txt"}}
PATCH = """*** Begin Patch
*** Update File: a.txt
@@
-unsaved
+patched
*** Add File: b.txt
+added
*** Delete File: c.txt
*** End Patch"""


class BufferEditor(TestEditor):
    """Has texts that are not on disk.

    Attributes:
        buffers: Texts by path.
        refuses: Paths it neither reads nor writes.
        meanwhile: What somebody else writes to a file that it refuses to write.
        stuck: Set when it was asked for a file that it will never give.
    """

    __test__ = False

    def __init__(self, buffers: dict[Path, str] | None = None) -> None:
        super().__init__()
        self.buffers = {str(path): text for path, text in (buffers or {}).items()}
        self.session_id = ""
        self.written: list[str] = []
        self.refuses: set[str] = set()
        self.meanwhile = ""
        self.stuck: asyncio.Event | None = None

    async def read_text_file(
        self, session_id: str, path: str, **_: Any
    ) -> schema.ReadTextFileResponse:
        assert session_id
        if self.stuck is not None:
            self.stuck.set()
            await asyncio.Event().wait()
        if path not in self.buffers:
            raise RequestError.resource_not_found(path)
        return schema.ReadTextFileResponse(content=self.buffers[path])

    async def write_text_file(self, session_id: str, path: str, content: str, **_: Any) -> None:
        if path in self.refuses:
            if self.meanwhile:
                Path(path).write_text(self.meanwhile)
            raise RequestError(-32603, "The buffer is\x1b[31m locked")
        self.written.append(path)
        self.buffers[path] = content


@pytest.fixture
def file(project: Project) -> Path:
    path = project.folder / "a.txt"
    path.write_text("saved\n")
    return path


async def run(
    project: Project,
    connect: Connect,
    editor: BufferEditor,
    *calls: dict[str, Any],
    fs: schema.FileSystemCapabilities | None = OFFERED,
    asks: bool = False,
) -> list[Any]:
    """Let the model call tools; returns how the calls ended."""
    name = project.bundle(script=calling(*calls), tools=TOOLS, hooks=(("hooks-checkpoint", {}),))
    if asks:
        project.allow([])
    await connect(name, editor=editor, fs=fs)
    new = await editor.agent.new_session(cwd=str(project.folder), mcp_servers=[])
    editor.session_id = new.session_id
    await editor.say(new.session_id, "go")
    return [each for each in editor.of(schema.ToolCallProgress) if each.status != "in_progress"]


def told(update: Any) -> str:
    return str(update.content) + str(update.raw_output)


async def test_a_file_is_read_as_the_editor_has_it(
    project: Project, connect: Connect, file: Path
) -> None:
    (ended,) = await run(project, connect, BufferEditor({file: "unsaved\n"}), READ)
    assert "unsaved" in told(ended)


async def test_an_edit_arrives_in_the_editor_and_not_on_disk(
    project: Project, connect: Connect, file: Path
) -> None:
    editor = BufferEditor({file: "one\nunsaved\n"})
    (ended,) = await run(project, connect, editor, EDIT)
    assert ended.status == "completed"
    assert editor.buffers == {str(file): "one\nedited\n"}
    assert file.read_text() == "saved\n"
    await editor.say(editor.session_id, "/undo")
    assert editor.buffers == {str(file): "one\nedited\n"}
    assert file.read_text() == "saved\n"
    assert "not saved in the editor: a.txt" in editor.text()


async def test_undo_leaves_the_files_of_another_branch_alone_and_says_so(
    project: Project, connect: Connect, file: Path
) -> None:
    git(project.folder, "init", "-qb", "main")
    git(project.folder, "commit", "-qm", "one", "--allow-empty")
    editor = BufferEditor()
    await run(project, connect, editor, WRITE, fs=None)
    git(project.folder, "checkout", "-qb", "feat")
    git(project.folder, "commit", "-qm", "two", "--allow-empty")
    await editor.say(editor.session_id, "/undo")
    assert "The branch was main (" in editor.text() and "Taken back" in editor.text()
    assert file.read_text() == "new\n"


async def test_the_user_is_asked_about_the_unsaved_text_and_nothing_arrives_when_they_refuse(
    project: Project, connect: Connect, file: Path
) -> None:
    editor = BufferEditor({file: "unsaved\n"})
    editor.answers = ["deny", "deny", "deny"]
    patch = {"apply_patch": {"input": PATCH.replace("*** Delete File: c.txt\n", "")}}
    ended = await run(project, connect, editor, EDIT, WRITE, patch, asks=True)
    assert [each.status for each in ended] == ["failed", "failed", "failed"]
    assert not editor.written
    shown = [str(call.content) for call, _ in editor.asked]
    assert all("-unsaved" in each and "-saved" not in each for each in shown)
    assert all(any(new in each for each in shown) for new in ("+edited", "+new", "+patched"))
    assert not any("is not in" in each or "do not fit" in each for each in shown)


@pytest.mark.parametrize("refused", ["", "b.txt"])
async def test_a_patch_changes_all_files_or_none(
    refused: str, project: Project, connect: Connect, file: Path
) -> None:
    gone = project.folder / "c.txt"
    gone.write_text("there\n")
    editor = BufferEditor({file: "unsaved\n", gone: "there\n"})
    editor.refuses = {str(project.folder / refused)}
    editor.meanwhile = "somebody's\n"
    (ended,) = await run(project, connect, editor, {"apply_patch": {"input": PATCH}})
    assert file.read_text() == "saved\n"
    if refused:
        assert ended.status == "failed"
        assert "the editor says: The buffer is locked" in told(ended)
        assert gone.exists()
        assert (project.folder / "b.txt").read_text() == "somebody's\n"
        assert editor.buffers[str(file)] == "unsaved\n"
    else:
        assert editor.buffers[str(file)] == "patched\n"
        assert editor.buffers[str(project.folder / "b.txt")] == "added\n"
        assert not gone.exists()


async def test_what_the_editor_refuses_is_an_error_of_the_tool(
    project: Project, connect: Connect, file: Path
) -> None:
    editor = BufferEditor()
    editor.refuses = {str(project.folder / "new.txt")}
    new = {"write_file": {"file_path": "new.txt", "content": "new\n"}}
    ended = await run(project, connect, editor, READ, new)
    # Both run at once, so that either may end first.
    said = " ".join(map(told, ended))
    assert "Resource not found" in said and "the editor says: The buffer is locked" in said
    assert [each.status for each in ended] == ["failed", "failed"]
    assert not (project.folder / "new.txt").exists()


@pytest.mark.parametrize("call", [READ, EDIT], ids=["read", "edit"])
async def test_cancelling_does_not_wait_for_the_editor(
    call: dict[str, Any], project: Project, connect: Connect, file: Path
) -> None:
    editor = BufferEditor()
    editor.stuck = asyncio.Event()
    turn = asyncio.create_task(run(project, connect, editor, call))
    async with within(20):
        await editor.stuck.wait()
        await editor.agent.cancel(session_id=editor.session_id)
        await turn
        await editor.agent.close_session(session_id=editor.session_id)
    assert not editor.written


@pytest.mark.parametrize(
    ("fs", "disk", "written"),
    [
        (None, "new\n", 0),
        (schema.FileSystemCapabilities(), "new\n", 0),
        (schema.FileSystemCapabilities(write_text_file=True), "saved\n", 1),
        (schema.FileSystemCapabilities(read_text_file=True), "saved\n", 0),
    ],
)
async def test_only_what_the_editor_offers_is_asked_of_it(
    fs: schema.FileSystemCapabilities | None,
    disk: str,
    written: int,
    project: Project,
    connect: Connect,
    file: Path,
) -> None:
    editor = BufferEditor({file: "unsaved\n"})
    (ended,) = await run(project, connect, editor, WRITE, fs=fs)
    assert (file.read_text(), len(editor.written)) == (disk, written)
    if disk != "new\n" and not written:
        assert "are not saved" in told(ended)


async def test_line_ends_and_other_encodings_stay_as_they_are(
    project: Project, connect: Connect, file: Path
) -> None:
    file.write_bytes(b"one\r\nsaved\r\n")
    latin = project.folder / "latin.txt"
    latin.write_bytes(b"caf\xe9\n")
    editor = BufferEditor({file: "one\nunsaved\n", latin: "caf\ufffd\n"})
    change = {"file_path": "latin.txt", "old_string": "caf", "new_string": "the caf"}
    await run(project, connect, editor, EDIT, {"edit_file": change})
    assert editor.buffers[str(file)] == "one\r\nedited\r\n"
    assert latin.read_bytes() == b"the caf\xe9\n"
