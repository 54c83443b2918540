import importlib.metadata
import logging
import os
import pickle
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from amplifier_tui import compat, kernel
from amplifier_tui.compat.moved import MOVED
from amplifier_tui.kernel.models import HookResult
from tests.fixtures.modules import aliases, write_distribution

__all__ = ["aliases"]

SUBMODULES = [
    "approval",
    "cancellation",
    "capabilities",
    "content_models",
    "coordinator",
    "correlation",
    "display",
    "events",
    "hooks",
    "interfaces",
    "llm_errors",
    "loader",
    "message_models",
    "models",
    "module_sources",
    "session",
    "testing",
    "utils",
    "utils.retry",
    "utils.truncate",
    "validation",
    "validation.base",
    "validation.mount_plan",
    "validation.provider",
    "validation.tool",
    "validation.hook",
    "validation.orchestrator",
    "validation.context",
    "validation.proto_schema",
    "validation.behavioral",
    "validation.structural",
    "pytest_plugin",
    "_session_init",
    "_session_exec",
    "_collect_helper",
]


def run(
    code: str, *path: Path, arguments: tuple[str, ...] = ()
) -> subprocess.CompletedProcess[str]:
    # A program that installs the aliases first, in a process of its own.
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, path))},
        capture_output=True,
        text=True,
        timeout=50,
    )


def real_packages(site: Path) -> Path:
    # What stands for the real packages where they are installed too; importing them is a failure.
    for name in compat.ALIASES:
        package = site / name
        package.mkdir(parents=True)
        for file in ("__init__", "models", "message_models", "pytest_plugin"):
            (package / f"{file}.py").write_text("raise AssertionError('the real package')\n")
    entry = "[pytest11]\namplifier_module = amplifier_core.pytest_plugin\n"
    write_distribution(site, "amplifier-core", "9.9.9", entry)
    record = site / "amplifier_core-9.9.9.dist-info" / "RECORD"
    record.write_text("amplifier_core/__init__.py,,\namplifier_core/pytest_plugin.py,,\n")
    return site


UNTOUCHED = """
from amplifier_tui import compat
compat.install()
import importlib
from amplifier_tui.compat.moved import MOVED
for name in MOVED:
    parent, _, own = name.rpartition(".")
    before = vars(importlib.import_module(parent)).get(own)
    importlib.import_module(name)
    after = vars(importlib.import_module(parent)).get(own)
    assert before is None or after is before, name
"""


def test_a_published_submodule_takes_the_place_of_no_name_that_a_module_of_ours_uses() -> None:
    done = run(UNTOUCHED)
    assert done.returncode == 0, done.stderr


FIRST = """
from amplifier_tui import compat
compat.install()
import importlib, sys
alias = importlib.import_module("amplifier_core.{name}")
ours = importlib.import_module("amplifier_tui.kernel.{name}")
import amplifier_core, amplifier_tui.kernel
assert alias is ours and amplifier_core is amplifier_tui.kernel
assert alias.__name__ == alias.__spec__.name == "amplifier_tui.kernel.{name}"
from amplifier_core import ToolResult
from amplifier_core.models import ToolResult as Again
assert ToolResult is Again is amplifier_tui.kernel.ToolResult
"""


@pytest.mark.parametrize("first", ["message_models", "validation.kinds", "pytest_plugin"])
@pytest.mark.parametrize("beside_the_real_one", [False, True])
def test_whatever_is_imported_first_there_is_one_class(
    first: str, beside_the_real_one: bool, tmp_path: Path
) -> None:
    site = [real_packages(tmp_path)] if beside_the_real_one else []
    done = run(FIRST.format(name=first), *site)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", SUBMODULES)
def test_every_submodule_of_the_published_package_is_there(name: str, aliases: None) -> None:
    module = __import__(f"amplifier_core.{name}", fromlist=["*"])
    home = MOVED.get(f"amplifier_core.{name}", f"amplifier_tui.kernel.{name}")
    assert module is __import__(home, fromlist=["*"])
    assert module.__spec__ is not None
    assert module.__spec__.name == home


def test_foundation_is_ours_too(aliases: None) -> None:
    import amplifier_foundation
    from amplifier_foundation.bundle import Bundle

    import amplifier_tui.foundation

    assert amplifier_foundation is amplifier_tui.foundation
    assert Bundle is amplifier_tui.foundation.Bundle


def test_what_is_patched_by_the_published_name_is_patched_here(
    aliases: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("amplifier_core.AmplifierSession", str)
    assert kernel.AmplifierSession is str


def test_what_neither_has_is_not_found_under_the_published_name(aliases: None) -> None:
    with pytest.raises(ModuleNotFoundError, match=r"No module named 'amplifier_core\.nothing'"):
        __import__("amplifier_core.nothing")
    with pytest.raises(ModuleNotFoundError, match="is not a package"):
        __import__("amplifier_core.events.nothing")
    with pytest.raises(ImportError, match="cannot import name 'Nothing'"):
        exec("from amplifier_core import Nothing")


def test_objects_travel_between_processes_under_our_name(aliases: None) -> None:
    result = HookResult(action="deny", reason="no")
    assert pickle.loads(pickle.dumps(result)) == result
    assert type(result).__module__.startswith("amplifier_tui.kernel")


def test_the_version_of_the_published_packages_can_be_asked_for(aliases: None) -> None:
    assert importlib.metadata.version("amplifier-core") == kernel.__version__
    assert importlib.metadata.version("Amplifier_Core") == kernel.__version__
    assert importlib.metadata.version("amplifier-foundation")
    distribution = importlib.metadata.distribution("amplifier-core")
    assert distribution.metadata["Name"] == "amplifier-core"
    assert distribution.files is None
    assert Path(str(distribution.locate_file("amplifier_tui"))).is_dir()


def test_lists_of_what_is_installed_do_not_change(aliases: None) -> None:
    names = [distribution.metadata["Name"] for distribution in importlib.metadata.distributions()]
    assert "amplifier-core" not in names


def test_installing_twice_leaves_one_finder_and_puts_it_first(aliases: None) -> None:
    other: Any = type("Other", (), {"find_spec": staticmethod(lambda *_: None)})()
    sys.meta_path.insert(0, other)
    compat.install()
    assert [isinstance(finder, compat.AliasFinder) for finder in sys.meta_path].count(True) == 1
    assert isinstance(sys.meta_path[0], compat.AliasFinder)


def test_a_real_package_that_came_first_is_forgotten_with_a_word(
    aliases: None, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(sys.modules, "amplifier_core.models", ModuleType("amplifier_core.models"))
    with caplog.at_level(logging.WARNING):
        compat.install()
    from amplifier_core.models import HookResult as Found

    assert Found is HookResult
    assert "Imported too early, replaced by ours: amplifier_core.models" in caplog.text


THREADS = """
from amplifier_tui import compat
compat.install()
import threading
found, gate = [], threading.Barrier(8)

def load(name):
    gate.wait()
    module = __import__(f"amplifier_core.{name}", fromlist=["*"])
    found.append(module.HookResult)

threads = [threading.Thread(target=load, args=(("models", "hooks")[n % 2],)) for n in range(8)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
assert len(found) == 8 and len(set(map(id, found))) == 1, found
"""


def test_threads_that_import_at_the_same_time_get_the_same_class() -> None:
    done = run(THREADS)
    assert done.returncode == 0, done.stderr


def test_installing_imports_neither_kernel_models_nor_foundation() -> None:
    code = (
        "import sys; from amplifier_tui import compat; compat.install(); import amplifier_core\n"
        "print([m for m in ('pydantic', 'yaml', 'textual', 'pytest') if m in sys.modules])"
    )
    assert run(code).stdout.strip() == "[]"


def test_a_module_is_run_by_its_published_name() -> None:
    command = [sys.executable, "-m", "amplifier_tui.compat", "-m", "amplifier_core.cli"]
    done = subprocess.run(
        [*command, "list-types"], capture_output=True, text=True, check=False, timeout=30
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "orchestrator" in done.stdout.split()
