import pytest
from textual.widgets import Input

from amplifier_tui.host.client import ItemCard
from amplifier_tui.host.events import ModuleMounted, ToolEnded, ToolStarted, TurnStarted
from amplifier_tui.ui.panes.context.pane import ContextPane
from amplifier_tui.ui.panes.events.pane import EventLogPane
from amplifier_tui.ui.panes.table import PANES
from amplifier_tui.ui.prompt.prompt import IDLE
from amplifier_tui.ui.transcript.find_bar import FindInput
from tests.ui.driving import Driver, running
from tests.ui.fake_client import SESSION


def shown(drive: Driver) -> list[str]:
    return list(drive.app.main.visible_panes())


async def test_a_narrow_screen_shows_no_pane_until_it_is_asked_for() -> None:
    async with running(size=(80, 24)) as drive:
        assert shown(drive) == []
        await drive.press("f4")
        assert shown(drive) == ["context"]
        assert drive.app.main.focused_pane() == "context"
        assert "@ file" not in drive.text().split("Ask for anything")[0]


async def test_a_drawer_leaves_the_conversation_its_width() -> None:
    async with running(size=(80, 24)) as drive:
        assert drive.app.main.transcript is not None
        before = drive.app.main.transcript.size
        await drive.press("f3")
        assert drive.app.main.transcript.size == before


@pytest.mark.parametrize("key", ["f4", "escape"])
async def test_a_drawer_closes_with_its_key_or_escape_and_the_prompt_has_the_focus(
    key: str,
) -> None:
    async with running(size=(80, 24)) as drive:
        await drive.press("f4")
        await drive.press(key)
        assert shown(drive) == []
        await drive.write("typed")
        assert drive.draft == "typed"


async def test_another_panes_key_changes_the_drawer() -> None:
    async with running(size=(80, 24)) as drive:
        await drive.press("f2", "f3")
        assert shown(drive) == ["events"]


async def test_a_rail_shows_every_pane_beside_the_conversation() -> None:
    async with running(size=(120, 36)) as drive:
        assert shown(drive) == [row.name for row in PANES]
        text = drive.text()
        assert all(head in text for head in ("Context", "Modules", "Events"))


async def test_the_first_press_focuses_and_the_second_hides() -> None:
    async with running(size=(120, 36)) as drive:
        await drive.press("f2")
        assert drive.app.main.focused_pane() == "modules"
        await drive.press("f2")
        assert shown(drive) == ["context", "events"]
        await drive.press("f2")
        assert shown(drive) == [row.name for row in PANES]


async def test_a_rail_without_panes_takes_no_room() -> None:
    async with running(size=(120, 36)) as drive:
        for key in ("f2", "f3", "f4"):
            await drive.press(key, key)
        assert shown(drive) == []
        assert drive.app.main.query_one("#stage").size.width == 120


async def test_the_rail_remembers_its_panes_per_project(tmp_path) -> None:
    async with running(size=(120, 36), cwd=tmp_path) as drive:
        await drive.press("f2", "f2")
        assert shown(drive) == ["context", "events"]
    async with running(size=(120, 36), cwd=tmp_path) as drive:
        assert shown(drive) == ["context", "events"]
    async with running(size=(120, 36), cwd=tmp_path.parent) as drive:
        assert shown(drive) == [row.name for row in PANES]


async def test_three_columns_where_there_is_room_and_the_modules_move() -> None:
    async with running(size=(200, 50)) as drive:
        modules = drive.app.main._panes["modules"]
        events = drive.app.main._panes["events"]
        assert 0 < modules.region.x < modules.region.right <= events.region.x
        await drive.pilot.resize_terminal(120, 36)
        await drive.until(lambda: drive.app.main._panes["modules"].region.x >= 80)
        await drive.pilot.resize_terminal(200, 50)
        await drive.until(lambda: drive.app.main._panes["modules"].region.right <= events.region.x)
        assert "None mounted yet" in drive.text()


@pytest.mark.parametrize("size", [(120, 36), (200, 50)])
@pytest.mark.parametrize("key", ["f2", "f3", "f4"])
async def test_what_is_typed_goes_to_the_prompt_where_a_pane_has_no_more_room(
    key: str, size: tuple[int, int]
) -> None:
    async with running(size=size) as drive:
        await drive.press(key)
        await drive.pilot.resize_terminal(60, 16)
        await drive.until(lambda: shown(drive) == [])
        await drive.write("typed")
        assert drive.draft == "typed"


@pytest.mark.parametrize("key", ["f2", "f3", "f4"])
async def test_the_focus_stays_in_its_pane_where_the_columns_change(key: str) -> None:
    async with running(size=(200, 50)) as drive:
        await drive.press(key)
        held = drive.app.main.focused_pane()
        for size in ((120, 36), (200, 50)):
            await drive.pilot.resize_terminal(*size)
            await drive.until(lambda: drive.app.main.focused_pane() == held)


async def test_f6_goes_round_and_back() -> None:
    async with running(size=(120, 36)) as drive:
        main = drive.app.main
        seen = []
        for _ in range(5):
            await drive.press("f6")
            seen.append(main.focused_pane() or type(main.focused).__name__)
        assert seen == ["TranscriptView", "context", "modules", "events", "PromptInput"]
        await drive.press("shift+f6")
        assert main.focused_pane() == "events"


async def test_escape_in_a_pane_goes_back_to_the_prompt_without_stopping_the_turn() -> None:
    async with running(size=(120, 36)) as drive:
        await drive.push(TurnStarted(session_id=SESSION, turn=1, prompt="x"))
        await drive.press("f2", "escape")
        assert drive.client.named("interrupt") == []
        await drive.press("escape")
        assert drive.client.named("interrupt") == [(False, 1)]


async def test_a_pane_can_be_zoomed_and_put_back() -> None:
    async with running(size=(120, 36)) as drive:
        await drive.press("f3")
        await drive.press("ctrl+x", "z")
        assert shown(drive) == ["events"]
        assert drive.app.main._panes["events"].size.width > 100
        await drive.press("escape")
        assert shown(drive) == [row.name for row in PANES]
        assert drive.app.main.focused_pane() == "events"


@pytest.mark.parametrize("width", [80, 120, 160, 200])
@pytest.mark.parametrize("pane", [row.name for row in PANES])
async def test_a_zoomed_pane_fills_the_width(pane: str, width: int) -> None:
    async with running(size=(width, 45)) as drive:
        main = drive.app.main
        main.action_pane(pane)
        if not main.narrow:
            await drive.press("ctrl+x", "z")
        assert shown(drive) == [pane]
        await drive.settle()
        region = main._panes[pane].region
        # A column is left free beside it.
        assert (region.x, region.right) == (1, width)


async def test_the_conversation_scrolls_from_the_prompt() -> None:
    from amplifier_tui.host.events import BlockEnded

    async with running(size=(80, 24)) as drive:
        text = "\n\n".join(f"line {n}" for n in range(60))
        await drive.push(
            TurnStarted(session_id=SESSION, turn=1, prompt="x"),
            BlockEnded(session_id=SESSION, block_id="b", kind="text", text=text),
        )
        await drive.until(lambda: "line 59" in drive.text())
        await drive.write("my draft")
        await drive.press("pageup")
        assert "line 59" not in drive.text()
        await drive.press("end", "end")
        await drive.until(lambda: "line 59" in drive.text())
        await drive.press("ctrl+home")
        await drive.until(lambda: "line 0" in drive.text())
        await drive.press("ctrl+end")
        await drive.until(lambda: "line 59" in drive.text())
        assert drive.draft == "my draft"


async def test_a_click_on_the_status_bar_opens_what_it_shows() -> None:
    async with running(size=(80, 24)) as drive:
        line = drive.text().splitlines()[-1]
        await drive.pilot.click("StatusBar", offset=(line.index("coding") + 1, 0))
        await drive.until(lambda: drive.app.screen is not drive.app.main)


async def test_the_tiniest_screen_still_takes_a_prompt() -> None:
    async with running(size=(20, 5)) as drive:
        await drive.write("hi")
        await drive.press("enter")
        assert drive.client.named("submit") == [("hi",)]


@pytest.mark.parametrize("size", [(80, 24), (120, 36), (200, 50)])
async def test_prompt_conversation_and_status_bar_begin_in_one_column(
    size: tuple[int, int],
) -> None:
    def columns(words: str) -> set[int]:
        above_the_bar = drive.text().splitlines()[:-1]
        return {row.index(words) for row in above_the_bar if words in row}

    async with running(size=size) as drive:
        await drive.push(TurnStarted(session_id=SESSION, turn=1, prompt="what I asked"))
        await drive.write("what I ask next")
        assert columns("what I asked") == columns("what I ask next") == {4}
        *_, prompt, _, bar = drive.text().splitlines()
        assert bar.index("▸") == prompt.index("›") == 2 and bar.index("ask") == 4
        for key in ("f2", "f3", "f4"):
            await drive.press(key, key, "escape")
        assert columns("what I asked") == {4}


@pytest.mark.parametrize(
    ("columns", "hints"),
    [
        (40, "Ask for anything  @ file"),
        (60, "Ask for anything  @ file  / command  ! shell  ? keys"),
        (80, IDLE),
    ],
)
async def test_the_prompt_says_the_hints_that_fit_whole(columns: int, hints: str) -> None:
    async with running(size=(columns, 16)) as drive:
        assert f" {hints} " in drive.text().replace("\n", " ")


async def test_the_prompt_says_where_keys_go_while_they_are_not_for_it() -> None:
    async with running(size=(120, 36)) as drive:
        assert drive.app.main.transcript is not None
        drive.app.main.transcript.focus()
        await drive.settle()
        assert "› In the conversation   esc back here   F1 keys" in drive.text()
        assert "Ask for anything" not in drive.text()
        await drive.push(TurnStarted(session_id=SESSION, turn=1, prompt="go"))
        assert "› In the conversation   esc stops   " in drive.text()
        assert "enter steers" not in drive.text()
        await drive.press("k")
        own = "esc stops   y copy   r back before it   f fork   F1 keys"
        assert f"› In the conversation   {own}" in drive.text()
        call = {"session_id": SESSION, "call_id": "c1", "tool": "grep"}
        await drive.push(ToolStarted(**call))
        await drive.press("j")
        assert "esc stops   y copy   F1 keys" in drive.text()
        await drive.push(ToolEnded(**call, ok=True, output="one\ntwo\n" * 30))
        assert "esc stops   enter details   y copy   F1 keys" in drive.text()
        await drive.press("f4")
        assert "› In a pane   esc back here" in drive.text()
        elsewhere = drive.app.main.prompt.styles.border_left
        await drive.press("escape")
        assert "› enter steers" in drive.text()
        assert drive.app.main.prompt.styles.border_left != elsewhere


async def test_a_line_that_the_status_bar_cuts_says_where_it_is_read_whole() -> None:
    async with running(size=(80, 24)) as drive:
        drive.app.main.say("30 messages written, no secrets found: /home/u/src/app/" + "long-" * 9)
        assert drive.text().rstrip().endswith("…  ctrl+x i")


async def test_the_events_have_rows_while_keys_go_to_them_however_low_the_screen_is() -> None:
    items = tuple(ItemCard(key=str(n), source="read_file", tokens=9, text="x") for n in range(30))
    modules = [
        ModuleMounted(session_id=SESSION, module_id=f"tool-{n}", kind="tool") for n in range(20)
    ]
    async with running(size=(100, 30)) as drive:
        await drive.push(*modules)
        pane = drive.app.main.pane("context")
        assert isinstance(pane, ContextPane)
        pane.show_items(items)
        await drive.settle()
        before = pane.size.height
        await drive.press("f3")
        events = drive.app.main.pane("events")
        assert isinstance(events, EventLogPane) and events.view.size.height >= 6
        await drive.press("f4")
        assert pane.size.height == before


@pytest.mark.parametrize("way", [["ctrl+p"], ["f1"], ["/theme"], ["/rename"], ["/export"]])
async def test_behind_a_dialog_with_a_field_the_prompt_has_no_cursor_and_names_no_keys(
    way: list[str],
) -> None:
    async with running() as drive:
        prompt = drive.app.main.prompt.input
        assert prompt.show_cursor and "? keys" in drive.text()
        for key in way:
            await (drive.write(key) if key.startswith("/") else drive.press(key))
        if drive.draft:
            await drive.press("enter")
        await drive.until(lambda: drive.app.screen is not drive.app.main)
        assert drive.app.screen.query(Input)
        assert not prompt._draw_cursor
        assert prompt.render_line(0).text.strip() == "Ask for anything"
        await drive.press("escape")
        await drive.closed()
        assert prompt.show_cursor


async def test_beside_the_line_of_a_search_the_prompt_has_no_cursor_and_none_of_its_keys() -> None:
    async with running() as drive:
        assert "? keys" in drive.text()
        await drive.press("ctrl+f")
        await drive.until(lambda: isinstance(drive.app.focused, FindInput))
        prompt = drive.app.main.prompt.input
        assert not prompt._draw_cursor
        assert not {"? keys", "enter steers"} & {*prompt.render_line(0).text.split("   ")}
        assert "? keys" not in drive.text()
