"""The list of stored sessions, as it is used."""

import time
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path

import pytest
from textual import events

from amplifier_tui.host.client import SessionCard, SessionDetails, SessionList
from amplifier_tui.ui.dialogs.questions import AskLine
from amplifier_tui.ui.dialogs.sessions.picker import SessionPicker
from amplifier_tui.ui.dialogs.sessions.rows import Shown, session_rows
from amplifier_tui.ui.dialogs.sessions.where import WhereSheet
from tests.ui.driving import Driver, running
from tests.ui.fake_client import SESSION, FakeClient, opened
from tests.ui.looking import hidden

HERE = "/work/app"


class Store(FakeClient):
    """Keeps what is changed, as the host does."""

    def title_session(self, key: str, title: str) -> Future[str]:
        self._put(key, title=title)
        return super().title_session(key, title)

    def tag_session(
        self, key: str, add: tuple[str, ...] = (), remove: tuple[str, ...] = ()
    ) -> Future[str]:
        self._put(key, tags=add)
        return super().tag_session(key, add, remove)

    def pin_session(self, key: str, *, on: bool) -> Future[str]:
        self._put(key, pinned=on)
        return super().pin_session(key, on=on)

    def delete_session(self, key: str) -> Future[str]:
        if not self.refusal:
            self.gone = self.stored
            self.stored = tuple(card for card in self.stored if card.key != key)
        return super().delete_session(key)

    def restore_session(self, key: str) -> Future[str]:
        if not self.refusal:
            self.stored = self.gone
        return super().restore_session(key)

    def _put(self, key: str, **values: object) -> None:
        self.stored = tuple(
            replace(card, **values) if card.key == key else card for card in self.stored
        )


def card(number: int, **values: object) -> SessionCard:
    known: dict[str, object] = {
        "key": f"-work-app/s{number}",
        "cwd": HERE,
        "title": f"Session {number}",
        "turns": number,
        "updated": time.time() - 3600 * number,
    }
    return SessionCard(session_id=f"s{number}-and-more", **{**known, **values})


async def listed(drive: Driver) -> SessionPicker:
    await drive.press("ctrl+x", "l")
    picker = await drive.dialog(SessionPicker)
    await drive.until(lambda: picker.rows.row is not None)
    return picker


@pytest.mark.parametrize("size", [(80, 24), (120, 36)])
async def test_a_session_is_looked_at_named_tagged_pinned_copied_deleted_and_taken_back(
    size: tuple[int, int],
) -> None:
    client = Store(stored=tuple(card(n, branch="main", cost="0.5") for n in (1, 2, 3)))
    client.detailed = SessionDetails(card=card(1), prompt="What is \x1b[31mnew?", answer="Much.")
    async with running(client, size=size) as drive:
        picker = await listed(drive)
        assert "3 h ago" in drive.text() and "$0.50" in drive.text() and "2 turns" in drive.text()
        await drive.press("down")
        if size[0] < 110:
            assert "Much." not in drive.text()
            await drive.press("ctrl+o")
            await drive.until(lambda: "Much." in drive.text())
            await drive.press("escape")
            assert "Session 3" in drive.text() and drive.app.screen is picker
        await drive.until(lambda: size[0] < 110 or "› What is new?" in drive.text())
        await drive.press("ctrl+r")
        line = await drive.dialog(AskLine)
        line.query_one("#line").value = "A [b]name"
        await drive.press("enter")
        await drive.until(lambda: "A [b]name" in drive.text())
        assert client.named("title_session") == [("-work-app/s2", "A [b]name")]
        await drive.press("ctrl+g")
        await drive.dialog(AskLine)
        await drive.write("bug, two words")
        await drive.press("enter")
        await drive.until(lambda: "#two words" in drive.text())
        assert client.named("tag_session") == [("-work-app/s2", ("bug", "two words"), ())]
        await drive.press("ctrl+l")
        await drive.until(lambda: "◆ A [b]name" in drive.text())
        assert picker.card is not None and picker.card.key == "-work-app/s2"
        await drive.press("ctrl+y")
        assert drive.app.clipboard == "s2-and-more"
        await drive.press("ctrl+d")
        await drive.until(lambda: "is in the bin · ctrl+z takes it out" in drive.text())
        assert picker.card is not None and picker.card.key == "-work-app/s3"
        client.refusal = "the disk is full"
        await drive.press("ctrl+z")
        await drive.until(lambda: "Nothing has changed: the disk" in drive.text())
        client.refusal = ""
        await drive.press("ctrl+z")
        await drive.until(lambda: "A [b]name is back" in drive.text())
        assert picker.card is not None and picker.card.key == "-work-app/s2"
        client.refusal = "it is open in another window"
        await drive.press("ctrl+d")
        await drive.until(lambda: "Nothing has changed: it is open in another" in drive.text())
        await drive.press("ctrl+f")
        await drive.closed()
        assert client.named("copy_session") == [("-work-app/s2", None)]


async def test_where_rows_are_few_all_keys_stand_below_the_preview_and_undo_also_in_the_list() -> (
    None
):
    client = Store(stored=tuple(card(n) for n in (1, 2, 3)))
    async with running(client, size=(40, 12)) as drive:
        await listed(drive)
        assert "Preview and more" in drive.text() and "Rename" not in drive.text()
        await drive.press("ctrl+o")
        for words in ("List", "Rename", "Tag", "Pin", "Fork", "Copy id", "Delete", "esc  Close"):
            assert words in drive.text()
        assert not list(hidden(drive.app))
        await drive.press("ctrl+d", "ctrl+o")
        await drive.until(lambda: "Preview and more" in drive.text())
        assert "Undo" in drive.text()


async def test_a_list_on_a_narrow_screen_leaves_rows_to_the_conversation() -> None:
    async with running(Store(stored=(card(1), card(2))), size=(70, 40)) as drive:
        picker = await listed(drive)
        assert picker.sheet.region.bottom == 40 and picker.sheet.region.height < 30
        assert picker.rows.region.height >= 6 and "Close" in drive.text()
        await drive.pilot.resize_terminal(70, 16)
        await drive.until(lambda: picker.sheet.region.height == 16)


@pytest.mark.parametrize("size", [(80, 24), (120, 36)])
async def test_where_no_session_matches_the_preview_is_gone_and_no_key_acts(
    size: tuple[int, int],
) -> None:
    client = Store(stored=(card(1), card(2)))
    client.detailed = SessionDetails(card=card(1), prompt="What is new?", answer="Much.")
    async with running(client, size=size) as drive:
        picker = await listed(drive)
        if size[0] < 110:
            await drive.press("ctrl+o")
        await drive.until(lambda: "Much." in drive.text())
        client.stored = ()
        await drive.write("x")
        await drive.until(lambda: "No session matches." in drive.text())
        assert "Much." not in drive.text() and picker.card is None
        await drive.press("ctrl+d", "ctrl+l", "ctrl+r", "ctrl+g", "ctrl+y", "ctrl+f", "enter")
        assert drive.app.screen is picker
        for name in ("delete_session", "pin_session", "title_session", "copy_session"):
            assert client.named(name) == []


async def test_a_key_that_would_be_typed_into_the_filter_is_not_offered_beside_one() -> None:
    async with running(Store(stored=(card(1),)), size=(120, 36)) as drive:
        await listed(drive)
        assert "Search what was said" in drive.text()
        await drive.write("x")
        assert "Search what was said" not in drive.text()
        await drive.press("escape")
        assert "Search what was said" in drive.text()


async def test_a_session_that_is_open_here_is_not_deleted_and_what_closes_it_is_said() -> None:
    client = Store(stored=(replace(card(1), session_id=SESSION), card(2)))
    async with running(client, size=(60, 16)) as drive:
        await drive.push(opened())
        await listed(drive)
        await drive.press("ctrl+d")
        await drive.until(lambda: "It is open here: ctrl+x - closes it first" in drive.text())
        assert client.named("delete_session") == []
        await drive.press("down", "ctrl+d")
        await drive.until(lambda: client.named("delete_session") == [("-work-app/s2",)])


async def test_no_session_is_shown_beside_an_empty_list_also_after_resizing() -> None:
    client = Store(stored=(card(1),))
    client.detailed = SessionDetails(card=card(1), prompt="What is new?", answer="Much.")
    async with running(client, size=(120, 36)) as drive:
        picker = await listed(drive)
        await drive.until(lambda: "Much." in drive.text())
        await drive.pilot.resize_terminal(80, 24)
        await drive.until(lambda: "Much." not in drive.text())
        client.stored = ()
        await drive.write("nothing")
        await drive.until(lambda: picker.rows.row is None)
        await drive.pilot.resize_terminal(120, 36)
        await drive.until(lambda: picker.has_class("-beside"))
        assert "Much." not in drive.text()


async def test_what_is_not_listed_is_counted_and_what_is_wrong_with_a_filter_is_said() -> None:
    page = SessionList(
        cards=tuple(card(n) for n in range(1, 101)),
        matching=4_321,
        elsewhere=9_000,
        filtered=12,
        agents=3,
        broken=1,
        cwd=HERE,
        indexing=True,
        done=5,
        changed=20,
    )
    client = FakeClient(page=page)
    async with running(client, size=(120, 36)) as drive:
        picker = await listed(drive)
        text = drive.text()
        assert "9,000 of other folders, 12 not matching, 3 of sub-agents, 1 unreadable" in text
        assert "reading 5 of 20 · 100 of 4,321" in text
        assert client.named("sessions")[-1] == ("", True, 100)
        # Where the page ends under the cursor, the next one is asked for.
        picker.rows.put_cursor(99)
        await drive.until(lambda: client.named("sessions")[-1] == ("", True, 200))
        client.page = replace(page, done=0, changed=0)
        await drive.write("b")
        await drive.until(lambda: "reading" not in drive.text())
        client.page = replace(page, problem="before: takes a date", indexing=False)
        await drive.write("efore:soon")
        await drive.until(lambda: "before: takes a date" in drive.text())
        await drive.press("ctrl+t")
        await drive.until(lambda: client.named("sessions")[-1] == ("before:soon", False, 100))
        client.page = RuntimeError("no [i]store")
        await drive.write("x")
        await drive.until(lambda: "cannot be listed: no [i]store" in drive.text())


async def test_a_session_of_another_folder_asks_where_to_go_on(tmp_path: Path) -> None:
    stored = (card(1, cwd=str(tmp_path)), card(2, cwd="/nowhere"), card(3), card(4, cwd=""))
    client = FakeClient(stored=tuple(stored))
    client.page = SessionList(cards=stored, matching=4, cwd=HERE)
    async with running(client, size=(80, 24)) as drive:

        async def choose(row: int, *keys: str) -> None:
            await listed(drive)
            await drive.press(*["down"] * row, "enter")
            if keys:
                await drive.dialog(WhereSheet)
                await drive.press(*keys)

        await choose(0, "t")
        await drive.closed()
        request = client.named("open")[-1][0]
        assert (request.resume, request.cwd) == ("s1-and-more", tmp_path)
        await choose(0, "h")
        await drive.closed()
        assert client.named("copy_session")[-1] == ("-work-app/s1", Path(HERE))
        opens = len(client.named("open"))
        await choose(1, "t")
        assert "Its folder is gone: /nowhere" in drive.text()
        await drive.press("o")
        await drive.dialog(AskLine)
        await drive.write(str(tmp_path))
        await drive.press("enter")
        await drive.closed()
        assert client.named("copy_session")[-1] == ("-work-app/s2", tmp_path)
        await choose(1, "o")
        await drive.dialog(AskLine)
        await drive.write("no/such")
        await drive.press("enter")
        await drive.closed()
        assert "There is no folder /work/app/no/such" in drive.text()
        await choose(3, "escape")
        await drive.closed()
        assert len(client.named("open")) == opens and len(client.named("copy_session")) == 2
        await choose(2)
        await drive.closed()
        assert client.named("resume") == [("s3-and-more",)]


async def test_enter_waits_for_what_is_found_of_the_words_that_were_typed_last() -> None:
    client = Store(stored=(card(1), card(2, title="Parser"), card(3, title="Parsing")))
    async with running(client, size=(80, 24)) as drive:
        await listed(drive)
        await drive.press("down", "down")
        await drive.write("Pars")
        drive.app.post_message(events.Key("enter", None))
        await drive.closed()
        assert client.named("resume") == [("s2-and-more",)]


def test_the_columns_of_a_row_give_way_one_after_the_other() -> None:
    cards = {
        "a": card(1, branch="main", bundle="coding", agent_count=2, cost="12"),
        "b": card(2, branch="fix/retry", bundle="research", cost="0.5", cwd="/work/docs"),
    }

    def right(width: int) -> list[str]:
        return [row.right.plain for row in session_rows(cards, Shown(width, folders=True))]

    assert right(160) == [
        " app       main    coding  2 agents   1 turn  $12.00  1 h ago",
        "docs  fix/retry  research            2 turns   $0.50  2 h ago",
    ]
    assert right(90) == [
        " app       main   1 turn  $12.00  1 h ago",
        "docs  fix/retry  2 turns   $0.50  2 h ago",
    ]
    assert right(66) == [" app      main   1 turn  1 h ago", "docs  fix/ret…  2 turns  2 h ago"]
    assert right(50) == [" app      main  1 h ago", "docs  fix/ret…  2 h ago"]
    assert right(30) == [" app  1 h ago", "docs  2 h ago"]
    assert right(20) == ["1 h ago", "2 h ago"]


def test_a_branch_and_a_bundle_that_all_sessions_have_tell_none_from_another() -> None:
    cards = {name: card(n, branch="main", bundle="coding") for n, name in enumerate("ab", 1)}
    assert rows_at(cards, 160) == [" 1 turn  1 h ago", "2 turns  2 h ago"]
    cards["c"] = card(3, branch="長い枝" * 4, bundle="coding")
    assert rows_at(cards, 60)[2] == " 長い枝…  3 turns  3 h ago"


def test_a_session_that_another_window_has_open_says_so() -> None:
    cards = {"a": card(1, held=True), "b": card(2, held=True), "c": card(3)}
    rows = session_rows(cards, Shown(160, {"s2-and-more"}))
    ends = [row.right.plain.split("  ")[-1].strip() for row in rows]
    assert ends == ["open elsewhere", "open now", "3 h ago"]


def test_of_sessions_with_one_name_it_is_said_which_they_were_taken_from() -> None:
    cards = {
        "a": card(1, title="Fix it"),
        "b": card(2, title="Fix it", parent_id="s1-and-more"),
        "c": card(3, title="Else", parent_id="s1-and-more"),
    }
    said = [row.left.plain for row in session_rows(cards, Shown(160))]
    assert ["from s1-and-m" in each for each in said] == [False, True, False]


def test_two_folders_of_one_name_are_told_apart_and_one_folder_is_not_said() -> None:
    places = ("/work/app", "/old/app", "/work/docs", "")
    cards = {str(n): card(n, cwd=cwd) for n, cwd in enumerate(places, 1)}

    def folders(*keys: str) -> list[str]:
        rows = session_rows({key: cards[key] for key in keys}, Shown(160, folders=True))
        return [row.right.plain.partition("turn")[0].strip(" 1234") for row in rows]

    assert folders("1", "2", "3", "4") == ["work/app", "old/app", "docs", "folder unknown"]
    assert folders("1", "3") == ["app", "docs"]
    assert folders("1") == [""]


def rows_at(cards: dict[str, SessionCard], width: int) -> list[str]:
    return [row.right.plain for row in session_rows(cards, Shown(width))]
