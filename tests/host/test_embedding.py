"""The example for programs that run sessions themselves."""

import re
from pathlib import Path
from typing import Any

import pytest

import amplifier_tui.host as host
from tests.host.driving import Project, calling

README = Path(str(host.__file__)).with_name("README.md")


def example() -> dict[str, Any]:
    (code,) = re.findall(r"^```python\n(.*?)^```", README.read_text(), re.MULTILINE | re.DOTALL)
    assert len(code.rstrip().splitlines()) <= 36
    scope: dict[str, Any] = {}
    exec(compile(code, str(README), "exec"), scope)
    return scope


def test_the_example_runs_a_turn_and_allows_what_it_asks_for(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(project.folder)
    script = calling({"bash": {"command": "touch made.txt"}})
    name = project.bundle(script=script, tools=("tool-bash",))
    project.allow([])
    ask = example()["ask"]
    assert ask("go", name)
    assert (project.folder / "made.txt").exists()
    assert "bash wants to run a command: touch made.txt" in capsys.readouterr().err
    with pytest.raises(RuntimeError, match="nowhere"):
        ask("go", "nowhere")


def test_the_example_shows_the_edit_that_it_allows(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(project.folder)
    script = calling({"write_file": {"file_path": "made.txt", "content": "a line"}})
    name = project.bundle(script=script, tools=("tool-filesystem",))
    project.allow([])
    assert example()["ask"]("go", name)
    assert "+a line" in capsys.readouterr().err


@pytest.mark.parametrize("name", sorted(host._PLACES))
def test_every_lasting_name_is_there(name: str) -> None:
    assert getattr(host, name).__name__ == name


def test_other_names_are_missed_as_in_any_module() -> None:
    assert not hasattr(host, "Nothing")
