from pathlib import Path

import pytest

from tests.modules.tool_filesystem.support import Files


@pytest.fixture
async def files(tmp_path: Path) -> Files:
    root = tmp_path / "workspace"
    root.mkdir()
    return await Files(root).mount()
