# The shapes that published example scripts have, run as their authors run them.

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.servers import (
    LoopbackServer,
    Reply,
    ToolUse,
    last_user,
    reply,
    system_text,
    tool_results,
)

EXAMPLES = Path(__file__).parent / "examples"


@pytest.fixture
def examples(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    shutil.copytree(EXAMPLES, folder, ignore=shutil.ignore_patterns("__pycache__"))
    # The folder whose code counts when one of its scripts is run.
    (folder / "pyproject.toml").touch()
    return folder


@pytest.fixture
def server() -> Iterator[LoopbackServer]:
    with LoopbackServer() as server:
        yield server


def run(server: LoopbackServer, script: Path, cwd: Path, said: str = "") -> str:
    cwd.mkdir(exist_ok=True)
    done = subprocess.run(
        [sys.executable, "-m", "amplifier_tui.compat", os.path.relpath(script, cwd)],
        cwd=cwd,
        env={**os.environ, "SERVER": server.openai_url},
        input=said,
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert not done.returncode and not done.stderr, done.stderr
    return done.stdout


def test_a_script_beside_its_bundle_talks_asks_shows_and_keeps_the_conversation(
    examples: Path, server: LoopbackServer, tmp_path: Path
) -> None:
    both = reply(ToolUse("add", {"a": 2, "b": 3}), ToolUse("note", {"text": "five"}))
    one = reply(ToolUse("add", {"a": 1, "b": 1}))
    server.script.add(both, "It is 5.", one, "I may not.", "You asked.")
    cwd = tmp_path / "elsewhere"
    typed = "Add 2 and 3\ny\nOnce more\nn\nagain\nWhat did I ask?\n"
    said = run(server, examples / "scripts" / "talk.py", cwd, typed)
    assert "? Add these? ['Allow', 'Deny']" in said
    assert "! info hook:note: Kept a note away" in said
    assert "It is 5." in said and "I may not." in said
    assert "0 then 9 ['add', 'note']" in said
    system = system_text(server.request_blocking(0).json)
    assert "You keep notes." in system and "The house is blue." in system
    first, second = tool_results(server.request_blocking(1).json)
    assert '"sum": 5' in first and second.startswith("no notes today")
    assert "You asked." in said and "9 then 11" in said
    assert "Add 2 and 3" in json.dumps(server.request_blocking(4).json["messages"])
    assert (cwd / "events.log").read_text().split() == [
        *("prompt:submit", "tool:post", "execution:end"),
        *("prompt:submit", "execution:end"),
        *("prompt:submit", "execution:end"),
    ]


def test_a_bundle_built_in_python_has_providers_agents_and_modules_of_its_own(
    examples: Path, server: LoopbackServer, tmp_path: Path
) -> None:
    def answer(request: dict[str, Any]) -> Reply | str:
        asked, system = last_user(request), system_text(request)
        if asked == "Note it.":
            return reply(ToolUse("note", {"text": "blue"}))
        api = "Claude" if "max_tokens" in request else "OpenAI"
        return f"{api} as {system.split('.')[0] or 'nobody'} on {asked}"

    for _ in range(5):
        server.script.add(answer)
    server.script.add("Noted.")
    cwd = tmp_path / "elsewhere"
    lines = run(server, examples / "scripts" / "team.py", cwd).splitlines()
    assert lines == [
        "['anthropic', 'openai'] Claude as You lead on Who?",
        "Claude as You help on Help me. True",
        "['OpenAI as You are a on Go.', 'OpenAI as You are b on Go.']",
        "Noted.",
        "['- blue']",
        "+ here",
    ]
    events = [json.loads(line)["event"] for line in (cwd / "events.jsonl").read_text().splitlines()]
    assert {"session:start", "prompt:submit", "llm:response", "session:end"} <= set(events)
