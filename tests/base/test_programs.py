import os
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from amplifier_tui.base.commands import programs
from amplifier_tui.base.commands.environment import users_shell
from amplifier_tui.base.commands.programs import find_program, is_own_code, keep_out, own_path
from amplifier_tui.base.commands.sandbox import Sandbox
from amplifier_tui.base.git import git_output_now, run_now
from tests.sandbox import needs_sandbox


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with programs of its own, whose folder comes first on the path."""
    monkeypatch.setattr(programs, "_projects", set())
    project = tmp_path / "project"
    folder = project / ".venv" / "bin"
    folder.mkdir(parents=True)
    for name in ("git", "bwrap", "bash", "own"):
        (folder / name).write_text(f"#!/bin/sh\ntouch {tmp_path}/ran-{name}\n")
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.delenv("SHELL", raising=False)
    keep_out(project)
    return project


def test_no_program_of_a_project_is_run_for_the_programs_own_calls(
    project: Path, tmp_path: Path
) -> None:
    (project / ".git").mkdir()
    git_output_now(project, "status")
    run_now(project, "status", timeout=5)
    assert Path(users_shell()).parent != project / ".venv" / "bin"
    assert list(tmp_path.glob("ran-*")) == []


@needs_sandbox
def test_the_sandbox_is_made_by_no_program_of_a_project(project: Path, tmp_path: Path) -> None:
    line = Sandbox(project, tmp_path).command(["git"], project)
    assert os.path.isabs(line[0]) and not Path(line[0]).is_relative_to(project)
    assert line[-1] == "git", "in the sandbox the path is the user's"


def test_what_only_a_project_has_is_not_found(project: Path) -> None:
    assert find_program("own") is None
    assert find_program(str(project / ".venv" / "bin" / "own")) is None


def test_a_link_into_a_project_is_left_out_too(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bin").symlink_to(project / ".venv" / "bin")
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "own").symlink_to(project / ".venv" / "bin" / "own")
    path = (str(tmp_path / "bin"), str(tmp_path / "tools"), "relative", "", "/usr/bin")
    monkeypatch.setenv("PATH", os.pathsep.join(path))
    assert own_path() == os.pathsep.join((str(tmp_path / "tools"), "/usr/bin"))
    assert find_program("own") is None


def test_the_folder_it_was_started_in_is_left_out_and_the_home_is_not(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(programs, "_projects", set())
    assert find_program("own")
    monkeypatch.chdir(project)
    assert find_program("own") is None
    for folder in (project.parent, "/"):
        # The home, or what is above it.
        monkeypatch.setenv("HOME", str(project.parent))
        monkeypatch.chdir(folder)
        assert find_program("own") and find_program("sh")


def test_one_further_on_is_found_where_the_first_leads_into_a_project(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, leads in (("first", project / ".venv" / "bin" / "own"), ("second", "/bin/sh")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "own").symlink_to(leads)
    monkeypatch.setenv("PATH", os.pathsep.join((str(tmp_path / "first"), str(tmp_path / "second"))))
    assert find_program("own") == str(tmp_path / "second" / "own")


def test_where_this_program_runs_from_is_told_at_once_of_many_files(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = project / ".venv" / "lib" / "site-packages" / "pytest"
    monkeypatch.setattr(pytest, "__file__", str(package / "__init__.py"))
    monkeypatch.setattr(sys, "prefix", str(project / ".venv"))
    looked = Counter[Path]()
    glob = Path.glob

    def counted(self: Path, pattern: str) -> Iterator[Path]:
        looked[self] += 1
        return glob(self, pattern)

    monkeypatch.setattr(Path, "glob", counted)
    for n in range(1_000):
        assert is_own_code(package / f"{n}.py", project)
        assert not is_own_code(project / "src" / f"{n}.py", project)
        assert not is_own_code(package / f"{n}.py", Path("/"))
    assert looked.total() <= 2
