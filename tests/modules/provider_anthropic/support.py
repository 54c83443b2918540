from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from amplifier_tui.modules.provider_anthropic import AnthropicProvider, mount
from tests.modules.provider_support import Heard, mounted
from tests.servers import LoopbackServer


@asynccontextmanager
async def claude(
    *replies: Any, config: dict[str, Any] | None = None, **session: Any
) -> AsyncIterator[tuple[AnthropicProvider, LoopbackServer, Heard]]:
    """The provider, talking to a scripted server."""
    async with LoopbackServer(replies) as server:
        full = {"api_key": "sk-test", "base_url": server.url, **(config or {})}
        async with mounted(mount, "anthropic", full, **session) as (provider, heard):
            yield provider, server, heard
