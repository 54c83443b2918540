import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_tui.cli.group import COMMANDS, build, run
from amplifier_tui.cli.launch import LAST, OPTIONS, LaunchOptions, parse_launch
from amplifier_tui.host.client import OpenRequest, SessionClient
from amplifier_tui.host.door.descriptors import DescriptorCapture
from amplifier_tui.ui.app.preferences import Preferences


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        ([], LaunchOptions()),
        (["--demo"], LaunchOptions(demo=True)),
        (["--bundle", "coding"], LaunchOptions(bundle="coding")),
        (["--bundle=coding", "--demo"], LaunchOptions(bundle="coding", demo=True)),
        (["--trust"], LaunchOptions(trust=True)),
        (["--model", "openai/gpt-6"], LaunchOptions(model="openai/gpt-6")),
        (["--resume"], LaunchOptions(resume=LAST)),
        (["--resume", "abc"], LaunchOptions(resume="abc")),
        (["--resume", "--demo"], LaunchOptions(resume=LAST, demo=True)),
        (["--resume=abc", "--cwd", "/x", "--theme", "ink"],
         LaunchOptions(resume="abc", cwd="/x", theme="ink")),
    ],
)  # fmt: skip
def test_a_plain_command_line_is_read_without_click(
    arguments: list[str], options: LaunchOptions
) -> None:
    assert parse_launch(arguments) == options


@pytest.mark.parametrize(
    "arguments",
    [["sessions"], ["--help"], ["-h"], ["--version"], ["--bundle"], ["--bundle="], ["--demo=yes"],
     ["--nope"], ["--bundle", "--demo"], ["stray"], [""], ["--"]],
)  # fmt: skip
def test_everything_else_is_left_to_click(arguments: list[str]) -> None:
    assert parse_launch(arguments) is None


@given(st.lists(st.sampled_from(["--demo", "--bundle", "x", "--resume", "--cwd=", "-", "é"])))
def test_no_command_line_makes_it_raise(arguments: list[str]) -> None:
    options = parse_launch(arguments)
    assert options is None or isinstance(options, LaunchOptions)


def test_the_help_lists_every_option_and_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--help"]) == 0
    text = capsys.readouterr().out
    for option in OPTIONS:
        assert option.flag in text
    for name in COMMANDS:
        assert name in text


def test_the_help_and_the_refusal_say_where_mode_auto_is_chosen(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for arguments in (["--help"], ["run", "--help"]):
        assert run(arguments) == 0
        said = " ".join(capsys.readouterr().out.split())
        assert "/mode chooses auto" in said or "/mode of the screen chooses auto" in said
    assert run(["--mode", "auto"]) == 2
    assert "only /mode chooses auto" in capsys.readouterr().err


@pytest.mark.parametrize("command", [[], ["--plain"], ["run", "hi"], ["serve"], ["acp"]])
def test_the_demo_is_refused_beside_another_bundle_whose_provider_would_be_asked(
    command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*command, "--demo", "--bundle", "minimal"]) == 2
    said = capsys.readouterr().err
    assert "--demo is a bundle of its own: leave it or --bundle minimal out" in said


def test_the_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    from amplifier_tui import __version__

    assert run(["--version"]) == 0
    assert __version__ in capsys.readouterr().out


def test_a_mistake_is_explained_and_is_status_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--bundl", "x"]) == 2
    assert "--bundle" in capsys.readouterr().err


@pytest.mark.parametrize("early", [["--mode", "plan"], ["--bundle=x"], ["--trust"]])
def test_an_option_before_a_command_is_refused_as_it_would_count_for_nothing(
    early: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*early, "run", "hello"]) == 2
    flag = early[0].partition("=")[0]
    assert (
        f"Options of a command stand after it: amplifier-tui run {flag}" in capsys.readouterr().err
    )


def test_an_option_before_a_command_that_has_none_such_is_not_offered_after_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["--mode", "plan", "doctor"]) == 2
    said = capsys.readouterr().err
    assert "--mode is no option of doctor; see amplifier-tui doctor --help" in said


def test_a_mistyped_command_is_told_the_one_like_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["sesions"]) == 2
    assert "Did you mean 'sessions'?" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "option"),
    [("resume", "resume"), ("continue", "resume"), ("resum", "resume"), ("demo", "demo")],
)
def test_an_option_that_is_written_as_a_command_is_told_as_the_option_it_is(
    name: str, option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([name]) == 2
    said = capsys.readouterr().err
    assert f"Did you mean 'amplifier-tui --{option}'?" in said and said.count("Did you mean") == 1


def test_without_a_terminal_it_refuses_to_start(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--demo", "--"]) == 2
    assert "needs a terminal" in capsys.readouterr().err


def test_a_dumb_terminal_and_its_pipes_get_lines_by_themselves(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("amplifier_tui.cli.plain.start.run_plain", lambda connect: 7)
    monkeypatch.setenv("TERM", "dumb")
    assert run(["--demo", "--"]) == 7


def test_a_folder_or_a_prompt_where_a_command_belongs_is_answered_with_the_way_to_give_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([str(tmp_path)]) == 2
    assert "A folder is opened with --cwd." in capsys.readouterr().err
    assert run(["mend the newest test"]) == 2
    assert "A prompt is sent with 'amplifier-tui run'" in capsys.readouterr().err


def test_a_working_directory_that_is_none_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--cwd", "/nowhere/at/all"]) == 2
    assert "/nowhere/at/all" in capsys.readouterr().err


def test_every_command_of_the_table_can_be_loaded(capsys: pytest.CaptureFixture[str]) -> None:
    for name in COMMANDS:
        assert run([name, "--help"]) == 0
        assert "Usage:" in capsys.readouterr().out


def helps(command: click.Command, name: str, parent: click.Context | None) -> dict[str, str]:
    """Return what each command below one says of itself, by its words."""
    with click.Context(command, parent, info_name=name) as context:
        found = {context.command_path: command.get_help(context)}
        if isinstance(command, click.Group):
            for each in command.list_commands(context):
                child = command.get_command(context, each)
                assert child is not None
                found |= helps(child, each, context)
        return found


def test_no_help_shows_a_mark_of_its_layout_or_is_wider_than_a_terminal() -> None:
    found = helps(build(), "amplifier-tui", None)
    assert len(found) > len(COMMANDS)
    lines = [(name, line) for name, text in found.items() for line in text.splitlines()]
    assert [row for row in lines if "\\b" in row[1] or len(row[1]) > 80] == []


def test_modules_of_the_current_folder_are_not_run(tmp_path: Path) -> None:
    for name in ("yaml.py", "click.py", "platformdirs.py"):
        (tmp_path / name).write_text("raise SystemExit(77)\n")
    command = [sys.executable, "-m", "amplifier_tui", "bundle", "list"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=60)
    assert done.returncode == 0, done.stderr


def test_in_a_folder_that_was_removed_it_says_so(tmp_path: Path) -> None:
    command = f"cd {tmp_path}/gone && rmdir ../gone && {sys.executable} -m amplifier_tui --version"
    (tmp_path / "gone").mkdir()
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == ("The working directory is no longer there. Change into another one.\n")


def test_the_line_mode_begins_with_the_models_the_user_chose(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    Preferences().set_model("coding", {"provider": "anthropic", "model": "haiku"})
    requests = []

    def opened(connect: Callable[[DescriptorCapture], tuple[SessionClient, OpenRequest]]) -> int:
        with DescriptorCapture() as printed:
            client, request = connect(printed)
        client.close()
        requests.append(request)
        return 0

    monkeypatch.setattr("amplifier_tui.cli.plain.start.run_plain", opened)
    assert run(["--plain"]) == 0
    assert requests[0].models["coding"].model == "haiku"
