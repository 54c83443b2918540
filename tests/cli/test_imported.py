"""Sessions of other programs on the command line."""

import json
from pathlib import Path

import pytest

from amplifier_tui.cli.group import run
from amplifier_tui.paths import amplifier_home, sessions_dir
from tests.host.store.imports import CLAUDE_ID, CODEX_ID, claude_rows, write_claude, write_codex

pytestmark = pytest.mark.usefixtures("home")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path / "me"))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    write_claude(tmp_path / "me", claude_rows(str(tmp_path)))
    write_codex(tmp_path / "me")
    return tmp_path / "me"


def said(capsys: pytest.CaptureFixture[str], *command: str, code: int = 0) -> str:
    assert run(["sessions", *command]) == code
    out = capsys.readouterr()
    return out.out + out.err


def test_they_are_listed_where_they_are_asked_for_and_it_is_said_how_to_hide_them(
    capsys: pytest.CaptureFixture[str],
) -> None:
    here = said(capsys, "list", "--origin", "all")
    assert f"claude-code:{CLAUDE_ID}  Mend the parser" in here and "codex:" not in here
    assert "`import: off` in settings.yaml" in here and "\x1b" not in here
    everywhere = said(capsys, "list", "list", "FILES", "--origin", "codex", "--all", "--json")
    assert json.loads(everywhere)["key"] == f"codex:{CODEX_ID}"
    amplifier_home().mkdir(parents=True, exist_ok=True)
    (amplifier_home() / "settings.yaml").write_text("import: off\n")
    assert "They are hidden" in said(capsys, "list", "--origin", "all", "--all")
    assert "There is no session" in said(capsys, "show", "codex:", code=1)


def test_one_is_read_whole_without_secrets(capsys: pytest.CaptureFixture[str]) -> None:
    text = said(capsys, "show", "claude-code:")
    assert "## You\n\nWhy is it slow? [REDACTED]" in text and "It waits for the disk." in text
    assert "Calls `Read`" in text and "of a later version" in text and "\x1b" not in text


def test_one_is_forked_into_a_session_of_this_folder(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    text = said(capsys, "fork", "codex:")
    (folder,) = sessions_dir(tmp_path).iterdir()
    assert f"--resume {folder.name[:8]}" in text
    assert "List the files" in said(capsys, "show", folder.name)
    assert "forked whole" in said(capsys, "fork", "codex:", "--at", "1", code=2)


def test_a_search_shows_the_id_that_reads_one_and_no_count_of_turns(
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = said(capsys, "search", "parser")
    assert f"claude-code:{CLAUDE_ID}  Mend the parser" in found
    assert "turn" not in found.splitlines()[0] and "(just now)" in found
    assert "## You" in said(capsys, "show", found.split()[0])
