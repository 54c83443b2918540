"""What was written and not sent is not lost when the program ends."""

import json
from dataclasses import replace

import pytest

from amplifier_tui.host.client import OpenRequest
from amplifier_tui.host.events import TurnEnded, TurnStarted
from amplifier_tui.paths import user_state_dir
from amplifier_tui.ui.session.tabs import tabs
from tests.ui.driving import running
from tests.ui.fake_client import SESSION, FakeClient, opened

SAID = (
    TurnStarted(session_id=SESSION, turn=1, prompt="p", replayed=True),
    TurnEnded(session_id=SESSION, turn=1, status="success", replayed=True),
)


@pytest.mark.parametrize("size", [(80, 24), (120, 36)])
async def test_a_draft_stays_with_its_session(size: tuple[int, int]) -> None:
    client = FakeClient()
    async with running(client, size=size) as drive:
        await drive.push(*SAID)
        await drive.write("half a thought\u200c")
        drive.app.quitting.quit_by_signal("SIGHUP")
        await drive.until(lambda: client.named("close"))
    assert client.named("keep_draft") == [("half a thought\u200c",)]
    assert not (user_state_dir() / "history.jsonl").exists()
    again = FakeClient(
        on_open=[*SAID, opened(SESSION, resumed=True, draft="half a \x1b[1mthought\u200c")]
    )
    async with running(again, size=size) as drive:
        assert drive.draft == "half a thought\u200c" and "half a thought" in drive.text()
        await drive.push(opened(SESSION, resumed=True, draft="another"))
        assert drive.draft == "half a thought\u200c"
        await drive.press("up")
        assert drive.draft == "another"


async def test_the_draft_of_an_empty_session_is_in_the_history() -> None:
    client = FakeClient()
    async with running(client) as drive:
        await drive.write("half a thought")
        drive.app.quitting.quit_by_signal("SIGHUP")
        await drive.until(lambda: client.named("close"))
    assert not client.named("keep_draft")
    (row,) = (user_state_dir() / "history.jsonl").read_text().splitlines()
    assert json.loads(row)["text"] == "half a thought"


async def test_a_draft_that_was_cleared_does_not_come_back() -> None:
    client = FakeClient(on_open=[*SAID, opened(SESSION, resumed=True, draft="old")])
    async with running(client) as drive:
        drive.app.main.prompt.input.clear_draft()
        drive.app.quitting.quit_by_signal("SIGHUP")
        await drive.until(lambda: client.named("close"))
    assert client.named("keep_draft") == [("",)]


async def test_a_draft_that_was_not_shown_yet_stays_stored() -> None:
    async with running(FakeClient()) as drive:
        assert drive.app.tabs is not None
        link = drive.app.tabs.add_beside()
        (client,) = drive.client.others
        assert link is not None
        said = (replace(each, session_id=client.session) for each in SAID)
        client.push(*said, opened(client.session, resumed=True, draft="half a thought"))
        link._feed.flush()
        assert link.keeps_drafts
        drive.app.quitting.quit_by_signal("SIGHUP")
        await drive.until(lambda: client.named("close"))
    assert not client.named("keep_draft")


async def test_a_draft_is_stored_while_it_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tabs, "DRAFT_DELAY", 0.01)
    client = FakeClient(on_open=[*SAID, opened(SESSION, resumed=True, draft="")])
    async with running(client) as drive:
        await drive.write("half")
        await drive.until(lambda: ("half",) in client.named("keep_draft"))
        await drive.write(" a thought")
        await drive.until(lambda: ("half a thought",) in client.named("keep_draft"))


async def test_a_draft_that_was_sent_is_stored_no_longer_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tabs, "DRAFT_DELAY", 3600)
    client = FakeClient(on_open=[*SAID, opened(SESSION, resumed=True, draft="old")])
    async with running(client) as drive:
        await drive.until(lambda: drive.draft == "old")
        await drive.press("enter")
        await drive.until(lambda: client.named("submit"))
        await drive.until(lambda: client.named("keep_draft"))
        assert client.named("keep_draft") == [("",)]
        await drive.write("another")
        drive.app.quitting.quit_by_signal("SIGHUP")
        await drive.until(lambda: client.named("close"))
    assert client.named("keep_draft") == [("",), ("another",)]


async def test_the_draft_of_a_session_that_goes_to_the_back_is_stored() -> None:
    client = FakeClient(on_open=[*SAID, opened(SESSION, resumed=True, draft="")])
    async with running(client) as drive:
        assert drive.app.tabs is not None
        await drive.write("half a thought")
        link = drive.app.tabs.add_beside()
        assert link is not None
        drive.app.tabs.show(link)
        assert client.named("keep_draft") == [("half a thought",)]


@pytest.mark.parametrize("behind", [False, True])
async def test_a_draft_is_stored_again_when_a_queued_prompt_begins_a_turn(behind: bool) -> None:
    client = FakeClient(on_open=[*SAID, opened(SESSION, resumed=True, draft="half a thought")])
    async with running(client) as drive:
        assert drive.app.tabs is not None and drive.app.link is not None
        link = drive.app.link
        if behind:
            other = drive.app.tabs.add_beside()
            assert other is not None
            drive.app.tabs.show(other)
        client.push(TurnStarted(session_id=SESSION, turn=2, prompt="it waited in the queue"))
        link._feed.flush()
        assert client.named("keep_draft") == [("half a thought",)]


async def test_a_draft_that_was_not_shown_yet_is_stored_again_when_a_turn_begins() -> None:
    async with running(FakeClient()) as drive:
        assert drive.app.tabs is not None
        link = drive.app.tabs.add_beside()
        (client,) = drive.client.others
        assert link is not None
        said = (replace(each, session_id=client.session) for each in SAID)
        begun = TurnStarted(session_id=client.session, turn=2, prompt="it waited in the queue")
        client.push(*said, opened(client.session, resumed=True, draft="half a thought"), begun)
        link._feed.flush()
        assert client.named("keep_draft") == [("half a thought",)]


def stored() -> list[str]:
    file = user_state_dir() / "history.jsonl"
    rows = file.read_text().splitlines() if file.exists() else []
    return [json.loads(row)["text"] for row in rows]


async def test_the_draft_of_an_empty_session_that_is_closed_outlives_the_program() -> None:
    async with running(FakeClient()) as drive:
        assert drive.app.tabs is not None
        drive.app.tabs.open_beside(OpenRequest(cwd=drive.app.cwd))
        await drive.until(lambda: drive.app.client is not drive.client)
        await drive.write("half a thought")
        await drive.app.run_by_id("session.close")
        await drive.until(lambda: drive.app.client is drive.client)
        await drive.until(lambda: "its draft is in the history" in drive.text())
        assert drive.draft == ""
        drive.app.quitting.quit_by_signal("SIGHUP")
        await drive.until(lambda: drive.client.named("close"))
    assert stored() == ["half a thought"]


async def test_a_stored_draft_for_which_another_is_stored_outlives_the_program() -> None:
    client = FakeClient()
    async with running(client) as drive:
        await drive.push(*SAID)
        await drive.write("mine")
        said = (replace(each, session_id="s2") for each in SAID)
        await drive.push(*said, opened("s2", resumed=True, draft="of another day"))
        assert drive.draft == "mine"
        drive.app.quitting.quit_by_signal("SIGHUP")
        await drive.until(lambda: client.named("close"))
    assert client.named("keep_draft")[-1] == ("mine",)
    assert stored() == ["of another day"]


def unsent() -> list[list[str]]:
    """Return the drafts that are on disk for each window."""
    files = (user_state_dir() / "drafts").glob("*.jsonl")
    return [[json.loads(row)["text"] for row in file.read_text().splitlines()] for file in files]


async def test_the_draft_of_an_empty_session_outlives_a_window_that_is_killed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tabs, "DRAFT_DELAY", 0.01)
    async with running(FakeClient()) as drive:
        await drive.write("half a thought")
        await drive.until(lambda: unsent() == [["half a thought"]])
        async with running(FakeClient()) as other:
            await other.until(lambda: other.app.ready.is_set())
            assert stored() == [] and other.app.history.items == ()
        # As the system does when the process is gone.
        drive.app.history.unsent.lock.release()
        async with running(FakeClient()) as again:
            await again.until(lambda: again.app.history.items == ("half a thought",))
            assert stored() == ["half a thought"]
            assert not list((user_state_dir() / "drafts").iterdir())
            await again.press("up")
            assert again.draft == "half a thought"


@pytest.mark.parametrize("end", ["sent", "cleared", "quit"])
async def test_the_draft_of_an_empty_session_leaves_nothing_behind(
    end: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tabs, "DRAFT_DELAY", 0.01)
    async with running(FakeClient()) as drive:
        await drive.write("half a thought")
        await drive.until(lambda: unsent() == [["half a thought"]])
        if end == "sent":
            await drive.press("enter")
        elif end == "cleared":
            drive.app.main.prompt.input.clear_draft()
        else:
            drive.app.quitting.quit_by_signal("SIGHUP")
        await drive.until(lambda: not list((user_state_dir() / "drafts").iterdir()))


async def test_each_empty_session_of_a_window_has_its_draft_on_disk() -> None:
    async with running(FakeClient()) as drive:
        await drive.write("one")
        assert drive.app.tabs is not None
        drive.app.tabs.open_beside(OpenRequest(cwd=drive.app.cwd))
        await drive.until(lambda: drive.app.client is not drive.client)
        await drive.until(lambda: unsent() == [["one"]])
