"""Whoever judges a path and whoever uses it find the same file."""

import os
import tempfile
from pathlib import Path
from unittest.mock import patch

from hypothesis import given, settings
from hypothesis import strategies as st

from amplifier_tui.host.gate.places import locate
from amplifier_tui.kernel.coordinator import ModuleCoordinator
from amplifier_tui.modules._shared.tool import ToolProblem
from amplifier_tui.modules._shared.workspace import ToolWorkspace
from amplifier_tui.modules.hooks_checkpoint.store import inside
from amplifier_tui.modules.tool_filesystem.settings import FilesystemSettings

PARTS = st.sampled_from(["..", ".", "", "a", "link", "~", "~root", "$HOME", "x\ny", "home"])


@settings(max_examples=200)
@given(st.lists(PARTS, min_size=1, max_size=6).map("/".join))
def test_a_file_tool_finds_what_was_judged(path: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        (root / "home" / "deep").mkdir(parents=True)
        (root / "link").symlink_to("home/deep")
        tools = ToolWorkspace(
            FilesystemSettings.read({"working_dir": str(root)}), ModuleCoordinator()
        )
        with patch.dict(os.environ, {"HOME": str(root / "home")}):
            judged = locate(path, root).path
            try:
                assert tools.resolve(path, "write") == judged
            except ToolProblem:
                assert not path.strip() or not judged.is_relative_to(root)
            assert inside(path, root) in (judged, None)
