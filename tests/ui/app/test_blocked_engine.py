"""What the screen says while a module blocks the engine."""

import time

from amplifier_tui.host.events import (
    EngineBlocked,
    ModuleChanging,
    ModuleLoading,
    QueueChanged,
    TurnEnded,
    TurnStarted,
)
from tests.ui.driving import running
from tests.ui.fake_client import SESSION, FakeClient


async def test_a_prompt_that_a_blocked_engine_has_not_taken_up_is_queued_and_says_why() -> None:
    async with running(size=(80, 24)) as drive:
        await drive.push(
            TurnStarted(session_id=SESSION, turn=1, prompt="go"),
            TurnEnded(session_id=SESSION, turn=1, status="cancelled"),
            EngineBlocked(session_id=SESSION, module="tool-block", at=time.time() - 12),
        )
        assert "blocked 0:12" in drive.text() and "tool-block blocks the engine" in drive.text()
        await drive.write("hello again")
        await drive.press("enter")
        assert drive.client.named("submit") == [("hello again",)]
        await drive.push(QueueChanged(session_id=SESSION, items=("hello again",), ids=("p1",)))
        assert "+1 queued  hello again   waits for tool-block" in drive.text()
        await drive.press("up")
        assert drive.client.named("unqueue") == [("p1",)] and drive.draft == "hello again"
        await drive.push(QueueChanged(session_id=SESSION, items=()))
        await drive.press("escape")
        assert drive.client.named("interrupt") == []
        assert "tool-block can't be stopped" in drive.text()
        await drive.push(EngineBlocked(session_id=SESSION, over=True))
        assert "blocked" not in drive.text()


async def test_an_opening_that_a_module_blocks_says_who_and_what_can_be_done() -> None:
    client, begun = FakeClient(), time.time() - 5
    client.on_open = [
        ModuleLoading(session_id=SESSION, module_id="tool-block", kind="tool", at=begun)
    ]
    async with running(client, size=(120, 24), opened=False) as drive:
        await drive.push(EngineBlocked(session_id=SESSION, at=time.time()))
        await drive.until(lambda: "tool-block blocks the engine" in drive.text())
        assert "blocked 0:0" in drive.text()
        assert "enter queues   ctrl+c twice quits" in drive.text()
        assert "esc stops" not in drive.text()
        await drive.press("escape")
        said = "tool-block can't be stopped: if it goes on, quit and open another bundle."
        await drive.until(lambda: said in drive.text())
        # It stops once the engine is free.
        assert drive.client.named("interrupt") == [(False, 0)]
        await drive.push(EngineBlocked(session_id=SESSION, over=True))
        await drive.until(lambda: "opening 0:" in drive.text())
        assert "twice" not in drive.text()


async def test_ctrl_c_asks_to_quit_while_a_module_that_is_mounted_blocks_the_engine() -> None:
    async with running(size=(100, 24)) as drive:
        await drive.push(
            ModuleChanging(
                session_id=SESSION, module_id="tool-block", kind="tool", change="mounted"
            )
        )
        assert "esc stops the change" in drive.text()
        await drive.push(EngineBlocked(session_id=SESSION, module="tool-block"))
        assert "esc stops" not in drive.text() and "ctrl+c twice quits" in drive.text()
        await drive.press("ctrl+c")
        assert "The same key again quits." in drive.text()
        assert drive.client.named("stop_change") == []
        await drive.press("ctrl+c")
        assert drive.client.named("close")
