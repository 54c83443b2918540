"""Modules with dependencies, really installed: beside the program's environment, never into it."""

import importlib.metadata
import re
import shutil
import subprocess
import sys
from pathlib import Path

from tests.e2e.acting import READY, quit_program, ready, switch_bundle
from tests.e2e.machine import Machine
from tests.e2e.test_trust import answer, asked, git, modules
from tests.foundation.packages import (
    TOOL,
    looking_only_into,
    project_files,
    write_project,
    write_wheel,
)

SHIPPED = ("coding", "demo", "local", "minimal", "research")
BUNDLE = """---
bundle: {{name: team, version: 1.0.0}}
session:
  orchestrator: {{module: loop-streaming}}
  context: {{module: context-simple}}
providers:
  - module: provider-mock
tools:
  - module: tool-say
    source: '{source}'
hooks:
  - module: hooks-redaction
---

You help.
"""


def environment() -> tuple[list[str], str]:
    """What is installed where the program runs from, as Python and as pip tell it."""
    folder = Path(sys.prefix)
    places = [path for path in sys.path if Path(path).is_relative_to(folder)]
    listed = sorted(f"{d.name} {d.version}" for d in importlib.metadata.distributions(path=places))
    command = [sys.executable, "-m", "pip", "list", "--disable-pip-version-check"]
    return listed, subprocess.run(command, capture_output=True, text=True, check=True).stdout


def use_pip(machine: Machine, tmp_path: Path) -> None:
    """Leave the program no installer but pip, which may look into one folder only."""
    programs, wheels = tmp_path / "programs", tmp_path / "wheels"
    programs.mkdir()
    for name in ("git", "bwrap"):
        if (found := shutil.which(name)) is not None:
            (programs / name).symlink_to(found)
    write_wheel(wheels, "zz-word", "1", "WORD = 'said'")
    machine.env["PATH"] = f"{programs}:/bin"
    machine.env |= looking_only_into(wheels)


# That uv leaves the environment alone as well, `tests/trust/test_modules_apart.py` says.
def test_what_is_installed_for_a_bundle_is_no_part_of_the_program(
    machine: Machine, tmp_path: Path
) -> None:
    use_pip(machine, tmp_path)
    code = TOOL.format(name="say", version="1", dependency="zz_word")
    package = "amplifier_module_tool_say"
    files = project_files(
        "amplifier-module-tool-say",
        package,
        code,
        requires=["zz-word"],
        modules={"tool-say": f"{package}:mount"},
    )
    published = write_project(tmp_path / "published", files)
    for arguments in (("init", "--initial-branch=main"), ("add", "."), ("commit", "-m", "Begin")):
        git(published, *arguments)
    machine.bundle("team", BUNDLE.format(source=f"git+file://{published}@main"), own=False)
    before = environment()

    terminal = asked(machine)
    terminal.wait_for("tool-say")
    answer(terminal, "u")
    terminal.wait_for(READY, 120)
    ready(terminal, "team")
    modules(terminal)
    # It was mounted, so what it depends on was found.
    terminal.wait_for(re.compile(r"● tool-say"))
    quit_program(terminal)

    assert list((machine.home / ".amplifier/cache").rglob("zz_word/__init__.py"))
    terminal = machine.start("--bundle", SHIPPED[0])
    ready(terminal, SHIPPED[0])
    for name in SHIPPED[1:]:
        switch_bundle(terminal, name)
    quit_program(terminal)
    assert environment() == before
