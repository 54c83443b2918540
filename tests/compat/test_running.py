import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.compat.test_aliases import real_packages
from tests.fixtures.modules import copied
from tests.foundation.helpers import GitRepo

COMPAT = ["-m", "amplifier_tui.compat"]


def launch(
    *arguments: str, cwd: Path, path: tuple[Path, ...] = (), text: str = ""
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, path))},
        input=text,
        capture_output=True,
        text=True,
        timeout=50,
    )


def run(
    *arguments: str, cwd: Path, path: tuple[Path, ...] = ()
) -> subprocess.CompletedProcess[str]:
    return launch(*COMPAT, *arguments, cwd=cwd, path=path)


TELLS = """
import sys
from beside import here
spec = __spec__ and (__spec__.name, __spec__.origin, __spec__.parent)
print(__name__, __package__, spec, globals().get("__file__"), sys.argv, repr(sys.path[0]), here)
print(sys.modules["__main__"].__dict__ is globals(), __doc__, type(__builtins__).__name__)
print(list(sys.stdin))
"""
FAILS = """
import atexit, sys

def fail():
    print(sys.modules["__main__"].fail is fail)
    {}

atexit.register(lambda: print(sys.modules["__main__"].fail is not None))
fail()
"""
ENDS = {
    "raises": "raise ValueError('no') from KeyError('k')",
    "exits": "raise SystemExit(7)",
    "says": "sys.exit('in words')",
    "interrupted": "raise KeyboardInterrupt",
    "hooked": "sys.excepthook = lambda *error: print('mine', error[0].__name__); 1 / 0",
    "signalled": "import signal; signal.raise_signal(signal.SIGINT)",
}
SAME_AS_PYTHON = {
    "script": ("scripts/go.py", "-x", "two"),
    "link": ("link.py",),
    "absolute": ("{folder}/scripts/go.py", "-m"),
    "module": ("-m", "scripts.go", "a"),
    "package": ("-m", "package", "-c"),
    "folder": ("folder", "a"),
    "zip": ("packed.zip",),
    "text": ("-c", TELLS, "-c", "--trust"),
    "input": ("-", "a"),
    "wrong syntax": ("wrong.py",),
    "wrong text": ("-c", "def f(:"),
    **{name: (f"{name}.py",) for name in ENDS},
}


def test_programs_run_and_end_as_under_python(tmp_path: Path) -> None:
    for folder in ("scripts", "package", "folder"):
        (tmp_path / folder).mkdir()
    for name in ("beside.py", "scripts/beside.py", "folder/beside.py"):
        (tmp_path / name).write_text(f"here = {name!r}\n")
    for name in ("scripts/go.py", "package/__main__.py", "folder/__main__.py"):
        (tmp_path / name).write_text(TELLS)
    (tmp_path / "link.py").symlink_to("scripts/go.py")
    with ZipFile(tmp_path / "packed.zip", "w") as packed:
        packed.writestr("__main__.py", TELLS)
        packed.writestr("beside.py", "here = 'zip'")
    for name, end in ENDS.items():
        (tmp_path / f"{name}.py").write_text(FAILS.format(end))
    (tmp_path / "wrong.py").write_text("print(1)\ndef f(:\n")
    given = {
        name: [word.replace("{folder}", str(tmp_path)) for word in words]
        for name, words in SAME_AS_PYTHON.items()
    }

    def outcome(job: tuple[list[str], list[str]]) -> tuple[int, str, str]:
        runner, words = job
        text = TELLS if words[0] == "-" else "one\n"
        done = launch(*runner, *words, cwd=tmp_path, text=text)
        return done.returncode, done.stdout, without_runpy(done.stderr)

    with ThreadPoolExecutor(4) as pool:
        theirs = pool.map(outcome, [([], words) for words in given.values()])
        ours = pool.map(outcome, [(COMPAT, words) for words in given.values()])
        for name, mine, pythons in zip(given, ours, theirs, strict=True):
            assert mine == pythons, name


def without_runpy(text: str) -> str:
    # Frames of `python -m` itself, which nobody looks for.
    return re.sub(r'  File "<frozen .*\n', "", text)


def test_loggers_are_configured_by_the_published_names(tmp_path: Path) -> None:
    (tmp_path / "go.py").write_text(LOGS)
    done = run("go.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Mounted" in (tmp_path / "events.log").read_text()


LOGS = """
import asyncio, logging
kernel = logging.getLogger("amplifier_core")
kernel.setLevel(logging.DEBUG)
kernel.addHandler(logging.FileHandler("events.log"))
from amplifier_core import ModuleCoordinator
from amplifier_core.testing import MockTool
asyncio.run(ModuleCoordinator().mount("tools", MockTool()))
"""


def test_a_modules_arguments_are_its_own_and_it_gets_our_kernel(tmp_path: Path) -> None:
    (tmp_path / "tool.py").write_text(
        "import sys\nfrom amplifier_core import LLMError\nprint(LLMError.__name__, sys.argv[1:])\n"
    )
    assert run("-m", "tool", "a", cwd=tmp_path).stdout.strip() == "LLMError ['a']"


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        ((), 2, "usage: python -m amplifier_tui.compat"),
        (("--what",), 2, "usage: python -m amplifier_tui.compat"),
        (("-m",), 2, "usage: python -m amplifier_tui.compat"),
        (("--trust",), 2, "usage: python -m amplifier_tui.compat"),
        (("empty",), 1, "There is no __main__.py in empty"),
        (("-m", "empty"), 1, "empty cannot be executed"),
        (("nowhere.py",), 2, "There is no script nowhere.py"),
        (("-m", "nowhere"), 1, "No module named nowhere. Install it"),
        (("-m", "nowhere.at.all"), 1, "No module named nowhere.at.all. Install it"),
    ],
)
def test_what_can_not_be_run_is_said_in_one_line(
    arguments: tuple[str, ...], status: int, message: str, tmp_path: Path
) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "__init__.py").touch()
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
    print(error)
"""


def test_a_script_fetches_only_where_that_was_said(tmp_path: Path) -> None:
    repo = GitRepo.create(tmp_path / "repo", {"bundle.yaml": "bundle: {name: far}"})
    (tmp_path / "go.py").write_text(FETCHES)
    refused = run("go.py", repo.uri(), cwd=tmp_path).stdout
    assert "Not allowed to fetch" in refused
    assert f"run: python -m amplifier_tui.compat --trust go.py {repo.uri()}" in refused
    done = run("--trust", "go.py", repo.uri(), cwd=tmp_path)
    assert done.stdout.strip() == "far"
    assert "--trust: everything that is fetched counts in this run" in done.stderr
