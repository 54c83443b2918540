"""A value of the wrong type, wherever it stands, costs its own bundle a sentence and no more."""

import json
from collections.abc import Iterator
from copy import deepcopy
from functools import reduce
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from amplifier_tui.foundation.catalog import BundleEntry
from amplifier_tui.foundation.checks.findings import preview_findings
from amplifier_tui.foundation.checks.preview import BundleDescription
from amplifier_tui.foundation.exceptions import BundleError
from amplifier_tui.foundation.workspace import Workspace
from tests.foundation.helpers import write

COMPLETE: dict[str, Any] = {
    "bundle": {"name": "mine"},
    "session": {
        "orchestrator": {"module": "loop-basic"},
        "context": {"module": "context-simple"},
    },
    "providers": [{"module": "provider-mock"}],
}
WRONG: list[Any] = [5, True, {}, {"a": 5}, [5], [{}], [["/x"]]]


def files(config: Any) -> str:
    tools = [{"module": "tool-filesystem", "config": config}]
    return json.dumps({**COMPLETE, "tools": tools}, indent=1)


def workspace(project: Path, **bundles: str) -> Workspace:
    for name, text in bundles.items():
        write(project / ".amplifier" / "bundles" / f"{name}.yaml", text)
    return Workspace.open(project, environ={})


@pytest.mark.parametrize("value", WRONG, ids=map(repr, WRONG))
async def test_a_place_to_write_that_is_none_is_told_with_its_line(
    tmp_path: Path, value: Any
) -> None:
    text = files({"allowed_write_paths": value})
    preview = await workspace(tmp_path, mine=text).preview("mine")
    (problem,) = preview_findings(preview)
    assert problem.message.startswith("`allowed_write_paths` of tool-filesystem must be a list of")
    assert problem.severity == "error"
    assert problem.line is not None
    assert "allowed_write_paths" in text.splitlines()[problem.line - 1]


async def test_one_path_to_write_need_be_no_list(tmp_path: Path) -> None:
    text = files({"allowed_write_paths": "/tmp/x"})
    preview = await workspace(tmp_path, mine=text).preview("mine")
    assert preview.plan["tools"][0]["config"] == {"allowed_write_paths": [".", "/tmp/x"]}
    assert preview_findings(preview) == []


@pytest.mark.parametrize("value", [5, "x", [5]])
async def test_the_users_settings_of_a_module_meet_any_configuration(
    own_home: Path, tmp_path: Path, value: Any
) -> None:
    override = {"config": {"allowed_write_paths": ["/a"]}}
    overrides = {"tool-filesystem": override, "provider-mock": override}
    write(own_home / ".amplifier" / "settings.yaml", json.dumps({"overrides": overrides}))
    project = tmp_path / "project"
    text = files(value)
    preview = await workspace(project, mine=text).preview("mine")
    assert preview.state == "invalid" and preview.error_line is not None
    assert '"config"' in text.splitlines()[preview.error_line - 1]
    providers = [{"module": "provider-mock", "config": value}]
    text = json.dumps({**COMPLETE, "providers": providers}, indent=1)
    preview = await workspace(project, mine=text).preview("mine")
    assert preview.state == "invalid" and "'config' must be a dict" in preview.error


async def test_a_bundle_that_nobody_thought_of_costs_none_of_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    describe = Workspace._describe

    async def fail(self: Workspace, entry: BundleEntry) -> BundleDescription:
        if entry.name == "odd":
            raise TypeError("an int is no list")
        return await describe(self, entry)

    monkeypatch.setattr(Workspace, "_describe", fail)
    text = json.dumps(COMPLETE)
    here = workspace(tmp_path, mine=text, odd=text)
    found = {each.name: (each.state, each.error_path) for each in await here.previews()}
    odd = tmp_path / ".amplifier" / "bundles" / "odd.yaml"
    assert found == {"mine": ("ready", None), "odd": ("invalid", odd)}
    (problem,) = preview_findings(await here.preview("odd"))
    assert (problem.message, problem.path) == ("Cannot be read: an int is no list", odd)


IN_AGENTS = [
    *product(("tools", "hooks", "providers", "provider_preferences"), (5, True, {"a": 5}, [5])),
    *product(("inherit_tools", "exclude_tools", "exclude_hooks"), (5, {"a": 5}, [5], [{}])),
    *product(("session",), (5, "x", [5])),
    ("tools", [{"module": "tool-todo", "config": 5}]),
]


@pytest.mark.parametrize(("key", "value"), IN_AGENTS, ids=map(repr, IN_AGENTS))
async def test_what_means_nothing_in_an_agent_is_told_with_its_line(
    tmp_path: Path, key: str, value: Any
) -> None:
    agent = {"instruction": "You are one.", key: value}
    text = json.dumps({**COMPLETE, "agents": {"one": agent, "two": {}}}, indent=1)
    write(
        tmp_path / ".amplifier" / "bundles" / "agents" / "two.md",
        f"---\nname: two\n{key}: {json.dumps(value)}\n---\nYou are two.\n",
    )
    found = preview_findings(await workspace(tmp_path, mine=text).preview("mine"))
    (inline,) = [each for each in found if each.path and each.path.name == "mine.yaml"]
    assert inline.line is not None and inline.line > text[: text.index(key)].count("\n")
    (own,) = [each for each in found if each.path and each.path.name == "two.md"]
    assert own.line == 3 and own.message == inline.message


ELSEWHERE: list[tuple[str, str, str]] = [
    ("includes", "[5]", "includes[0] names no bundle"),
    ("includes", '[{"bundle": 5}]', "includes[0] names no bundle"),
    ("tools", '[{"module": "tool-todo", "source": 5}]', "'source' of an entry must be a text"),
    ("tools", '[{"module": ["tool-todo"]}]', "'module' of an entry must be a text, not list"),
    ("session", '{"orchestrator": {"module": "loop-basic", "config": 5}}', "'config' must be a"),
    ("hooks", '[{"module": "hooks-logging", "id": [5]}]', "'id' of an entry must be a text, not"),
    ("spawn", '{"tools": [{"module": 5}]}', "'module' of an entry must be a text, not int"),
    ("agents", '["one"]', "'agents' is no mapping, but list, and brings no agents"),
    ("agents", '"one"', "'agents' is no mapping, but str, and brings no agents"),
    ("agents", '{"a": {"instruction": "x", "tools": [{"module": 5}]}}', "must be a text, not int"),
    (
        "agents",
        '{"a": {"instruction": "x", "provider_preferences": [{"model": "m"}]}}',
        "provider_preferences[0] needs a provider and a model",
    ),
]


@pytest.mark.parametrize(("key", "value", "words"), ELSEWHERE, ids=[each[1] for each in ELSEWHERE])
async def test_a_value_that_is_passed_over_is_told_with_its_line(
    tmp_path: Path, key: str, value: str, words: str
) -> None:
    rest = {name: part for name, part in COMPLETE.items() if name != key}
    text = "\n".join(f"{name}: {json.dumps(part)}" for name, part in rest.items())
    here = workspace(tmp_path, mine=f"{text}\n{key}: {value}\n")
    found = preview_findings(await here.preview("mine"))
    assert [each.line for each in found if words in each.message] == [len(rest) + 1], found
    await here.previews()


EVERYTHING: dict[str, Any] = {
    "bundle": {"name": "whole", "version": "1", "description": "d", "namespace_root": "."},
    "includes": ["other", {"bundle": "other"}],
    "session": {
        "orchestrator": {"module": "loop-basic", "source": "./no", "config": {"x": 1}},
        "context": "context-simple",
        "context_source": "./no",
        "examples": ["Do it"],
        "mode": "ask",
        "workspace": {"template": "x"},
        "metadata": {},
    },
    "providers": [{"module": "provider-openai", "id": "p", "config": {"base_url": "http://h"}}],
    "tools": [
        {"module": "tool-mcp", "config": {"servers": {"s": {"command": "x", "env": {"A": "b"}}}}},
        {"module": "tool-skills", "config": {"skills": ["x"]}},
        {"module": "tool-filesystem", "config": {"allowed_write_paths": ["/x"]}},
    ],
    "hooks": [{"module": "hooks-approval", "config": {"policy": "careful", "allow": ["x"]}}],
    "agents": {
        "include": ["a"],
        "b": {
            "description": "d",
            "instruction": "i",
            "tools": [{"module": "tool-todo", "config": {}}],
            "session": {"orchestrator": {"module": "loop-basic"}},
            "agents": ["a"],
            "provider_preferences": [{"provider": "p", "model": "m", "config": {}}],
            "model_role": ["x"],
            "meta": {"name": "b"},
            "exclude_tools": ["x"],
        },
    },
    "context": {"include": ["c.md"], "named": "d.md"},
    "spawn": {"tools": [{"module": "tool-todo"}], "exclude_hooks": ["x"]},
}


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if at:
        yield at
    inside = dict(enumerate(value)) if isinstance(value, list) else value
    for key, item in inside.items() if isinstance(inside, dict) else ():
        yield from places(item, (*at, key))


@pytest.mark.parametrize("value", [5, [5], {"a": 5}], ids=repr)
async def test_no_value_anywhere_makes_a_bundle_more_than_an_error(
    tmp_path: Path, value: Any
) -> None:
    text = json.dumps(EVERYTHING)
    here = workspace(tmp_path, mine=text, other='{"bundle": {"name": "other"}}')
    entry = here.catalog().find("mine")
    assert entry is not None
    for *way, last in places(EVERYTHING):
        data: Any = deepcopy(EVERYTHING)
        reduce(lambda each, key: each[key], way, data)[last] = value
        write(Path(entry.source), json.dumps(data))
        try:
            preview_findings(await here._describe(entry))
        except BundleError:
            continue
        except Exception as error:
            pytest.fail(f"{value!r} at {(*way, last)}: {error!r}")
