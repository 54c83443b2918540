"""`doctor`: everything that takes something away is found, with its remedy and without secrets."""

import json
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from amplifier_tui.cli.doctor import machine, terminal
from amplifier_tui.cli.doctor.findings import Diagnosis
from amplifier_tui.cli.group import run
from amplifier_tui.paths import amplifier_home
from amplifier_tui.ui.terminal.asking import tells_keys_apart
from tests.foundation.helpers import write
from tests.servers import Failure, LoopbackServer

Capture = pytest.CaptureFixture[str]
KEY = "sk-ant-api03-0123456789abcdefghij-users-own"
GOOD = {"TERM": "xterm-256color", "COLORTERM": "truecolor"}


@pytest.fixture(autouse=True)
def somewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    for name, value in GOOD.items():
        monkeypatch.setenv(name, value)
    return project


@pytest.fixture
def server() -> Iterator[LoopbackServer]:
    with LoopbackServer(strict=False) as found:
        yield found


def found(capsys: Capture, *arguments: str) -> dict[str, dict[str, Any]]:
    """What `doctor --json` says, by group and thing; of several the last."""
    run(["doctor", "--json", *arguments])
    text = capsys.readouterr().out
    assert KEY not in text
    groups = json.loads(text)["groups"]
    for listed in groups.values():
        for each in listed:
            assert each["remedy"] or each["state"] in ("ok", "note"), each
    return {f"{group}: {each['what']}": each for group, all_ in groups.items() for each in all_}


def looked(
    environ: Mapping[str, str], apart: bool | None = None, light: bool | None = None
) -> dict[str, Diagnosis]:
    found = terminal.look_at_terminal(environ, lambda: apart, lambda: light)
    return {each.what: each for each in found}


def test_a_fresh_home_says_what_to_do_next_and_fetches_and_makes_nothing(
    own_home: Path, capsys: Capture
) -> None:
    assert run(["doctor"]) == 0
    text = capsys.readouterr().out
    assert "! " in text and 'ANTHROPIC_API_KEY="…"' in text and "~/.amplifier/keys.env" in text
    assert str(own_home) not in text
    assert text.rstrip().splitlines()[-1].startswith("2 to mend")
    assert not (own_home / ".amplifier").exists()


def test_a_key_is_named_with_its_place_and_never_shown(capsys: Capture) -> None:
    write(amplifier_home() / "keys.env", f'ANTHROPIC_API_KEY="{KEY}"\nbroken line {KEY}\n')
    said = found(capsys)
    assert said["Providers: ANTHROPIC_API_KEY"]["said"] == "set in keys.env"
    assert said["Providers: provider-anthropic"]["state"] == "ok"
    # One is enough.
    assert said["Providers: provider-openai"]["state"] == "note"
    assert "keys.env:2" in said["Folders: settings"]["said"]
    assert run(["doctor"]) == 0
    assert KEY not in capsys.readouterr().out


def test_what_the_chosen_bundle_opens_without_and_broken_bundles_are_found(
    somewhere: Path, capsys: Capture
) -> None:
    lost = "tools: [{module: tool-nowhere}, {module: tool-far, source: ./gone}]\n"
    text = f"---\nbundle: {{name: team}}\nincludes: [coding, ./lost.md]\n{lost}---\nHi.\n"
    write(somewhere / ".amplifier/bundles/team.md", text)
    write(somewhere / ".amplifier/bundles/torn.md", "---\nbundle: [\n---\n")
    # As `bundle list` has it.
    lost = "session: {orchestrator: {module: loop-baisc}}\n"
    text = f"---\nbundle: {{name: odd}}\nincludes: [coding]\n{lost}---\n"
    write(somewhere / ".amplifier/bundles/odd.md", text)
    write(somewhere / ".amplifier/settings.yaml", "bundle: {active: team}\nmodules: 7\n")
    for name, includes in {"part": "", "one": "two", "two": "one"}.items():
        text = f"---\nbundle: {{name: {name}}}\nincludes: [{includes}]\n---\nHi.\n"
        write(somewhere / f".amplifier/bundles/{name}.md", text)
    said = found(capsys)
    # As `bundle validate` has them.
    assert said["Bundles: part"]["said"].startswith("valid only as a part of other bundles: ")
    for name in ("one", "two"):
        assert "not valid" in said[f"Bundles: {name}"]["said"]
        assert run(["bundle", "validate", name]) == 1
    assert run(["bundle", "validate", "part"]) == 0
    assert "the bundle in use" in said["Bundles: team"]["said"]
    for name in ("tool-nowhere", "tool-far", "./lost.md"):
        assert said[f"Bundles: {name}"]["state"] == "warning"
    assert "not valid" in said["Bundles: torn"]["said"]
    assert (
        "not valid" in said["Bundles: odd"]["said"] and "4 not" in said["Bundles: bundles"]["said"]
    )
    assert "settings.yaml" in said["Folders: settings"]["said"]


def test_without_a_screen_or_a_program_it_fails_and_says_so(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert run(["doctor", "--json"]) == 1
    data = json.loads(capsys.readouterr().out)
    assert data["state"] == "error"
    broken = {
        each["what"]
        for all_ in data["groups"].values()
        for each in all_
        if each["state"] == "error"
    }
    assert broken == {"kind", "git"}


def test_folders_that_others_can_write_and_files_in_their_place_are_found(
    own_home: Path, capsys: Capture
) -> None:
    home = amplifier_home()
    home.mkdir(mode=0o777)
    home.chmod(0o777)
    write(Path(os.environ["XDG_CONFIG_HOME"]) / "amplifier-tui", "a file")
    said = found(capsys)
    assert said["Folders: home"]["lines"] == ["chmod go-w ~/.amplifier"]
    assert said["Folders: configuration"]["state"] == "error"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("mode: pln", "'pln' is none of plan, ask, edits; did you mean 'plan'?"),
        ("sandbox: mabye", "must be auto, required or off, not 'mabye'"),
    ],
)
def test_a_setting_whose_value_means_nothing_is_found(
    capsys: Capture, line: str, said: str
) -> None:
    write(amplifier_home() / "settings.yaml", f"{line}\n")
    settings = found(capsys)["Folders: settings"]
    assert settings["state"] == "warning" and said in settings["said"]


def test_an_override_of_a_misspelt_module_is_found(capsys: Capture) -> None:
    write(amplifier_home() / "settings.yaml", "overrides:\n  tool-bsh: {config: {a: 1}}\n")
    (wrong,) = [each for each in found(capsys).values() if "tool-bsh" in each["said"]]
    assert wrong["state"] == "warning" and "settings.yaml:2: " in wrong["said"]
    assert "did you mean 'tool-bash'?" in wrong["said"]


def test_a_slip_in_a_file_of_rules_is_found_with_what_it_costs(
    somewhere: Path, capsys: Capture
) -> None:
    write(somewhere / ".amplifier" / "rules.yaml", "deny:\n  - write_file(new.txt\n")
    (rules,) = (each for name, each in found(capsys).items() if name.endswith(": rules"))
    assert rules["state"] == "warning" and "rules.yaml:2:" in rules["said"]
    assert rules["remedy"].endswith("until then nothing goes unasked, not even reading.")


@pytest.mark.parametrize(
    ("text", "said"),
    [("[keys\n", "All keys keep their defaults."), ('[keys]\n"pane.modlues" = "f9"\n', "modules?")],
)
def test_a_keymap_that_can_t_be_read_or_names_no_action_is_found(
    capsys: Capture, text: str, said: str
) -> None:
    write(Path(os.environ["XDG_CONFIG_HOME"]) / "amplifier-tui" / "keymap.toml", text)
    keys = found(capsys)["Folders: keys"]
    assert keys["state"] == "warning" and said in keys["said"]
    assert "keymap.toml" in keys["said"] and "amplifier-tui keys" in keys["remedy"]


def test_a_theme_file_that_is_wrong_is_found(somewhere: Path, capsys: Capture) -> None:
    assert "Folders: theme" not in found(capsys)
    folder = Path(os.environ["XDG_CONFIG_HOME"]) / "amplifier-tui" / "themes"
    write(folder / "mine.yaml", 'name: mine\nbackgruond: "#000000"\n')
    theme = found(capsys)["Folders: theme"]
    assert theme["state"] == "warning" and theme["said"].startswith("themes/mine.yaml:")
    assert "'backgruond'" in theme["said"] and "'background'?" in theme["said"]
    assert "amplifier-tui/themes;" in theme["remedy"]


def test_preferences_that_can_t_be_read_are_found(somewhere: Path, capsys: Capture) -> None:
    assert "Folders: preferences" not in found(capsys)
    write(Path(os.environ["XDG_CONFIG_HOME"]) / "amplifier-tui" / "preferences.json", "{bad")
    preferences = found(capsys)["Folders: preferences"]
    assert preferences["state"] == "warning" and "preferences.json" in preferences["said"]


@pytest.mark.parametrize("answers", [True, False])
def test_each_provider_is_called_on_request_alone(
    server: LoopbackServer, capsys: Capture, answers: bool
) -> None:
    server.script.add("ready" if answers else Failure("unauthorized", message=f"not {KEY}"))
    config = f"{{base_url: '{server.openai_url}', api: chat, api_key: {KEY}, max_retries: 0}}"
    entry = f"{{module: provider-openai, config: {config}}}"
    write(amplifier_home() / "settings.yaml", f"config: {{providers: [{entry}]}}\n")
    assert "Providers: openai" not in found(capsys) and server.requests == []
    said = found(capsys, "--call")
    call = next(each for name, each in said.items() if "answer" in each["said"])
    assert (call["state"] == "ok") is answers and len(server.requests) == 1


def test_without_streams_and_with_a_home_of_nobody_it_still_says_what_is_wrong(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AMPLIFIER_HOME", "~nobody-of-that-name/x")
    assert "nobody-of-that-name" in found(capsys)["Folders: home"]["said"]
    for name in ("stdin", "stdout"):
        monkeypatch.setattr(f"sys.{name}", None)
    assert run(["doctor"]) == 0


# --- the terminal --------------------------------------------------------------------------


def test_a_good_terminal_has_nothing_to_mend() -> None:
    assert {each.state for name, each in looked(GOOD).items() if name != "terminal"} == {"ok"}


@pytest.mark.parametrize(
    ("environ", "what", "line"),
    [
        ({"TERM": ""}, "kind", "export TERM=xterm-256color"),
        ({"COLORTERM": ""}, "colours", "export COLORTERM=truecolor"),
        ({"NO_COLOR": "1"}, "colours", "unset NO_COLOR"),
        ({"SSH_CONNECTION": "1 2 3 4", "COLORTERM": ""}, "ssh colours", "SendEnv COLORTERM"),
    ],
)
def test_what_the_terminal_lacks_comes_with_the_lines_to_add(
    environ: dict[str, str], what: str, line: str
) -> None:
    finding = looked({**GOOD, **environ})[what]
    assert finding.state != "ok" and line in finding.lines


def test_images_are_drawn_or_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    assert looked(GOOD)["images"].state == "ok"
    assert "NO_COLOR" in looked({**GOOD, "NO_COLOR": "1"})["images"].said
    monkeypatch.setitem(sys.modules, "PIL", None)
    finding = looked(GOOD)["images"]
    assert "Pillow is not installed" in finding.said
    assert finding.lines == ("pip install 'amplifier-tui[images]'",)


@pytest.mark.parametrize(("value", "state"), [("on", "ok"), ("off", "note")])
def test_inside_tmux_its_option_decides_whether_shift_enter_arrives(
    value: str, state: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = f'#!/bin/sh\ncase "$*" in *extended-keys) echo {value};; esac\n'
    write(tmp_path / "bin" / "tmux", script).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/bin:/usr/bin")
    monkeypatch.setattr(terminal, "is_terminal", lambda stream: True)
    said = looked({**GOOD, "TMUX": "/tmp/x,1,0"}, apart=False)["keys"]
    assert said.state == state and "shift+enter" in said.said
    assert "ctrl+j" in said.remedy or state == "ok"


@pytest.mark.parametrize(
    ("light", "said", "state"),
    [
        (True, "light: the theme", "ok"),
        (False, "dark: the theme", "ok"),
        (None, "does not tell it", "note"),
    ],
)
def test_the_background_decides_the_theme_where_the_terminal_tells_it(
    light: bool | None, said: str, state: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(terminal, "is_terminal", lambda stream: True)
    found = looked(GOOD, light=light)["background"]
    assert said in found.said and found.state == state


def test_options_of_tmux_that_take_something_away_come_with_the_lines_to_add(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = {"extended-keys": "off", "allow-passthrough": "on", "focus-events": "off"}
    cases = "".join(f"*{name}) echo {value};;\n" for name, value in options.items())
    script = (
        f'#!/bin/sh\ncase "$*" in\n-V) echo tmux 3.4;;\n*escape-time) echo 500;;\n{cases}esac\n'
    )
    write(tmp_path / "bin" / "tmux", script).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/bin:/usr/bin")
    said = looked({**GOOD, "TMUX": "/tmp/x,1,0"})
    assert said["tmux"].said == "tmux 3.4"
    assert "set -s extended-keys on" in said["extended-keys"].lines
    assert said["focus-events"].lines == ("set -g focus-events on",)
    assert said["escape-time"].lines == ("set -sg escape-time 20",)
    assert "allow-passthrough" not in said and "set-clipboard" not in said


@pytest.mark.parametrize(
    ("answer", "apart"),
    [
        (b"\x1b[?0u\x1b[?62;22c", True),
        (b"\x1b[?1;2c", False),
        (b"x\x1b[?0u\x1b[?62c", True),
        (b"", None),
    ],
)
def test_a_terminal_says_whether_it_tells_keys_apart(answer: bytes, apart: bool | None) -> None:
    assert tells_keys_apart(answer) is apart


def test_a_clock_that_is_behind_is_found() -> None:
    said = {each.what: each for each in machine.look_at_machine(now=1_000_000.0)}
    assert said["clock"].state == "error" and said["clock"].remedy
