"""Where a path leads, and whom what is written there takes effect on."""

from pathlib import Path

import pytest

from amplifier_tui.host.gate.gate import Gate
from amplifier_tui.host.gate.places import locate
from amplifier_tui.host.gate.rules.book import RuleBook
from amplifier_tui.host.gate.rules.file import user_rules_path
from amplifier_tui.paths import amplifier_home, user_state_dir


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("AMPLIFIER_HOME", str(tmp_path / "home" / "amp"))
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


def verdict(workspace: Path, path: Path) -> str:
    call = {"file_path": str(path), "content": "x"}
    return Gate(workspace, RuleBook, mode="edits").decide("write_file", call).verdict


def test_an_agent_that_works_in_the_home_does_not_change_its_own_rules_unasked(home: Path) -> None:
    rules = user_rules_path()
    for workspace in (home, home.parent, rules.parents[1]):
        assert rules.is_relative_to(workspace)
        assert verdict(workspace, rules) == "ask"
    for own in (amplifier_home() / "settings.yaml", user_state_dir() / "x"):
        assert locate(str(own), home).configures == "this program"


@pytest.mark.parametrize(
    "path", [".config/git/config", ".local/bin/ls", ".config/fish/conf.d/a.fish", "bin/ls", ".xrc"]
)
def test_what_programs_look_for_in_the_home_is_asked_about(home: Path, path: str) -> None:
    assert verdict(home, home / path) == "ask"
    # Of the same name in a project it is a file like others.
    assert verdict(home / "project", home / "project" / "home" / path) == "allow"


def test_in_the_home_and_below_it_files_are_written_as_anywhere(home: Path) -> None:
    assert verdict(home, home / "notes.txt") == "allow"
    assert verdict(home / ".config" / "nvim", home / ".config" / "nvim" / "init.lua") == "allow"
    inside = amplifier_home() / "worktrees" / "a"
    assert verdict(inside, inside / "a.py") == "allow"


@pytest.mark.skipif(not Path("/proc/self/cwd").exists(), reason="no /proc")
def test_what_each_process_finds_elsewhere_is_not_in_the_workspace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    (tmp_path / "here").symlink_to("/proc/self/cwd")
    for path in ("/proc/self/cwd/file", "/dev/fd/../cwd/file", "here/file", "here/../x"):
        assert locate(path, tmp_path).outside, path
    for path in ("file", "x/../file", "/dev/null"):
        assert not locate(path, tmp_path).outside, path


def test_a_link_counts_as_what_its_name_says_too(tmp_path: Path) -> None:
    (tmp_path / "dev").mkdir()
    (tmp_path / "dev" / "values").touch()
    (tmp_path / ".env").symlink_to("dev/values")
    (tmp_path / ".claude").symlink_to("dev")
    assert Gate(tmp_path, RuleBook).decide("read_file", {"file_path": ".env"}).verdict == "ask"
    assert Gate(tmp_path, RuleBook).decide("bash", {"command": "cat .env"}).verdict == "ask"
    assert verdict(tmp_path, tmp_path / ".claude" / "settings.json") == "ask"
    assert verdict(tmp_path, tmp_path / "dev" / "values") == "ask"
