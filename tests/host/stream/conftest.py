from pathlib import Path

import pytest

from tests.host.stream.up import Up


@pytest.fixture
async def up(tmp_path: Path) -> Up:
    return Up(tmp_path / "s")
