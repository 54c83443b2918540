"""What programs may rely on that read events or write lines."""

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from amplifier_tui.cli.group import run
from amplifier_tui.host.events.schema import VERSION

Schema = dict[str, Any]
PUBLISHED = Path(__file__).with_name("events-schema-1.json")


def printed(capsys: pytest.CaptureFixture[str], name: str) -> Schema:
    assert run(["schema", name]) == 0
    made: Schema = json.loads(capsys.readouterr().out)
    Draft202012Validator.check_schema(made)
    return made


def lost(before: Any, now: Any, place: str) -> list[str]:
    """Name what readers of `before` no longer find in `now`."""
    if isinstance(before, dict) and isinstance(now, dict):
        names = {name: now.get(name) for name in before if name != "required"}
        found = [lost(before[name], names[name], f"{place}.{name}") for name in names]
        optional = set(before.get("required", ())) - set(now.get("required", ()))
        return [*(each for part in found for each in part), *(f"{place}: {n}" for n in optional)]
    if isinstance(before, list) and isinstance(now, list):
        # More words or types may come; those that were there stay.
        return [f"{place}: {each}" for each in before if each not in now]
    return [] if before == now else [place]


def test_what_readers_of_events_rely_on_stays_until_the_version_is_raised(
    capsys: pytest.CaptureFixture[str],
) -> None:
    published = json.loads(PUBLISHED.read_text())
    assert published["version"] == VERSION, f"publish the schema of version {VERSION} here"
    assert lost(published, printed(capsys, "events"), "events") == [], "raise VERSION"


@pytest.mark.parametrize("change", ["type", "field", "word", "kind"])
def test_what_goes_or_changes_is_seen(change: str) -> None:
    published = json.loads(PUBLISHED.read_text())
    now = json.loads(PUBLISHED.read_text())
    turn = now["$defs"]["TurnEnded"]
    match change:
        case "type":
            del now["$defs"]["TurnEnded"]
        case "field":
            del turn["properties"]["duration_ms"]
        case "word":
            turn["properties"]["status"]["enum"].remove("success")
        case "kind":
            turn["properties"]["turn"]["type"] = "string"
    (place,) = lost(published, now, "")
    assert "TurnEnded" in place


@pytest.mark.parametrize(
    ("line", "good"),
    [
        ({"type": "prompt", "text": "go"}, True),
        ({"type": "decide", "request_id": "r", "allow": False, "reason": "no"}, True),
        ({"type": "answer", "request_id": "q", "answers": [{"chosen": [0, 2]}]}, True),
        ({"type": "stop"}, True),
        ({"type": "prompt"}, False),
        ({"type": "decide", "request_id": "r", "allow": False, "scope": "ever"}, False),
        ({"type": "else"}, False),
    ],
)
def test_the_schema_of_the_input_is_that_of_its_lines(
    line: Schema, good: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    assert Draft202012Validator(printed(capsys, "input")).is_valid(line) == good
