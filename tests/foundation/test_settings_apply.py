from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_tui.foundation.bundle.bundle import Bundle
from amplifier_tui.foundation.bundle.model import Origin
from amplifier_tui.foundation.settings.apply import apply_settings
from amplifier_tui.foundation.settings.expand import (
    expand_plan,
    expand_variables,
    missing_variables,
)
from amplifier_tui.foundation.settings.settings import Scope, Settings, SettingsFiles, load_settings
from tests.foundation.helpers import write


def settings(tmp_path: Path, **data: Any) -> Settings:
    return Settings(SettingsFiles(tmp_path / "home", tmp_path), data, {Scope.GLOBAL: data})


def bundle(**sections: Any) -> Bundle:
    return Bundle.from_dict({"bundle": {"name": "b"}, **sections})


def test_without_settings_a_bundle_stays_as_it_is(tmp_path: Path) -> None:
    source = bundle(providers=[{"module": "p"}], tools=[{"module": "t", "config": {"a": 1}}])
    source._source_uri = "x"
    result = apply_settings(source, settings(tmp_path), environ={})
    assert result.to_mount_plan() == source.to_mount_plan()
    assert result._source_uri == "x" and result is not source


def test_providers_are_merged_into_those_of_the_bundle(tmp_path: Path) -> None:
    source = bundle(providers=[{"module": "p", "config": {"a": 1, "l": [1]}}])
    chosen = settings(
        tmp_path,
        config={
            "providers": [
                {"module": "p", "config": {"b": 2, "l": [2]}},
                {"module": "p", "id": "second"},
            ]
        },
    )
    result = apply_settings(source, chosen, environ={})
    assert result.providers == [
        {"module": "p", "config": {"a": 1, "b": 2, "l": [2]}},
        {"module": "p", "id": "second", "instance_id": "second"},
    ]
    assert result.origins["provider:p"] == [Origin("b"), Origin("settings (global)")]
    assert result.origins["provider:second"] == [Origin("settings (global)")]


def test_a_bundle_without_providers_takes_the_users(tmp_path: Path) -> None:
    chosen = settings(tmp_path, config={"providers": [{"module": "p", "config": {"a": 1}}]})
    result = apply_settings(bundle(), chosen, environ={})
    assert result.providers == [{"module": "p", "config": {"raw": True, "a": 1}}]


def test_overrides_come_between_bundle_and_providers_and_reach_agents(tmp_path: Path) -> None:
    source = bundle(
        session={"orchestrator": {"module": "o", "config": {"x": 1}}, "context": "c"},
        providers=[{"module": "p", "config": {"x": 1, "y": 1}}],
        hooks=[{"module": "h"}],
        agents={"a": {"tools": ["t", {"module": "u"}], "session": {"context": {"module": "c"}}}},
    )
    chosen = settings(
        tmp_path,
        overrides={
            "p": {"config": {"x": 2, "y": 2}},
            "o": {"config": {"x": 2}},
            "c": {"config": {"k": 1}},
            "t": {"config": {"k": 1}},
            "h": {"source": "./h"},
        },
        config={"providers": [{"module": "p", "config": {"y": 3}}]},
    )
    result = apply_settings(source, chosen, environ={})
    assert result.providers[0]["config"] == {"x": 2, "y": 3}
    assert result.session["orchestrator"]["config"] == {"x": 2}
    assert result.session["context"] == {"module": "c", "config": {"k": 1}}
    assert result.hooks == [{"module": "h", "source": "./h"}]
    assert result.agents["a"] == {
        "tools": [{"module": "t", "config": {"k": 1}}, {"module": "u"}],
        "session": {"context": {"module": "c", "config": {"k": 1}}},
    }
    assert source.session["context"] == "c" and source.agents["a"]["tools"][0] == "t"


def test_modules_of_the_settings_are_merged_and_added(tmp_path: Path) -> None:
    source = bundle(tools=[{"module": "t", "config": {"a": 1}}])
    chosen = settings(
        tmp_path,
        modules={
            "tools": [{"module": "t", "config": {"b": 1}}, {"module": "new"}],
            "hooks": [{"module": "h"}],
        },
    )
    result = apply_settings(source, chosen, environ={})
    assert result.tools == [{"module": "t", "config": {"a": 1, "b": 1}}, {"module": "new"}]
    assert result.hooks == [{"module": "h"}]
    assert result.origins["tool:new"] == [Origin("settings (global)")]


def test_sources_have_their_order(tmp_path: Path) -> None:
    source = bundle(providers=[{"module": "p-x", "source": "bundle"}])
    data: dict[str, Any] = {}
    environ: dict[str, str] = {}

    def found() -> Any:
        return apply_settings(source, settings(tmp_path, **data), environ=environ).providers[0][
            "source"
        ]

    assert found() == "bundle"
    data["sources"] = {"modules": {"p-x": "listed"}}
    assert found() == "listed"
    data["overrides"] = {"p-x": {"source": "override"}}
    assert found() == "override"
    data["config"] = {"providers": [{"module": "p-x", "source": "provider"}]}
    assert found() == "provider"
    (tmp_path / ".amplifier" / "modules" / "p-x").mkdir(parents=True)
    assert found() == str(tmp_path / ".amplifier" / "modules" / "p-x")
    environ["AMPLIFIER_MODULE_P_X"] = "variable"
    assert found() == "variable"


def test_a_module_id_cannot_lead_out_of_the_projects_modules(tmp_path: Path) -> None:
    (tmp_path / ".amplifier" / "modules").mkdir(parents=True)
    (tmp_path / "evil").mkdir()
    source = bundle(tools=[{"module": "../../evil"}, {"module": ".."}, {"module": ""}])
    result = apply_settings(source, settings(tmp_path), environ={})
    assert all("source" not in tool for tool in result.tools)


def test_the_working_folder_may_always_be_written(tmp_path: Path) -> None:
    source = bundle(
        tools=[
            {"module": "tool-filesystem", "config": {"allowed_write_paths": ["/a", "."]}},
            {"module": "tool-filesystem", "id": "second"},
            {"module": "other"},
        ]
    )
    result = apply_settings(source, settings(tmp_path), environ={})
    assert [tool.get("config") for tool in result.tools] == [
        {"allowed_write_paths": [".", "/a"]},
        {"allowed_write_paths": ["."]},
        None,
    ]


def test_variables_are_replaced_with_value_default_or_nothing() -> None:
    environ = {"A": "1", "EMPTY": "", "NESTED": "${A}"}
    data = {"x": "${A}-${B:two}-${C}|${EMPTY:d}", "l": ["${NESTED}", 5], "no": "$A {A} ${1}"}
    assert expand_variables(data, environ) == {
        "x": "1-two-|d",
        "l": ["${A}", 5],
        "no": "$A {A} ${1}",
    }
    assert expand_variables("${URL:http://h:80/x}", {}) == "http://h:80/x"
    assert missing_variables(data, environ) == ["C"]


def test_only_configuration_is_expanded_and_prose_is_not() -> None:
    plan = {
        "session": {"orchestrator": {"config": {"k": "${A}"}}},
        "tools": [{"module": "t", "config": {"k": "${A}"}}],
        "agents": {"a": {"instruction": "use ${A}", "tools": [{"config": {"k": "${A}"}}]}},
    }
    result = expand_plan(plan, {"A": "secret"})
    assert result["session"]["orchestrator"]["config"]["k"] == "secret"
    assert result["tools"][0]["config"]["k"] == "secret"
    assert result["agents"]["a"] == {
        "instruction": "use ${A}",
        "tools": [{"config": {"k": "secret"}}],
    }
    assert plan["tools"] == [{"module": "t", "config": {"k": "${A}"}}]


def test_no_variable_makes_another_module_of_an_entry() -> None:
    named = {"module": "${NO:tool-mcp}", "source": "${NO:/m}", "id": "${NO:i}"}
    session = {"orchestrator": named, "context": "${NO:c}", "context_source": "${NO:/m}"}
    plan = {"session": session, "tools": [named, "${NO:t}"], "agents": {"a": {"hooks": [named]}}}
    assert expand_plan(plan, {}) == plan


@given(st.text())
def test_a_text_without_variables_stays_as_it_is(text: str) -> None:
    if "${" not in text:
        assert expand_variables(text, {"A": "x"}) == text
    assert isinstance(expand_variables(text, {}), str)


@pytest.mark.parametrize("scope", list(Scope))
def test_the_scope_of_a_setting_is_its_origin(tmp_path: Path, scope: Scope) -> None:
    data = {"modules": {"tools": [{"module": "t"}]}}
    chosen = Settings(SettingsFiles(tmp_path), data, {scope: data})
    assert apply_settings(bundle(), chosen, environ={}).origins["tool:t"] == [
        Origin(f"settings ({scope})")
    ]


def test_settings_read_from_a_file_are_applied(tmp_path: Path, own_home: Path) -> None:
    from amplifier_tui.foundation.settings.settings import load_settings

    write(own_home / ".amplifier" / "settings.yaml", "overrides: {t: {config: {a: 2}}}\n")
    chosen = load_settings(SettingsFiles.for_project(tmp_path))
    result = apply_settings(bundle(tools=[{"module": "t", "config": {"a": 1}}]), chosen, environ={})
    assert result.tools == [{"module": "t", "config": {"a": 2}}]


def test_every_scope_that_has_a_say_in_an_entry_is_named_with_its_file(tmp_path: Path) -> None:
    files = SettingsFiles(tmp_path / "home", tmp_path / "project")
    write(files.home / "settings.yaml", "overrides: {t: {config: {a: 1}}}\n")
    local = tmp_path / "project" / ".amplifier" / "settings.local.yaml"
    write(local, "overrides: {t: {config: {b: 2}}}\nmodules: {tools: [{module: t}]}\n")
    bundle = Bundle(name="b", tools=[{"module": "t"}], hooks=[{"module": "h"}])
    result = apply_settings(bundle, load_settings(files), environ={})
    origins = result.origins["tool:t"]
    assert [origin.bundle for origin in origins] == ["b", "settings (global)", "settings (local)"]
    assert [origin.path for origin in origins] == [None, files.home / "settings.yaml", local]
    assert [origin.bundle for origin in result.origins["hook:h"]] == ["b"]
