import os
import subprocess
import sys
import tomllib
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from tests.fixtures.modules import KIND_OF, copied

PLUGIN = "amplifier_tui.kernel.pytest_plugin"
TESTS = """
import pytest
from amplifier_tui.kernel.validation.suites import ToolStructuralTests


class TestStructure(ToolStructuralTests):
    pass


def test_where(module_path, module_type, is_module_context, request):
    print("FOUND", module_path and module_path.name, module_type, is_module_context)


@pytest.mark.asyncio
async def test_tool(tool_module, coordinator):
    print("TOOL", tool_module.name, coordinator.session_id)
"""


def run(
    *arguments: str, cwd: Path, path: tuple[Path, ...] = (), runner: str = "pytest"
) -> subprocess.CompletedProcess[str]:
    module = (
        ["-m", "amplifier_tui.compat", "-m", "pytest"] if runner == "compat" else ["-m", "pytest"]
    )
    # Twice is once too often: where this package is installed anew, pytest finds it by itself.
    known = any(entry.value == PLUGIN for entry in entry_points(group="pytest11"))
    plugins = [] if known or runner == "compat" else ["-p", PLUGIN]
    return subprocess.run(
        [
            *(sys.executable, *module, *plugins, "-q", "-s", "-p", "no:cacheprovider"),
            *("-o", "asyncio_default_fixture_loop_scope=function", *arguments),
        ],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, path))},
        capture_output=True,
        text=True,
        timeout=50,
    )


def test_the_plugin_is_declared_under_the_name_the_ecosystem_knows() -> None:
    root = Path(__file__).parents[2]
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    assert project["entry-points"]["pytest11"] == {"amplifier_module": PLUGIN}


@pytest.mark.parametrize("how", ["inside", "by argument", "by option"])
def test_the_module_under_test_is_found(how: str, tmp_path: Path) -> None:
    project = copied("tool-wordcount", tmp_path / "work")
    outside = tmp_path / "elsewhere"
    outside.mkdir()
    tests = (project / "tests" if how == "inside" else outside) / "test_it.py"
    tests.write_text(TESTS)
    arguments, cwd = {
        "inside": ([str(tests)], tmp_path),
        "by argument": (
            [str(tests), str(project / "tests" / "test_wordcount.py::test_kind")],
            tmp_path,
        ),
        "by option": ([str(tests), "--module-path", str(project)], outside),
    }[how]
    done = run(*arguments, cwd=cwd, path=(project,), runner="compat")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "FOUND amplifier_module_tool_wordcount tool True" in done.stdout
    assert "TOOL wordcount test-session" in done.stdout


def test_without_a_module_the_fixtures_skip_and_the_rest_runs(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(TESTS)
    done = run("-rs", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "FOUND None None False" in done.stdout
    assert "1 passed, 2 skipped" in done.stdout
    assert "No module path detected" in done.stdout


def test_what_comes_from_the_validation_classes_is_marked(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(TESTS)
    done = run("-m", "module_validation", "--strict-markers", cwd=tmp_path)
    assert "1 skipped, 2 deselected" in done.stdout


KINDS = {
    "amplifier-module-hooks-x": "hook",
    "amplifier-module-loop-x": "orchestrator",
    "amplifier-module-provider-x": "provider",
    "amplifier-module-context-x": "context",
    "amplifier-module-odd-x": "tool",
}


def test_the_folder_tells_the_kind(tmp_path: Path) -> None:
    for number, folder in enumerate(KINDS):
        package = tmp_path / folder / folder.replace("-", "_")
        package.mkdir(parents=True)
        (package / "__init__.py").touch()
        (tmp_path / folder / f"test_{number}.py").write_text(
            f"def test_kind(module_type):\n    print('KIND', '{folder}', module_type, end=';')\n"
        )
    done = run(cwd=tmp_path)
    for folder, kind in KINDS.items():
        assert f"KIND {folder} {kind};" in done.stdout


MOUNTED = """
import pytest


@pytest.mark.asyncio
async def test_it({fixture}):
    print("GOT", "{fixture}", type({fixture}).__name__, end=";")
"""
FIXTURES = {
    "tool-wordcount": ("tool_module", "WordCountTool"),
    "provider-echo": ("provider_module", "EchoProvider"),
    "loop-plain": ("orchestrator_module", "PlainLoop"),
    "context-memory": ("context_module", "MemoryContext"),
    "hooks-guard": ("hook_cleanup", "function"),
}


def test_each_fixture_mounts_its_kind_and_says_when_nothing_is_mounted(tmp_path: Path) -> None:
    projects = []
    for module_id, (fixture, _) in FIXTURES.items():
        project = copied(module_id, tmp_path)
        [own] = (project / "tests").iterdir()
        own.write_text(MOUNTED.format(fixture=fixture))
        empty = tmp_path / f"amplifier-module-{module_id.partition('-')[0]}-empty"
        package = empty / empty.name.replace("-", "_")
        package.mkdir(parents=True)
        (package / "__init__.py").write_text("async def mount(coordinator, config): ...\n")
        test = empty / f"test_{package.name}.py"
        test.write_text(MOUNTED.format(fixture=fixture))
        projects += [project, empty]
    done = run(cwd=tmp_path, path=tuple(projects), runner="compat")
    for module_id, (fixture, got) in FIXTURES.items():
        assert f"GOT {fixture} {got};" in done.stdout, done.stdout + done.stderr
        if module_id == "hooks-guard":
            assert "GOT hook_cleanup NoneType;" in done.stdout
        else:
            assert f"mount(coordinator, {{}}) mounted no {KIND_OF[module_id]}" in done.stdout
    assert "6 passed, 4 errors" in done.stdout


def test_without_amplifier_core_the_way_to_run_is_named(tmp_path: Path) -> None:
    project = copied("tool-wordcount", tmp_path)
    (project / "tests" / "test_wordcount.py").unlink()
    (project / "tests" / "test_it.py").write_text(MOUNTED.format(fixture="tool_module"))
    done = run(cwd=project, path=(project,))
    assert "Or run: python -m amplifier_tui.compat -m pytest" in done.stdout


WITHOUT_ASYNCIO = """
import importlib.abc
import sys


class Blocked(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == "pytest_asyncio":
            raise ModuleNotFoundError(name)


sys.meta_path.insert(0, Blocked())
import pytest

sys.exit(pytest.main(["-q", "-s", "-p", "no:cacheprovider", "-p", "{plugin}"]))
"""


def test_without_pytest_asyncio_other_suites_still_run(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text("def test_it(coordinator):\n    print(coordinator)\n")
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_ASYNCIO.format(plugin=PLUGIN)],
        cwd=tmp_path,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        timeout=50,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_loading_the_plugin_imports_pytest_and_little_else(tmp_path: Path) -> None:
    code = (
        f"import sys, {PLUGIN}\n"
        "print([m for m in ('pydantic', 'textual', 'yaml', 'anthropic') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=50)
    assert done.stdout.strip() == "[]", done.stderr
