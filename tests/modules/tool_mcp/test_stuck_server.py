"""A server that neither answers nor closes, or that has always something to say."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from amplifier_tui.base.capabilities.mcp import PATIENT
from amplifier_tui.modules.tool_mcp import server as serving
from amplifier_tui.modules.tool_mcp import servers as all_servers
from amplifier_tui.modules.tool_mcp.listing import Listing, ToolInfo
from amplifier_tui.modules.tool_mcp.server import McpServer
from amplifier_tui.modules.tool_mcp.settings import ServerSettings
from tests.modules.tool_mcp.support import Session
from tests.waiting import within

TOOL = ToolInfo("find", "", {"type": "object"})


class Stuck:
    """Stands in for the protocol; what is not set does not come to an end."""

    def __init__(self) -> None:
        self.lists = asyncio.Event()
        self.closes = asyncio.Event()
        self.asked = 0
        self.grows = True

    async def listing(self) -> Listing:
        self.asked += 1
        if self.asked > 1:
            await self.lists.wait()
        return Listing((TOOL,) * (self.asked if self.grows else 1))

    async def follow_changes(self, changed: Any) -> None:
        return None

    @asynccontextmanager
    async def connected(self, *_: Any) -> AsyncIterator["Stuck"]:
        yield self
        await self.closes.wait()


@pytest.fixture
async def stuck(monkeypatch: pytest.MonkeyPatch) -> Stuck:
    made = Stuck()
    protocol = SimpleNamespace(
        connected=made.connected, stdio_streams=lambda *_: None, reason=lambda error: str(error)
    )
    monkeypatch.setattr(serving, "_protocol", lambda: protocol)
    monkeypatch.setattr(serving, "CLOSING", 0.05)
    monkeypatch.setattr(serving, "FIRST_PAUSE", 0.0)
    return made


async def nothing(level: str, text: str) -> None:
    return None


async def no_refusal(name: str) -> str:
    return ""


def made_server(**more: Any) -> McpServer:
    settings = ServerSettings.read_known({"command": "x", **more})
    return McpServer("stuck", settings, Path.cwd(), nothing, lambda: None, no_refusal)


async def test_a_call_does_not_wait_for_a_connection_that_does_not_close(stuck: Stuck) -> None:
    server = made_server()
    await server.client()
    async with within(20):
        words = await server.failure("no connection", lost=True)
        assert "ended during the call: no connection" in words
        assert server.state == "failed"
        stuck.lists.set()
        assert await server.client() is stuck
        assert server.state == "ready"
        await server.close()


async def test_one_that_does_not_say_what_it_offers_now_is_asked_again(stuck: Stuck) -> None:
    server = made_server(startup_timeout=0.1)
    await server.client()
    changed = asyncio.Event()
    server.on_change = lambda _: changed.set()
    async with within(20):
        server._changed()
        while stuck.asked < 2 or "in time" not in str(server.status().log):
            await asyncio.sleep(0)
        stuck.lists.set()
        server._changed()
        await changed.wait()
        assert server.state == "ready"
        assert server.listing is not None and len(server.listing.tools) == 3
        await server.close()


async def test_changes_that_change_nothing_are_told_to_nobody(
    stuck: Stuck, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "_SETTLED", 0.0)
    stuck.grows = False
    stuck.lists.set()
    server = made_server()
    await server.client()
    told: list[McpServer] = []
    server.on_change = told.append
    async with within(20):
        while stuck.asked < 20:
            server._changed()
            await asyncio.sleep(0)
    assert told == []
    await server.close()


@pytest.mark.parametrize("first_wait", [None, 0.01])
@pytest.mark.parametrize("patient", [False, True])
async def test_a_prompt_says_which_servers_it_goes_without_or_waits_where_nobody_sees_them_later(
    stuck: Stuck,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    patient: bool,
    first_wait: float | None,
) -> None:
    monkeypatch.setenv("AMPLIFIER_HOME", str(tmp_path))
    monkeypatch.setattr(all_servers, "FIRST_WAIT", 0.01)
    starts = asyncio.Event()
    monkeypatch.setattr(stuck, "follow_changes", lambda _: asyncio.sleep(0))
    listing = stuck.listing

    async def late() -> Listing:
        await starts.wait()
        return await listing()

    monkeypatch.setattr(stuck, "listing", late)
    session = Session(tmp_path)
    session.coordinator.register_capability(PATIENT, patient)
    await session.mount({"slow": {"command": "x"}}, first_wait=first_wait)
    hooks = session.coordinator.hooks
    async with within(20):
        prompt = asyncio.create_task(hooks.emit("prompt:submit", {}))
        await session.until(lambda: session.words("user:notification", "message"))
        waits = patient and first_wait is None
        if waits:
            starts.set()
        await prompt
        assert bool(session.tools) == waits
        (said,) = session.words("user:notification", "message")
        assert said.startswith("The MCP server slow is still starting after 0.01 s")
        assert ("`startup_timeout`" if waits else "`first_wait` of tool-mcp") in said
        starts.set()
        stuck.closes.set()
        await hooks.emit("prompt:submit", {})
        assert len(session.words("user:notification", "message")) == 1
        await session.close()
