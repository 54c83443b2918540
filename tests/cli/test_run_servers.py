"""A run without a screen and the MCP servers that take long to start."""

import json
import sys
from pathlib import Path

import pytest

from amplifier_tui.cli.group import run as run_command
from amplifier_tui.modules.tool_mcp import servers
from tests.host.conftest import project
from tests.host.driving import Project, calling

__all__ = ["project"]

ROOT = Path(__file__).parents[2]


def test_a_prompt_waits_for_a_server_that_takes_long_to_start_and_says_so(
    project: Project, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project.folder)
    monkeypatch.setattr(sys, "stdin", None)
    monkeypatch.setattr(servers, "FIRST_WAIT", 0.0)
    rude = {"command": sys.executable, "args": ["-I", f"{ROOT}/tests/servers/rude_mcp_server.py"]}
    (project.folder / ".mcp.json").write_text(json.dumps({"mcpServers": {"rude": rude}}))
    script = calling({"mcp__rude__echo": {"text": "hello"}})
    name = project.bundle(script=script, tools=("tool-mcp",))
    run_command(["run", "--bundle", name, "--trust", "--output", "jsonl", "go"])
    printed = capfd.readouterr()
    assert "MCP server rude is still starting after 0 s; it is waited for" in printed.err
    events = [json.loads(line) for line in printed.out.splitlines()]
    notices = [event for event in events if event["type"] == "Notice"]
    assert "is still starting" in str(notices)
    # It is there to be called.
    assert "Refused: " in printed.err and "There is no tool" not in printed.out
