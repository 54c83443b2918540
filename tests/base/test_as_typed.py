"""The program's own commands are told in words that start it from the shell that reads them."""

import sys
from pathlib import Path

import pytest

from amplifier_tui.base.commands.as_typed import as_typed


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The program's script, in an environment that is not on PATH, below the shell's folder."""
    path = tmp_path / ".venv" / "bin" / "amplifier-tui"
    path.parent.mkdir(parents=True)
    path.touch(0o755)
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("PWD", str(tmp_path))
    return path


def started_as(monkeypatch: pytest.MonkeyPatch, *words: str) -> str:
    monkeypatch.setattr(sys, "argv", [words[-1], "init"])
    monkeypatch.setattr(sys, "orig_argv", [*words, "init"])
    return as_typed("amplifier-tui --resume s1")


def test_what_was_typed_starts_it_again_where_no_shell_finds_it(
    script: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    typed = ".venv/bin/amplifier-tui"
    assert started_as(monkeypatch, "python", typed) == f"{typed} --resume s1"
    assert started_as(monkeypatch, "python", str(script)) == f"{script} --resume s1"
    monkeypatch.setenv("HOME", str(script.parent))
    assert started_as(monkeypatch, "python", str(script)) == "~/amplifier-tui --resume s1"


def test_it_has_its_name_where_a_shell_finds_it_by_that_also_through_a_link(
    script: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = script.parents[2] / "bin" / "amplifier-tui"
    link.parent.mkdir()
    link.symlink_to(script)
    for folder in (script.parent, link.parent):
        monkeypatch.setenv("PATH", str(folder))
        for typed in (".venv/bin/amplifier-tui", str(link)):
            assert started_as(monkeypatch, "python", typed) == "amplifier-tui --resume s1"
            # It may work in another folder than the shell is in.
            monkeypatch.chdir(link.parent)


def test_another_installation_on_the_path_is_not_it(
    script: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    other = tmp_path / "other" / "amplifier-tui"
    other.parent.mkdir()
    other.touch(0o755)
    monkeypatch.setenv("PATH", str(other.parent))
    typed = ".venv/bin/amplifier-tui"
    assert started_as(monkeypatch, "python", typed) == f"{typed} --resume s1"


@pytest.mark.parametrize("python", ["python3", ".venv/bin/python"])
def test_a_module_that_python_runs_is_run_by_the_same_one(
    python: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    main = "/lib/amplifier_tui/__main__.py"
    assert started_as(monkeypatch, python, "-m", main) == f"{python} -m amplifier_tui --resume s1"


@pytest.mark.parametrize("other", ["/usr/bin/pytest", "-c", ""])
def test_where_another_program_embeds_it_it_has_its_name(
    other: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert started_as(monkeypatch, "python", other) == "amplifier-tui --resume s1"
