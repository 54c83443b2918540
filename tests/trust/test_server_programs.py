"""A server of a project runs no program but the one that was asked about."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from amplifier_tui.foundation.trust.items import TrustDecision, TrustItem
from tests.foundation.helpers import write
from tests.trust.test_one_question import Person, opened, team, use_all, use_none

pytestmark = pytest.mark.timeout(120)

RUN = ("run", "lib/run.mjs", "~/run.mjs")


@pytest.fixture
def project(tmp_path: Path, own_home: Path) -> Path:
    (tmp_path / "clone").mkdir()
    return tmp_path / "clone"


@pytest.mark.parametrize(
    "server",
    [
        {"command": "./run"},
        {"command": "run", "cwd": "."},
        {"command": "sh", "args": ["-x", "run"]},
        {"command": "node", "args": ["--import=./lib/run.mjs"]},
        {"command": "python", "args": ["lib/run.mjs", "data.json"]},
        {"command": "python", "args": ["${PROJECT}/lib/run.mjs"]},
        {"command": "node", "args": ["${NOPE:---import}=${env:PROJECT}/lib/run.mjs"]},
        {"command": "python", "args": ["run.mjs"], "cwd": "${PROJECT}/lib"},
        {"command": "python", "args": ["run.mjs"], "cwd": "${NOPE:-lib}"},
        {"command": "python", "args": ["~/run.mjs"]},
        {"command": "${NOPE:-./run}"},
    ],
)
async def test_a_server_is_asked_about_again_when_the_program_of_the_project_changes(
    project: Path, server: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROJECT", str(project))
    for name in RUN:
        write(project / name, "good").chmod(0o755)
    write(project / "data.json", "{}")
    write(project / ".mcp.json", json.dumps({"mcpServers": {"theirs": server}}))
    first = Person()
    await opened(project, first, "coding")
    assert "is sha256:" in first.questions[0][0].detail
    assert "what else it loads from here may change" in first.questions[0][0].detail
    write(project / "data.json", "{1: 1}")
    unchanged = Person(use_none)
    await opened(project, unchanged, "coding")
    assert unchanged.questions == []
    for name in RUN:
        write(project / name, "bad")
    changed = Person(use_none)
    prepared = await opened(project, changed, "coding")
    assert changed.titles == [["MCP server · theirs"]]
    assert "theirs" not in str(prepared.mount_plan["tools"])


async def test_the_program_is_looked_at_that_a_server_runs_without_the_key_in_its_path(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AN_API_KEY", "other")
    program = write(project / "lib/run.mjs", "good")
    server = {"command": "node", "args": ["${AN_API_KEY:-lib}/run.mjs"]}
    write(project / ".mcp.json", json.dumps({"mcpServers": {"theirs": server}}))

    def without_key(items: Sequence[TrustItem]) -> TrustDecision:
        return use_all([item for item in items if item.group != "keys"])

    prepared = await opened(project, Person(without_key), "coding")
    assert "lib/run.mjs" in str(prepared.mount_plan["tools"])
    assert not prepared.is_changed("theirs")
    write(program, "bad")
    assert prepared.is_changed("theirs")


@pytest.mark.parametrize("program", ["one.py", "two.py", "three.py"])
async def test_of_servers_of_one_name_in_one_file_the_program_of_each_is_looked_at(
    project: Path, program: str
) -> None:
    def tool(name: str) -> list[object]:
        write(project / name, "good")
        server = {"rude": {"command": "python", "args": [name]}}
        return [{"module": "tool-mcp", "config": {"servers": server}}]

    agents = {
        f"a-{name}": {"description": "d", "instruction": "i", "tools": tool(f"{name}.py")}
        for name in ("two", "three")
    }
    team(project, f"tools: {json.dumps(tool('one.py'))}\nagents: {json.dumps(agents)}\n")
    prepared = await opened(project, Person())
    assert not prepared.is_changed("rude")
    write(project / program, "bad")
    assert prepared.is_changed("rude")


@pytest.mark.parametrize("agent", [False, True])
async def test_the_program_of_a_server_that_another_one_is_used_for_may_change(
    project: Path, own_home: Path, agent: bool
) -> None:
    def servers(program: Path) -> dict[str, object]:
        return {"rude": {"command": "python", "args": [str(write(program, "good"))]}}

    for name in (".mcp.json", ".amplifier/mcp.json"):
        program = (project / name).with_suffix(".py")
        write(project / name, json.dumps({"mcpServers": servers(program)}))
    tools = [{"module": "tool-mcp", "config": {"servers": servers(own_home / "mine.py")}}]
    of_agent = {"description": "d", "instruction": "i", "tools": [{"module": "tool-mcp"}]}
    bundle = {
        "bundle": {"name": "mine"},
        "includes": ["coding"],
        "tools": tools,
        "agents": {"a": of_agent} if agent else {},
    }
    write(own_home / ".amplifier/bundles/mine.md", f"---\n{json.dumps(bundle)}\n---\n")
    prepared = await opened(project, Person(), "mine")
    write(project / ".mcp.py", "bad")
    assert not prepared.is_changed("rude")
    write(project / ".amplifier/mcp.py", "bad")
    # The agent names none of its own.
    assert prepared.is_changed("rude") is agent
