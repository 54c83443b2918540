import re
from pathlib import Path

import pytest

from amplifier_tui.host.client import SessionCard
from amplifier_tui.host.events import Notice
from amplifier_tui.ui.dialogs.parts.sheet import Sheet
from amplifier_tui.ui.dialogs.sessions.left_open import LeftOpenPicker
from amplifier_tui.ui.dialogs.sessions.where import WhereSheet
from tests.ui.driving import running
from tests.ui.fake_client import FakeClient
from tests.ui.state.make import make, turn


async def test_what_a_crash_cut_off_is_said_at_the_start_and_resumed_where_it_was(
    tmp_path: Path,
) -> None:
    cards = [
        SessionCard(session_id="s7", title="Fix [b]it", cwd=str(tmp_path)),
        SessionCard(session_id="s8", title="Gone", cwd=str(tmp_path / "gone")),
        SessionCard(session_id="s9", title="Third", cwd=str(tmp_path)),
    ]
    client = FakeClient(left=tuple(cards))
    async with running(client, size=(80, 24)) as drive:
        await drive.until(lambda: "3 sessions were open when the program ended" in drive.text())
        await drive.press("ctrl+x", "J")
        await drive.dialog(LeftOpenPicker)
        await drive.until(lambda: "Fix [b]it" in drive.text())
        await drive.press("down", "down", "ctrl+x")
        assert client.named("dismiss_left_open") == [(("s9",),)]
        assert "Third" not in drive.text()
        await drive.press("enter")
        await drive.closed()
        request = client.named("open")[-1][0]
        assert (request.resume, request.cwd) == ("s7", tmp_path)


@pytest.mark.parametrize("folder", ["", "/" + "x" * 300, "/a\0b"])
async def test_a_session_whose_folder_cannot_be_looked_at_is_said_to_be_gone(folder: str) -> None:
    client = FakeClient(left=(SessionCard(session_id="s7", title="Odd", cwd=folder),))
    async with running(client, size=(80, 24)) as drive:
        before = len(client.named("open"))
        await drive.app.run_by_id("session.left_open")
        await drive.dialog(LeftOpenPicker)
        await drive.until(lambda: "Odd" in drive.text())
        await drive.press("enter")
        await drive.dialog(WhereSheet)
        assert ("is gone" if folder else "Nobody knows which folder") in drive.text()
        await drive.press("escape")
        await drive.closed()
        assert len(client.named("open")) == before


@pytest.mark.parametrize("size", [(80, 24), (120, 36)])
async def test_all_that_were_left_open_come_back_side_by_side(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    cards = [
        *(SessionCard(session_id=f"s{n}", title=f"Work {n}", cwd=str(tmp_path)) for n in (7, 8, 9)),
        SessionCard(session_id="s10", title="Gone", cwd=str(tmp_path / "gone")),
    ]
    client = FakeClient(left=tuple(cards))
    async with running(client, size=size) as drive:
        await drive.app.run_by_id("session.left_open")
        await drive.dialog(LeftOpenPicker)
        await drive.until(lambda: "Work 7" in drive.text())
        await drive.press("ctrl+o")
        await drive.closed()
        clients = [client, *client.others]
        assert [each.named("open")[-1][0].resume for each in clients] == ["s7", "s8", "s9"]
        assert {each.named("open")[-1][0].cwd for each in clients} == {tmp_path}
        assert drive.app.client is client and "folder is gone" in drive.text()


@pytest.mark.parametrize("folders", [("proj",), ("proj", "here", "far/here")])
async def test_what_is_of_another_folder_names_it_and_comes_after_what_is_of_this_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folders: tuple[str, ...]
) -> None:
    for folder in ("here", *folders):
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
    monkeypatch.chdir(tmp_path / "here")
    cards = [
        SessionCard(session_id=f"s{n}", title=f"Work {n}", cwd=str(tmp_path / folder))
        for n, folder in enumerate(folders)
    ]
    async with running(FakeClient(left=tuple(cards)), size=(100, 30)) as drive:
        await drive.app.run_by_id("session.left_open")
        await drive.dialog(LeftOpenPicker)
        await drive.until(lambda: "Work 0" in drive.text())
        named = dict(re.findall(r"Work (\d) +(\S+)", drive.text()))
    assert named["0"] == "proj"
    if len(folders) > 1:
        assert list(named) == ["1", "0", "2"]
        assert named["2"] == "far/here" and "here" not in named["1"]


async def test_what_was_left_open_is_said_until_the_user_goes_on(tmp_path: Path) -> None:
    """What the session says next takes the place in the status bar."""
    client = FakeClient(left=(SessionCard(session_id="s7", title="Work", cwd=str(tmp_path)),))
    async with running(client, size=(80, 24)) as drive:
        words = "1 session was open when the program ended: ctrl+x J"
        await drive.until(lambda: words in drive.text())
        await drive.push(make(Notice, level="warning", text="A server failed", source="tool-mcp"))
        assert "A server failed" in drive.text() and words in drive.text()
        await drive.app.run_by_id("view.notices")
        await drive.until(lambda: isinstance(drive.app.screen, Sheet))
        assert drive.text().count("1 session was open when") >= 1
        await drive.press("escape")
        await drive.closed()
        await drive.write("go on")
        await drive.press("enter")
        assert words not in drive.text()


async def test_a_resumed_session_takes_no_place_of_one_that_works(tmp_path: Path) -> None:
    async with running(size=(80, 24)) as drive:
        await drive.push(turn(1, "count"))
        await drive.app.run_by_id("session.sessions", "s7")
        assert not drive.client.named("resume")
        assert drive.client.others[0].named("open")[0][0].resume == "s7"
        await drive.app.run_by_id("session.sessions", "s1")
        assert drive.app.client is drive.client, "what is open already is shown"


@pytest.mark.parametrize(
    ("action", "words", "dead", "left"),
    [
        ("session.left_open", "No session was left open", ("Resume all", "Take off"), ()),
        (
            "session.sessions",
            "No session was stored here",
            ("Preview", "Rename", "Tag", "Pin", "Fork", "Copy id", "Delete"),
            ("All folders", "Search what was said"),
        ),
    ],
)
async def test_an_empty_list_offers_no_key_that_needs_a_session(
    action: str, words: str, dead: tuple[str, ...], left: tuple[str, ...]
) -> None:
    async with running(size=(80, 24)) as drive:
        await drive.app.run_by_id(action)
        await drive.until(lambda: words in drive.text())
        screen = drive.text()
        assert not [each for each in dead if each in screen]
        assert not [each for each in (*left, "esc") if each not in screen]


async def test_more_than_can_be_open_is_said_with_the_way_to_the_rest(tmp_path: Path) -> None:
    cards = [
        SessionCard(session_id=f"left{n}", title=f"Work {n}", cwd=str(tmp_path)) for n in range(12)
    ]
    async with running(FakeClient(left=tuple(cards)), size=(120, 36)) as drive:
        await drive.app.run_by_id("session.left_open")
        await drive.dialog(LeftOpenPicker)
        await drive.until(lambda: "Work 0" in drive.text())
        await drive.press("ctrl+o")
        await drive.closed()
        assert drive.app.tabs is not None and len(drive.app.tabs.links) == 9
        assert "9 of 12 resumed, as many as can be open: ctrl+x J lists the rest" in drive.text()
