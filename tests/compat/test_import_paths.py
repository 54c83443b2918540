"""Every published import path stays, whatever is moved behind it.

`import_paths.json` has the public names of each module by the path third parties import it under:
all of amplifier_core 2.0.2, amplifier_foundation as its applications use it, and what this program
added. Rows are added, never taken away.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

PATHS: dict[str, str] = json.loads(Path(__file__).with_name("import_paths.json").read_text())

IMPORT_ALL = """
import importlib, json, sys
from amplifier_tui import compat
compat.install()
problems = []
for module_name, names in json.load(sys.stdin).items():
    try:
        module = importlib.import_module(module_name)
        problems += [f"{module_name}.{name}" for name in names.split() if not hasattr(module, name)]
    except ImportError as error:
        problems.append(f"{module_name}: {error}")
print(json.dumps(problems))
"""


def missing(paths: dict[str, str]) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", IMPORT_ALL],
        input=json.dumps(paths),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    found: list[str] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("package", ["amplifier_core", "amplifier_foundation"])
def test_every_published_name_can_be_imported_from_its_published_path(package: str) -> None:
    paths = {path: names for path, names in PATHS.items() if path.partition(".")[0] == package}
    assert paths
    assert missing(paths) == []


def test_a_name_that_is_gone_would_be_noticed() -> None:
    assert missing({"amplifier_core.hooks": "HookRegistry Nonsense"}) == [
        "amplifier_core.hooks.Nonsense"
    ]
    assert missing({"amplifier_core.nonsense": "X"})


def test_a_moved_module_can_be_the_first_one_imported() -> None:
    code = (
        "from amplifier_tui import compat; compat.install()\n"
        "from amplifier_core.validation.provider import ProviderValidator\n"
        "from amplifier_core.module_sources import ModuleNotFoundError\n"
        "import amplifier_core.approval, amplifier_core\n"
        "print(ProviderValidator.kind, amplifier_core.display.DisplaySystem.__name__)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=30
    )
    assert done.stdout.split() == ["provider", "DisplaySystem"]
