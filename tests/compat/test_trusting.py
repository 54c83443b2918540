"""Which folder counts as a script's own project."""

from pathlib import Path

from amplifier_tui.compat.trusting import _project_of


def _script(folder: Path) -> str:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "try.py"
    path.write_text("")
    return str(path)


def test_a_script_straight_in_the_home_folder_has_no_project(own_home: Path) -> None:
    assert _project_of(_script(own_home)) is None
    (own_home / ".git").mkdir()
    assert _project_of(_script(own_home / "tools")) == own_home / "tools"


def test_a_scripts_project_is_where_its_marks_are(tmp_path: Path) -> None:
    (tmp_path / "p").mkdir()
    (tmp_path / "p" / "pyproject.toml").write_text("")
    assert _project_of(_script(tmp_path / "p" / "a" / "b")) == tmp_path / "p"
