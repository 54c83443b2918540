"""What a cassette gets of its session, though a stranger may have written it."""

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from amplifier_tui.base.capabilities.mcp import CAPABILITY
from amplifier_tui.host.cassettes.cassette import Cassette, CassetteHeader
from amplifier_tui.host.cassettes.playing import Playback


class Servers:
    async def read(self, name: str, uri: str) -> str:
        return "private words"


def test_prompts_read_nothing_from_the_servers_of_the_user(tmp_path: Path) -> None:
    servers = Servers()
    held: dict[str, Any] = {CAPABILITY: servers}
    coordinator = SimpleNamespace(
        get_capability=held.get, register_capability=held.__setitem__, parent_id=None
    )
    session: Any = SimpleNamespace(coordinator=coordinator)
    Playback(Cassette(header=CassetteHeader(), rows=()), folder=tmp_path).opened(session)
    with pytest.raises(LookupError, match="reads nothing"):
        asyncio.run(held[CAPABILITY].read("notes", "note://all"))
    # Agents use the same servers, and know them by their class.
    assert isinstance(held[CAPABILITY], Servers)
