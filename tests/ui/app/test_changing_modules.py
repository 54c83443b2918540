"""What the screen says and does while a module is being changed."""

import time

from amplifier_tui.host.client import OpenRequest
from amplifier_tui.host.events import (
    ModuleChanging,
    ModuleLoading,
    ModuleMounted,
    QueueChanged,
    TurnStarted,
)
from amplifier_tui.ui.prompt.prompt import CHANGE, IDLE
from tests.ui.driving import running
from tests.ui.fake_client import SESSION, FakeClient


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


class Opening(FakeClient):
    """Says nothing of its own accord."""

    def open(self, request: OpenRequest) -> None:
        self.calls.append(("open", request))


async def test_an_opening_that_takes_its_time_names_the_module_and_escape_stops_it() -> None:
    async with running(Opening(), size=(80, 24), opened=False) as drive:
        began = time.time()
        ready = ModuleLoading(session_id=SESSION, module_id="tool-a", kind="tool", at=began)
        await drive.push(ready, ModuleMounted(session_id=SESSION, module_id="tool-a", kind="tool"))
        await drive.push(ModuleLoading(session_id=SESSION, module_id="tool-x", kind="tool"))
        await drive.until(lambda: "opening" in drive.text())
        assert "esc stops" not in drive.text(), "most openings are over before that is read"
        await drive.press("escape")
        assert not drive.client.named("interrupt")


async def test_an_opening_that_takes_long_is_stopped_by_escape() -> None:
    async with running(Opening(), size=(80, 24), opened=False) as drive:
        await drive.push(ModuleLoading(session_id=SESSION, module_id="tool-a", kind="tool", at=1.0))
        await drive.push(ModuleMounted(session_id=SESSION, module_id="tool-a", kind="tool"))
        await drive.push(ModuleLoading(session_id=SESSION, module_id="tool-x", kind="tool", at=2.0))
        await drive.until(lambda: "tool-x: esc stops" in drive.text())
        assert "opening" in drive.text()
        await drive.press("escape")
        assert drive.client.named("interrupt") == [(False, 0)]
