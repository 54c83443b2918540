"""A session is to be resumed and none is there."""

from amplifier_tui.host.events import Failed
from tests.ui.driving import running
from tests.ui.fake_client import SESSION, FakeClient, opened

NONE = Failed(session_id=SESSION, kind="no_session", message="No session was stored in /src yet")


async def test_the_prompt_says_that_none_is_open_and_what_begins_one() -> None:
    async with running(FakeClient(on_open=[NONE]), size=(80, 24), opened=False) as drive:
        await drive.until(lambda: "No session was stored" in drive.text())
        assert "No session is open   /new begins one" in drive.text()
        await drive.write("hello")
        await drive.press("enter")
        assert drive.draft == "hello" and not drive.client.named("submit")
        assert "No session is open: /new begins one" in drive.text()
        await drive.push(opened())
        drive.app.main.prompt.input.clear_draft()
        await drive.settle()
        assert "Ask for anything" in drive.text()
