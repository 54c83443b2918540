"""A command that prints to a terminal, because it was asked for."""

import pytest

from tests.modules.tool_bash.support import Shell, kind

SIZE = "import os; print(*os.get_terminal_size(1))"


async def test_it_prints_to_a_terminal_and_reads_from_none(shell: Shell) -> None:
    asked = "test -t 1 && test -t 2 && echo yes; test -t 0 || echo no input; read x || echo end"
    result = await shell.run(f"{asked}; echo $TERM; python3 -c '{SIZE}'; exit 3", terminal=True)
    lines = str(result.output).splitlines()
    assert lines[:5] == ["yes", "no input", "end", "xterm-256color", "80 24"]
    assert "exit code 3" in lines[5]
    assert "yes" not in str((await shell.run("test -t 1 && echo yes")).output)


async def test_what_a_terminal_would_leave_standing_is_what_the_model_gets(shell: Shell) -> None:
    command = r"printf '10%%\r50%%\r100%%\n\033[31mred\033[0m\n'"
    result = await shell.run(command, terminal=True)
    assert str(result.output).startswith("100%\nred\n")


async def test_much_output_comes_whole_and_a_job_may_have_one_too(shell: Shell) -> None:
    result = await shell.run("seq 1 50000; echo END", terminal=True)
    assert str(result.output).startswith("1\n2\n3\n")
    assert "49999\n50000\nEND\n[exit code 0" in str(result.output)
    await shell.run("test -t 1 && echo yes", terminal=True, run_in_background=True)
    tool = shell.coordinator.get("tools", "bash_job")
    read = ""
    while "exit code 0" not in read:
        await shell.run("sleep 0.05")
        read += str((await tool.execute({"action": "read", "job_id": "job-1"})).output)
    assert "yes\n" in read


async def test_a_time_limit_ends_it(shell: Shell) -> None:
    result = await shell.run("echo begun; sleep 60", terminal=True, timeout=0.3)
    assert kind(result) == "timeout"
    assert str(result.output).startswith("begun")


@pytest.mark.parametrize("wanted", ["yes", 1, [True]])
async def test_what_is_no_yes_or_no_is_refused(shell: Shell, wanted: object) -> None:
    assert kind(await shell.run("true", terminal=wanted)) == "invalid_arguments"
