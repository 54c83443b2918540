"""Variables that a module sets move none of the user's folders."""

from pathlib import Path

import pytest

from amplifier_tui.host.events import ToolEnded
from tests.host.driving import MODULES, Driver, Project, calling


@pytest.mark.parametrize("variable", ["HOME", "XDG_CONFIG_HOME", "AMPLIFIER_HOME"])
def test_rules_hold_where_a_module_changes_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.setenv("AMPLIFIER_MODULES", str(MODULES))
    (tmp_path / "secret.txt").write_text("hush\n")
    project = Project(tmp_path)
    read = calling({"read_file": {"file_path": "secret.txt"}}, then="So.")
    project.bundle(script=read, tools=("tool-filesystem",))
    project.allow((), deny=["read(secret.txt)"])
    driver = Driver(tmp_path)
    session = driver.open("test").session_id
    before = project.folder_of(session)
    driver.turn("one")
    other = tmp_path / "other"
    other.mkdir()
    monkeypatch.setenv(variable, str(other))
    driver.turn("two")
    driver.close()
    ends = driver.of(ToolEnded)
    assert [end.denied for end in ends] == [True, True]
    assert before.is_dir() and not list(other.iterdir())
