from collections.abc import AsyncIterator

import pytest

from tests.modules.tool_web.support import Site


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    async with Site() as running:
        yield running
