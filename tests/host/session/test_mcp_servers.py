"""MCP servers in a session: asked about at each call, listed, restarted, their resources read."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from amplifier_tui.foundation.trust.gate import trust_everything
from amplifier_tui.host.client import OpenRequest, TrustDecision
from amplifier_tui.host.door.local_client import LocalClient
from amplifier_tui.host.events import (
    CommandsChanged,
    ModuleDegraded,
    Notice,
    OpeningReported,
    SessionOpened,
    ToolEnded,
    ToolStarted,
    TrustAsked,
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


def test_that_variables_of_a_server_are_not_set_is_told_once(
    project: Project, driver: Driver, own_home: Path
) -> None:
    home = own_home / ".amplifier"
    home.mkdir(exist_ok=True)
    lacking = {"command": "db-server", "env": {"URL": "${DBURL_OF_NOBODY}"}}
    (home / "mcp.json").write_text(json.dumps({"mcpServers": {"db": lacking}}))
    driver.open(project.bundle(tools=("tool-mcp",)))
    driver.turn("hello")
    (item,) = [each for told in driver.of(OpeningReported) for each in told.items]
    assert item.what == "MCP server db" and "DBURL_OF_NOBODY is not set" in item.why
    assert not [each.text for each in driver.of(Notice) if "DBURL_OF_NOBODY" in each.text]


def test_without_servers_it_says_where_they_are_named(project: Project, driver: Driver) -> None:
    driver.open(project.bundle(tools=("tool-mcp",)))
    with pytest.raises(RuntimeError, match=r"\.mcp\.json"):
        driver.client.mcp_servers().result(10)


def own_program(project: Project, servers: Path) -> Path:
    """Write servers with one whose program is a file of the project; returns that."""
    program = project.folder / "srv.py"
    program.write_text((ROOT / "tests/servers/rude_mcp_server.py").read_text())
    servers.parent.mkdir(exist_ok=True)
    servers.write_text(json.dumps({"mcpServers": {"rude": {**RUDE, "args": ["-I", "srv.py"]}}}))
    return program


def test_a_server_whose_program_was_changed_since_it_was_trusted_is_not_started_again(
    project: Project, drive: Callable[..., Driver]
) -> None:
    program = own_program(project, project.folder / ".mcp.json")
    trusted = program.read_text()
    bundle = project.bundle(tools=("tool-mcp",))
    driver = drive(LocalClient())
    driver.client.open(OpenRequest(cwd=project.folder, bundle=bundle))
    driver.answer_trust(use=True)
    driver.wait(SessionOpened)
    restart = driver.client.restart_mcp_server
    assert restart("rude").result(20) == ""

    program.write_text(f"{trusted}# changed\n")
    for _ in range(2):
        assert "changed since you trusted it: /bundle" in restart("rude").result(20)
    (status,) = driver.client.mcp_servers().result(10)
    assert status.state == "failed" and status.problems[-1].startswith("changed since you")
    driver.client.reload("tool-mcp")
    driver.wait(Notice, lambda each: "mounted anew" in each.text)
    assert "changed since you trusted it" in restart("rude").result(20)

    program.write_text(trusted)
    assert restart("rude").result(20) == ""
    program.write_text(f"{trusted}# changed\n")
    driver.client.switch_bundle(bundle)
    (item,) = driver.answer_trust(use=True).items
    assert item.title == "MCP server · rude"
    driver.wait(SessionOpened)
    assert restart("rude").result(20) == ""


def test_that_a_server_was_changed_is_told_once(
    project: Project, drive: Callable[..., Driver]
) -> None:
    program = own_program(project, project.folder / ".mcp.json")
    driver = drive(LocalClient())
    bundle = project.bundle(script=calling(ECHO), tools=("tool-mcp",))
    driver.client.open(OpenRequest(cwd=project.folder, bundle=bundle))
    driver.answer_trust(use=True)
    driver.wait(SessionOpened)
    assert driver.client.restart_mcp_server("rude").result(20) == ""
    program.write_text("raise SystemExit")
    for _ in range(2):
        driver.client.restart_mcp_server("rude").result(20)
    driver.client.submit("Say hello.")
    driver.allow_next()
    driver.wait(TurnEnded)
    assert [each.ok for each in driver.of(ToolEnded)] == [False]
    told = [each.text for each in driver.of(Notice) if "changed since" in each.text]
    assert len(told) == 1 and told[0].startswith("The MCP server rude is not started: changed")


@pytest.mark.parametrize("whose", ["the user's own", "of a run with --trust", "of an own folder"])
def test_a_server_that_would_not_be_asked_about_is_started_again_when_it_was_changed(
    project: Project, drive: Callable[..., Driver], own_home: Path, whose: str
) -> None:
    own = whose == "the user's own"
    place = own_home / ".amplifier/mcp.json" if own else project.folder / ".mcp.json"
    program = own_program(project, place)
    everything = whose == "of a run with --trust"
    driver = drive(LocalClient(trust_everything) if everything else LocalClient())
    bundle = project.bundle(tools=("tool-mcp",))
    driver.client.open(OpenRequest(cwd=project.folder, bundle=bundle))
    if not everything:
        asked = driver.wait(TrustAsked)
        keys = frozenset(item.key for item in asked.items)
        decision = TrustDecision(accepted=keys, folder=not own)
        driver.client.answer_trust(asked.request_id, decision)
    driver.wait(SessionOpened)
    program.write_text(f"{program.read_text()}# changed\n")
    assert driver.client.restart_mcp_server("rude").result(20) == ""
