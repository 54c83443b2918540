"""Folder and variables that calls leave to one another, written in before a call is judged."""

import os
from pathlib import Path
from typing import Any

import pytest

from amplifier_tui.base.files.scratch import OWNER
from amplifier_tui.kernel.models import ToolResult
from amplifier_tui.kernel.session.grant import SANDBOX_CAPABILITY, Grant, SandboxTerms, granted
from tests.modules.tool_bash.support import Shell, kind
from tests.sandbox import needs_sandbox


async def judged(shell: Shell, command: str, **more: Any) -> dict[str, Any]:
    """The arguments of a call as whoever judges it sees them."""
    call = {"tool_name": "bash", "tool_input": {"command": command, **more}}
    result = await shell.coordinator.hooks.emit("tool:pre", call)
    given: dict[str, Any] = (result.data or call)["tool_input"]
    return given


async def kept(shell: Shell, command: str, **more: Any) -> ToolResult:
    return await shell.tool.execute(await judged(shell, command, persist=True, **more))


async def test_a_call_begins_where_the_last_one_ended_if_both_ask_for_it(shell: Shell):
    (shell.root / "sub").mkdir()
    await kept(shell, "cd sub; export COLOUR=red")
    assert (await kept(shell, "echo $COLOUR in ${PWD##*/}")).output.startswith("red in sub\n")
    plain = await shell.tool.execute(await judged(shell, "echo ${COLOUR-none}; pwd -P"))
    assert plain.output.startswith(f"none\n{shell.root.resolve()}\n")


async def test_a_setting_has_every_call_ask_but_those_that_say_no(tmp_path: Path):
    shell = await Shell(tmp_path).mount(persist=True)
    await shell.run("export COLOUR=red")
    assert (await judged(shell, "ls"))["command"] == "export COLOUR=red; ls"
    assert (await judged(shell, "ls", persist=False))["command"] == "ls"
    await shell.close()


async def test_what_is_kept_stands_in_the_call_that_is_judged_and_only_once(shell: Shell):
    (shell.root / "a b").mkdir()
    result = await kept(shell, "cd 'a b'; export ONE=\"it's\"; export TWO='$(x)'; unset HOME")
    assert "folder" in result.output and "variables HOME, ONE, TWO" in result.output
    first = await judged(shell, "ls", persist=True)
    assert first == {
        "command": "unset HOME; export ONE='it'\"'\"'s'; export TWO='$(x)'; ls",
        "cwd": "a b",
        "persist": True,
    }
    assert await judged(shell, **first) == first


@pytest.mark.parametrize(
    "command",
    [
        "alias ls=false; ls() { false; }; export -f ls; set -e; shopt -s extglob",
        "COLOUR=red",
        "( cd sub; export COLOUR=red )",
        "trap - EXIT; cd sub; export COLOUR=red",
        "exec true",
    ],
)
async def test_functions_aliases_and_what_a_subshell_does_are_not_kept(shell: Shell, command: str):
    (shell.root / "sub").mkdir()
    await kept(shell, command)
    assert await judged(shell, "ls", persist=True) == {"command": "ls", "persist": True}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("GITHUB_TOKEN", "sesame"),
        ("URL", "https://me:hunter22@example.com"),
        ("COPY", "of-the-users-own-key"),
        ("ESCAPED", "\x1b[2Jred"),
        ("TURNED", "\u202eabc"),
        ("LONG", "x" * 5_000),
    ],
)
async def test_secrets_hidden_characters_and_heaps_are_not_kept(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, name: str, value: str
):
    monkeypatch.setenv("SOME_API_KEY", "of-the-users-own-key")
    (shell.root / "value").write_text(value)
    result = await kept(shell, f'export FINE=1 {name}="$(cat value)"')
    assert f"Not kept: {name} (" in result.output
    assert value not in result.output
    assert (await judged(shell, "ls", persist=True))["command"] == "export FINE=1; ls"


async def test_a_folder_with_a_line_break_in_its_name_is_not_kept(shell: Shell):
    (shell.root / "sub\n").mkdir()
    (shell.root / "sub").mkdir()
    assert "the folder" in (await kept(shell, "cd $'sub\\n'")).output
    assert "cwd" not in await judged(shell, "ls", persist=True)


async def test_a_folder_outside_the_workspace_is_named_in_full(tmp_path: Path):
    (tmp_path / "work").mkdir()
    shell = await Shell(tmp_path / "work").mount()
    await kept(shell, "cd ..")
    assert (await judged(shell, "ls", persist=True))["cwd"] == str(tmp_path.resolve())
    await kept(shell, f"cd {shell.root}")
    assert "cwd" not in await judged(shell, "ls", persist=True)
    await shell.close()


async def test_a_folder_that_is_gone_runs_nothing_and_the_next_call_is_in_the_workspace(
    shell: Shell,
):
    (shell.root / "sub").mkdir()
    await kept(shell, "cd sub")
    (shell.root / "sub").rmdir()
    result = await kept(shell, "touch made")
    assert kind(result) == "no_folder" and "gone" in result.output
    await kept(shell, "touch made")
    assert [path.name for path in shell.root.iterdir()] == ["made"]


@pytest.mark.parametrize("name", ["cwd", "working_dir", "workdir"])
async def test_a_call_runs_in_the_folder_it_names_under_any_of_the_usual_names(
    shell: Shell, name: str
):
    (shell.root / "sub").mkdir()
    assert (await shell.run("echo ${PWD##*/}", **{name: "sub"})).output.startswith("sub\n")
    assert kind(await shell.run("ls", **{name: "none"})) == "no_folder"
    assert kind(await shell.run("ls", **{name: "a\0b"})) == "invalid_arguments"


@pytest.mark.parametrize("wrong", ["yes", 1, []])
async def test_what_is_no_yes_or_no_is_said(shell: Shell, wrong: Any):
    assert kind(await shell.run("ls", persist=wrong)) == "invalid_arguments"
    assert await judged(shell, "ls", persist=wrong) == {"command": "ls", "persist": wrong}


async def test_exit_code_and_output_are_the_commands_own(shell: Shell):
    result = await kept(shell, "export ONE=1; echo out; exit 7")
    assert result.output.startswith("out\n[exit code 7")
    assert (await judged(shell, "ls", persist=True))["command"] == "export ONE=1; ls"


async def test_a_background_command_begins_with_what_is_kept_and_leaves_nothing(shell: Shell):
    await kept(shell, "export ONE=1")
    await kept(shell, "export TWO=$ONE", run_in_background=True)
    assert (await judged(shell, "ls", persist=True))["command"] == "export ONE=1; ls"


async def test_what_a_command_puts_in_place_of_its_telling_is_not_followed(
    shell: Shell, tmp_path: Path
):
    (tmp_path / "other").write_bytes(b"/\n\0STOLEN=1\0")
    tell = "f=$(trap -p EXIT | grep -o '/[^ ]*kept-[0-9a-f]*')"
    result = await kept(shell, f'{tell}; trap - EXIT; ln -s {tmp_path}/other "$f"')
    assert "not known" in result.output
    result = await kept(shell, f'{tell}; trap - EXIT; mkfifo "$f"')
    assert "not known" in result.output
    assert await judged(shell, "ls", persist=True) == {"command": "ls", "persist": True}


async def test_nothing_is_left_on_disk(shell: Shell):
    await kept(shell, "export ONE=1")
    folder = shell.tool.keeping.place(None).parent
    assert [each.name for each in folder.iterdir()] == [OWNER]
    await shell.close()
    assert not folder.exists()


@needs_sandbox
async def test_in_the_sandbox_too_and_it_is_no_wider_for_the_folder(tmp_path: Path):
    work = tmp_path / "work"
    (work / "sub").mkdir(parents=True)
    shell = Shell(work)
    shell.coordinator.register_capability(SANDBOX_CAPABILITY, SandboxTerms())
    await shell.mount()
    with granted(Grant("rule")):
        await kept(shell, "cd sub; export COLOUR=red; touch in; touch ../beside")
        assert (await judged(shell, "ls", persist=True))["cwd"] == "sub"
        assert (await kept(shell, "echo $COLOUR; cd ../..")).output.startswith("red\n")
        output = (await kept(shell, "touch outside; pwd -P")).output
    assert str(tmp_path.resolve()) in output and not (tmp_path / "outside").exists()
    assert sorted(os.listdir(work)) == ["beside", "sub"]
    await shell.close()


async def test_a_shell_that_is_none_of_the_usual_ones_keeps_nothing(tmp_path: Path):
    own = tmp_path / "oursh"
    own.symlink_to("/bin/bash")
    shell = await Shell(tmp_path).mount(shell=str(own), persist=True)
    assert kind(await shell.run("ls", persist=True)) == "invalid_arguments"
    assert (await shell.run("export ONE=1")).success
    assert await judged(shell, "ls") == {"command": "ls"}
    await shell.close()


async def test_of_more_than_is_read_nothing_is_taken_for_gone(shell: Shell):
    await kept(shell, "export COLOUR=red")
    large = "large=$(printf 'x%.0s' {1..100000}); for n in {1..12}; do export L$n=$large; done"
    result = await kept(shell, large)
    assert "What this command left is not known" in result.output
    assert (await judged(shell, "ls", persist=True))["command"] == "export COLOUR=red; ls"
