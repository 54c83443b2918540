import datetime
import json
from pathlib import Path

import pytest

from amplifier_tui.foundation.exceptions import BundleNotFoundError
from amplifier_tui.foundation.registry.registry import BundleRegistry, load_bundle
from amplifier_tui.foundation.registry.state import BundleState
from tests.foundation.helpers import write


def local(folder: Path, name: str, text: str = "") -> str:
    return str(write(folder / f"{name}.yaml", f"bundle: {{name: {name}}}\n{text}"))


def test_the_home_is_the_argument_or_the_amplifier_home(own_home: Path, tmp_path: Path) -> None:
    assert BundleRegistry().home == own_home / ".amplifier"
    assert BundleRegistry(tmp_path / "x").home == tmp_path / "x"
    assert BundleRegistry(Path("~/y")).home == own_home / "y"


def test_names_are_registered_found_and_forgotten(tmp_path: Path) -> None:
    registry = BundleRegistry(tmp_path)
    registry.register({"b": "git+https://h/b", "a": "./a"})
    assert registry.list_registered() == ["a", "b"]
    assert registry.find("b") == "git+https://h/b"
    assert registry.find("c") is None
    registry.states["a"].includes = ["b"]
    registry.states["b"].included_by = ["a"]
    assert registry.unregister("a")
    assert not registry.unregister("a")
    assert registry.states["b"].included_by == []
    assert not (tmp_path / "registry.json").exists()


def test_registering_again_changes_the_uri_and_keeps_the_rest(tmp_path: Path) -> None:
    registry = BundleRegistry(tmp_path)
    registry.register({"a": "one"})
    registry.states["a"].explicitly_requested = True
    registry.register({"a": "two"})
    state = registry.get_state("a")
    assert state is not None and (state.uri, state.explicitly_requested) == ("two", True)


def test_all_states_come_as_a_copy(tmp_path: Path) -> None:
    registry = BundleRegistry(tmp_path)
    registry.register({"a": "x"})
    registry.get_state().clear()
    assert registry.get_state("a") is not None
    assert registry.get_state("no") is None


async def test_a_loaded_bundle_is_registered_marked_and_saved(tmp_path: Path) -> None:
    uri = local(tmp_path, "one")
    registry = BundleRegistry(tmp_path / "home")
    assert (await registry.load(uri)).name == "one"
    data = json.loads((tmp_path / "home" / "registry.json").read_text())
    assert data["version"] == 1
    entry = data["bundles"]["one"]
    assert (entry["uri"], entry["local_path"], entry["is_root"]) == (uri, uri, True)
    assert entry["explicitly_requested"] is True
    assert datetime.datetime.fromisoformat(entry["loaded_at"]).tzinfo is None
    assert entry["checked_at"] is None and entry["app_bundle"] is False
    assert "includes" not in entry and "root_name" not in entry
    again = BundleRegistry(tmp_path / "home").get_state("one")
    assert again == registry.get_state("one")


async def test_a_registered_name_loads_its_uri(tmp_path: Path) -> None:
    registry = BundleRegistry(tmp_path / "home")
    registry.register({"alias": local(tmp_path, "real")})
    assert (await registry.load("alias")).name == "real"
    for name in ("alias", "real"):
        state = registry.get_state(name)
        assert state is not None and state.explicitly_requested and state.local_path


async def test_all_registered_bundles_load_and_failures_are_left_out(tmp_path: Path) -> None:
    registry = BundleRegistry(tmp_path / "home")
    registry.register({"one": local(tmp_path, "one"), "gone": str(tmp_path / "gone.md")})
    loaded = await registry.load()
    assert list(loaded) == ["one"]
    assert isinstance(registry.failures["gone"], BundleNotFoundError)
    assert not any(state.explicitly_requested for state in registry.get_state().values())


async def test_auto_register_has_no_effect(tmp_path: Path) -> None:
    registry = BundleRegistry(tmp_path / "home")
    await registry.load(local(tmp_path, "one"), auto_register=False)
    assert registry.list_registered() == ["one"]


async def test_a_loaded_bundle_stays_in_memory(tmp_path: Path) -> None:
    registry = BundleRegistry(tmp_path / "home")
    uri = local(tmp_path, "one")
    assert await registry.load(uri) is await registry.load("one")


async def test_relative_paths_start_at_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    local(tmp_path, "one")
    monkeypatch.chdir(tmp_path)
    assert (await load_bundle("./one.yaml")).name == "one"


async def test_a_path_in_the_users_home_is_understood(own_home: Path) -> None:
    local(own_home, "mine")
    assert (await load_bundle("~/mine.yaml")).name == "mine"


async def test_a_registered_namespace_path_is_loaded(tmp_path: Path) -> None:
    registry = BundleRegistry(tmp_path / "home")
    write(tmp_path / "r" / "bundle.md", "---\nbundle: {name: r}\n---\n")
    local(tmp_path / "r" / "behaviors", "b")
    await registry.load(str(tmp_path / "r"))
    assert (await registry.load("r:behaviors/b")).name == "b"


async def test_an_unknown_name_says_what_can_be_done() -> None:
    with pytest.raises(BundleNotFoundError, match="No handler for URI: nope"):
        await load_bundle("nope")


async def test_the_function_does_not_mark_a_bundle_as_requested(tmp_path: Path) -> None:
    registry = BundleRegistry(tmp_path / "home")
    await load_bundle(local(tmp_path, "one"), registry=registry)
    state = registry.get_state("one")
    assert state is not None and not state.explicitly_requested


async def test_what_was_requested_once_stays_requested(tmp_path: Path) -> None:
    inner = local(tmp_path, "inner")
    top = local(tmp_path, "top", "includes: [./inner.yaml]")
    registry = BundleRegistry(tmp_path / "home")
    await registry.load(inner)
    await registry.load(top)
    await registry.update("inner")
    again = BundleRegistry(tmp_path / "home")
    await load_bundle(inner, registry=again)
    assert {name for name, state in again.states.items() if state.explicitly_requested} == {
        "inner",
        "top",
    }


async def test_a_registry_has_its_own_strictness(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="own"):
        await load_bundle("x", registry=BundleRegistry(tmp_path), strict=True)


async def test_includes_can_be_left_unloaded(tmp_path: Path) -> None:
    local(tmp_path, "inner", "tools: [{module: t}]")
    uri = local(tmp_path, "outer", "includes: [./inner.yaml]")
    shallow = await load_bundle(uri, auto_include=False)
    assert (shallow.includes, shallow.tools) == (["./inner.yaml"], [])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        '{"bundles": 5}',
        '{"bundles": {"a": 5, "b": {}, "c": {"uri": 1}}}',
        '{"bundles": {"a": {"uri": "x", "local_path": 5}, "b": {"uri": "x", "root_name": []}}}',
        '{"bundles": {"a": {"uri": "x", "loaded_at": "then"}, "b": {"uri": "x", "checked_at": 5}}}',
    ],
)
def test_a_broken_registry_file_is_an_empty_registry(
    tmp_path: Path, text: str, caplog: pytest.LogCaptureFixture
) -> None:
    write(tmp_path / "registry.json", text)
    assert BundleRegistry(tmp_path).list_registered() == []
    assert "registry.json" in caplog.text


def test_an_entry_with_only_a_uri_has_defaults(tmp_path: Path) -> None:
    write(tmp_path / "registry.json", '{"version": 1, "bundles": {"a": {"uri": "x"}}}')
    assert BundleRegistry(tmp_path).get_state("a") == BundleState(uri="x", name="a")


def test_a_folder_that_vanished_is_forgotten_and_that_is_saved(tmp_path: Path) -> None:
    entry = {"uri": "x", "name": "a", "local_path": str(tmp_path / "gone")}
    write(tmp_path / "registry.json", json.dumps({"version": 1, "bundles": {"a": entry}}))
    state = BundleRegistry(tmp_path).get_state("a")
    assert state is not None and state.local_path is None
    saved = json.loads((tmp_path / "registry.json").read_text())
    assert saved["bundles"]["a"]["local_path"] is None


def test_a_version_that_is_a_number_or_date_is_saved(tmp_path: Path) -> None:
    registry = BundleRegistry(tmp_path)
    registry.register({"a": "x", "b": "y"})
    registry.states["a"].version = 0.1
    registry.states["b"].version = datetime.date(2026, 1, 2)
    registry.save()
    bundles = json.loads((tmp_path / "registry.json").read_text())["bundles"]
    assert (bundles["a"]["version"], bundles["b"]["version"]) == (0.1, "2026-01-02")


async def test_a_registry_that_does_not_persist_writes_nothing(tmp_path: Path) -> None:
    registry = BundleRegistry(tmp_path / "home", persist=False)
    await registry.load(local(tmp_path, "one"))
    assert not (tmp_path / "home").exists()


async def test_a_home_that_cannot_be_written_does_not_keep_a_bundle_from_loading(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write(tmp_path / "home", "a file where the folder should be")
    registry = BundleRegistry(tmp_path / "home")
    assert (await registry.load(local(tmp_path, "one"))).name == "one"
    assert "cannot be written" in caplog.text
