"""A command that still runs puts links in the place of folders while the tools are at work."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from amplifier_tui.kernel.session.grant import Grant, granted
from amplifier_tui.modules import tool_apply_patch, tool_search
from amplifier_tui.modules._shared import text_file
from amplifier_tui.modules._shared.workspace import ToolWorkspace
from tests.modules.tool_filesystem.support import Files, kind

pytestmark = pytest.mark.skipif(os.name == "nt", reason="no open folders")

SECRET = "orig\n"


class Swap:
    """Puts a link to a folder outside in the place of a folder of the workspace, once."""

    def __init__(self, files: Files, outside: Path) -> None:
        self.files, self.outside = files, outside
        outside.mkdir()
        (outside / "keys").write_text(SECRET)
        files.put("d/keys", "own\n")
        files.put("plain", "own\n")

    def __call__(self) -> None:
        folder = self.files.root / "d"
        if not folder.is_symlink():
            folder.rename(self.files.root / "moved")
            folder.symlink_to(self.outside)

    def after(self, owner: Any, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
        """Swap as soon as a function has returned."""
        function: Callable[..., Any] = getattr(owner, name)

        def then(*arguments: Any, **named: Any) -> Any:
            found = function(*arguments, **named)
            self()
            return found

        monkeypatch.setattr(owner, name, then)

    @property
    def is_harmless(self) -> bool:
        kept = {path.name: path.read_text() for path in self.outside.iterdir()}
        return (self.files.root / "d").is_symlink() and kept == {"keys": SECRET}


@pytest.fixture
async def swap(files: Files, tmp_path: Path) -> Swap:
    await tool_apply_patch.mount(files.coordinator, {})
    return Swap(files, tmp_path / "outside")


async def patched(files: Files, *lines: str) -> Any:
    text = "\n".join(["*** Begin Patch", *lines, "*** End Patch"])
    return await files.call("apply_patch", input=text)


@pytest.mark.parametrize("path", ["d/keys", "d/new", "d/deep/new"])
@pytest.mark.parametrize(
    ("owner", "name"), [(ToolWorkspace, "resolve"), (text_file, "require_writable")]
)
async def test_a_file_is_not_written_through_a_link_that_came_after_the_check(
    swap: Swap, monkeypatch: pytest.MonkeyPatch, path: str, owner: Any, name: str
) -> None:
    swap.after(owner, name, monkeypatch)
    result = await swap.files.write(path, "evil\n")
    assert not result.success and "symbolic link" in str(result.output)
    assert swap.is_harmless


@pytest.mark.parametrize(
    ("owner", "name"), [(ToolWorkspace, "resolve"), (text_file, "require_writable")]
)
async def test_a_file_is_not_edited_through_such_a_link(
    swap: Swap, monkeypatch: pytest.MonkeyPatch, owner: Any, name: str
) -> None:
    swap.after(owner, name, monkeypatch)
    assert not (await swap.files.edit("d/keys", "o", "evil")).success
    assert swap.is_harmless


@pytest.mark.parametrize(
    "lines",
    [
        ("*** Update File: d/keys", "-own", "+evil"),
        ("*** Add File: d/new", "+evil"),
        ("*** Add File: d/deep/new", "+evil"),
        ("*** Delete File: d/keys",),
        ("*** Update File: plain", "*** Move to: d/new", "-own", "+evil"),
    ],
)
@pytest.mark.parametrize("name", ["_places", "_apply"])
async def test_a_patch_is_not_applied_through_such_a_link(
    swap: Swap, monkeypatch: pytest.MonkeyPatch, lines: tuple[str, ...], name: str
) -> None:
    swap.after(tool_apply_patch.ApplyPatchTool, name, monkeypatch)
    result = await patched(swap.files, *lines)
    assert not result.success and "symbolic link" in str(result.output)
    assert swap.is_harmless
    assert (swap.files.root / "plain").read_text() == "own\n"


async def test_a_folder_that_is_swapped_while_its_file_is_written_keeps_what_is_written(
    swap: Swap, monkeypatch: pytest.MonkeyPatch
) -> None:
    swap.after(os, "fsync", monkeypatch)
    assert (await swap.files.write("d/keys", "new\n")).success
    assert swap.is_harmless
    moved = swap.files.root / "moved"
    assert {path.name: path.read_text() for path in moved.iterdir()} == {"keys": "new\n"}


@pytest.mark.parametrize("path", ["d/keys", "d", "d/kays"])
async def test_nothing_is_read_or_listed_through_such_a_link(
    swap: Swap, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    swap.after(ToolWorkspace, "resolve", monkeypatch)
    result = await swap.files.read(path)
    assert not result.success
    assert "orig" not in str(result.output) and "keys?" not in str(result.output)
    assert swap.is_harmless


async def test_links_that_are_there_before_the_check_go_on_leading_where_they_may(
    swap: Swap,
) -> None:
    files = await Files(swap.files.root).mount(allowed_write_paths=[str(swap.outside)])
    (files.root / "link").symlink_to("d")
    (files.root / "out").symlink_to(swap.outside)
    assert (await files.write("link/keys", "one\n")).success
    assert (await files.write("link/deep/new", "one\n")).success
    assert (await files.edit("out/keys", "orig", "two")).success
    assert "two" in str((await files.read("out/keys")).output)
    assert (files.root / "d/keys").read_text() == "one\n"
    assert (files.root / "d/deep/new").read_text() == "one\n"


async def test_a_link_that_is_turned_after_the_call_was_judged_is_not_followed(
    swap: Swap,
) -> None:
    files = swap.files
    await tool_search.mount(files.coordinator, {})
    files.put("obeyed/keys", "own\n")
    (files.root / "link").symlink_to("d")
    judged = frozenset(files.root.resolve() / path for path in ("d/keys", "d"))
    with granted(Grant("mode", leads=judged)):
        assert (await files.write("link/keys", "fine\n")).success
        (files.root / "link").unlink()
        (files.root / "link").symlink_to("obeyed")
        for result in (
            await files.write("link/keys", "evil\n"),
            await files.edit("link/keys", "own", "evil"),
            await files.read("link/keys"),
            await patched(files, "*** Update File: link/keys", "-own", "+evil"),
            await files.call("grep", pattern="own", path="link"),
            await files.call("glob", pattern="*", path="link"),
        ):
            assert kind(result) == "moved"
            assert "not where it led" in str(result.output)
        assert (await files.call("grep", pattern="own")).success
    with granted(Grant("mode", leads=frozenset({files.root.resolve() / "d/*s"}))):
        assert "keys" in str((await files.call("glob", pattern=f"{files.root}/d/*s")).output)
        assert kind(await files.call("glob", pattern=f"{files.root}/link/*s")) == "moved"
    assert (files.root / "obeyed/keys").read_text() == "own\n"
