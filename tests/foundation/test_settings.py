from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_tui.foundation.settings.settings import (
    Scope,
    Settings,
    SettingsFiles,
    load_settings,
    merge_settings,
)
from tests.foundation.helpers import write


@pytest.fixture
def files(own_home: Path, tmp_path: Path) -> SettingsFiles:
    return SettingsFiles.for_project(tmp_path / "proj", session=tmp_path / "session")


def put(files: SettingsFiles, scope: Scope, text: str) -> Path:
    path = files.path(scope)
    assert path is not None
    return write(path, text)


def test_each_scope_has_its_file(own_home: Path, tmp_path: Path, files: SettingsFiles) -> None:
    project = tmp_path / "proj" / ".amplifier"
    assert [files.path(scope) for scope in Scope] == [
        own_home / ".amplifier" / "settings.yaml",
        project / "settings.yaml",
        project / "settings.local.yaml",
        tmp_path / "session" / "settings.yaml",
    ]


def test_in_the_home_folder_there_are_no_project_settings(own_home: Path) -> None:
    files = SettingsFiles.for_project(own_home)
    assert files.path(Scope.PROJECT) is None and files.path(Scope.LOCAL) is None
    assert files.path(Scope.SESSION) is None
    (own_home / ".amplifier").mkdir()
    assert files.path(Scope.PROJECT) is None
    assert SettingsFiles(own_home / ".amplifier").path(Scope.PROJECT) is None


def test_later_scopes_win_deeply_and_lists_are_replaced(files: SettingsFiles) -> None:
    put(files, Scope.GLOBAL, "a: {x: 1, y: 1, z: 1, w: 1}\nl: [1, 2]\n")
    put(files, Scope.PROJECT, "a: {x: 2, y: 2, z: 2}\nl: [3]\n")
    put(files, Scope.LOCAL, "a: {x: 3, y: 3}\n")
    put(files, Scope.SESSION, "a: {x: 4}\n")
    settings = load_settings(files)
    assert settings.data == {"a": {"x": 4, "y": 3, "z": 2, "w": 1}, "l": [3]}
    assert [settings.scope_of(f"a.{key}") for key in "xyzw"] == [
        Scope.SESSION,
        Scope.LOCAL,
        Scope.PROJECT,
        Scope.GLOBAL,
    ]
    assert settings.scope_of("a.q") is None
    assert settings.get("a.x") == 4 and settings.get("no.such", 7) == 7


def test_providers_merge_by_id_or_module_across_scopes(files: SettingsFiles) -> None:
    put(
        files,
        Scope.GLOBAL,
        "config:\n  providers:\n"
        "    - {module: provider-a, config: {api_key: k, l: [1]}}\n"
        "    - {module: provider-a, id: two}\n",
    )
    put(
        files,
        Scope.LOCAL,
        "config:\n  providers:\n"
        "    - {module: provider-a, config: {model: m, l: [2]}}\n    - {module: provider-b}\n",
    )
    assert load_settings(files).providers == [
        {"module": "provider-a", "config": {"api_key": "k", "l": [2], "model": "m"}},
        {"module": "provider-a", "id": "two"},
        {"module": "provider-b"},
    ]


def test_path_lists_of_tools_are_united_across_scopes(files: SettingsFiles) -> None:
    for scope, folder in ((Scope.GLOBAL, "/a"), (Scope.PROJECT, "/b")):
        put(
            files,
            scope,
            "modules:\n  tools:\n    - module: tool-filesystem\n      config:\n"
            f"        allowed_write_paths: [{folder}]\n        denied_write_paths: [{folder}/d]\n"
            f"        other: [{folder}]\n"
            f"overrides: {{tool-filesystem: {{config: {{allowed_read_paths: [{folder}]}}}}}}\n",
        )
    settings = load_settings(files)
    assert settings.modules("tools")[0]["config"] == {
        "allowed_write_paths": ["/a", "/b"],
        "denied_write_paths": ["/a/d", "/b/d"],
        "other": ["/b"],
    }
    override = settings.overrides["tool-filesystem"]["config"]
    assert override == {"allowed_read_paths": ["/a", "/b"]}


def test_one_path_is_united_with_a_list_of_them(files: SettingsFiles) -> None:
    paths = {Scope.GLOBAL: "/a", Scope.PROJECT: "[/b, {c: d}]", Scope.LOCAL: "/a"}
    for scope, value in paths.items():
        put(files, scope, f"overrides: {{tool-x: {{config: {{allowed_write_paths: {value}}}}}}}\n")
    config = load_settings(files).overrides["tool-x"]["config"]
    assert config == {"allowed_write_paths": ["/a", "/b", {"c": "d"}]}


def test_everything_we_read_is_understood(files: SettingsFiles) -> None:
    put(
        files,
        Scope.GLOBAL,
        "bundle: {active: coding, added: {x: 'git+https://h/x', n: null}, app: [./app.yaml]}\n"
        "sources: {modules: {tool-x: ./x}, bundles: {'github.com/o': 'file:///o'}}\n"
        "overrides: {tool-x: {source: ./y}, tool-n: null}\n"
        "routing: {matrix: m}\ntui: {theme: dark}\n",
    )
    settings = load_settings(files)
    assert settings.problems == []
    assert settings.active_bundle == "coding"
    assert settings.added_bundles == {"x": "git+https://h/x"}
    assert settings.app_bundles == ["./app.yaml"]
    assert settings.module_sources == {"tool-x": "./x"}
    assert settings.overrides == {"tool-x": {"source": "./y"}}
    assert settings.get("routing.matrix") == "m" and settings.get("tui.theme") == "dark"
    assert Settings(files).active_bundle is None and Settings(files).providers == []


def test_a_key_that_is_a_number_is_reported_like_any_other(files: SettingsFiles) -> None:
    put(files, Scope.GLOBAL, "bundle: {active: a, added: {1: 2}}\nmodules: {3: x}\n")
    settings = load_settings(files)
    assert settings.active_bundle == "a" and settings.added_bundles == {}
    assert sorted(problem.message for problem in settings.problems) == [
        "'bundle.added[1]' must be a text, not int; it is ignored",
        "'modules[3]' must be a list, not str; it is ignored",
    ]


def test_null_values_are_absent_at_every_level(files: SettingsFiles) -> None:
    put(files, Scope.GLOBAL, "bundle: {active: a}\nconfig: {providers: [{module: p}]}\nx: 1\n")
    put(files, Scope.LOCAL, "bundle: {active: null}\nconfig: null\nx: null\n")
    settings = load_settings(files)
    assert (settings.active_bundle, settings.get("x")) == ("a", 1)
    assert settings.providers == [{"module": "p"}]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a: 1\nb: [\n", 2),
        ("- a\n", 1),
        ("just text", 1),
        ("a: 1\n\tb: 2\n", 2),
        ("a: &x [*x]", None),
    ],
)
def test_a_broken_file_is_reported_with_its_line_and_the_others_count(
    files: SettingsFiles, text: str, line: int | None
) -> None:
    broken = put(files, Scope.PROJECT, text)
    put(files, Scope.GLOBAL, "bundle: {active: a}")
    settings = load_settings(files)
    (problem,) = settings.problems
    assert (problem.path, problem.scope) == (broken, Scope.PROJECT)
    assert line is None or problem.line == line
    assert str(problem).startswith(f"{broken}:" if line is None else f"{broken}:{line}: ")
    assert settings.active_bundle == "a"


def test_a_file_that_is_no_text_or_a_folder_is_reported(files: SettingsFiles) -> None:
    path = put(files, Scope.GLOBAL, "")
    path.write_bytes(b"a: \xff")
    local = files.path(Scope.LOCAL)
    assert local is not None
    local.mkdir(parents=True)
    messages = [problem.message for problem in load_settings(files).problems]
    assert "UTF-8" in messages[0] and "Cannot be read" in messages[1]


WRONG: list[tuple[str, int, str]] = [
    ("bundle: x\n", 1, "'bundle' must be a mapping"),
    ("bundle:\n  active: [a]\n", 2, "'bundle.active' must be a text"),
    ("bundle:\n  added:\n    a: 5\n", 3, "'bundle.added.a' must be a text"),
    ("bundle:\n  app: x\n", 2, "'bundle.app' must be a list"),
    ("bundle:\n  app:\n    - ok\n    - 5\n", 4, "'bundle.app[1]' must be a text"),
    ("config:\n  providers: {}\n", 2, "'config.providers' must be a list"),
    ("config:\n  providers:\n    - {id: x}\n", 3, "needs a 'module'"),
    ("config:\n  providers:\n    - {module: p, config: 1}\n", 3, "'config.providers[0].config'"),
    ("modules:\n  tools:\n    - x\n", 3, "'modules.tools[0]' must be a mapping"),
    ("overrides:\n  m: 5\n", 2, "'overrides.m' must be a mapping"),
    ("overrides:\n  m: {source: 1}\n", 2, "'overrides.m.source' must be a text"),
    ("sources:\n  modules: []\n", 2, "'sources.modules' must be a mapping"),
    ("routing: []\n", 1, "'routing' must be a mapping"),
]


@pytest.mark.parametrize(("text", "line", "words"), WRONG, ids=[row[0] for row in WRONG])
def test_a_value_of_the_wrong_shape_is_reported_and_the_rest_counts(
    files: SettingsFiles, text: str, line: int, words: str
) -> None:
    put(files, Scope.GLOBAL, f"{text}other: 1\n")
    settings = load_settings(files)
    (problem,) = settings.problems
    assert problem.line == line and words in problem.message
    assert settings.get("other") == 1


def test_of_a_list_only_the_wrong_entries_are_left_out(files: SettingsFiles) -> None:
    put(
        files,
        Scope.GLOBAL,
        "config:\n  providers:\n    - {id: x}\n    - {module: a}\n    - text\n    - {module: b}\n"
        "    - {config: {}}\n    - 5\n",
    )
    settings = load_settings(files)
    assert settings.providers == [{"module": "a"}, {"module": "b"}]
    assert sorted(problem.line or 0 for problem in settings.problems) == [3, 5, 7, 8]


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["module", "id", "config", "active", "added", "app", "providers", "tools"]
            ),
            inner,
            max_size=3,
        )
    ),
    max_leaves=12,
)


@given(
    st.dictionaries(
        st.sampled_from(["bundle", "config", "modules", "overrides", "sources", "routing"]), values
    )
)
def test_settings_of_any_shape_can_be_used_after_loading(data: dict[str, Any]) -> None:
    from amplifier_tui.foundation.settings.schema import without_wrong

    kept, _ = without_wrong(data)
    merged = merge_settings(merge_settings({}, kept), kept)
    settings = Settings(SettingsFiles(Path("/h")), merged, {Scope.GLOBAL: kept})
    assert isinstance(settings.active_bundle, str | None)
    assert all(isinstance(uri, str) for uri in settings.app_bundles)
    assert all(isinstance(entry["module"], str) for entry in settings.providers)
    for section in ("tools", "hooks"):
        assert all(isinstance(entry, dict) for entry in settings.modules(section))
    assert isinstance(settings.overrides, dict) and isinstance(settings.module_sources, dict)


@given(st.dictionaries(st.text(max_size=2), values), st.dictionaries(st.text(max_size=2), values))
def test_merging_settings_changes_neither_side(low: dict[str, Any], high: dict[str, Any]) -> None:
    import copy

    before = copy.deepcopy((low, high))
    merged = merge_settings(low, high)
    for value in merged.values():
        if isinstance(value, list):
            value.append("changed")
        elif isinstance(value, dict):
            value["changed"] = 1
    assert (low, high) == before


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("git+https://github.com/o/r@main", "file:///longer"),
        ("git+https://github.com/o/x@main", "file:///o"),
        ("git+https://github.com/o/x@main#subdirectory=a", "file:///o#subdirectory=a"),
        ("git+https://github.com/p/r@main#subdirectory=a", "file:///p#subdirectory=own"),
        ("github.com/o:path", None),
        ("ns:github.com/o/x", None),
        ("git+https://elsewhere/r", None),
    ],
)
def test_includes_are_redirected_by_a_part_of_them(
    files: SettingsFiles, source: str, expected: str | None
) -> None:
    targets = {
        "github.com/o": "file:///o",
        "github.com/o/r": "file:///longer",
        "github.com/p": "file:///p#subdirectory=own",
    }
    settings = Settings(files, {"sources": {"bundles": targets}})
    assert settings.redirect_include(source) == expected


def test_sources_of_modules_in_the_home_become_absolute(
    files: SettingsFiles, own_home: Path
) -> None:
    text = """\
overrides: {a: {source: ~/mods/a}, b: {source: ~b}, c: }
sources: {modules: {d: ~/mods/d, e: built-in}}
config: {providers: [{module: f, source: ~/mods/f}, {module: g}]}
modules: {tools: [{module: h, source: "~"}], hooks: }
"""
    put(files, Scope.GLOBAL, text)
    settings = load_settings(files)
    assert settings.problems == []
    assert settings.overrides == {
        "a": {"source": f"{own_home}/mods/a"},
        "b": {"source": "~b"},
    }
    assert settings.module_sources == {"d": f"{own_home}/mods/d", "e": "built-in"}
    assert [each.get("source") for each in settings.providers] == [f"{own_home}/mods/f", None]
    assert settings.modules("tools") == [{"module": "h", "source": str(own_home)}]
