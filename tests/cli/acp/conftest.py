from collections.abc import AsyncIterator, Callable

import pytest

from amplifier_tui.cli.acp.agent import EditorAgent, Wanted
from amplifier_tui.foundation.trust.gate import trust_everything
from tests.cli.acp.editor import TestEditor, connected
from tests.host.conftest import project, server

__all__ = ["project", "server"]

Connect = Callable[..., TestEditor]


@pytest.fixture
async def connect() -> AsyncIterator[Connect]:
    """Connects editors to agents of their own, and ends both."""
    editors: list[TestEditor] = []

    async def make(bundle: str = "", *, asks: bool = False, **more: object) -> TestEditor:
        wanted = Wanted(bundle=bundle, trust=None if asks else trust_everything)
        editor = await connected(EditorAgent(wanted), **more)
        editors.append(editor)
        return editor

    yield make
    for editor in editors:
        await editor.leave()
