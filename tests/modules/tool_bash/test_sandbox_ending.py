"""What a command makes at its end, and what is left of it then, is looked at as well."""

import asyncio
import threading

import pytest

from amplifier_tui.modules.tool_bash import confining
from amplifier_tui.modules.tool_bash.confining import Confined
from tests.modules.tool_bash.confined import run, shell
from tests.modules.tool_bash.support import Shell
from tests.sandbox import needs_sandbox
from tests.waiting import within

__all__ = ["shell"]

pytestmark = needs_sandbox


async def test_what_is_made_when_the_session_ends_a_process_is_moved_aside(shell: Shell) -> None:
    trap = "trap 'sleep 0.1; echo evil > .envrc; touch ended; exit' TERM"
    await run(
        shell,
        f"({trap}; touch begun; while :; do sleep 0.02; done) & "
        "while [ ! -e begun ]; do sleep 0.02; done",
    )
    await shell.close()
    assert (shell.root / "ended").exists()
    assert not (shell.root / ".envrc").exists()


@pytest.mark.parametrize("background", [False, True])
async def test_what_is_stopped_in_the_look_after_its_command_leaves_nothing_unheld(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, background: bool
) -> None:
    monkeypatch.setattr(confining, "LOOK_EVERY", 1_000)
    looks, go = threading.Event(), threading.Event()
    look = Confined.look

    def slow(confined: Confined) -> list[str]:
        looks.set()
        go.wait(20)
        return look(confined)

    monkeypatch.setattr(Confined, "look", slow)
    command = "(echo $BASHPID > child; while [ ! -e go ]; do sleep 0.02; done; "
    command += "touch .envrc made; sleep 60) & while [ ! -e child ]; do sleep 0.02; done"
    call = asyncio.create_task(run(shell, command, run_in_background=background))
    async with within(20, "the look after the command"):
        while not looks.is_set():
            await asyncio.sleep(0.01)
    if background:
        await call
        stopping = asyncio.create_task(shell.tool.jobs.close())
        await asyncio.sleep(0)
    else:
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
    go.set()
    (shell.root / "go").touch()
    async with within(20, "what was left to go on"):
        while not (shell.root / "made").exists():
            await asyncio.sleep(0.01)
    if background:
        await stopping
    await shell.close()
    assert not (shell.root / ".envrc").exists()
