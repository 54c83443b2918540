"""A session that is open in another window: it says so, can be read, and is taken over."""

from typing import Any

import pytest

from amplifier_tui.host.events import SessionHeld, TurnStarted
from amplifier_tui.ui.prompt.prompt import held_rows
from tests.ui.driving import Driver, running
from tests.ui.fake_client import SESSION, FakeClient, opened

HELD = SessionHeld(session_id=SESSION, owner="4711", since=1_700_000_000.0)


def test_what_is_not_known_is_not_said() -> None:
    def rows(**facts: Any) -> list[str]:
        held = SessionHeld(session_id=SESSION, **facts)
        return [row.plain for row in held_rows(held, "ctrl+x <")]

    assert rows() == ["open elsewhere  read-only until closed there"]
    assert rows(owner="1") == ["open elsewhere  process 1: read-only until closed there"]
    assert rows(since=1e18)[0].startswith("open elsewhere  since ")
    assert held_rows(None, "") == []


def said(drive: Driver) -> list[str]:
    assert drive.app.state is not None
    return [each.notice.text for each in drive.app.state.notices.history]


@pytest.mark.parametrize("size", [(80, 24), (120, 36), (40, 12)])
async def test_it_is_read_only_until_it_is_free_and_one_key_goes_on_with_it(
    size: tuple[int, int],
) -> None:
    async with running(FakeClient(), size=size) as drive:
        told = TurnStarted(session_id=SESSION, turn=1, prompt="what was said", replayed=True)
        await drive.push(told, opened(SESSION, resumed=True), HELD)
        assert "what was said" in drive.text()
        assert "open elsewhere  since 14 Nov" in drive.text() and "read-only" in drive.text()
        if size[0] >= 80:
            assert "process 4711: read-only until closed there" in drive.text()
        assert drive.app.main.prompt.input.placeholder.startswith("Read-only: open elsewhere")
        # Nothing is mounted or counted here, and what is there is not known.
        assert drive.text().count("Known only where it is open") == (2 if size[0] >= 100 else 0)
        assert "None mounted yet" not in drive.text()
        await drive.write("go on")
        await drive.press("enter")
        assert drive.client.named("submit") == [("go on",)]
        await drive.push(SessionHeld(session_id=SESSION, owner="4711", prompt="go on"))
        assert drive.draft == "go on", "what could not be sent goes back to its writer"
        assert "still open in another window" in said(drive)[-1]
        await drive.push(SessionHeld(session_id=SESSION, free=True))
        assert "let go elsewhere  ctrl+x < goes" in drive.text()
        await drive.press("ctrl+x", "less_than_sign")
        assert drive.client.named("take_over") == [()]
        await drive.push(opened(SESSION, resumed=True))
        assert "elsewhere" not in drive.text() and "read-only" not in drive.text()
        await drive.press("ctrl+x", "less_than_sign")
        assert "open in no other window" in said(drive)[-1]
        assert len(drive.client.named("take_over")) == 1


async def test_that_it_was_let_go_is_said_until_it_is_taken_over() -> None:
    async with running(FakeClient(), size=(80, 24)) as drive:
        await drive.push(opened(SESSION, resumed=True), HELD)
        await drive.push(SessionHeld(session_id=SESSION, free=True))
        assert "has let the session go" in drive.text()
        await drive.push(opened(SESSION, resumed=True))
        assert "has let the session go" not in drive.text()
