"""What counts in the top folder of a repository alone."""

from pathlib import Path

import pytest

from amplifier_tui.foundation.checks.above import report_above


def test_what_the_top_folder_has_for_agents_is_said_below_it(tmp_path: Path) -> None:
    below = tmp_path / "pkg" / "src"
    below.mkdir(parents=True)
    (tmp_path / ".git").mkdir()
    assert list(report_above(below)) == []
    (tmp_path / "AGENTS.md").write_text("Rules of the house.")
    (tmp_path / ".amplifier").mkdir()
    (item,) = report_above(below)
    assert item.what == "AGENTS.md and .amplifier" and str(tmp_path) in item.remedy
    assert list(report_above(tmp_path)) == []
    (below / ".git").write_text("gitdir: ../../.git/modules/src")
    assert list(report_above(below)) == []


def test_outside_of_repositories_and_in_the_home_there_is_nothing_to_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "AGENTS.md").write_text("Rules of the house.")
    (tmp_path / "pkg").mkdir()
    assert list(report_above(tmp_path / "pkg")) == []
    (tmp_path / ".git").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path))
    assert list(report_above(tmp_path / "pkg")) == []
