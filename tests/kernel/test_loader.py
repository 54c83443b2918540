import importlib.metadata
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from amplifier_tui.kernel import ModuleCoordinator
from amplifier_tui.kernel.loader import (
    TYPE_TO_MOUNT_POINT,
    ModuleLoader,
    ModuleValidationError,
    module_failure_reason,
)
from amplifier_tui.kernel.mounting import discovery
from amplifier_tui.kernel.mounting import sources as module_sources


async def mount_it(coordinator: Any, config: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    return coordinator, config


class EntryPoint:
    group = "amplifier.modules"

    def __init__(self, name: str, target: Any = mount_it, version: str | None = None) -> None:
        self.name, self.target, self.loads = name, target, 0
        self.value = f"package.{name}:mount"
        self.dist = None if version is None else SimpleNamespace(version=version)

    def load(self) -> Any:
        self.loads += 1
        if isinstance(self.target, BaseException):
            raise self.target
        return self.target


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> list[EntryPoint]:
    found: list[EntryPoint] = []

    def entry_points(*, group: str) -> list[EntryPoint]:
        assert group == "amplifier.modules"
        return found

    monkeypatch.setattr(importlib.metadata, "entry_points", entry_points)
    return found


def test_the_kinds_have_these_mount_points() -> None:
    assert TYPE_TO_MOUNT_POINT == {
        "orchestrator": "orchestrator",
        "provider": "providers",
        "tool": "tools",
        "hook": "hooks",
        "context": "context",
        "resolver": "module-source-resolver",
    }
    assert ModuleLoader.TYPE_TO_MOUNT_POINT == TYPE_TO_MOUNT_POINT


async def test_an_entry_point_is_loaded_once_and_bound_to_each_config(
    installed: list[EntryPoint],
) -> None:
    entry_point = EntryPoint("tool-x")
    installed.append(entry_point)
    loader = ModuleLoader()
    first = await loader.load("tool-x", {"a": 1})
    second = await loader.load("tool-x", {"a": 2})
    third = await loader.load("tool-x")
    assert first is not second
    assert await first("c1") == ("c1", {"a": 1})
    assert await second("c2") == ("c2", {"a": 2})
    assert await third("c3") == ("c3", {})
    assert entry_point.loads == 1


async def test_of_two_entry_points_with_one_name_the_first_counts(
    installed: list[EntryPoint],
) -> None:
    installed += [EntryPoint("tool-x"), EntryPoint("tool-x", RuntimeError("second"))]
    assert await (await ModuleLoader().load("tool-x"))("c") == ("c", {})


async def test_a_sync_mount_is_called_too(installed: list[EntryPoint]) -> None:
    installed.append(EntryPoint("tool-x", lambda coordinator, config: "mounted"))
    assert await (await ModuleLoader().load("tool-x"))("c") == "mounted"


@pytest.mark.parametrize("error", [ImportError("no module named y"), SystemExit(1)])
async def test_an_entry_point_that_does_not_load_says_why(
    installed: list[EntryPoint], error: BaseException
) -> None:
    installed.append(EntryPoint("tool-x", error))
    with pytest.raises(module_sources.ModuleLoadError, match="its entry point") as caught:
        await ModuleLoader().load("tool-x")
    assert isinstance(caught.value, ValueError)
    assert caught.value.__cause__ is error
    assert module_failure_reason(caught.value) == "invalid_entry_point"
    assert type(error).__name__ in str(caught.value)


async def test_an_entry_point_must_be_a_function(installed: list[EntryPoint]) -> None:
    installed.append(EntryPoint("tool-x", "text"))
    with pytest.raises(module_sources.ModuleLoadError, match="point it at mount"):
        await ModuleLoader().load("tool-x")


async def test_an_importable_package_is_found_by_its_conventional_name(
    installed: list[EntryPoint], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "amplifier_module_tool_conventional"
    package.mkdir()
    (package / "__init__.py").write_text("async def mount(coordinator, config): return 'found'\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert await (await ModuleLoader().load("tool-conventional"))(None) == "found"


async def test_a_package_with_a_missing_dependency_is_broken_not_missing(
    installed: list[EntryPoint], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "amplifier_module_tool_dependent"
    package.mkdir()
    (package / "__init__.py").write_text("import nowhere_to_be_found\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(module_sources.ModuleLoadError, match="Install what provides 'nowhere_to_"):
        await ModuleLoader().load("tool-dependent")


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("1 / 0", "ZeroDivisionError: division"),
        ("def", "SyntaxError"),
        ("exit(3)", "SystemExit: 3"),
    ],
)
async def test_a_package_that_can_not_be_imported_is_broken_whatever_it_raises(
    code: str,
    error: str,
    installed: list[EntryPoint],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    package = tmp_path / "amplifier_module_tool_exploding"
    package.mkdir()
    (package / "__init__.py").write_text(code)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(module_sources.ModuleLoadError, match=f"but failed to load: {error}"):
        await ModuleLoader().load("tool-exploding")


async def test_a_module_that_is_nowhere_says_what_was_tried_and_what_to_do(
    installed: list[EntryPoint], tmp_path: Path
) -> None:
    loader = ModuleLoader(search_paths=[tmp_path])
    with pytest.raises(module_sources.ModuleNotFoundError) as caught:
        await loader.load("tool-nowhere")
    assert isinstance(caught.value, ValueError)
    text = str(caught.value)
    assert text.startswith("Module 'tool-nowhere' not found via entry points or filesystem")
    assert "group amplifier.modules" in text
    assert f"{tmp_path}/amplifier-module-tool-nowhere" in text
    assert "package amplifier_module_tool_nowhere" in text
    assert "Install the package" in text
    assert module_failure_reason(caught.value) == "missing_source"


async def test_a_module_that_is_nowhere_is_told_with_the_one_that_was_most_likely_meant() -> None:
    with pytest.raises(module_sources.ModuleNotFoundError, match="did you mean 'tool-bash'\\?"):
        await ModuleLoader().load("tool-bsh")


# -- on_session_ready ------------------------------------------------------------------------------


def module_with(monkeypatch: pytest.MonkeyPatch, on_session_ready: Any) -> Any:
    module = ModuleType("entry_point_home")
    exec("async def mount(coordinator, config): return None", module.__dict__)
    if on_session_ready is not None:
        vars(module)["on_session_ready"] = on_session_ready
    monkeypatch.setitem(sys.modules, "entry_point_home", module)
    return vars(module)["mount"]


async def test_on_session_ready_of_the_mounts_own_module_rides_along(
    installed: list[EntryPoint], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def on_session_ready(coordinator: Any) -> None:
        return None

    installed.append(EntryPoint("tool-x", module_with(monkeypatch, on_session_ready)))
    mount = await ModuleLoader().load("tool-x")
    assert vars(mount)["__on_session_ready__"] == ("tool-x", on_session_ready)


async def test_a_sync_on_session_ready_is_skipped_with_a_warning(
    installed: list[EntryPoint], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    installed.append(EntryPoint("tool-x", module_with(monkeypatch, lambda coordinator: None)))
    mount = await ModuleLoader().load("tool-x")
    assert "__on_session_ready__" not in vars(mount)
    assert "on_session_ready of module 'tool-x' is not async" in caplog.text


async def test_the_queue_of_on_session_ready_is_given_out_as_a_copy() -> None:
    async def function(coordinator: Any) -> None:
        return None

    loader = ModuleLoader()
    loader.enqueue_on_session_ready("a", function)
    loader.get_on_session_ready_queue().clear()
    assert loader.get_on_session_ready_queue() == [("a", function)]
    loader.clear_on_session_ready_queue()
    assert loader.get_on_session_ready_queue() == []


async def test_initialize_mounts_and_registers_the_cleanup() -> None:
    coordinator = ModuleCoordinator()
    ran: list[str] = []

    async def mount(target: Any) -> Any:
        await target.mount("tools", object(), name="x")
        return lambda: ran.append("cleaned")

    await ModuleLoader(coordinator).initialize(mount, coordinator)
    assert list(coordinator.get("tools")) == ["x"]
    await coordinator.cleanup()
    assert ran == ["cleaned"]


# -- discover --------------------------------------------------------------------------------------


async def test_discover_lists_entry_points_and_search_paths(
    installed: list[EntryPoint], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    installed += [EntryPoint("loop-basic", version="2.1.0"), EntryPoint("context-simple")]
    for folder in ("amplifier-module-tool-web", "amplifier-module-hooks-log", "something-else"):
        (tmp_path / folder).mkdir()
    (tmp_path / "amplifier-module-a-file").touch()
    loader = ModuleLoader(search_paths=[tmp_path, str(tmp_path / "missing")])
    found = await loader.discover()
    assert [(m.id, m.name, m.version, m.type, m.mount_point) for m in found] == [
        ("loop-basic", "Loop Basic", "2.1.0", "orchestrator", "orchestrator"),
        ("context-simple", "Context Simple", "1.0.0", "context", "context"),
        ("hooks-log", "Hooks Log", "1.0.0", "hook", "hooks"),
        ("tool-web", "Tool Web", "1.0.0", "tool", "tools"),
    ]
    assert f"{tmp_path / 'missing'} does not exist" in caplog.text


async def test_the_environment_names_search_paths(
    installed: list[EntryPoint], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for part in ("one", "two"):
        (tmp_path / part / f"amplifier-module-tool-{part}").mkdir(parents=True)
    monkeypatch.setenv("AMPLIFIER_MODULES", f"{tmp_path / 'one'}:{tmp_path / 'two'}:")
    assert [m.id for m in await ModuleLoader().discover()] == ["tool-one", "tool-two"]
    assert await ModuleLoader(search_paths=[]).discover() == []


# -- installed entry points ------------------------------------------------------------------------


def install(site: Path, module_id: str) -> None:
    info = site / f"{module_id}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module_id}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[amplifier.modules]\n{module_id} = pkg:mount\n")


def test_what_is_installed_later_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(discovery, "LOOK_AGAIN", 0.0)
    assert "tool-later" not in discovery.installed_modules()
    install(tmp_path, "tool-later")
    assert discovery.installed_modules()["tool-later"].value == "pkg:mount"


def test_of_two_copies_of_a_distribution_the_first_counts_be_it_without_modules(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    for place, name in ((first, "twice"), (second, "twice"), (second, "once")):
        place.mkdir(exist_ok=True)
        install(place, name)
    (first / "twice-1.0.dist-info" / "entry_points.txt").unlink()
    for place in (second, first):
        monkeypatch.syspath_prepend(place)
    names = [point.name for point in discovery.all_installed()]
    assert "once" in names and "twice" not in names


def test_folders_are_not_looked_at_again_for_each_module_of_a_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[str] = []

    def changed_at(path: str) -> int:
        looked.append(path)
        return 1

    monkeypatch.setattr(discovery, "_changed_at", changed_at)
    monkeypatch.setattr(discovery, "LOOK_AGAIN", 60.0)
    monkeypatch.syspath_prepend(tmp_path)
    for _ in range(3):
        discovery.installed_modules()
    assert looked.count(str(tmp_path)) == 1


def test_installed_modules_are_read_once_as_long_as_nothing_changes() -> None:
    first = discovery.installed_modules()
    assert discovery.installed_modules() is first


# -- reasons ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ModuleValidationError("x"), "validation_failed"),
        (
            ModuleValidationError("x", reason_code="invalid_package_layout"),
            "invalid_package_layout",
        ),
        (module_sources.ModuleNotFoundError("x"), "missing_source"),
        (FileNotFoundError("x"), "missing_source"),
        (RuntimeError("x"), "unknown"),
        (module_sources.ModuleLoadError("x"), "unknown"),
    ],
)
def test_failures_have_one_word_reasons(error: Exception, reason: str) -> None:
    assert module_failure_reason(error) == reason
