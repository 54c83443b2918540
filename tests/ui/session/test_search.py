from dataclasses import replace
from pathlib import Path
from time import time

import pytest

from amplifier_tui.host.client import SearchFound, SearchHit, SessionCard
from amplifier_tui.host.events import TurnStarted
from amplifier_tui.ui.dialogs.sessions.picker import SessionPicker
from amplifier_tui.ui.dialogs.sessions.search import SearchPicker
from amplifier_tui.ui.dialogs.sessions.where import WhereSheet
from amplifier_tui.ui.state.conversation.entries import TextEntry, UserEntry
from amplifier_tui.ui.widgets.palette import CURSOR_MARK
from amplifier_tui.ui.widgets.pick_list import PickList
from tests.ui.driving import running
from tests.ui.fake_client import FakeClient, opened
from tests.ui.state.make import ended, make, turn


def hit(cwd: Path, text: str, session_id: str = "s7", **place: object) -> SearchHit:
    card = SessionCard(
        session_id=session_id,
        key=f"-p/{session_id}",
        title=f"About [b]{session_id}",
        cwd=str(cwd),
        turns=3,
    )
    at = text.find("parser")
    return SearchHit(
        **{"card": card, "kind": "prompt", "text": text, "marks": ((at, at + 6),), **place}
    )


@pytest.mark.parametrize("size", [(80, 24), (120, 36)])
async def test_a_search_from_the_list_of_sessions_opens_the_session_at_the_place(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    gone = hit(tmp_path / "gone", "the parser is gone", "s8", turn=1, row=0)
    wanted = hit(tmp_path, "Why is the [red]parser slow?", turn=1, row=2)
    client = FakeClient(found=SearchFound(hits=(gone, wanted), more=True))
    async with running(client, size=size) as drive:
        await drive.press("ctrl+x", "l")
        await drive.dialog(SessionPicker)
        await drive.press("slash")
        await drive.dialog(SearchPicker)
        assert "Type words" in drive.text()
        await drive.write("parser")
        await drive.until(lambda: "the [red]parser slow?" in drive.text())
        assert "2+" in drive.text() and "About [b]s8" in drive.text()
        assert client.named("search")[-1] == ("parser", False)
        await drive.press("ctrl+t")
        await drive.until(lambda: client.named("search")[-1] == ("parser", True))
        await drive.press("enter")
        await drive.dialog(WhereSheet)
        assert "Its folder is gone" in drive.text() and "Go on there" not in drive.text()
        await drive.press("t", "escape")
        await drive.closed()
        before = len(client.named("open"))
        await drive.app.run_by_id("session.search", "parser")
        await drive.dialog(SearchPicker)
        await drive.until(lambda: "slow?" in drive.text())
        earlier = [
            make(
                TurnStarted,
                turn=1,
                prompt="Why is the [red]parser slow?",
                session_id="s7",
                replayed=True,
            )
        ]
        client.earlier = tuple(earlier)
        client.on_open = [
            opened(session_id="s7", earlier=300),
            *(ended(f"r{n}.0", f"Answer {n}.\n\n" * 3, session_id="s7") for n in range(300, 340)),
        ]
        await drive.press("down", "enter")
        await drive.closed()
        assert len(client.named("open")) == before + 1
        request = client.named("open")[-1][0]
        assert (request.resume, request.cwd) == ("s7", tmp_path)
        transcript = drive.app.main.transcript
        assert transcript is not None
        await drive.until(lambda: isinstance(transcript.cursor, UserEntry))
        assert client.named("history") == [(300, 200), (100, 200)]
        assert "Why is the [red]parser slow?" in drive.text()


async def test_what_is_typed_after_a_hit_was_opened_is_the_next_prompt(tmp_path: Path) -> None:
    """Letters of the conversation go back, fork and export."""
    client = FakeClient(found=SearchFound(hits=(hit(tmp_path, "the parser", turn=1, row=0),)))
    async with running(client) as drive:
        client.on_open = [
            opened(session_id="s7"),
            make(TurnStarted, turn=1, prompt="the parser", session_id="s7", replayed=True),
            ended("r1.0", "An answer.\n\n" * 60, session_id="s7"),
        ]
        await drive.press("f6")
        await drive.app.run_by_id("session.search", "parser")
        await drive.dialog(SearchPicker)
        await drive.until(lambda: "the parser" in drive.text())
        await drive.press("enter")
        await drive.closed()
        await drive.until(lambda: CURSOR_MARK in drive.text())
        await drive.write("rework files")
        assert drive.app.screen is drive.app.main and drive.draft == "rework files"
        assert CURSOR_MARK in drive.text(), "it is read while one writes"
        await drive.press("enter")
        await drive.until(lambda: client.named("submit"))
        assert CURSOR_MARK not in drive.text()


async def test_what_is_typed_after_a_session_was_resumed_is_the_next_prompt() -> None:
    async with running() as drive:
        await drive.push(turn(1, "look"))
        await drive.press("f6")
        assert drive.app.focused is drive.app.main.transcript
        await drive.push(opened(session_id="s7"))
        await drive.write("rework")
        assert drive.draft == "rework"


async def test_a_search_says_that_sessions_are_still_read_and_what_went_wrong(
    tmp_path: Path,
) -> None:
    client = FakeClient(found=SearchFound(indexing=True, done=4, changed=20))
    async with running(client, size=(80, 24)) as drive:
        await drive.app.run_by_id("session.search", "parser")
        await drive.dialog(SearchPicker)
        await drive.until(lambda: "Nothing was found yet." in drive.text())
        assert "reading 4 of 20" in drive.text()
        client.found = SearchFound(hits=(hit(tmp_path, "parser", "s1", kind="answer", row=5),))
        await drive.until(lambda: "About [b]s1" in drive.text())
        client.found = RuntimeError("no [i]index")
        await drive.write("x")
        await drive.until(lambda: "cannot be searched: no [i]index" in drive.text())


async def test_an_answer_of_the_open_session_is_gone_to_without_opening_it_again(
    tmp_path: Path,
) -> None:
    happened = [opened(session_id="s7"), turn(1, "look", session_id="s7")]
    happened += [ended(f"r{n}.1", f"Answer {n}.\n\n" * 5, session_id="s7") for n in range(20)]
    client = FakeClient(on_open=happened)
    place = hit(tmp_path, "the parser", kind="answer", row=3, turn=1)
    client.found = SearchFound(hits=(place,))
    async with running(client, size=(80, 24)) as drive:
        opens = len(client.named("open"))
        await drive.app.run_by_id("session.search", "parser")
        await drive.dialog(SearchPicker)
        await drive.until(lambda: "the parser" in drive.text())
        await drive.press("enter")
        await drive.closed()
        transcript = drive.app.main.transcript
        assert transcript is not None
        await drive.until(lambda: isinstance(transcript.cursor, TextEntry))
        assert "Answer 3." in transcript.cursor.text and len(client.named("open")) == opens


async def test_a_long_prompt_in_which_something_was_found_is_shown_unfolded(tmp_path: Path) -> None:
    prompt = "\n".join(f"pasted {n}" for n in range(20)) + "\nthe parser\n" + "more\n" * 8
    found = hit(tmp_path, "the parser", "s1", turn=1, row=0)
    client = FakeClient(found=SearchFound(hits=(found,)))
    async with running(client, size=(100, 50)) as drive:
        await drive.push(opened(session_id="s1"), turn(1, prompt))
        assert "the parser" not in drive.text()
        await drive.app.run_by_id("session.search", "parser")
        await drive.dialog(SearchPicker)
        await drive.until(lambda: "the parser" in drive.text())
        await drive.press("enter")
        await drive.closed()
        await drive.until(lambda: "the parser" in drive.text())


async def test_a_hit_in_a_folder_that_cannot_be_looked_at_is_not_opened(tmp_path: Path) -> None:
    client = FakeClient()
    client.found = SearchFound(hits=(hit(tmp_path / ("x" * 300), "parser", "s8"),))
    async with running(client, size=(80, 24)) as drive:
        opens = len(client.named("open"))
        await drive.app.run_by_id("session.search", "parser")
        await drive.dialog(SearchPicker)
        await drive.until(lambda: "About [b]s8" in drive.text())
        await drive.press("enter")
        await drive.until(lambda: "Its folder is gone" in drive.text())
        assert len(client.named("open")) == opens


async def test_the_cursor_stays_on_its_hit_when_newer_ones_come_above_it(tmp_path: Path) -> None:
    first, second = (hit(tmp_path, f"the parser {n}", f"s{n}") for n in (1, 2))
    client = FakeClient(found=SearchFound(hits=(first, second), indexing=True))
    async with running(client, size=(80, 24)) as drive:
        await drive.app.run_by_id("session.search", "parser")
        picker = await drive.dialog(SearchPicker)
        await drive.until(lambda: "the parser 2" in drive.text())
        await drive.press("down")
        was = picker.rows.row
        client.found = SearchFound(hits=(hit(tmp_path, "the parser 3", "s3"), first, second))
        await drive.until(lambda: len(picker.rows.rows) == 3)
        assert picker.hit == second
        client.found = SearchFound()
        await drive.write("x")
        await drive.until(lambda: not picker.rows.rows)
        # What the list said of its cursor before may be heard after the next search.
        picker.rows.post_message(PickList.Highlighted(was))
        await drive.settle()
        assert "Nothing was found." in drive.text()


async def test_a_small_screen_cuts_the_title_of_a_hit_and_not_when_it_was(tmp_path: Path) -> None:
    long = hit(tmp_path, "the parser " * 9, turn=1, row=0)
    card = replace(long.card, title="A title that is far too long", updated=time() - 300)
    client = FakeClient(found=SearchFound(hits=(replace(long, card=card),)))
    async with running(client, size=(60, 16)) as drive:
        await drive.app.run_by_id("session.search", "parser")
        await drive.dialog(SearchPicker)
        await drive.until(lambda: "the parser" in drive.text())
        assert "A title that is… · 5 min ago" in drive.text()
