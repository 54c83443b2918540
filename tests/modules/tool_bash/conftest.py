from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.modules.tool_bash.support import Shell


@pytest.fixture
async def shell(tmp_path: Path) -> AsyncIterator[Shell]:
    shell = await Shell(tmp_path).mount()
    yield shell
    await shell.close()
