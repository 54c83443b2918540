import re

import pytest
from textual.events import Key
from textual.widgets import Input

from amplifier_tui.ui.dialogs.approval import ApprovalDialog
from amplifier_tui.ui.dialogs.modules.leader import LeaderPopup, chord_head, chord_pages
from amplifier_tui.ui.dialogs.parts.picker import LetterPicker
from amplifier_tui.ui.dialogs.parts.sheet import Sheet
from amplifier_tui.ui.dialogs.permissions.rules import RuleList
from amplifier_tui.ui.dialogs.pickers import ThemePicker
from amplifier_tui.ui.keys.action import Action
from amplifier_tui.ui.keys.actions import ACTIONS, BY_ID
from amplifier_tui.ui.keys.keymap import Keymap, show_key
from tests.ui.driving import running
from tests.ui.requests import ask, resolved


@pytest.mark.parametrize("action", ["app.leader", "session.sessions", "context.compact"])
async def test_a_dialog_that_is_closed_in_the_moment_it_opens_does_not_end_the_program(
    action: str,
) -> None:
    async with running(size=(80, 24)) as drive:
        await drive.app.run_by_id(action)
        dialog = drive.app.screen
        assert isinstance(dialog, Sheet) and not dialog.is_mounted
        dialog.finish()
        await drive.closed()
        await drive.write("goes on")
        assert drive.draft == "goes on"


@pytest.mark.parametrize("action", ["prompt.search", "session.sessions", "permissions.show"])
@pytest.mark.parametrize("keys", [("escape",), ("down", "enter", "escape"), ("a", "escape")])
async def test_keys_that_come_with_the_one_that_opens_a_dialog_are_for_that(
    action: str, keys: tuple[str, ...]
) -> None:
    async with running(size=(80, 24)) as drive:
        await drive.app.run_by_id(action)
        assert isinstance(drive.app.screen, Sheet) and not drive.app.screen.is_mounted
        for key in keys:
            drive.app.post_message(Key(key, key if len(key) == 1 else None))
        await drive.settle()
        assert drive.draft == ""
        while drive.app.screen is not drive.app.main:
            await drive.press("escape")


async def test_what_a_dialog_does_after_the_next_frame_is_left_undone_when_it_has_closed() -> None:
    done: list[str] = []
    async with running(size=(80, 24)) as drive:
        await drive.app.run_by_id("permissions.show")
        dialog = await drive.dialog(RuleList)
        dialog.call_after_refresh(done.append, "open")
        await drive.until(lambda: done)
        dialog.call_after_refresh(done.append, "closed")
        dialog.finish()
        await drive.closed()
    assert done == ["open"]


async def test_a_dialog_that_is_answered_under_a_later_one_closes_when_that_has_closed() -> None:
    results: list[str | None] = []
    async with running(size=(80, 24)) as drive:
        first, later = Sheet[str](), Sheet[str]()
        drive.app.push_screen(first, results.append)
        drive.app.push_screen(later)
        await drive.until(lambda: first.is_mounted and later.is_mounted)
        first.finish("yes")
        first.finish("no")
        assert drive.app.screen is later
        later.finish()
        await drive.closed()
        assert results == ["yes"]


@pytest.mark.parametrize(("width", "rows", "most"), [(56, 14, 2), (116, 26, 3), (196, 40, 3)])
def test_chords_stand_in_few_columns_and_on_as_many_pages_as_they_need(
    width: int, rows: int, most: int
) -> None:
    chords = {f"f{at}": BY_ID["session.bundles"]._replace(id=f"a{at}") for at in range(67)}
    pages = [[line.plain for line in page] for page in chord_pages(chords, width, rows)]
    lines = [line for page in pages for line in page]
    assert max(map(len, lines)) <= width
    assert len({len(page) for page in pages}) == 1 and len(pages[0]) <= rows
    assert max(line.count("Switch bundle") for line in lines) == most
    assert sum(line.count("Switch bundle") for line in lines) == 67
    assert (len(pages) > 1) is (width == 56)


def test_the_titles_of_chords_are_in_line_however_long_their_keys() -> None:
    keys = ("a", "space", "digits", "b", "f10", "c")
    chords = {key: BY_ID["session.bundles"]._replace(id=key) for key in keys}
    [[_, *rows]] = [[line.plain for line in page] for page in chord_pages(chords, 70, 5)]
    assert len(rows) == 3 and rows[0].startswith(" a ")
    for first in (0, 24):
        assert len({row.index("Switch bundle", first) for row in rows}) == 1


def whole_title(text: str, action: Action) -> bool:
    """Whether a title stands behind its key whole, on one row or on the next ones as well."""
    rows = text.splitlines()
    begin = re.escape(f" {show_key(action.chord)} ") + r" *(?=" + re.escape(action.title.split()[0])
    for at, row in enumerate(rows):
        for found in re.finditer(begin + ")", f" {row}"):
            words = action.title.split(" ")
            for line in rows[at : at + 3]:
                cell = line[found.end() - 1 :]
                held = range(len(words), 0, -1)
                words = words[next((n for n in held if cell.startswith(" ".join(words[:n]))), 0) :]
            if not words:
                return True
    return False


@pytest.mark.parametrize("size", [(40, 12), (60, 16), (80, 24), (120, 36), (160, 60)])
async def test_every_chord_is_reached_under_its_heading_by_keys_named_on_the_screen(size) -> None:
    async with running(size=size) as drive:
        await drive.press("ctrl+x")
        popup = await drive.dialog(LeaderPopup)
        shown = [drive.text()]
        if found := re.search(r"page 1 of (\d+) · tab: next", shown[0]):
            for page in range(2, int(found[1]) + 1):
                await drive.press("tab")
                shown.append(drive.text())
                assert f"page {page} of {found[1]}" in shown[-1]
            await drive.press("tab")
            assert drive.text() == shown[0]
            await drive.press("shift+tab")
            assert drive.text() == shown[-1]
        chords = [action for action in ACTIONS if action.chord]
        for action in chords:
            [*there] = [text for text in shown if whole_title(text, action)]
            assert there and all(f"{action.group}" in text for text in there)
        assert (len(shown) > 1) is (size[1] < 36)
        assert popup.sheet.region.height <= size[1]
        await drive.press("k" if len(shown) > 1 else "escape")
        await drive.until(lambda: popup not in drive.app.screen_stack)


@pytest.mark.parametrize("width", [36, 56])
def test_the_head_of_the_chords_names_the_key_that_turns_the_page(width: int) -> None:
    head = chord_head("ctrl+x", ["page 10 of 12", "tab: next", "space: all"], width).plain
    assert "page 10 of 12 · tab: next" in head and len(head) <= width
    assert ("space: all" in head) is (width == 56)


def test_a_key_that_is_a_chord_turns_no_page() -> None:
    keymap = Keymap()
    keymap.chords["app.theme"] = "tab"
    popup = LeaderPopup(keymap)
    assert "tab" not in popup.turning and "right" in popup.turning


async def test_a_request_that_is_answered_elsewhere_as_it_comes_leaves_nothing_behind() -> None:
    async with running(size=(80, 24)) as drive:
        drive.client.push(ask())
        await drive.until(lambda: isinstance(drive.app.screen, ApprovalDialog))
        drive.client.push(resolved())
        await drive.closed()


@pytest.mark.parametrize("size", [(40, 12), (80, 24)])
@pytest.mark.parametrize(
    "action", ["session.sessions", "session.left_open", "context.compact", "app.help"]
)
async def test_a_dialog_looks_the_same_after_the_terminal_was_larger(
    action: str, size: tuple[int, int]
) -> None:
    async with running(size=size) as drive:
        await drive.app.run_by_id(action)
        await drive.settle()
        assert isinstance(drive.app.screen, Sheet)
        before = drive.text()
        await drive.pilot.resize_terminal(200, 50)
        await drive.settle()
        assert drive.text() != before
        await drive.pilot.resize_terminal(*size)
        await drive.settle()
        assert drive.text() == before


@pytest.mark.parametrize(
    ("action", "key"),
    [
        *(("session.export", key) for key in ("f2", "f5", "ctrl+p", "ctrl+x")),
        *(("app.theme", key) for key in ("f2", "ctrl+x")),
    ],
)
async def test_a_key_that_leads_elsewhere_says_that_a_dialog_is_in_its_way(
    action: str, key: str
) -> None:
    async with running(size=(100, 30)) as drive:
        drive.app.copy_to_clipboard("copied before")
        await drive.app.run_by_id(action)
        await drive.until(lambda: isinstance(drive.app.screen, Sheet))
        dialog = drive.app.screen
        await drive.until(lambda: dialog.is_mounted)
        await drive.press(key)
        assert drive.app.screen is dialog
        await drive.until(lambda: "A dialog is open: esc closes it." in drive.text())
        assert drive.app.clipboard == "copied before"
        await drive.press("escape")
        await drive.closed()
        await drive.settle()
        assert "A dialog is open" not in drive.text(), "esc would now stop what runs"


async def test_a_key_that_a_dialog_knows_is_heard_by_it_and_leads_nowhere_else() -> None:
    async with running(size=(100, 30)) as drive:
        await drive.app.run_by_id("app.theme")
        dialog = await drive.dialog(ThemePicker)
        await drive.write("light")
        line = dialog.query_one("#filter", Input)
        line.action_select_all()
        await drive.press("ctrl+x")
        assert line.value == "" and drive.app.clipboard == "light"
        assert "A dialog is open" not in drive.text()
        await drive.press("escape")
        await drive.closed()
        await drive.press("ctrl+x")
        await drive.dialog(LeaderPopup)
        await drive.press("f2")
        assert "A dialog is open" not in drive.text()


@pytest.mark.parametrize("size", [(80, 24), (40, 12)])
@pytest.mark.parametrize("action", ["permissions.show", "memory.list", "mcp.servers"])
async def test_a_list_whose_keys_are_letters_shows_its_filter(
    action: str, size: tuple[int, int]
) -> None:
    async with running(size=size) as drive:
        await drive.app.run_by_id(action)
        dialog = await drive.dialog(LetterPicker)
        await drive.until(lambda: "/ filters" in drive.text())
        assert dialog.query_one("#picker-head").size.height == 1
