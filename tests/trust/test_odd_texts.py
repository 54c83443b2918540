"""Odd texts and keys of a clone cost what they stand in, and not the opening."""

import json
from pathlib import Path

import pytest

from tests.foundation.helpers import write
from tests.trust.test_one_question import Person, opened, project

__all__ = ["project"]

ODD = ("a\0b", "/a\0b", "~\0x", "~nobody\0/x", "\ud800", "~\ud800/x", "x" * 5_000)


@pytest.mark.parametrize("text", ODD, ids=ascii)
@pytest.mark.parametrize("part", ["command", "args", "cwd"])
async def test_a_server_with_it_is_asked_about(project: Path, part: str, text: str) -> None:
    server = {"command": "touch", part: [text] if part == "args" else text}
    write(project / ".mcp.json", json.dumps({"mcpServers": {"evil": server}}))
    person = Person()
    await opened(project, person, "coding")
    assert person.titles == [["MCP server · evil"]]


@pytest.mark.parametrize("text", [text for text in ODD if "\ud800" not in text], ids=ascii)
async def test_settings_with_it_open(project: Path, text: str) -> None:
    settings = {
        "bundle": {"app": [text], "added": {"x": text}},
        "overrides": {
            "tool-skills": {"config": {"skills": [text]}},
            "tool-memory": {"config": {"path": text}},
        },
    }
    write(project / ".amplifier" / "settings.yaml", json.dumps(settings))
    assert (await opened(project, Person(), "coding")).mount_plan["tools"]


@pytest.mark.parametrize("key", ["1", "null", "true", "2020-01-01", "1.5"])
async def test_a_setting_with_a_key_that_is_no_text_is_shown(project: Path, key: str) -> None:
    text = f"overrides: {{tool-bash: {{config: {{env: {{{key}: one, b: two}}}}}}}}\n"
    write(project / ".amplifier" / "settings.yaml", text)
    person = Person()
    await opened(project, person, "coding")
    ((item,),) = person.questions
    assert "one" in item.detail and "two" in item.detail
