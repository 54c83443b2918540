"""Completion, reset and update: what one does around the program."""

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from amplifier_tui.base.jsonl import write_object
from amplifier_tui.cli import update
from amplifier_tui.cli.group import run
from amplifier_tui.foundation.modules.apart import MARKER, ApartFolders
from amplifier_tui.foundation.modules.pruning import in_use
from amplifier_tui.paths import amplifier_home, sessions_dir, user_config_dir, user_state_dir
from tests.cli.bundle_support import Bundles, program_in_terminal


def completed(words: str, folder: Path) -> list[str]:
    """Return what may stand in the place of the last word, which may be empty."""
    line = f"amplifier-tui {words}"
    environment = {
        "_AMPLIFIER_TUI_COMPLETE": "bash_complete",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(line.split(" ")) - 1),
    }
    code = "from amplifier_tui.__main__ import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env={**os.environ, **environment, "PYTHONPATH": os.getcwd()},
        capture_output=True,
        text=True,
        check=False,
    )
    return [line.partition(",")[2] for line in done.stdout.splitlines()]


def test_a_shell_completes_commands_options_and_bundles(tmp_path: Path) -> None:
    Bundles(tmp_path).write("brief")
    assert {"doctor", "run", "sessions"} <= set(completed("", tmp_path))
    assert completed("run --max-c", tmp_path) == ["--max-cost"]
    assert completed("run --bundle br", tmp_path) == ["brief"]
    rows = sessions_dir(tmp_path) / "0b6ef2a4" / "transcript.jsonl"
    rows.parent.mkdir(parents=True)
    rows.write_text('{"role": "user", "content": "hello"}\n')
    assert completed("--resume ", tmp_path) == ["0b6ef2a4"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_completion_of_a_shell_is_printed(
    shell: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["completion", shell]) == 0
    assert f"_AMPLIFIER_TUI_COMPLETE={shell}_complete" in capsys.readouterr().out


def test_no_other_shell_is_known(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["completion", "tcsh"]) == 2
    assert "'bash', 'zsh', 'fish'" in capsys.readouterr().err


def filled() -> tuple[list[Path], list[Path]]:
    """Return files that may go with the cache or the screen's settings, and files that stay."""
    home = amplifier_home()
    gone = [
        home / "cache" / "a" / "x",
        home / "search" / "index.db",
        user_config_dir() / "preferences.json",
        user_state_dir() / "history.jsonl",
        user_state_dir() / "drafts" / "x.jsonl",
    ]
    stay = [
        home / "projects" / "p" / "sessions" / "s" / "transcript.jsonl",
        home / "keys.env",
        user_config_dir() / "rules.yaml",
        user_config_dir() / "keymap.toml",
        user_state_dir() / "trust.json",
    ]
    for path in (*gone, *stay):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    return gone, stay


def test_caches_and_screen_settings_go_and_nothing_else(
    capsys: pytest.CaptureFixture[str],
) -> None:
    gone, stay = filled()
    assert run(["reset"]) == 0
    assert all(path.exists() for path in (*gone, *stay))
    assert run(["reset", "--cache", "--ui"]) == 2
    assert "--yes" in capsys.readouterr().err
    assert run(["reset", "--cache", "--yes"]) == 0
    assert [path.exists() for path in gone] == [False, False, True, True, True]
    assert run(["reset", "--ui", "--yes"]) == 0
    assert not any(path.exists() for path in gone)
    assert all(path.exists() for path in stay)
    assert run(["reset", "--ui", "--yes"]) == 0
    assert "nothing to remove" in capsys.readouterr().out


def test_what_an_open_session_uses_stays(capsys: pytest.CaptureFixture[str]) -> None:
    cache = amplifier_home() / "cache"
    folder = ApartFolders(cache).root / "x-1"
    folder.mkdir(parents=True)
    write_object(folder / MARKER, {"version": 1})
    in_use(cache).note(folder)
    assert run(["reset", "--cache", "--yes"]) == 1
    assert "close it first" in capsys.readouterr().err
    assert folder.exists()


def test_a_person_is_asked_before_anything_goes() -> None:
    gone, _ = filled()
    status, shown = program_in_terminal("reset", "--ui", keys="n\n")
    assert status == 1 and "Remove these?" in shown and gone[-1].exists()
    assert "\x1b[?1049l" in shown


@pytest.mark.parametrize(
    ("file", "kind", "command"),
    [
        ("pipx_metadata.json", "pipx", "pipx upgrade amplifier-tui"),
        ("uv-receipt.toml", "uv tool", "uv tool upgrade amplifier-tui"),
        ("pyvenv.cfg", "pip", "install --upgrade"),
    ],
)
def test_an_update_is_said_in_the_words_of_what_installed_it(
    file: str, kind: str, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(update, "_source_folder", lambda: (None, False))
    (tmp_path / file).write_text("")
    found = update.installation(tmp_path)
    assert found.kind == kind and command in found.command


def test_the_folder_of_an_editable_installation_may_have_spaces(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = '{"url": "file:///home/me/my%20code", "dir_info": {"editable": true}}'
    made = SimpleNamespace(read_text=lambda _: text)
    monkeypatch.setattr(update, "distribution", lambda _: made)
    assert update.installation().command == "git -C '/home/me/my code' pull"
    assert run(["update"]) == 0
    assert ", run from the clone in /home/me/my code\n" in capsys.readouterr().out


def test_what_was_installed_from_a_clone_is_updated_from_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = '{"url": "file:///home/me/code", "dir_info": {}}'
    texts = {"direct_url.json": text, "INSTALLER": "pip\n"}
    monkeypatch.setattr(update, "distribution", lambda _: SimpleNamespace(read_text=texts.get))
    found = update.installation(tmp_path)
    assert found.kind == "pip" and found.place == str(tmp_path)
    assert found.command.startswith("git -C /home/me/code pull && ")
    assert found.command.endswith(" -m pip install --upgrade /home/me/code")


def test_an_update_is_said_for_this_installation(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["update", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["command"] and said["version"]
