import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.compat.test_aliases import real_packages
from tests.fixtures.modules import copied
from tests.foundation.helpers import GitRepo


def run(
    *arguments: str, cwd: Path, path: tuple[Path, ...] = ()
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "amplifier_tui.compat", *arguments],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, path))},
        capture_output=True,
        text=True,
        timeout=50,
    )


SCRIPT = """
import sys
from amplifier_core.models import ToolResult
from beside import here
print(ToolResult.__module__, sys.argv[1:], here, __name__)
"""


def test_a_script_runs_as_python_would_run_it(tmp_path: Path) -> None:
    folder = tmp_path / "scripts"
    folder.mkdir()
    (folder / "beside.py").write_text("here = True\n")
    (folder / "go.py").write_text(SCRIPT)
    done = run("scripts/go.py", "-x", "two", cwd=tmp_path)
    assert (
        done.stdout.strip() == "amplifier_tui.kernel.models.tool_result ['-x', 'two'] True __main__"
    )
    assert done.returncode == 0


def test_a_module_runs_with_its_arguments(tmp_path: Path) -> None:
    (tmp_path / "tool.py").write_text(
        "import sys\nfrom amplifier_core import LLMError\nprint(LLMError.__name__, sys.argv[1:])\n"
    )
    assert run("-m", "tool", "a", cwd=tmp_path).stdout.strip() == "LLMError ['a']"


def test_the_exit_status_is_the_scripts(tmp_path: Path) -> None:
    (tmp_path / "leave.py").write_text("raise SystemExit(7)\n")
    assert run("leave.py", cwd=tmp_path).returncode == 7


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        ((), 2, "usage: python -m amplifier_tui.compat"),
        (("--what",), 2, "usage: python -m amplifier_tui.compat"),
        (("-m",), 2, "usage: python -m amplifier_tui.compat"),
        (("nowhere.py",), 2, "There is no script nowhere.py"),
        (("-m", "nowhere"), 1, "No module named nowhere. Install it"),
        (("-m", "nowhere.at.all"), 1, "No module named nowhere.at.all. Install it"),
    ],
)
def test_what_can_not_be_run_is_said_in_one_line(
    arguments: tuple[str, ...], status: int, message: str, tmp_path: Path
) -> None:
    done = run(*arguments, cwd=tmp_path)
    assert done.returncode == status
    assert message in done.stderr
    assert "Traceback" not in done.stderr


SAME = """
import sys
import amplifier_core
import amplifier_core.models
import amplifier_tui.kernel


def test_one_kernel(module_path, coordinator):
    assert amplifier_core is amplifier_tui.kernel
    for name, module in list(sys.modules.items()):
        if name.startswith("amplifier_core"):
            assert module.__name__.startswith("amplifier_tui.kernel"), name
    assert type(coordinator).__module__ == "amplifier_tui.kernel.testing"
"""


def test_pytest_runs_with_the_plugin_and_one_kernel_also_beside_the_real_package(
    tmp_path: Path,
) -> None:
    project = copied("tool-wordcount", tmp_path)
    (project / "tests" / "test_same.py").write_text(SAME)
    done = run(
        *("-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "error"),
        cwd=project,
        path=(project, real_packages(tmp_path / "site")),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "12 passed" in done.stdout


FETCHES = """
import asyncio, sys
from amplifier_foundation import load_bundle
try:
    print(asyncio.run(load_bundle(sys.argv[1])).name)
except Exception as error:
    print(type(error).__name__)
"""


def test_a_script_fetches_only_where_that_was_said(tmp_path: Path) -> None:
    repo = GitRepo.create(tmp_path / "repo", {"bundle.yaml": "bundle: {name: far}"})
    (tmp_path / "go.py").write_text(FETCHES)
    assert run("go.py", repo.uri(), cwd=tmp_path).stdout.strip() == "TrustRefusedError"
    done = run("--trust", "go.py", repo.uri(), cwd=tmp_path)
    assert done.stdout.strip() == "far"
    assert "--trust: everything that is fetched counts in this run" in done.stderr
