import importlib
import importlib.util
import py_compile
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from amplifier_tui.kernel.loader import ModuleLoader, ModuleValidationError, module_failure_reason
from amplifier_tui.kernel.mounting.packages import finding
from amplifier_tui.kernel.mounting.sources import ModuleLoadError
from tests.kernel.loader.written import MOUNT, Resolver, loader_for, write


class Current(ModuleLoader):
    RUNS_CHANGES = True


# -- what is at the path ---------------------------------------------------------------------------


async def test_a_missing_path_is_named(tmp_path: Path) -> None:
    missing = tmp_path / "gone"
    loader = await loader_for(Resolver(missing))
    with pytest.raises(ModuleValidationError) as caught:
        await loader.load("tool-a")
    text = str(caught.value)
    assert f"Module 'tool-a' has no valid Python package at {missing}" in text
    assert "does not exist" in text
    assert module_failure_reason(caught.value) == "missing_source"


async def test_a_path_without_a_package_says_what_was_expected(tmp_path: Path) -> None:
    with pytest.raises(ModuleValidationError) as caught:
        await (await loader_for(Resolver(tmp_path))).load("tool-a")
    assert "expected amplifier_module_tool_a/__init__.py" in str(caught.value)
    assert module_failure_reason(caught.value) == "invalid_package_layout"


@pytest.mark.parametrize("inside", ["tool-a", "modules/tool-a", "tools"])
async def test_a_package_that_lies_deeper_has_its_folder_named(tmp_path: Path, inside: str) -> None:
    write(tmp_path / inside, "tool-a")
    write(tmp_path / "hidden" / "too" / "deep", "tool-a")
    write(tmp_path / ".git", "tool-a")
    with pytest.raises(ModuleValidationError) as caught:
        await (await loader_for(Resolver(tmp_path))).load("tool-a")
    assert f"#subdirectory={inside}." in caught.value.remedy
    assert caught.value.remedy in str(caught.value)
    assert caught.value.remedy not in caught.value.reason


@pytest.mark.parametrize(
    "manifest", ['transport = "wasm"', '[module]\ntransport = "grpc"', '[module]\ntransport="rust"']
)
async def test_a_native_module_is_refused_by_the_name_of_its_transport(
    tmp_path: Path, manifest: str
) -> None:
    (write(tmp_path, "tool-a") / "amplifier.toml").write_text(manifest)
    with pytest.raises(ModuleValidationError, match=r"transport '(wasm|grpc|rust)'"):
        await (await loader_for(Resolver(tmp_path))).load("tool-a")


async def test_a_torn_manifest_is_no_manifest(tmp_path: Path) -> None:
    (tmp_path / "amplifier.toml").write_text("transport = ")
    with pytest.raises(ModuleValidationError, match="expected amplifier_module"):
        await (await loader_for(Resolver(tmp_path))).load("tool-a")


@pytest.mark.parametrize("name", ["__init__", "inner"])
async def test_what_pretends_to_be_compiled_from_the_source_is_not_run(
    tmp_path: Path, name: str
) -> None:
    ran = tmp_path / "ran"
    write(tmp_path, "tool-a", f"from amplifier_module_tool_a import inner\n{MOUNT}")
    package = tmp_path / "amplifier_module_tool_a"
    (package / "inner.py").write_text("")
    evil = tmp_path / "evil.py"
    evil.write_text(f"open({str(ran)!r}, 'w').close()\n{MOUNT}")
    source = package / f"{name}.py"
    compiled = Path(py_compile.compile(str(evil), importlib.util.cache_from_source(str(source))))
    status = source.stat()
    forged = int(status.st_mtime).to_bytes(4, "little") + status.st_size.to_bytes(4, "little")
    compiled.write_bytes(compiled.read_bytes()[:8] + forged + compiled.read_bytes()[16:])
    before = compiled.read_bytes()
    await (await loader_for(Resolver(tmp_path))).load("tool-a")
    assert not ran.exists()
    assert compiled.read_bytes() == before and len([*package.rglob("*.pyc")]) == 1


async def test_what_lies_below_a_folder_that_python_looked_into_before_is_its_source_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "in", "tool-a")
    with monkeypatch.context() as there:
        there.syspath_prepend(tmp_path / "in")
        assert importlib.util.find_spec("amplifier_module_tool_a")
    await (await loader_for(Resolver(tmp_path / "in"))).load("tool-a")
    assert not [*tmp_path.rglob("*.pyc")]


def test_the_package_is_the_path_itself_or_the_conventional_or_any_module(
    tmp_path: Path,
) -> None:
    find = ModuleLoader._find_package_dir
    assert find("tool-a", tmp_path / "missing") is None
    assert find("tool-a", tmp_path) is None
    write(tmp_path, "other")
    assert find("tool-a", tmp_path) == tmp_path / "amplifier_module_other"
    write(tmp_path, "tool-a")
    assert find("tool-a", tmp_path) == tmp_path / "amplifier_module_tool_a"
    package = tmp_path / "amplifier_module_tool_a"
    assert find("tool-a", package) == package


async def test_a_path_that_is_the_package_itself_loads(tmp_path: Path) -> None:
    package = write(tmp_path, "tool-a") / "amplifier_module_tool_a"
    loader = await loader_for(Resolver(package))
    assert await (await loader.load("tool-a", {"n": 1}))(None) == {"n": 1}
    assert loader._added_paths == [tmp_path]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("raise RuntimeError('at import')", "RuntimeError: at import"),
        ("import sys\nsys.exit(2)", "SystemExit: 2"),
        ("def (", "SyntaxError"),
        ("import nowhere_at_all", "Install what provides 'nowhere_at_all'"),
    ],
)
async def test_a_package_that_can_not_be_imported_says_why(
    tmp_path: Path, source: str, message: str
) -> None:
    path = write(tmp_path, "tool-bad", source)
    loader = await loader_for(Resolver(path))
    with pytest.raises(ModuleLoadError) as caught:
        await loader.load("tool-bad")
    assert f"Module 'tool-bad' found at {path} but failed to load" in str(caught.value)
    assert message in str(caught.value)
    assert module_failure_reason(caught.value) == "validation_failed"
    assert str(path) not in sys.path


@pytest.mark.parametrize(
    ("imported", "declared", "installs"),
    [
        ("nowhere_at_all", None, "nowhere-at-all"),
        ("nowhere_at_all.inner", ["pytest", "nowhere.at-all>=2"], "'nowhere.at-all>=2'"),
        ("nowhere_at_all", ["pytest", "of-another-name", "x[y]"], "of-another-name 'x[y]'"),
        ("nowhere_at_all", ["pytest"], "nowhere-at-all"),
        ("nowhere_at_all", "pytest", "nowhere-at-all"),
        ("cv2", None, "opencv-python"),
    ],
)
async def test_what_a_module_misses_is_installed_by_a_command_that_is_told(
    tmp_path: Path, imported: str, declared: Any, installs: str
) -> None:
    path = write(tmp_path, "tool-bad", f"import {imported}")
    (path / "pyproject.toml").write_text(f"[project]\ndependencies = {declared or []!r}\n")
    with pytest.raises(ModuleLoadError) as caught:
        await (await loader_for(Resolver(path))).load("tool-bad")
    said = str(caught.value)
    assert f"program: `{shlex.quote(sys.executable)} -m pip install {installs}`" in said
    known = isinstance(declared, list) and len(declared) > 1
    assert ("and name it in `dependencies`" in said) == (not known)


async def test_a_python_without_pip_is_installed_into_by_uv(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    path = write(tmp_path, "tool-bad", "import nowhere_at_all")
    with pytest.raises(ModuleLoadError) as caught:
        await (await loader_for(Resolver(path))).load("tool-bad")
    python = shlex.quote(sys.executable)
    assert f"`uv pip install --python {python} nowhere-at-all`" in str(caught.value)


async def test_an_unknown_kind_lists_the_kinds_there_are(tmp_path: Path) -> None:
    path = write(tmp_path, "tool-a", f"__amplifier_module_type__ = 'gadget'\n{MOUNT}")
    with pytest.raises(ModuleValidationError) as caught:
        await (await loader_for(Resolver(path))).load("tool-a")
    assert "valid types are: context, hook, orchestrator, provider, resolver, tool" in str(
        caught.value
    )
    assert module_failure_reason(caught.value) == "invalid_module_metadata"


async def test_a_kind_without_a_validator_is_loaded_with_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = write(tmp_path, "my-resolver", f"__amplifier_module_type__ = 'resolver'\n{MOUNT}")
    loader = await loader_for(Resolver(path))
    assert await (await loader.load("my-resolver", {"n": 1}))(None) == {"n": 1}
    assert "has no validator" in caplog.text


async def test_a_resolver_module_without_mount_is_found_but_fails(tmp_path: Path) -> None:
    path = write(tmp_path, "my-resolver", "__amplifier_module_type__ = 'resolver'\n")
    with pytest.raises(
        ModuleLoadError, match=r"but failed to load: .* has no mount func"
    ) as caught:
        await (await loader_for(Resolver(path))).load("my-resolver")
    assert module_failure_reason(caught.value) == "invalid_entry_point"


@pytest.mark.parametrize(
    ("module_id", "kind"),
    [
        ("my-orchestrator", "orchestrator"),
        ("loop-basic", "orchestrator"),
        ("provider-x", "provider"),
        ("tool-provider-list", "provider"),
        ("tool-x", "tool"),
        ("hooks-x", "hook"),
        ("context-x", "context"),
        ("gadget", "tool"),
    ],
)
def test_the_name_suggests_the_kind(module_id: str, kind: str) -> None:
    assert finding.kind_by_name(module_id) == kind


# -- validation ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "problem", "reason"),
    [
        ("mount(c", "mounted(c", "mount_exists: No mount() function found", "invalid_entry_point"),
        ("async def mount", "def mount", "mount_signature: mount() should", "invalid_entry_point"),
        ("return config", "return config\n\n\ndef on_session_ready(c): ...",
         "on_session_ready_async: on_session_ready() must be", "invalid_entry_point"),
        ("execute", "run", "protocol_compliance: Tool 't' does not implement", "validation_failed"),
    ],
)  # fmt: skip
async def test_a_module_that_breaks_its_contract_is_refused_with_the_reasons(
    old: str, new: str, problem: str, reason: str, tmp_path: Path
) -> None:
    source = MOUNT.replace(old, new)
    if "async def mount" not in source:
        source = source.replace("await coordinator", "coordinator")
    path = write(tmp_path, "tool-a", source)
    with pytest.raises(ModuleValidationError) as caught:
        await (await loader_for(Resolver(path))).load("tool-a")
    text = str(caught.value)
    assert text.startswith("Module 'tool-a' failed validation: FAILED: ")
    assert f"Errors: {problem}" in text
    assert module_failure_reason(caught.value) == reason
    assert str(tmp_path) not in sys.path


async def test_changed_source_is_run_only_by_a_loader_that_wants_that(tmp_path: Path) -> None:
    resolver = Resolver(write(tmp_path, "tool-a", MOUNT + "VALUE = 1\n"))
    await (await loader_for(resolver)).load("tool-a")
    first = sys.modules["amplifier_module_tool_a"]
    (tmp_path / "amplifier_module_tool_a" / "more.py").write_text("")
    for loader, same in ((ModuleLoader, True), (Current, False)):
        await loader((await loader_for(resolver))._coordinator).load("tool-a")
        assert (sys.modules["amplifier_module_tool_a"] is first) is same


# -- one copy of each module -----------------------------------------------------------------------


async def test_a_second_copy_of_a_loaded_module_is_refused(tmp_path: Path) -> None:
    first, second = write(tmp_path / "one", "tool-a"), write(tmp_path / "two", "tool-a")
    await (await loader_for(Resolver(first))).load("tool-a")
    message = (
        "Refusing to load 'tool-a' from .*two.*: a package of that name is already loaded "
        "from .*one.*give one of the two packages another name.*--resume"
    )
    with pytest.raises(ImportError, match=message):
        await (await loader_for(Resolver(second))).load("tool-a")


async def test_each_session_runs_the_copy_of_its_own_folder(tmp_path: Path) -> None:
    source = f"from .part import PLACE\nimport mate_of_a\n{MOUNT}"
    source = source.replace("return config", "return (PLACE, mate_of_a.PLACE)")
    resolvers = []
    for place in ("one", "two"):
        folder = write(tmp_path / place, "tool-a", source)
        (folder / "amplifier_module_tool_a" / "part.py").write_text(f"PLACE = {place!r}\n")
        (folder / "mate_of_a.py").write_text(f"PLACE = {place!r}\n")
        resolvers.append(Resolver(folder))

    async def loaded(kind: type[ModuleLoader], resolver: Resolver) -> Any:
        loader = kind((await loader_for(resolver))._coordinator)
        mount = await loader.load("tool-a")
        return loader, mount, sys.modules["amplifier_module_tool_a"]

    one, mount_one, module_one = await loaded(Current, resolvers[0])
    _, mount_two, module_two = await loaded(Current, resolvers[1])
    assert await mount_one(None) == ("one", "one")
    assert await mount_two(None) == ("two", "two")
    # An agent of the first session has what that session has.
    _, mount_agent, module_agent = await loaded(ModuleLoader, resolvers[0])
    assert await mount_agent(None) == ("one", "one")
    assert module_agent is module_one
    # Its source once more, while the other copy is in front.
    await loaded(ModuleLoader, resolvers[1])
    assert sys.modules["amplifier_module_tool_a"] is module_two
    (resolvers[0].path / "amplifier_module_tool_a" / "part.py").write_text("PLACE = 'anew'\n")
    with one.fresh("tool-a", "amplifier_module_tool_a"):
        mount_anew = await one.load("tool-a")
    assert await mount_anew(None) == ("anew", "one")
    _, mount_agent, module_agent = await loaded(ModuleLoader, resolvers[1])
    assert module_agent is module_two


async def test_a_copy_that_does_not_load_leaves_the_other_where_it_is(tmp_path: Path) -> None:
    first = write(tmp_path / "one", "tool-a")
    second = write(tmp_path / "two", "tool-a", "1 / 0\n")
    await Current((await loader_for(Resolver(first)))._coordinator).load("tool-a")
    module = sys.modules["amplifier_module_tool_a"]
    with pytest.raises(ModuleLoadError, match="ZeroDivisionError"):
        await Current((await loader_for(Resolver(second)))._coordinator).load("tool-a")
    assert sys.modules["amplifier_module_tool_a"] is module


async def test_a_module_of_the_environment_gives_way_to_no_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(write(tmp_path / "environment", "tool-a"))
    importlib.import_module("amplifier_module_tool_a")
    second = write(tmp_path / "two", "tool-a")
    with pytest.raises(ImportError, match="Refusing to load 'tool-a'"):
        await Current((await loader_for(Resolver(second)))._coordinator).load("tool-a")


async def test_what_lies_below_a_folder_that_was_there_for_modules_may_be_the_environments(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loader = await loader_for(Resolver(write(tmp_path, "tool-a")))
    await loader.load("tool-a")
    loader.cleanup()
    monkeypatch.syspath_prepend(write(tmp_path / "environment", "tool-b"))
    mount = await (await loader_for(None)).load("tool-b", {"n": 1})
    assert await mount(None) == {"n": 1}


async def test_one_loader_refuses_another_path_for_the_same_id(tmp_path: Path) -> None:
    resolver = Resolver(write(tmp_path / "one", "tool-a"))
    loader = await loader_for(resolver)
    await loader.load("tool-a")
    resolver.path = write(tmp_path / "two", "tool-b")
    with pytest.raises(ImportError, match="Refusing to load 'tool-a'"):
        await loader.load("tool-a")


async def test_the_same_path_again_is_the_same_module(tmp_path: Path) -> None:
    resolver = Resolver(write(tmp_path, "tool-a", f"import itertools\n{MOUNT}"))
    loader = await loader_for(resolver)
    first = await loader.load("tool-a", {"n": 1})
    second = await loader.load("tool-a", {"n": 2})
    assert (await first(None), await second(None)) == ({"n": 1}, {"n": 2})


# -- sys.path --------------------------------------------------------------------------------------


async def test_cleanup_takes_back_what_loading_added_to_the_path(tmp_path: Path) -> None:
    before = list(sys.path)
    loader = await loader_for(None)
    for name in ("tool-a", "tool-b"):
        coordinator_resolver = Resolver(write(tmp_path / name, name))
        loader._coordinator.mount_points["module-source-resolver"] = coordinator_resolver
        await loader.load(name)
    assert sys.path[:2] == [str(tmp_path / "tool-b"), str(tmp_path / "tool-a")]
    assert loader._added_paths == [tmp_path / "tool-a", tmp_path / "tool-b"]
    loader.cleanup()
    loader.cleanup()
    assert sys.path == before
    assert loader._added_paths == []


async def test_a_path_two_loaders_use_stays_until_both_are_done(tmp_path: Path) -> None:
    resolver = Resolver(write(tmp_path, "tool-a"))
    one, two = await loader_for(resolver), await loader_for(resolver)
    await one.load("tool-a")
    await two.load("tool-a")
    one.cleanup()
    assert str(tmp_path) in sys.path
    two.cleanup()
    assert str(tmp_path) not in sys.path


async def test_a_path_that_was_there_before_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    loader = await loader_for(Resolver(write(tmp_path, "tool-a")))
    await loader.load("tool-a")
    loader.cleanup()
    assert str(tmp_path) in sys.path


async def test_search_paths_are_loaded_from_without_a_resolver(tmp_path: Path) -> None:
    write(tmp_path / "amplifier-module-tool-a", "tool-a")
    loader = ModuleLoader(search_paths=[tmp_path])
    assert await (await loader.load("tool-a", {"n": 1}))(None) == {"n": 1}


async def test_on_session_ready_of_a_package_rides_along(tmp_path: Path) -> None:
    path = write(tmp_path, "tool-a", f"{MOUNT}async def on_session_ready(coordinator): pass\n")
    mount = await (await loader_for(Resolver(path))).load("tool-a")
    module_id, function = vars(mount)["__on_session_ready__"]
    assert (module_id, function.__name__) == ("tool-a", "on_session_ready")
