import asyncio
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from amplifier_tui.kernel.coordinator import ModuleCoordinator
from amplifier_tui.kernel.correlation import tool_call
from amplifier_tui.kernel.loader import ModuleLoader
from amplifier_tui.modules import tool_bash
from tests.modules.tool_bash.support import Shell, kind


async def test_it_is_found_by_its_id_and_announces_its_progress(tmp_path: Path):
    coordinator = ModuleCoordinator()
    mount = await ModuleLoader(coordinator).load("tool-bash", {})
    cleanup = await mount(coordinator)
    assert coordinator.get("tools", "bash").input_schema["required"] == ["command"]
    (told,) = await coordinator.collect_contributions("observability.events")
    assert told == ["tool:progress", "job:started", "job:progress", "job:ended"]
    await cleanup()


@pytest.mark.parametrize(
    "config",
    [
        {"timeout": 0},
        {"timeout": "long"},
        {"shell": "no-such-shell"},
        {"denied_commands": ["("]},
        {"env": ["A=1"]},
        {"pass_secrets": "yes"},
    ],
)
async def test_a_mistake_in_the_config_is_told(config: dict[str, Any]):
    with pytest.raises(ValueError, match="tool-bash"):
        await tool_bash.mount(ModuleCoordinator(), config)


async def test_output_and_exit_code_come_back(shell: Shell):
    result = await shell.run("echo hello")
    assert result.success
    first, second = result.output.split("\n")
    assert first == "hello"
    assert second.startswith("[exit code 0 · 0.") and second.endswith(" s]")


async def test_a_failing_command_is_a_failure_with_its_output(shell: Shell):
    result = await shell.run("echo oops >&2; exit 3")
    assert kind(result) == "exit_code"
    assert result.output.startswith("oops\n[exit code 3")
    assert result.error["message"] == "exit code 3"


async def test_both_streams_come_in_the_order_they_were_written(shell: Shell):
    result = await shell.run("for i in 1 2 3; do echo out$i; echo err$i >&2; done")
    assert result.output.split("\n")[:-1] == ["out1", "err1", "out2", "err2", "out3", "err3"]


async def test_it_runs_in_the_workspace_with_bash(shell: Shell):
    result = await shell.run("pwd -P; [[ x == x ]] && echo ${BASH_VERSION:+bash}")
    assert result.output.split("\n")[:2] == [str(shell.root.resolve()), "bash"]


async def test_nothing_waits_for_input(shell: Shell):
    result = await shell.run("cat; read line; echo got=$line")
    assert result.output.startswith("got=")


async def test_a_command_without_output_says_only_how_it_ended(shell: Shell):
    assert (await shell.run("true")).output.startswith("[exit code 0")


async def test_a_signal_is_named(shell: Shell):
    assert "[ended by signal 9 (SIGKILL) · " in (await shell.run("kill -9 $$")).output


@pytest.mark.parametrize("command", [None, "", "  ", 3, ["ls"]])
async def test_a_command_must_be_a_text(shell: Shell, command: object):
    assert kind(await shell.run(command)) == "invalid_arguments"


async def test_a_command_with_a_nul_is_explained(shell: Shell):
    assert "can't be started" in (await shell.run("echo a\0b")).output


async def test_a_command_line_that_is_too_long_is_explained(shell: Shell):
    assert "can't be started" in (await shell.run("echo " + "x" * 3_000_000)).output


async def test_a_missing_workspace_is_explained(tmp_path: Path):
    shell = await Shell(tmp_path / "gone").mount()
    result = await shell.run("pwd")
    assert kind(result) == "no_workspace"
    assert "ask the user to put it back or to open a session in another folder" in result.output
    assert "is gone" in shell.tool.refused_place({"command": "make"}), "so nobody is asked"


@pytest.mark.parametrize("timeout", [0, -1, "soon", float("nan"), [1]])
async def test_a_timeout_that_makes_no_sense_is_refused(shell: Shell, timeout: object):
    assert kind(await shell.run("true", timeout=timeout)) == "invalid_arguments"


# --- environment -----------------------------------------------------------------------------

SECRETS = {
    "OPENAI_API_KEY": "s1",
    "ANTHROPIC_AUTH_TOKEN": "s2",
    "GITHUB_TOKEN": "s3",
    "AWS_SECRET_ACCESS_KEY": "s4",
    "DB_PASSWORD": "s5",
}


async def test_keys_and_tokens_are_not_visible(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for name, value in SECRETS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("HARMLESS", "yes")
    monkeypatch.setenv("SSH_AUTH_SOCK", "/agent")
    output = (await (await Shell(tmp_path).mount()).run("env")).output
    assert "HARMLESS=yes" in output
    assert "SSH_AUTH_SOCK=/agent" in output
    assert not any(f"{name}=" in output for name in SECRETS)


async def test_some_or_all_can_be_kept_by_config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for name, value in SECRETS.items():
        monkeypatch.setenv(name, value)
    some = (await (await Shell(tmp_path).mount(keep_env=["GITHUB_*"])).run("env")).output
    everything = (await (await Shell(tmp_path).mount(pass_secrets=True)).run("env")).output
    assert "GITHUB_TOKEN=s3" in some and "OPENAI_API_KEY" not in some
    assert all(f"{name}={value}" in everything for name, value in SECRETS.items())


async def test_variables_can_be_set_and_pagers_are_off(tmp_path: Path):
    shell = await Shell(tmp_path).mount(env={"MODE": "test", "N": 3})
    assert (await shell.run("echo $MODE $N $PAGER $TERM")).output.startswith("test 3 cat dumb")


async def test_folders_and_patterns_lead_where_the_line_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "other" / "sub").mkdir(parents=True)
    monkeypatch.setenv("CDPATH", str(tmp_path / "other"))
    monkeypatch.setenv("BASHOPTS", "dotglob")
    monkeypatch.setenv("GLOBIGNORE", "x")
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / ".hidden").touch()
    shell = await Shell(tmp_path / "project").mount()
    assert "No such file" in (await shell.run("cd sub")).output
    assert (await shell.run("echo *")).output.startswith("*\n")


# --- progress --------------------------------------------------------------------------------


async def test_output_is_shown_while_the_command_runs(shell: Shell):
    os.mkfifo(shell.root / "go")
    with tool_call("c7"):
        running = asyncio.create_task(shell.run("echo first; read x < go; echo second"))
    await shell.output_contains("first")
    assert not running.done()
    await asyncio.to_thread((shell.root / "go").write_text, "go\n")
    await running
    assert "".join(data["text"] for data in shell.progress) == "first\nsecond\n"
    assert {(data["tool_name"], data["tool_call_id"]) for data in shell.progress} == {
        ("bash", "c7")
    }


async def test_a_handler_that_fails_does_not_disturb_the_command(shell: Shell):
    shell.coordinator.hooks.register("tool:progress", lambda *_: 1 / 0)
    assert (await shell.run("echo fine")).output.startswith("fine")


def test_it_runs_on_the_loop_of_another_thread(tmp_path: Path):
    async def run() -> str:
        shell = await Shell(tmp_path).mount()
        output: str = (await shell.run("echo from a thread")).output
        await shell.close()
        return output

    with ThreadPoolExecutor(1) as thread:
        assert thread.submit(asyncio.run, run()).result().startswith("from a thread")
