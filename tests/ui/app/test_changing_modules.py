"""What the screen says and does while a module is being changed."""

import time

from amplifier_tui.host.events import ModuleChanging, ModuleLoading, QueueChanged, TurnStarted
from amplifier_tui.ui.prompt.prompt import CHANGE, IDLE
from tests.ui.driving import running
from tests.ui.fake_client import SESSION


def changing(change: str) -> ModuleChanging:
    at = time.time() - 12
    return ModuleChanging(session_id=SESSION, module_id="tool-x", kind="tool", change=change, at=at)


async def test_a_module_that_is_being_mounted_is_told_of_and_escape_stops_that() -> None:
    async with running(size=(80, 24)) as drive:
        await drive.push(
            changing("mounted"), ModuleLoading(session_id=SESSION, module_id="tool-x", kind="tool")
        )
        assert "mounting 0:12" in drive.text()
        assert "tool-x: esc stops" in drive.text()
        assert drive.app.main.prompt.input.placeholder == CHANGE
        await drive.write("hello")
        await drive.press("enter")
        assert drive.client.named("submit") == [("hello",)]
        await drive.push(QueueChanged(session_id=SESSION, items=("hello",), ids=("p1",)))
        assert "+1 queued  hello" in drive.text() and "tool-x: esc stops" in drive.text()
        await drive.press("escape")
        assert drive.client.named("stop_change") == [()]
        # It reached the engine once the change had ended, and the prompt is running.
        await drive.press("escape")
        assert drive.client.named("interrupt") == []
        await drive.push(changing(""), TurnStarted(session_id=SESSION, turn=1, prompt="hello"))
        assert "mounting" not in drive.text() and "tool-x:" not in drive.text()


async def test_a_change_that_has_ended_leaves_the_prompt_as_it_was() -> None:
    async with running() as drive:
        await drive.push(changing("taken out"))
        assert "removing 0:12" in drive.text()
        await drive.push(changing(""))
        assert drive.app.main.prompt.input.placeholder == IDLE
        assert "removing" not in drive.text()
        await drive.press("escape")
        assert drive.client.named("stop_change") == []
