"""Every action is listed with the id that the keymap file goes by."""

import json

import pytest

from amplifier_tui.cli.group import run
from amplifier_tui.paths import user_config_dir
from amplifier_tui.ui.keys.actions import BY_ID

Capture = pytest.CaptureFixture[str]


def keymap(text: str) -> None:
    user_config_dir().mkdir(parents=True, exist_ok=True)
    (user_config_dir() / "keymap.toml").write_text(text)


def test_every_action_is_listed_with_what_the_users_keymap_makes_of_it(capsys: Capture) -> None:
    keymap('[keys]\n"pane.modules" = "f9"\n')
    assert run(["keys", "--json"]) == 0
    rows = {row["id"]: row for row in map(json.loads, capsys.readouterr().out.splitlines())}
    assert BY_ID.keys() < rows.keys()
    assert rows["pane.modules"]["keys"] == ["f9"]
    assert "modules.details" in rows


def test_the_table_has_the_words_of_the_screen(capsys: Capture) -> None:
    assert run(["keys"]) == 0
    line = next(row for row in capsys.readouterr().out.splitlines() if "pane.modules" in row)
    assert "F2" in line and "/modules" in line


@pytest.mark.parametrize("table", ["keys", "chords"])
def test_an_id_without_quotes_is_told_with_them(table: str, capsys: Capture) -> None:
    keymap(f'[{table}]\npane.modules = "f9"\n')
    assert run(["keys"]) == 1
    said = capsys.readouterr().err
    assert f'[{table}] pane: no such action. Quote an id with its dot: "pane.modules".' in said


def test_what_is_wrong_in_the_keymap_is_told_with_the_nearest_id(capsys: Capture) -> None:
    keymap('[keys]\n"pane.module" = "f9"\n')
    assert run(["keys"]) == 1
    said = "[keys] pane.module: no such action; did you mean pane.modules?"
    assert f"Error: {user_config_dir() / 'keymap.toml'}:2: {said}" in capsys.readouterr().err
