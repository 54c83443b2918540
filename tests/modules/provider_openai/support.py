from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from amplifier_tui.modules.provider_openai import OpenAIProvider, mount
from tests.modules.provider_support import Heard, mounted
from tests.servers import LoopbackServer

APIS = ("responses", "chat")


@asynccontextmanager
async def gpt(
    *replies: Any,
    api: str = "auto",
    config: dict[str, Any] | None = None,
    server: dict[str, Any] | None = None,
    **session: Any,
) -> AsyncIterator[tuple[OpenAIProvider, LoopbackServer, Heard]]:
    """The provider, talking to a scripted server."""
    async with LoopbackServer(replies, **(server or {})) as running:
        full = {
            "base_url": running.openai_url,
            "default_model": "gpt-6-astra",
            "api": api,
            **(config or {}),
        }
        async with mounted(mount, "openai", full, **session) as (provider, heard):
            yield provider, running, heard
