from pathlib import Path

import pytest

from tests.modules.tool_search.support import Search


@pytest.fixture
async def search(tmp_path: Path) -> Search:
    root = tmp_path / "workspace"
    root.mkdir()
    return await Search(root).mount()
