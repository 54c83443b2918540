"""Folders of the workspace in which a shell looks for programs."""

import os
import sys

import pytest
import textual

from amplifier_tui.base.protected import configures
from tests.modules.tool_bash.confined import run, shell, told
from tests.modules.tool_bash.support import Shell
from tests.sandbox import needs_sandbox

__all__ = ["shell", "told"]

pytestmark = needs_sandbox

REAL = sys.executable


@pytest.fixture
def activated(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> Shell:
    """A shell in whose workspace a virtual environment is activated."""
    folder = shell.root / ".venv" / "bin"
    folder.mkdir(parents=True)
    (folder.parent / "pyvenv.cfg").write_text("home = /usr/bin\n")
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return shell


async def test_no_command_stands_in_for_a_program_that_the_user_types(activated: Shell) -> None:
    output = await run(activated, "cd .venv/bin; echo evil > git; echo evil > black; chmod +x *")
    assert ".venv/bin/git would take effect" in output and "black" not in output
    assert not (activated.root / ".venv/bin/git").exists()
    assert (activated.root / ".venv/bin/black").exists(), "packages bring programs"


async def test_one_that_was_there_can_be_run_and_not_be_changed(activated: Shell) -> None:
    place = activated.root / ".venv" / "bin" / "git"
    place.write_text("#!/bin/sh\necho own\n")
    place.chmod(0o755)
    output = await run(activated, "git; echo evil > .venv/bin/git")
    assert "own" in output and "Read-only file system" in output
    assert "evil" not in place.read_text()


async def test_elsewhere_such_names_are_any_files(activated: Shell) -> None:
    output = await run(activated, "mkdir -p rootfs/bin; echo busy > rootfs/bin/ls")
    assert "take effect" not in output
    assert (activated.root / "rootfs/bin/ls").exists()


def test_writing_one_is_asked_about(activated: Shell) -> None:
    root = activated.root.resolve()
    assert configures(root / ".venv/bin/git", root) == "commands of that name"
    assert not configures(root / ".venv/bin/black", root)
    assert not configures(root / "rootfs/bin/ls", root)


async def test_what_this_program_runs_from_can_not_be_changed(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    prefix = shell.root / ".venv"
    package = prefix / "lib" / "site-packages" / "textual"
    for folder in (prefix / "bin", package):
        folder.mkdir(parents=True)
    (prefix / "bin" / "python3").symlink_to(sys.executable)
    (prefix / "bin" / "python").write_text("own\n")
    (package / "app.py").write_text("own\n")
    monkeypatch.setattr(sys, "prefix", str(prefix))
    monkeypatch.setattr(sys, "executable", str(prefix / "bin" / "python"))
    monkeypatch.setattr(textual, "__file__", str(package / "__init__.py"))
    output = await run(
        shell, "cp README .venv/bin/python; echo x > .venv/lib/site-packages/textual/app.py"
    )
    output += await run(
        shell, "echo evil > n; mv n .venv/bin/python; ln -sf /bin/sh .venv/bin/python3"
    )
    assert (prefix / "bin" / "python").read_text() == "own\n", output
    assert (package / "app.py").read_text() == "own\n"
    assert not os.path.lexists(prefix / "bin" / "python3") or os.readlink(
        prefix / "bin" / "python3"
    ) == sys.executable.replace(str(prefix / "bin" / "python"), REAL)
    root = shell.root.resolve()
    assert configures(root / ".venv/bin/python", root) == "this program"
    assert configures(root / ".venv/lib/site-packages/textual/app.py", root) == "this program"
    assert not configures(root / ".venv/lib/site-packages/other/app.py", root)
    assert "take effect" not in await run(shell, "mkdir .venv/lib/site-packages/other")
