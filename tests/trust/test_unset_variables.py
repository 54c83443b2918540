"""A server whose settings refer to a variable that is not set is not started, and says which."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from amplifier_tui.foundation.bundle.prepared import PreparedBundle
from amplifier_tui.foundation.trust.items import TrustDecision, TrustItem
from amplifier_tui.modules.tool_mcp.settings import ServerSettings, read_server
from tests.foundation.helpers import write
from tests.trust.test_one_question import Person, opened, team

pytestmark = pytest.mark.timeout(120)


@pytest.fixture
def project(tmp_path: Path, own_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("GITHUB_TOKEN", "DB_HOST"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("EMPTY", "")
    (tmp_path / "clone").mkdir()
    return tmp_path / "clone"


def tells(prepared: PreparedBundle) -> list[str]:
    """Return what is told of servers that are not started, and look that they say it themselves."""
    entry = next(tool for tool in prepared.mount_plan["tools"] if tool["module"] == "tool-mcp")
    read = {name: read_server(name, each) for name, each in entry["config"]["servers"].items()}
    noted = {item.what: item for item in prepared.notes if item.what.startswith("MCP server")}
    refused = {name: said for name, said in read.items() if isinstance(said, str)}
    assert sorted(noted) == [f"MCP server {name}" for name in sorted(refused)]
    for name, said in refused.items():
        item = noted[f"MCP server {name}"]
        assert said == f"MCP server {name}: {item.why}. {item.remedy.removesuffix('.')}"
        assert "keys.env" in item.remedy and "/bundle" in item.remedy
    return [f"{name}: {noted[f'MCP server {name}'].why}" for name in refused]


@pytest.mark.parametrize(
    ("server", "why"),
    [
        ({"headers": {"Authorization": "Bearer ${GITHUB_TOKEN}"}}, "GITHUB_TOKEN is not set"),
        ({"headers": {"A": "${env:GITHUB_TOKEN}"}}, "GITHUB_TOKEN is not set"),
        ({"url": "https://${DB_HOST}/mcp"}, "DB_HOST is not set"),
        ({"command": "x", "env": {"T": "${GITHUB_TOKEN}"}}, "GITHUB_TOKEN is not set"),
        (
            {"command": "x", "args": ["${DB_HOST}", "${GITHUB_TOKEN}", "${DB_HOST}"]},
            "DB_HOST and GITHUB_TOKEN are not set",
        ),
        ({"command": "x", "args": ["${DB_HOST:-h}", "${GITHUB_TOKEN:-}", "${EMPTY}"]}, ""),
        ({"command": "x", "env": {"A": "${DB_HOST:h}", "B": "${GITHUB_TOKEN:}"}}, ""),
        ({"command": "x", "about": "wants ${GITHUB_TOKEN}", "unset_variables": ["A lie"]}, ""),
        ({"command": "x", "args": ["${DB_HOST}"], "disabled": True}, ""),
        ({"command": "x", "args": ["${DB_HOST}"], "enabled": False}, ""),
    ],
)
async def test_a_server_with_a_variable_that_is_not_set_says_which(
    project: Path, server: dict[str, Any], why: str
) -> None:
    server = server if "command" in server else {"url": "https://example.org", **server}
    write(project / ".mcp.json", json.dumps({"mcpServers": {"theirs": server}}))
    prepared = await opened(project, Person(), "coding")
    assert tells(prepared) == ([f"theirs: {why}"] if why else [])


async def test_once_the_variable_is_in_keys_env_the_server_is_there(
    project: Path, own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = {"command": "x", "env": {"T": "${GITHUB_TOKEN}"}}
    write(own_home / ".amplifier/mcp.json", json.dumps({"mcpServers": {"mine": server}}))
    config = {"servers": {"other": {"command": "${DB_HOST}"}, "odd": 1}}
    team(project, f"tools: [{{module: tool-mcp, config: {json.dumps(config)}}}]\n")
    write(own_home / ".amplifier/keys.env", 'DB_HOST="h"\n')
    prepared = await opened(project, Person())
    said = [each for each in prepared.notes if each.why == "GITHUB_TOKEN is not set"]
    assert [each.what for each in said] == ["MCP server mine"]
    write(own_home / ".amplifier/keys.env", 'DB_HOST="h"\nGITHUB_TOKEN="t"\n')
    prepared = await opened(project, Person())
    entry = next(tool for tool in prepared.mount_plan["tools"] if tool["module"] == "tool-mcp")
    read = {name: read_server(name, each) for name, each in entry["config"]["servers"].items()}
    mine, other = read["mine"], read["other"]
    assert isinstance(mine, ServerSettings) and mine.env == {"T": "t"}
    assert isinstance(other, ServerSettings) and other.command == "h"
    # The bundle itself says nothing of it.
    assert "unset_variables" not in json.dumps(prepared.bundle.tools)


async def test_a_key_that_is_refused_does_not_hide_that_another_variable_is_not_set(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_keys(items: Sequence[TrustItem]) -> TrustDecision:
        given = frozenset(item.key for item in items if item.group != "keys")
        return TrustDecision(accepted=given, remember="always")

    monkeypatch.setenv("GITHUB_TOKEN", "secret")
    server = {"command": "x", "args": ["${EMPTY:-e}"], "env": {"T": "${GITHUB_TOKEN}"}}
    servers = {"one": server, "two": {**server, "cwd": "${DB_HOST}"}}
    write(project / ".mcp.json", json.dumps({"mcpServers": servers}))
    prepared = await opened(project, Person(no_keys), "coding")
    assert tells(prepared) == ["two: DB_HOST is not set"]
    entry = next(tool for tool in prepared.mount_plan["tools"] if tool["module"] == "tool-mcp")
    one = read_server("one", entry["config"]["servers"]["one"])
    assert isinstance(one, ServerSettings) and (one.args, one.env) == (("e",), {"T": ""})


async def test_servers_of_agents_are_not_started_either(project: Path) -> None:
    config = {"servers": {"theirs": {"command": "${DB_HOST}"}}}
    head = f"agents: {{a: {{description: d, tools: [{{module: tool-mcp, config: {config}}}]}}}}\n"
    team(project, head.replace("'", '"'))
    prepared = await opened(project, Person())
    (entry,) = prepared.mount_plan["agents"]["a"]["tools"]
    assert entry["config"]["servers"]["theirs"]["unset_variables"] == ["DB_HOST"]
    assert "DB_HOST is not set" in [item.why for item in prepared.notes]
