"""What the screen says while a module blocks the engine."""

import time

from amplifier_tui.host.events import EngineBlocked, QueueChanged, TurnEnded, TurnStarted
from tests.ui.driving import running
from tests.ui.fake_client import SESSION


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
