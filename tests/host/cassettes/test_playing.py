"""What a cassette gets of its session, though a stranger may have written it."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from amplifier_tui.base.capabilities.mcp import CAPABILITY
from amplifier_tui.host.cassettes.cassette import Cassette, CassetteHeader
from amplifier_tui.host.cassettes.conversing import ReplayError, ReplayOrder, play
from amplifier_tui.host.cassettes.playing import Playback
from amplifier_tui.host.events import HostEvent, SessionClosed
from amplifier_tui.kernel.models import ToolResult
from amplifier_tui.modules.tool_mcp.listing import Listing, PromptInfo
from amplifier_tui.modules.tool_mcp.servers import McpServers
from amplifier_tui.modules.tool_mcp.settings import McpSettings

EMPTY = Cassette(header=CassetteHeader(), rows=())


async def test_prompts_get_nothing_from_the_servers_of_the_user(tmp_path: Path) -> None:
    started = tmp_path / "started"
    held: dict[str, Any] = {}
    coordinator: Any = SimpleNamespace(
        get_capability=held.get, register_capability=held.__setitem__, parent_id=None, config={}
    )
    settings = McpSettings(servers={"notes": {"command": "touch", "args": [str(started)]}})
    held[CAPABILITY] = servers = McpServers(settings, coordinator)
    servers.servers["notes"].listing = Listing(prompts=(PromptInfo("all"),))
    session: Any = SimpleNamespace(coordinator=coordinator)
    Playback(EMPTY, folder=tmp_path).opened(session)
    with pytest.raises(LookupError, match="nothing from MCP servers"):
        await held[CAPABILITY].read("notes", "note://all")
    # As the user types it, and as the cassette has it.
    with pytest.raises(ValueError, match="nothing from MCP servers"):
        await servers.commands()[0].expand("")
    assert not started.exists()
    # Agents use the same servers, and know them by their class.
    assert isinstance(held[CAPABILITY], McpServers)


@pytest.mark.parametrize(
    ("arguments", "runs"), [(("agent", "instruction"), True), (("command",), False)]
)
def test_of_the_tools_that_may_call_agents_only_those_run_that_do(
    tmp_path: Path, arguments: tuple[str, ...], *, runs: bool
) -> None:
    ran: list[str] = []

    async def run() -> ToolResult:
        ran.append("task")
        return ToolResult()

    tool = SimpleNamespace(input_schema={"properties": {name: {} for name in arguments}})
    asyncio.run(Playback(EMPTY, folder=tmp_path).execute("task", tool, {}, run))
    assert bool(ran) is runs


class EndingClient:
    """A client whose session ends while it opens."""

    def __init__(self) -> None:
        self.waker: Callable[[], None] = lambda: None
        self.events: list[HostEvent] = []
        self.steer = self.interrupt = print

    def set_waker(self, waker: Callable[[], None]) -> None:
        self.waker = waker

    def open(self, request: object) -> None:
        self.events.append(SessionClosed(session_id="s", reason="out of memory"))
        self.waker()

    def drain(self) -> list[HostEvent]:
        found, self.events = self.events, []
        return found

    def close(self) -> "Future[None]":
        closed: Future[None] = Future()
        closed.set_result(None)
        return closed


def test_a_session_that_ends_by_itself_is_waited_for_no_longer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("amplifier_tui.host.cassettes.conversing.PATIENCE", 0.1)
    client: Any = EndingClient()
    with pytest.raises(ReplayError, match=r"session ended.*out of memory"):
        play(EMPTY, ReplayOrder(tmp_path), client)


def test_a_cassette_names_its_bundle_but_no_place() -> None:
    assert CassetteHeader(bundle="my bundle").bundle == "my bundle"
    for place in ("../other", "git+https://x", "~/b", "c:\\b", "b.yaml", "README.md", "..", "."):
        with pytest.raises(ValueError, match="bundle"):
            CassetteHeader(bundle=place)
