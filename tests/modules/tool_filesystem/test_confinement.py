import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amplifier_tui.kernel.coordinator import ModuleCoordinator
from amplifier_tui.kernel.loader import ModuleLoader
from amplifier_tui.modules import tool_filesystem
from amplifier_tui.modules._shared.tool import ToolProblem
from amplifier_tui.modules._shared.workspace import ToolWorkspace
from amplifier_tui.modules.tool_filesystem.settings import FilesystemSettings
from tests.modules.tool_filesystem.support import Files, kind


async def test_it_is_found_by_its_id_and_mounts_three_tools(tmp_path: Path):
    files = Files(tmp_path)
    mount = await ModuleLoader(files.coordinator).load("tool-filesystem", {})
    await mount(files.coordinator)
    tools = files.coordinator.get("tools")
    assert list(tools) == ["read_file", "write_file", "edit_file"]
    for tool in tools.values():
        assert tool.input_schema["required"][0] == "file_path"
        assert tool.description


@pytest.mark.parametrize(
    "config",
    [
        {"allowed_read_paths": 3},
        {"denied_write_paths": [1]},
        {"max_read_bytes": "much"},
        {"images": "yes"},
    ],
)
async def test_a_mistake_in_the_config_is_told(tmp_path: Path, config: dict[str, Any]):
    with pytest.raises(ValueError, match="tool-filesystem"):
        await tool_filesystem.mount(Files(tmp_path).coordinator, config)


@pytest.mark.parametrize(
    "path",
    ["../secret", "/etc/passwd", "sub/../../secret", "~", "~/x", "..", "sub/../..", "/", "//etc"],
)
async def test_what_is_outside_is_denied(files: Files, path: str):
    (files.root / "sub").mkdir()
    secret = files.root.parent / "secret"
    secret.write_text("x")
    for result in (
        await files.read(path),
        await files.write(path, "y"),
        await files.edit(path, "x", "y"),
    ):
        assert kind(result) == "outside_workspace"
        assert "outside of the workspace" in result.output
    assert secret.read_text() == "x"
    assert files.events == []


@pytest.mark.parametrize("path", ["", "   ", None, 3, "a\0b", "~nobody-of-that-name/x", "\ud800"])
async def test_what_is_no_path_is_refused(files: Files, path: object):
    assert kind(await files.read(path)) == "invalid_path"
    assert kind(await files.write(path, "x")) == "invalid_path"


async def test_absolute_paths_inside_the_workspace_are_fine(files: Files):
    file = files.put("a", "x")
    assert (await files.read(str(file))).success
    assert (await files.read(str(files.root / "sub" / ".." / "a"))).success


async def test_links_are_followed_before_the_check(files: Files, tmp_path: Path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "f").write_text("x")
    (files.root / "folder").symlink_to(outside)
    (files.root / "file").symlink_to(outside / "f")
    (files.root / "new").symlink_to(outside / "not-there")
    (files.root / "loop").symlink_to("loop")
    for path in ("folder/f", "file", "new", "folder/other"):
        assert kind(await files.read(path)) == "outside_workspace"
        assert kind(await files.write(path, "y")) == "outside_workspace"
    assert kind(await files.read("loop")) == "invalid_path"
    assert (outside / "f").read_text() == "x"
    assert sorted(os.listdir(outside)) == ["f"]


async def test_a_link_inside_the_workspace_stays_a_link(files: Files):
    files.put("real", "x")
    (files.root / "link").symlink_to("real")
    assert (await files.write("link", "y")).success
    assert (files.root / "link").is_symlink()
    assert (files.root / "real").read_text() == "y"


async def test_a_workspace_that_is_itself_a_link_works(tmp_path: Path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    files = await Files(tmp_path / "link").mount()
    assert (await files.write("a", "x")).success
    assert (await files.read(str(tmp_path / "link" / "a"))).success
    assert (await files.read(str(tmp_path / "real" / "a"))).success


async def test_allowed_folders_open_and_writing_needs_its_own_permission(tmp_path: Path):
    for name in ("workspace", "docs", "shared"):
        (tmp_path / name).mkdir()
    (tmp_path / "docs/a").write_text("x")
    files = await Files(tmp_path / "workspace").mount(
        allowed_read_paths=["../docs"], allowed_write_paths=[str(tmp_path / "shared")]
    )
    assert (await files.read("../docs/a")).success
    assert kind(await files.write("../docs/a", "y")) == "outside_workspace"
    assert (await files.write("../shared/b", "y")).success
    assert (await files.read("../shared/b")).success


@pytest.mark.parametrize("path", [".git/config", ".GIT/config", "sub/../.git/hooks/x", "alias/x"])
async def test_denied_places_win_under_every_name(files: Files, path: str):
    strict = await Files(files.root).mount(
        denied_write_paths=[".git"], denied_read_paths=["secrets.env"], allowed_write_paths=["."]
    )
    (files.root / ".git").mkdir()
    (files.root / "alias").symlink_to(".git")
    assert kind(await strict.write(path, "x")) == "denied_path"
    assert os.listdir(files.root / ".git") == []


async def test_a_denied_file_is_denied_under_another_name(files: Files):
    strict = await Files(files.root).mount(denied_read_paths=["secrets.env"])
    secret = files.put("secrets.env", "KEY=1")
    os.link(secret, files.root / "copy")
    assert kind(await strict.read("secrets.env")) == "denied_path"
    assert kind(await strict.read("copy")) == "denied_path"


async def test_a_place_in_the_config_that_makes_no_sense_denies_instead_of_opening(tmp_path: Path):
    files = await Files(tmp_path).mount(denied_write_paths=["~nobody-of-that-name/x"])
    assert kind(await files.write("a", "x")) == "invalid_path"


async def test_the_workspace_is_looked_up_for_every_call(files: Files, tmp_path: Path):
    other = tmp_path / "other"
    other.mkdir()
    files.coordinator.register_capability("session.working_dir", str(other))
    assert (await files.write("a", "x")).success
    assert (other / "a").exists()


parts = st.sampled_from(
    ["..", ".", "", "a", "sub", "inner", "out", "up", "~", "a" * 50, "x\ny", "漢", " "]
)


@settings(max_examples=150)
@given(st.lists(parts, max_size=8).map("/".join), st.booleans())
def test_no_path_leads_out_of_the_workspace(path: str, absolute: bool):
    with tempfile.TemporaryDirectory() as folder:
        top = Path(folder).resolve()
        root = top / "workspace"
        (root / "sub" / "inner").mkdir(parents=True)
        (top / "outside").mkdir()
        (root / "out").symlink_to(top / "outside")
        (root / "sub" / "up").symlink_to("..")
        workspace = ToolWorkspace(
            FilesystemSettings.read({"working_dir": str(root)}), ModuleCoordinator()
        )
        given = f"{root}/{path}" if absolute else path
        for access in ("read", "write"):
            try:
                found = workspace.resolve(given, access)
            except ToolProblem:
                continue
            assert Path(os.path.realpath(found)).is_relative_to(root)


async def test_only_some_of_the_tools_can_be_offered(tmp_path: Path):
    files = await Files(tmp_path).mount(tools=["read_file"])
    assert list(files.coordinator.get("tools")) == ["read_file"]
    for tools in (["read"], "read_file", 3):
        with pytest.raises(ValueError, match="tool-filesystem"):
            await tool_filesystem.mount(Files(tmp_path).coordinator, {"tools": tools})


async def test_where_the_folder_of_the_session_is_gone_nothing_is_done_in_it(files: Files):
    files.put("a.txt", "x")
    shutil.rmtree(files.root)
    for result in (
        await files.write("b/new.txt", "x"),
        await files.edit("a.txt", "x", "y"),
        await files.read("a.txt"),
    ):
        assert kind(result) == "no_workspace"
        assert f"the folder this session works in, {files.root}, is gone; stop" in result.output
    assert not files.root.exists()
    tool = files.coordinator.get("tools", "write_file")
    assert "is gone" in tool.refused_place({"file_path": "a", "content": "x"}), "so nobody is asked"
    files.root.mkdir()
    assert (await files.write("new.txt", "x")).success, "it was put back"
