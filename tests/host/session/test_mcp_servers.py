"""MCP servers in a session: asked about at each call, listed, restarted, their resources read."""

import json
import sys
from pathlib import Path

import pytest

from amplifier_tui.host.events import (
    CommandsChanged,
    ModuleDegraded,
    Notice,
    ToolEnded,
    ToolStarted,
    TurnEnded,
)
from tests.host.driving import Driver, Project, calling
from tests.modules.tool_mcp.support import ROOT

RUDE = {"command": sys.executable, "args": ["-I", str(ROOT / "tests/servers/rude_mcp_server.py")]}
ECHO = {"mcp__rude__echo": {"text": "hello from there"}}


def test_a_server_of_the_users_is_used_in_a_session(
    project: Project, driver: Driver, own_home: Path
) -> None:
    home = own_home / ".amplifier"
    home.mkdir(exist_ok=True)
    (home / "mcp.json").write_text(json.dumps({"mcpServers": {"rude": RUDE}}))
    opened = driver.open(project.bundle(script=calling(ECHO), tools=("tool-mcp",)))
    driver.client.submit("Say hello; see @rude:notes://today and @rude:notes://none.")
    assert driver.allow_next().tool == "mcp__rude__echo"
    assert driver.wait(TurnEnded).status == "success"
    (ended,) = driver.of(ToolEnded)
    assert ended.ok
    (row,) = [row for row in project.rows(opened.session_id) if row["role"] == "user"]
    assert "Buy cheese." in json.dumps(row["content"])
    assert any("Not read: @rude:notes://none" in each.text for each in driver.of(Notice))

    # What the server gives can be mentioned, as far as a mention can hold its address.
    assert driver.of(CommandsChanged)[-1].mentions == ("rude:notes://today",)
    (status,) = driver.client.mcp_servers().result(10)
    assert (status.name, status.state) == ("rude", "ready")
    assert "mcp__rude__echo" in status.tools
    details = driver.client.module_details("tool-mcp").result(10)
    assert "mcp__rude__echo" in [tool.name for tool in details.tools]
    assert driver.client.restart_mcp_server("rude").result(20) == ""
    assert "no MCP server x" in driver.client.restart_mcp_server("x").result(10)


def test_calls_of_a_servers_tools_are_the_modules_and_a_server_that_failed_is_told(
    project: Project, driver: Driver, own_home: Path
) -> None:
    home = own_home / ".amplifier"
    home.mkdir(exist_ok=True)
    broken = {"command": sys.executable, "args": ["-c", "raise SystemExit(3)"]}
    servers = {"rude": RUDE, "broken": broken}
    (home / "mcp.json").write_text(json.dumps({"mcpServers": servers}))
    driver.open(project.bundle(script=calling(ECHO), tools=("tool-mcp",)))
    driver.client.submit("Say hello.")
    driver.allow_next()
    driver.wait(TurnEnded)
    assert [each.module_id for each in driver.of(ToolStarted)] == ["tool-mcp"]
    driver.wait_until(lambda: driver.of(ModuleDegraded), "nothing told of the broken server")
    told = driver.of(ModuleDegraded)[-1]
    assert (told.module_id, told.kind, told.of) == ("tool-mcp", "tool", 2)
    assert len(told.failed) == 1 and told.failed[0].startswith("broken: ")
    before = len(driver.of(ModuleDegraded))
    driver.client.reload("tool-mcp")
    driver.wait_until(lambda: len(driver.of(ModuleDegraded)) > before, "nothing told anew")


def test_without_servers_it_says_where_they_are_named(project: Project, driver: Driver) -> None:
    driver.open(project.bundle(tools=("tool-mcp",)))
    with pytest.raises(RuntimeError, match=r"\.mcp\.json"):
        driver.client.mcp_servers().result(10)
