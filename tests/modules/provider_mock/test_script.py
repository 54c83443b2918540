import json
from pathlib import Path
from typing import Any

import pytest

from amplifier_tui.modules.provider_mock import BUILT_IN
from amplifier_tui.modules.provider_mock.script import ScriptError, parse_script, read_script


def script(**step: Any) -> dict[str, Any]:
    return {"scenarios": [{"name": "x", "steps": {"a": step, "b": {"say": "B"}}}]}


def test_the_built_in_script_is_sound_and_every_step_can_be_reached():
    for scenario in read_script(BUILT_IN).scenarios:
        targets = {branch.go for step in scenario.steps.values() for branch in step.branches}
        assert scenario.steps.keys() - targets == {next(iter(scenario.steps))}
        for step in scenario.steps.values():
            assert step.say or step.calls


def test_the_built_in_script_always_has_an_answer():
    parsed = read_script(BUILT_IN)
    for tools in (frozenset(), frozenset({"read_file"}), frozenset({"read_file", "bash"})):
        for turn in range(1, 12):
            assert parsed.scenario(turn, "anything", tools) is not None


@pytest.mark.parametrize("suffix", ["yaml", "json"])
def test_a_script_is_yaml_or_json(tmp_path: Path, suffix: str):
    file = tmp_path / f"s.{suffix}"
    file.write_text(json.dumps(script(say="A")))
    assert read_script(file).scenarios[0].first.say == "A"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([], "the script must be a mapping"),
        ({"scenarios": []}, "`scenarios` must be a list"),
        ({"scenarios": [{"steps": {}}]}, "at least one step"),
        ({"scenarios": [{"steps": {"a": {"say": "x"}}, "wen": 1}]}, "unknown key wen"),
        (script(sey="x"), "scenario 'x', step 'a': unknown key sey"),
        (script(say=3), "`say` must be a text"),
        (script(call={"a": 1}), "`call` must be a list"),
        (script(call=[{"a": {}, "b": {}}]), "a call is written"),
        (script(call=[{"a": 3}]), "must be a mapping or a text"),
        (script(call=[{"a": {}}], next="c"), "names no step"),
        (script(call=[{"a": {}}], next=[{"if": "denied", "go": "b"}]), "must have no `if`"),
        (script(call=[{"a": {}}], next=[{"if": "maybe", "go": "b"}, {"go": "b"}]), "`if` must be"),
        (script(call=[{"a": {}}], next=[{"if": {"output": "("}, "go": "b"}]), "regular expression"),
        (script(repeat=0), "`repeat` must be"),
        (script(delay=-1), "`delay` must be"),
        (script(error={"type": "Nonsense"}), "there is no Nonsense"),
        (script(error={"status": 3}), "unknown key status"),
        ({"scenarios": [{"when": {"turn": "1"}, "steps": {"a": {}}}]}, "`turn` must be"),
        ({"scenarios": [{"when": {"prompt": "("}, "steps": {"a": {}}}]}, "regular expression"),
        ({"scenarios": [{"when": {"tools": "x"}, "steps": {"a": {}}}]}, "`tools` must be"),
        ({"scenarios": [{"steps": {"a": {"call": [{"t": {}}]}}}]}, "needs a `next` step"),
    ],
)
def test_a_mistake_is_told_with_its_place(data: Any, message: str):
    with pytest.raises(ScriptError) as caught:
        parse_script(data)
    assert message in str(caught.value)


@pytest.mark.parametrize("text", ["a: [", "\x00", "!!python/object:os.system {}"])
def test_a_file_that_is_no_script_is_told_by_its_name(tmp_path: Path, text: str):
    file = tmp_path / "bad.yaml"
    file.write_text(text)
    with pytest.raises(ScriptError, match=r"bad\.yaml"):
        read_script(file)


def test_a_missing_file_is_told_by_its_name(tmp_path: Path):
    with pytest.raises(ScriptError, match="nope"):
        read_script(tmp_path / "nope")
