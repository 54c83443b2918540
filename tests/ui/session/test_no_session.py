"""A session is to be resumed and none is there."""

import pytest

from amplifier_tui.host.events import Failed, ModuleLoading
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
        assert "Ask for anything" in drive.text() and "No session is open" not in drive.text()


@pytest.mark.parametrize("kind", ["bundle", "untrusted"])
async def test_a_new_session_is_none_of_another_bundle_than_could_not_be_opened(kind: str) -> None:
    failed = Failed(session_id=SESSION, kind=kind, message="Nothing was opened")
    async with running(FakeClient(on_open=[failed]), opened=False) as drive:
        await drive.until(lambda: "Nothing was opened" in drive.text())
        await drive.write("hello")
        await drive.press("enter")
        assert "/new opens it again, ctrl+x b another bundle" in drive.text()
        await drive.press("ctrl+x", "n")
        assert drive.client.named("open_again") and not drive.client.named("switch_bundle")


async def test_what_was_refused_is_asked_again_where_no_session_could_open() -> None:
    failed = Failed(session_id=SESSION, kind="untrusted", message="You refused its loop")
    async with running(FakeClient(on_open=[failed]), opened=False) as drive:
        await drive.until(lambda: "/trust ask again" in drive.text())
        await drive.write("/trust ")
        await drive.press("enter")
        await drive.press("f2", "t")
        assert drive.client.named("ask_trust_again") == [(False,), (True,)]


async def test_nothing_is_asked_again_where_nothing_was_to_be_opened() -> None:
    async with running(FakeClient(on_open=[NONE]), opened=False) as drive:
        await drive.until(lambda: "No session was stored" in drive.text())
        await drive.write("/trust ")
        await drive.press("enter")
        assert not drive.client.named("ask_trust_again")
        assert "No session is open: /new begins one" in drive.text()


@pytest.mark.parametrize("kind", ["cancelled", "settings"])
async def test_open_again_opens_what_could_not_be_opened(kind: str) -> None:
    failed = Failed(session_id=SESSION, kind=kind, message="Nothing was opened")
    async with running(FakeClient(on_open=[failed]), opened=False) as drive:
        await drive.until(lambda: "ctrl+x n open again" in drive.text())
        await drive.write("hello")
        await drive.press("enter")
        assert "No session is open: /new opens it again" in drive.text()
        await drive.press("ctrl+x", "n")
        assert drive.client.named("open_again") and not drive.client.named("switch_bundle")
        await drive.push(opened())
        await drive.press("ctrl+x", "n")
        assert len(drive.client.named("open_again")) == 1
        assert drive.client.named("switch_bundle") == [("coding", False)]


async def test_what_is_being_opened_is_opened_again() -> None:
    failed = Failed(session_id=SESSION, kind="cancelled", message="Nothing was opened")
    async with running(FakeClient(silent=True), opened=False) as drive:
        await drive.press("ctrl+x", "n")
        await drive.push(ModuleLoading(session_id=SESSION, module_id="tool-slow", kind="tool"))
        await drive.press("ctrl+x", "n")
        await drive.push(failed)
        await drive.push(ModuleLoading(session_id="s2", module_id="tool-slow", kind="tool"))
        await drive.press("ctrl+x", "n")
        assert len(drive.client.named("open_again")) == 3
        assert not drive.client.named("switch_bundle")


async def test_what_is_not_there_is_not_opened_again() -> None:
    async with running(FakeClient(on_open=[NONE]), opened=False) as drive:
        await drive.until(lambda: "No session was stored" in drive.text())
        await drive.press("ctrl+x", "n")
        assert drive.client.named("switch_bundle") == [("", False)]
