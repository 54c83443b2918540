"""`trust list|show|forget|add`, and what the commands that fetch ask."""

import json
import re
from pathlib import Path

import pytest

from amplifier_tui.cli.group import run
from amplifier_tui.foundation.trust.code import CodeSource
from amplifier_tui.foundation.trust.items import make_item
from amplifier_tui.host.trust.answers import TrustFile, TrustMemory
from amplifier_tui.paths import user_state_dir
from tests.cli.bundle_support import Bundles

Capture = pytest.CaptureFixture[str]
ITEM = make_item(
    "power",
    "hooks-approval · allow",
    subject=("x",),
    content='["*"]',
    owner="/clone",
    detail='allow: ["*"]',
    where="/clone/.amplifier/settings.yaml:3",
)


def test_what_was_answered_is_listed_shown_and_forgotten(own_home: Path, capsys: Capture) -> None:
    assert run(["trust", "list"]) == 0
    assert "not trusted anything" in capsys.readouterr().out
    TrustFile().add({ITEM: True})
    assert run(["trust", "list"]) == 0
    shown = capsys.readouterr().out
    assert ITEM.key[:10] in shown and "used" in shown and "hooks-approval · allow" in shown
    assert re.search(r"used +20\d\d-\d\d-\d\d \d\d:\d\d", shown), "which of two forms is the older"
    assert run(["trust", "show", ITEM.key[:10]]) == 0
    shown = capsys.readouterr().out
    assert 'allow: ["*"]' in shown and "settings.yaml:3" in shown
    assert run(["trust", "forget", ITEM.key[:10]]) == 0
    assert TrustFile().answers() == []
    assert run(["trust", "forget", ITEM.key[:10]]) == 1
    assert run(["trust", "show", "abcdef"]) == 1


def test_a_publisher_and_a_folder_can_be_trusted(
    own_home: Path, tmp_path: Path, capsys: Capture
) -> None:
    assert run(["trust", "add", "GitHub.com/Microsoft/"]) == 0
    assert run(["trust", "add", str(tmp_path)]) == 0
    for nobody in ("microsoft", "github.com", "github.com/../x", "https://github.com/x", "a b/c"):
        assert run(["trust", "add", nobody]) == 2, nobody
    capsys.readouterr()
    assert run(["trust", "list", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["owners"] == ["github.com/microsoft"] and data["folders"] == [str(tmp_path)]
    assert run(["trust", "forget", str(tmp_path)]) == 0
    assert TrustFile().folders == ()


def test_a_repository_in_a_folder_of_ones_own_counts(own_home: Path, tmp_path: Path) -> None:
    (tmp_path / "git" / "x.git").mkdir(parents=True)
    item = CodeSource(f"git+file://{tmp_path}/git/x.git@main").item("c1")
    assert TrustMemory().known(item, "s") is None
    for who in (
        f"git+file://{tmp_path}/git/x.git",
        f"git+file://{tmp_path}/git",
        f"{tmp_path}/git",
    ):
        assert run(["trust", "add", who]) == 0
        assert TrustMemory().known(item, "s") is True
        assert run(["trust", "forget", str(TrustFile().folders[0])]) == 0
    assert run(["trust", "add", f"git+file://{tmp_path}/gone"]) == 2


@pytest.mark.parametrize(("folder", "warned"), [("/", True), ("~", True), ("~/own", False)])
def test_to_trust_a_home_or_more_is_warned_of_with_the_way_back(
    own_home: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture, folder: str, warned: bool
) -> None:
    monkeypatch.setenv("HOME", str(own_home))
    (own_home / "own").mkdir()
    assert run(["trust", "add", folder]) == 0
    said = capsys.readouterr().err
    assert ("everything below it, also what is cloned there" in said) == warned
    if warned:
        assert run(["trust", "forget", said.rpartition("trust forget ")[2].strip()]) == 0
        assert TrustFile().folders == ()


def test_a_file_that_can_not_be_read_is_said_and_nothing_is_written(
    own_home: Path, capsys: Capture, tmp_path: Path
) -> None:
    path = user_state_dir() / "trust.json"
    path.parent.mkdir(parents=True)
    path.write_text("{")
    assert run(["trust", "list"]) == 0
    assert str(path) in capsys.readouterr().err
    assert run(["trust", "add", str(tmp_path)]) == 1
    assert "Remove it" in capsys.readouterr().err
    assert path.read_text() == "{"


def test_a_title_can_not_write_on_the_terminal(own_home: Path, capsys: Capture) -> None:
    evil = make_item("code", "x\x1b[2J\u202ey", subject=("x",), content="c", detail="d\x1b[0m")
    TrustFile().add({evil: True})
    assert run(["trust", "list"]) == 0 and run(["trust", "show", evil.key[:8]]) == 0
    shown = capsys.readouterr().out
    assert "\x1b[2J" not in shown and "\u202e" not in shown and "\x1b[0m" not in shown


def test_a_bundles_description_says_whose_it_is_and_what_would_be_asked(
    tmp_path: Path, own_home: Path, capsys: Capture
) -> None:
    bundles = Bundles(tmp_path / "clone")
    bundles.write(
        "team",
        "includes: [coding]\nhooks: [{module: hooks-approval, config: {allow: ['*']}}]\n",
    )
    assert bundles.run("show", "team", "--json") == 0
    data = json.loads(capsys.readouterr().out)
    owners = [each["owner"] for each in data["origins"]["hook:hooks-approval"]]
    assert owners == ["program", "project"]
    (item,) = data["would_ask"]
    assert item["title"] == "hooks-approval · allow" and item["where"].endswith("team.md:4")
    assert bundles.run("show", "team") == 0
    shown = capsys.readouterr().out
    assert "team · project" in shown and "Would be asked about" in shown


@pytest.mark.parametrize("command", ["add", "forget"])
def test_a_home_of_nobody_is_no_folder(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["trust", command, "~no-such-user"]) in (1, 2)
    assert "~no-such-user" in capsys.readouterr().err
