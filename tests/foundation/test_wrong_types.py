"""A value of the wrong type, wherever it stands, costs its own bundle a sentence and no more."""

import json
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from amplifier_tui.foundation.catalog import BundleEntry
from amplifier_tui.foundation.checks.findings import preview_findings
from amplifier_tui.foundation.checks.preview import BundleDescription
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
