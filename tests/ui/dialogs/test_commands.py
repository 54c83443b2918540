import pytest
from textual.content import Content
from textual.widgets import Static

from amplifier_tui.ui.dialogs.modules.commands import CommandPalette, Help
from amplifier_tui.ui.dialogs.parts.picker import Picker
from amplifier_tui.ui.keys.actions import ACTIONS, BY_ID, BY_SLASH
from amplifier_tui.ui.keys.keymap import show_keys
from amplifier_tui.ui.keys.keymap_file import pane_actions
from amplifier_tui.ui.widgets.pick_list import PickList
from tests.ui.driving import running


@pytest.mark.parametrize("size", [(40, 12), (80, 24), (120, 36)])
@pytest.mark.parametrize("key", ["f1", "ctrl+p"])
async def test_what_a_command_does_is_said_whole_while_the_cursor_is_on_it(
    key: str, size: tuple[int, int]
) -> None:
    action = BY_ID["limit.set"]
    assert len(action.help) == max(len(each.help) for each in BY_ID.values())
    async with running(size=size) as drive:
        await drive.press(key)
        await drive.dialog(CommandPalette)
        await drive.write(action.title)
        assert action.help in " ".join(drive.text().split())


async def test_words_take_the_cells_where_an_action_has_no_key() -> None:
    async with running(size=(120, 36)) as drive:
        await drive.press("f1")
        await drive.dialog(CommandPalette)
        assert BY_ID["session.left_open"].help in drive.text()


@pytest.mark.parametrize(
    ("columns", "head"),
    [
        (36, "Keys and commands  Type to find…"),
        (80, "Type to find one"),
        (80, "keymap.toml changes them"),
    ],
)
async def test_the_head_of_a_list_is_cut_with_a_mark(columns: int, head: str) -> None:
    async with running(size=(columns, 12)) as drive:
        await drive.press("f1")
        await drive.until(lambda: head in drive.text())


@pytest.mark.parametrize("command", ["/skills", "/audit"])
async def test_what_is_said_in_place_of_rows_is_read_whole_on_a_small_screen(command: str) -> None:
    async with running(size=(40, 12)) as drive:
        await drive.write(command)
        await drive.press("enter")
        await drive.until(lambda: isinstance(drive.app.screen, Picker))
        words = drive.app.screen.query_one(PickList)._empty
        assert len(words) > 38 and words in " ".join(drive.text().split())


@pytest.mark.parametrize("key", ["f1", "ctrl+p"])
async def test_at_forty_columns_every_row_has_its_keys_whole(key: str) -> None:
    async with running(size=(40, 12)) as drive:
        await drive.press(key)
        await drive.until(lambda: "Resume a session" in drive.text())
        rows = [row for row in drive.text().splitlines() if "ession" in row and "  " in row.strip()]
        assert any(row.rstrip().endswith("ctrl+x l") for row in rows)
        assert not any("ctrl+…" in row or "ct…" in row for row in rows)


async def test_a_key_of_another_place_comes_last_says_where_and_offers_no_run() -> None:
    async with running(size=(100, 30)) as drive:
        await drive.press("f1")
        palette = await drive.dialog(CommandPalette)
        await drive.write("undo")
        await drive.until(lambda: palette.rows.row is not None)
        assert palette.rows.row is not None and BY_ID[palette.rows.row.id].listed
        foot = lambda: "\n".join(drive.text().splitlines()[-10:])  # noqa: E731
        assert "Run" in foot() and "Only by its key" not in foot()
        for _ in range(9):
            if "Only by its key, in the context." in foot():
                break
            await drive.press("down")
        assert "Only by its key, in the context." in foot() and "Run" not in foot()


async def test_commands_of_any_length_begin_in_one_column() -> None:
    async with running(size=(140, 36)) as drive:
        await drive.press("f1")
        await drive.until(lambda: "/resume-beside" in drive.text())
        rows = drive.text().splitlines()
        begins = {
            row.index(each) for row in rows for each in ("  /resume", "  /new") if each in row
        }
        assert len(begins) == 1


@pytest.mark.parametrize("key", ["ctrl+p", "f1"])
async def test_a_command_that_is_typed_whole_comes_first(key: str) -> None:
    async with running(size=(120, 36)) as drive:
        for word in ("model", "new", "limit", "/fork"):
            await drive.press(key)
            palette = await drive.dialog(CommandPalette)
            await drive.write(word)
            name = word.removeprefix("/")
            assert palette.rows.row_id == BY_SLASH[name].id
            await drive.press("escape", "escape")
            await drive.closed()


async def test_help_finds_what_a_key_does() -> None:
    async with running(size=(120, 36)) as drive:
        await drive.press("f1")
        help_ = await drive.dialog(CommandPalette)
        for key, action in (("shift+tab", "mode.next"), ("ctrl+f", "view.find")):
            await drive.write(key)
            assert help_.rows.row_id == action
            await drive.press("ctrl+u")


async def test_arrows_and_enter_that_come_in_one_piece_run_the_row_they_lead_to(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ran: list[str] = []

    async def run(action: str, argument: str = "") -> None:
        ran.append(action)

    async with running(size=(80, 24)) as drive:
        monkeypatch.setattr(drive.app, "run_by_id", run)
        for keys in ((), ("down",), ("down", "down"), ("down", "down", "up")):
            await drive.press("ctrl+p")
            await drive.press_at_once(*keys, "enter")
    assert len(ran) == 4 and ran[1] == ran[3] and len(set(ran)) == 3


@pytest.mark.parametrize("size", [(40, 12), (80, 24), (100, 30), (120, 36)])
async def test_all_keys_of_a_new_line_are_read_and_no_mark_stands_for_blanks(
    size: tuple[int, int],
) -> None:
    async with running(size=size) as drive:
        await drive.press("f1")
        await drive.dialog(Help)
        await drive.write("new line")
        await drive.until(lambda: "New line" in drive.text())
        assert "ctrl+j / alt+enter / shift+enter" in " ".join(drive.text().split())
        row = next(line for line in drive.text().splitlines() if "▌New line" in line)
        assert not row.rstrip().endswith("…")


@pytest.mark.parametrize("size", [(40, 12), (80, 24), (100, 30), (120, 36)])
async def test_what_is_said_of_the_row_under_the_cursor_is_whole_and_has_its_keys(
    size: tuple[int, int],
) -> None:
    async with running(size=size) as drive:
        await drive.press("f1")
        help_ = await drive.dialog(Help)
        rows = help_.rows
        keys = {each.id: each.keys for each in (*ACTIONS, *pane_actions())}
        about = help_.query_one("#command-about", Static)
        for number, row in enumerate(rows.rows):
            if row.id:
                rows.put_cursor(number)
                help_._highlighted(row)
                words = str(about.content)
                assert len(Content(words).wrap(about.size.width)) <= about.size.height, row.id
                every = show_keys(keys[row.id], 9)
                assert every in f"{row.right.plain} {words}", row.id
