"""Many servers with many tools: the context stays small, and nothing is started unasked."""

import time
from pathlib import Path
from typing import Any

import pytest

from amplifier_tui.base.capabilities.mcp import CAPABILITY
from amplifier_tui.base.tokens import schema_tokens, text_tokens
from amplifier_tui.modules.tool_mcp.listing import Listing, ToolInfo
from amplifier_tui.modules.tool_mcp.names import tool_name
from amplifier_tui.modules.tool_mcp.servers import McpServers
from amplifier_tui.modules.tool_mcp.settings import McpSettings
from tests.modules.tool_mcp.support import Session

SUBJECTS = ("invoice", "customer", "ticket", "branch", "calendar", "shipment", "camera", "recipe")
SERVERS = {f"server{at}": {"command": "no-such-program"} for at in range(30)}


def listing(server: int) -> Listing:
    texts = {"type": "string", "description": "A long explanation of what is meant. " * 8}
    schema = {"type": "object", "properties": dict.fromkeys("abcd", texts)}
    subject = SUBJECTS[server % len(SUBJECTS)]
    tools = [
        ToolInfo(f"{verb}_{subject}_{server}", f"Will {verb} one {subject}.", schema)
        for verb in ("list", "make", "change", "find", "drop", "copy", "move", "show", "sign",
                     "send", "open", "close", "count", "merge")
    ]  # fmt: skip
    return Listing(tuple(tools[: 14 if server < 10 else 13]))


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have it known already what all the servers offer: 400 tools."""

    def kept(self: McpServers, server: Any) -> Listing:
        return listing(int(server.name.removeprefix("server")))

    monkeypatch.setattr(McpServers, "_kept", kept)


def cost(session: Session) -> int:
    tools = session.coordinator.get("tools").values()
    return sum(
        text_tokens(tool.name + tool.description) + schema_tokens(tool.input_schema)
        for tool in tools
    )


async def test_they_are_found_by_words_and_never_cost_more_than_allowed(
    tmp_path: Path, known: None
) -> None:
    started = time.process_time()
    session = await Session(tmp_path).mount(SERVERS, max_schema_tokens=3_000)
    assert time.process_time() - started < 2
    assert {status.state for status in session.servers.statuses()} == {"idle"}
    assert session.tools == ["tool_search"]
    search = session.coordinator.get("tools", "tool_search")
    assert "server29 (13)" in search.description
    found = await search.execute({"query": "sign a shipment", "limit": 3})
    assert "mcp__server5__sign_shipment_5" in str(found.output)
    assert len(session.tools) == 4
    assert (await search.execute({"query": "recipe", "limit": 20})).success
    assert 5 < len(session.tools) < 20
    assert cost(session) < 3_000 + text_tokens(search.description) + 200
    by_name = await search.execute({"query": "mcp__server2__drop_ticket_2", "limit": 1})
    assert "mcp__server2__drop_ticket_2" in session.tools
    assert str(by_name.output).count("\n- ") == 1
    assert "No tool was found" in str((await search.execute({"query": "zebra"})).output)
    assert not (await search.execute({"query": ""})).success
    assert not (await search.execute({"query": "a", "limit": "x"})).success
    await session.close()


async def test_small_ones_are_searched_for_where_they_are_more_than_an_api_takes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = Listing(tuple(ToolInfo(f"t{at}", "", {"type": "object"}) for at in range(120)))
    monkeypatch.setattr(McpServers, "_kept", lambda self, server: small)
    session = await Session(tmp_path).mount({"server1": SERVERS["server1"]})
    assert session.tools == ["tool_search"]
    search = session.coordinator.get("tools", "tool_search")
    for at in range(0, 120, 20):
        names = " ".join(f"t{each}" for each in range(at, at + 20))
        assert (await search.execute({"query": names, "limit": 20})).success
    assert len(session.tools) == 101
    assert "mcp__server1__t119" in session.tools
    await session.close()


async def test_few_are_simply_there(tmp_path: Path, known: None) -> None:
    session = await Session(tmp_path).mount({"server1": SERVERS["server1"]})
    assert len(session.tools) == 14
    assert "tool_search" not in session.tools
    await session.close()
    assert McpSettings.problems({"servers": {"a": {"command": 3}, "b": 4}})


async def test_names_that_can_t_be_told_apart_are_said(tmp_path: Path, known: None) -> None:
    session = Session(tmp_path)
    twice = {
        "server1": {"command": "x"},
        "server-1": {"command": "x"},
        "server 1": {"command": "x"},
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            McpServers,
            "_kept",
            lambda self, server: Listing((ToolInfo("a.b", "", {}), ToolInfo("a b", "", {}))),
        )
        await session.mount({name: twice[name] for name in ("server1", "server-1")})
    said = " ".join(session.words("user:notification", "message"))
    assert "a b of the MCP server server1 is left out" in said
    assert "mcp__server-1__a_b" in session.tools
    await session.close()


async def test_agents_of_a_session_use_its_servers(tmp_path: Path, known: None) -> None:
    session = await Session(tmp_path).mount(SERVERS)
    agent = Session(tmp_path)
    agent.coordinator.register_capability(CAPABILITY, session.servers)
    await agent.mount({})
    assert agent.servers is session.servers
    assert agent.tools == session.tools == ["tool_search"]
    await agent.close()
    assert agent.tools == []
    assert session.tools == ["tool_search"]
    await session.close()
    # Mounted again, with other settings, they are others.
    assert session.coordinator.get_capability(CAPABILITY) is None
    await session.mount({"server1": SERVERS["server1"]})
    assert len(session.tools) == 14
    await session.close()


def test_names_fit_every_model() -> None:
    long = tool_name("a server / with ünicode" * 4, "tool" * 40)
    assert len(long) == 64
    assert long != tool_name("a server / with ünicode" * 4, "tool" * 41)
    assert tool_name("git hub", "read.file") == "mcp__git_hub__read_file"
