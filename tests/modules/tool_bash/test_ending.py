import asyncio
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from amplifier_tui.base.commands import process
from amplifier_tui.kernel import events
from amplifier_tui.kernel.models import ToolResult, interrupted_result
from tests.modules.tool_bash.support import Shell, alive, gone, kind
from tests.waiting import within


async def pid_in(path: Path) -> int:
    async with within(30, f"the number in {path.name}"):
        while not path.exists() or not path.read_text().strip():
            await asyncio.sleep(0.01)
    return int(path.read_text())


async def test_a_timeout_ends_the_whole_group_and_keeps_the_output(shell: Shell):
    command = "echo $$ > shell; sleep 60 & echo $! > child; echo so far; wait"
    # On a busy machine a shell takes longer to begin.
    for limit in (1, 4, 16):
        result = await shell.run(command, timeout=limit)
        if "so far" in result.output:
            break
    assert kind(result) == "timeout"
    assert result.output.startswith(f"so far\n[timed out after {limit} s and was ended")
    await gone(await pid_in(shell.root / "shell"), await pid_in(shell.root / "child"))


async def test_the_default_timeout_and_its_ceiling_come_from_the_config(tmp_path: Path):
    shell = await Shell(tmp_path).mount(timeout=0.3, max_timeout=0.5)
    assert "timed out after 0.3 s" in (await shell.run("sleep 60")).output
    assert "timed out after 0.5 s" in (await shell.run("sleep 60", timeout=100)).output


async def test_cancelling_ends_the_whole_group(shell: Shell):
    command = "echo $$ > shell; (sleep 60 & echo $! > child; wait); echo never"
    running = asyncio.create_task(shell.run(command))
    pids = [await pid_in(shell.root / name) for name in ("shell", "child")]
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    await gone(*pids)


async def test_a_command_that_ignores_the_polite_signal_is_killed(shell: Shell):
    command = "trap '' TERM INT HUP; echo $$ > shell; while :; do sleep 0.1; done"
    running = asyncio.create_task(shell.run(command))
    pid = await pid_in(shell.root / "shell")
    running.cancel()
    async with within(20):
        with pytest.raises(asyncio.CancelledError):
            await running
        await gone(pid)


async def test_a_second_cancel_does_not_wait_for_the_polite_one(shell: Shell):
    command = "trap '' TERM; echo $$ > shell; while :; do sleep 0.1; done"
    running = asyncio.create_task(shell.run(command))
    pid = await pid_in(shell.root / "shell")
    running.cancel()
    await asyncio.sleep(0)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    await gone(pid)


async def test_a_command_may_clean_up_when_it_is_stopped(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
):
    # It ends by itself, at once where the machine does nothing else.
    monkeypatch.setattr(process, "TERM_GRACE", 20.0)
    command = "trap 'echo bye > cleaned; exit' TERM; echo $$ > shell; sleep 60 & wait"
    running = asyncio.create_task(shell.run(command))
    await pid_in(shell.root / "shell")
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert (shell.root / "cleaned").read_text() == "bye\n"


async def test_a_stopped_command_leaves_what_it_had_printed_with_its_last_words(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(process, "TERM_GRACE", 20.0)
    command = "trap 'echo bye; exit' TERM; seq 3; sleep 60 & wait"
    running = asyncio.create_task(shell.run(command))
    await shell.output_contains("3")
    running.cancel()
    with pytest.raises(asyncio.CancelledError) as stopped:
        await running
    assert interrupted_result(stopped.value) == ToolResult(success=False, output="1\n2\n3\nbye")


async def test_a_stopped_command_that_had_printed_nothing_leaves_nothing(shell: Shell):
    running = asyncio.create_task(shell.run("echo $$ > shell; sleep 60"))
    await pid_in(shell.root / "shell")
    running.cancel()
    with pytest.raises(asyncio.CancelledError) as stopped:
        await running
    assert interrupted_result(stopped.value) is None


async def test_whoever_runs_a_command_under_a_clock_of_its_own_gets_its_timeout(shell: Shell):
    async def clocked() -> None:
        async with asyncio.timeout(None) as clock:
            command = asyncio.create_task(shell.run("echo begun; sleep 60"))
            await shell.output_contains("begun")
            clock.reschedule(asyncio.get_running_loop().time())
            await command

    with pytest.raises(TimeoutError):
        await clocked()


async def test_a_command_that_is_stopped_while_it_starts_leaves_no_child(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
):
    start, stopped = asyncio.create_subprocess_exec, asyncio.Event()

    async def slow(*command: str, **options: Any) -> asyncio.subprocess.Process:
        process = await start(*command, **options)
        await stopped.wait()
        return process

    monkeypatch.setattr(asyncio, "create_subprocess_exec", slow)
    running = asyncio.create_task(shell.run("sleep 60 & echo $! > child; wait"))
    child = await pid_in(shell.root / "child")
    running.cancel()
    await asyncio.sleep(0)
    stopped.set()
    with pytest.raises(asyncio.CancelledError):
        await running
    await gone(child)


async def test_cancelling_in_the_middle_of_a_flood_works(shell: Shell):
    running = asyncio.create_task(shell.run("echo $$ > shell; yes"))
    await shell.output_contains("y")
    pid = await pid_in(shell.root / "shell")
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    await gone(pid)


async def test_a_background_process_does_not_hold_up_the_call(shell: Shell):
    told: list[str] = []

    async def take(event: str, data: dict[str, Any]) -> None:
        told.append(str(data["message"]))

    shell.coordinator.hooks.register(events.USER_NOTIFICATION, take)
    result = await shell.run("sleep 60 & echo $! > child; echo started")
    assert result.success
    assert [each.split(": ")[0] for each in told] == [
        "Left running in the background until the session ends"
    ]
    assert result.output.startswith("started\n[exit code 0")
    assert "still run in the background" in result.output
    pid = await pid_in(shell.root / "child")
    assert alive(pid)
    await shell.close()
    await gone(pid)


async def test_a_background_process_can_go_on_printing(shell: Shell):
    command = (
        "(while [ ! -e stop ]; do echo x; sleep 0.01; done; echo done > finished) & echo started"
    )
    await shell.run(command)
    (shell.root / "stop").touch()
    while not (shell.root / "finished").exists():
        await asyncio.sleep(0.01)


async def test_a_background_process_with_its_own_output_does_not_hold_up_the_call(shell: Shell):
    result = await shell.run("sleep 60 > log 2>&1 & echo $! > child")
    assert "still run in the background" in result.output
    pid = await pid_in(shell.root / "child")
    await shell.close()
    await gone(pid)


async def test_a_process_that_left_the_group_does_not_hold_up_anything(shell: Shell):
    result = await shell.run("setsid sh -c 'echo $$ > daemon; exec sleep 60' & echo started")
    assert result.output.startswith("started")
    pid = await pid_in(shell.root / "daemon")
    try:
        async with within(20):
            await shell.close()
    finally:
        os.kill(pid, signal.SIGKILL)


async def test_closing_twice_is_fine(shell: Shell):
    await shell.close()
    await shell.close()


async def test_twenty_commands_run_side_by_side(shell: Shell):
    results = await asyncio.gather(*(shell.run(f"echo {n}") for n in range(20)))
    assert [result.output.split("\n")[0] for result in results] == [str(n) for n in range(20)]
