import time
from dataclasses import replace

import pytest

from amplifier_tui.host.client import (
    BundleCard,
    BundlePreview,
    PlannedModule,
    SessionCard,
)
from amplifier_tui.host.events import Notice, ReportItem, TodoChanged, TodoItem
from amplifier_tui.ui.app.themes import AUTO, DEFAULT_THEME
from amplifier_tui.ui.dialogs.approval import ApprovalDialog
from amplifier_tui.ui.dialogs.bundle_picker import BundlePicker
from amplifier_tui.ui.dialogs.modules.commands import (
    CommandPalette,
    Help,
)
from amplifier_tui.ui.dialogs.modules.leader import LeaderPopup
from amplifier_tui.ui.dialogs.pickers import (
    HistoryPicker,
    NoticeHistory,
    ThemePicker,
)
from amplifier_tui.ui.dialogs.questions import AskLine
from amplifier_tui.ui.dialogs.sessions.picker import SessionPicker
from amplifier_tui.ui.dialogs.sheets import PlanSheet
from amplifier_tui.ui.state.formats import ago
from tests.ui.dialogs.test_bundle_picker import HOSTILE, SIZES, bundles
from tests.ui.driving import Driver, running
from tests.ui.fake_client import SESSION, FakeClient
from tests.ui.requests import ask, resolved

# --- sessions --------------------------------------------------------------------------------


async def test_the_session_picker_shows_what_a_session_is_about_and_finds_it_by_its_tags() -> None:
    card = SessionCard(
        session_id="aaaa",
        title="Retry",
        description="Adds a retry to the client.",
        tags=("net[red]work", "bug"),
        first_prompt="why does it fail?",
    )
    other = SessionCard(session_id="bbbb", first_prompt="Write a changelog", turns=1)
    async with running(FakeClient(stored=(card, other))) as drive:
        await drive.press("ctrl+x", "l")
        picker = await drive.dialog(SessionPicker)
        await drive.until(lambda: picker.rows.row is not None)
        assert "Retry  #net[red]work  #bug  Adds a retry" in drive.text()
        await drive.write("bug")
        await drive.until(lambda: "changelog" not in drive.text())
        await drive.press("enter")
        assert drive.client.named("resume") == [("aaaa",)]


async def test_the_session_picker_finds_by_first_prompt_and_resumes() -> None:
    stored = (
        SessionCard(
            session_id="aaaa", title="Retry", turns=4, bundle="coding", updated=time.time()
        ),
        SessionCard(session_id="bbbb", first_prompt="Write a changelog", turns=1),
    )
    async with running(FakeClient(stored=stored)) as drive:
        await drive.press("ctrl+x", "l")
        picker = await drive.dialog(SessionPicker)
        await drive.until(lambda: picker.rows.row is not None)
        assert "coding  4 turns" in drive.text() and "just now" in drive.text()
        await drive.write("changel")
        await drive.press("enter")
        await drive.until(lambda: drive.client.named("resume"))
        assert drive.client.named("resume") == [("bbbb",)]


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "just now"),
        (-5, "just now"),
        (300, "5 min ago"),
        (7_300, "2 h ago"),
        (90_000, "1 day ago"),
    ],
)
def test_ages_read_as_words(seconds: float, words: str) -> None:
    assert ago(seconds) == words


# --- themes ----------------------------------------------------------------------------------


async def highlighted(drive: Driver) -> str:
    picker = await drive.dialog(ThemePicker)
    assert picker.rows.row is not None
    return picker.rows.row.id


async def test_a_theme_is_shown_while_it_is_highlighted_and_escape_puts_the_old_one_back() -> None:
    async with running() as drive:
        assert drive.app.theme == DEFAULT_THEME
        await drive.press("ctrl+x", "h")
        assert await highlighted(drive) == AUTO
        assert drive.app.theme == DEFAULT_THEME
        await drive.press("down")
        assert drive.app.theme != DEFAULT_THEME
        await drive.press("escape")
        await drive.closed()
        assert drive.app.theme == DEFAULT_THEME
        assert drive.app.preferences.theme == ""


async def test_a_kept_theme_is_remembered_for_the_next_start() -> None:
    async with running() as drive:
        await drive.press("ctrl+x", "h")
        await drive.dialog(ThemePicker)
        await drive.write("paper")
        await drive.press("enter")
        await drive.closed()
        assert drive.app.theme == "paper"
    async with running() as drive:
        assert drive.app.theme == "paper"
        await drive.press("ctrl+x", "h")
        assert await highlighted(drive) == "paper" == drive.app.theme


async def test_escape_clears_the_filter_of_the_themes_first_as_its_key_says() -> None:
    async with running() as drive:
        await drive.press("ctrl+x", "h")
        await drive.dialog(ThemePicker)
        await drive.write("mist")
        assert drive.app.theme == "mist" and "Clear" in drive.text()
        await drive.press("escape")
        await drive.dialog(ThemePicker)
        assert "paper" in drive.text() and "Clear" not in drive.text()
        await drive.press("escape")
        await drive.closed()
        assert drive.app.theme == DEFAULT_THEME


async def test_home_and_end_go_through_the_list_while_nothing_is_typed() -> None:
    async with running() as drive:
        await drive.press("ctrl+x", "h")
        picker = await drive.dialog(ThemePicker)
        await drive.press("end")
        rows = picker.rows.rows
        assert len(rows) > 3 and picker.rows.row is rows[-1]
        await drive.press("home")
        assert picker.rows.row is rows[0]
        await drive.write("mi")
        await drive.press("home")
        await drive.write("x")
        assert picker.query_text == "xmi"


async def test_the_old_theme_is_back_where_nothing_matches_and_after_ctrl_c() -> None:
    async with running() as drive:
        await drive.press("ctrl+x", "h")
        await drive.dialog(ThemePicker)
        await drive.write("mist")
        await drive.write("zzz")
        assert drive.app.theme == DEFAULT_THEME
        await drive.press("escape")
        await drive.write("high contrast")
        assert drive.app.theme == "contrast"
        await drive.press("ctrl+c")
        await drive.closed()
        assert drive.app.theme == DEFAULT_THEME


async def test_slash_theme_takes_a_name_and_refuses_an_unknown_one() -> None:
    async with running() as drive:
        await drive.write("/theme contrast")
        await drive.press("enter")
        assert drive.app.theme == "contrast"
        await drive.write("/theme nope")
        await drive.press("enter")
        assert drive.app.theme == "contrast"
        assert "There is no theme 'nope'" in drive.text()


# --- palette, help, leader -------------------------------------------------------------------


async def test_the_palette_runs_what_is_found() -> None:
    async with running(bundles()) as drive:
        await drive.press("ctrl+p")
        await drive.dialog(CommandPalette)
        await drive.write("switch bun")
        await drive.press("enter")
        await drive.dialog(BundlePicker)


async def test_a_question_mark_on_an_empty_prompt_opens_the_help() -> None:
    async with running() as drive:
        await drive.press("question_mark")
        await drive.dialog(Help)
        assert "Switch bundle" in drive.text() and "ctrl+x b" in drive.text()
        await drive.press("escape")
        await drive.write("why?")
        assert drive.draft == "why?"


async def test_the_help_lists_every_key_of_the_table_and_of_the_panes() -> None:
    from amplifier_tui.ui.keys.actions import ACTIONS
    from amplifier_tui.ui.keys.keymap_file import pane_actions

    async with running() as drive:
        await drive.press("f1")
        picker = await drive.dialog(Help)
        listed = {row.id for row in picker.rows.rows}
        assert listed >= {action.id for action in (*ACTIONS, *pane_actions())}
        await drive.write("new line")
        assert "ctrl+j / alt+enter / shift+enter" in drive.text()


async def test_the_help_begins_with_the_keys_of_the_pane_in_focus_and_says_whose_one_found_is() -> (
    None
):
    async with running(size=(120, 36)) as drive:
        await drive.press("f3", "f1")
        picker = await drive.dialog(Help)
        groups = [row.left.plain for row in picker.rows.rows if not row.id]
        assert groups[0] == "In the events"
        assert picker.rows.row is not None
        assert picker.rows.row.id.startswith("event")
        await drive.write("Filter")
        assert "Filter  in the events" in drive.text()


async def test_ctrl_c_closes_a_list_whatever_is_typed_and_does_not_touch_the_draft() -> None:
    async with running() as drive:
        await drive.write("mine")
        await drive.press("ctrl+p")
        await drive.dialog(CommandPalette)
        await drive.write("theme")
        await drive.press("ctrl+c")
        await drive.closed()
        assert drive.draft == "mine"


async def test_the_leader_shows_its_keys_and_an_unknown_one_does_nothing() -> None:
    async with running() as drive:
        await drive.press("ctrl+x")
        await drive.dialog(LeaderPopup)
        assert "Switch bundle" in drive.text()
        await drive.press("percent_sign")
        await drive.closed()
        assert drive.draft == ""


# --- small ones ------------------------------------------------------------------------------


async def test_notices_are_kept_in_a_history() -> None:
    async with running() as drive:
        await drive.push(
            Notice(session_id=SESSION, level="warning", text="Disk is [b]full", source="hook:disk"),
            Notice(session_id=SESSION, level="info", text="Saved", source="store"),
        )
        await drive.write("/notices")
        await drive.press("enter")
        await drive.dialog(NoticeHistory)
        text = drive.text()
        assert "Disk is [b]full" in text and "hook:disk" in text and "Saved" in text


async def test_a_notice_that_its_row_cuts_is_read_whole_below_the_list() -> None:
    long = f"[b]The branch is in {'/a-folder' * 12}: /worktree diff shows it. The end."
    async with running(size=(80, 24)) as drive:
        await drive.push(
            Notice(session_id=SESSION, level="info", text=long, source="store"),
            Notice(session_id=SESSION, level="info", text="A short one", source="store"),
        )
        await drive.write("/notices")
        await drive.press("enter")
        await drive.dialog(NoticeHistory)
        await drive.until(lambda: drive.text().count("A short one") == 1)
        assert "The end." not in drive.text()
        await drive.press("down")
        assert "The end." in drive.text() and drive.text().count("[b]The branch") == 2
        await drive.pilot.resize_terminal(200, 50)
        await drive.until(lambda: drive.text().count("The end.") == 1)


@pytest.mark.parametrize(("size", "whole"), [((40, 12), False), ((80, 24), True)])
async def test_a_long_notice_takes_the_rows_that_are_free_and_a_mark_where_it_is_cut(
    size: tuple[int, int], whole: bool
) -> None:
    long = f"It failed: {'a reason and ' * 30} The end."
    async with running(size=size) as drive:
        await drive.push(Notice(session_id=SESSION, level="error", text=long, source="hook"))
        await drive.write("/notices")
        await drive.press("enter")
        await drive.dialog(NoticeHistory)
        await drive.settle()
        lines = drive.text().splitlines()
        shown = [line for line in lines if "reason" in line or "The end." in line]
        assert ("The end." in drive.text()) is whole
        assert any(line.rstrip(" │▌▐").endswith("…") for line in shown[1:]) is not whole
        assert "esc  Close" in drive.text()


async def test_the_plan_is_shown_with_its_state() -> None:
    async with running() as drive:
        await drive.push(
            TodoChanged(
                session_id=SESSION,
                items=(
                    TodoItem(content="Read", status="completed"),
                    TodoItem(content="Write", status="in_progress", active_form="Writing"),
                    TodoItem(content="Test", status="pending"),
                ),
            )
        )
        await drive.press("ctrl+t")
        await drive.dialog(PlanSheet)
        text = drive.text()
        assert "1 of 3" in text and "✓ Read" in text and "◐ Writing" in text and "· Test" in text
        items = tuple(TodoItem(content=word, status="completed") for word in ("Read", "Write"))
        await drive.push(TodoChanged(session_id=SESSION, items=items))
        await drive.settle()
        text = drive.text()
        assert "2 of 2" in text and "✓ Write" in text and "Test" not in text
        await drive.push(ask())
        await drive.dialog(ApprovalDialog)
        await drive.push(resolved())
        await drive.closed()
        assert "esc  Close" in text


async def test_a_long_plan_opens_at_the_step_in_progress() -> None:
    items = [TodoItem(content=f"Step {n} of many", status="completed") for n in range(60)]
    items[41] = replace(items[41], status="in_progress")
    async with running(size=(80, 24)) as drive:
        await drive.push(TodoChanged(session_id=SESSION, items=tuple(items)))
        await drive.press("ctrl+t")
        await drive.dialog(PlanSheet)
        await drive.settle()
        assert "◐ Step 41 of many" in drive.text() and "Step 40 of many" in drive.text()
        await drive.press("home")
        assert "Step 0 of many" in drive.text() and "Step 41 of many" not in drive.text()


async def test_the_session_can_be_named() -> None:
    async with running() as drive:
        await drive.press("ctrl+x", "j")
        await drive.dialog(AskLine)
        await drive.write("My work")
        await drive.press("enter")
        await drive.closed()
        assert drive.client.named("rename") == [("My work",)]
        await drive.write("/rename Other [red]work")
        await drive.press("enter")
        assert drive.client.named("rename")[-1] == ("Other [red]work",)


async def test_the_history_search_finds_and_fills_the_draft() -> None:
    async with running() as drive:
        for text in ("first prompt", "second thing"):
            await drive.write(text)
            await drive.press("enter")
        await drive.press("ctrl+r")
        await drive.dialog(HistoryPicker)
        await drive.write("fir")
        await drive.press("enter")
        await drive.closed()
        assert drive.draft == "first prompt"


# --- hostile text and small screens ----------------------------------------------------------


def hostile_client() -> FakeClient:
    card = BundleCard(
        name=HOSTILE, description=HOSTILE, origin=HOSTILE, missing=(HOSTILE,), state="needs_key"
    )
    bad = BundleCard(name="b" + HOSTILE, state="invalid", error=HOSTILE)
    preview = BundlePreview(
        card=card,
        version=HOSTILE,
        modules=(PlannedModule(module_id=HOSTILE, kind=HOSTILE, origin=HOSTILE, detail=HOSTILE),),
        agents=(HOSTILE,),
        context_files=(HOSTILE,),
        report=(ReportItem(what=HOSTILE, kind="failed", part=HOSTILE, why=HOSTILE),),
    )
    stored = (
        SessionCard(session_id="s", title=HOSTILE, first_prompt=HOSTILE + "2", bundle=HOSTILE),
    )
    return FakeClient(cards=(card, bad), previews={HOSTILE: preview}, stored=stored)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    "keys", ["ctrl+x b", "ctrl+x l", "ctrl+x i", "ctrl+r", "ctrl+t", "ctrl+x h"]
)
async def test_hostile_text_is_shown_as_harmless_text(keys: str, size: tuple[int, int]) -> None:
    async with running(hostile_client(), size=size) as drive:
        drive.app.history.merge([HOSTILE])
        await drive.push(
            Notice(session_id=SESSION, level="error", text=HOSTILE, source=HOSTILE),
            TodoChanged(session_id=SESSION, items=(TodoItem(content=HOSTILE, status="pending"),)),
        )
        await drive.press(*keys.split())
        await drive.until(lambda: drive.app.screen is not drive.app.main)
        await drive.settle()
        text = drive.text()
        assert "\x1b" not in text and "\u202e" not in text and "\x07" not in text
        assert len(text.splitlines()) == size[1]
        assert drive.app.screen.focused is not None
        await drive.press("escape", "escape")


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("keys", ["f1", "ctrl+p", "ctrl+x", "ctrl+x j"])
async def test_every_other_dialog_opens_and_closes_at_every_size(
    keys: str, size: tuple[int, int]
) -> None:
    async with running(size=size) as drive:
        await drive.press(*keys.split())
        await drive.until(lambda: drive.app.screen is not drive.app.main)
        assert drive.text().strip()
        await drive.press("escape")
        await drive.closed()
        await drive.write("ok")
        assert drive.draft == "ok"


@pytest.mark.parametrize("size", [(80, 24), (60, 20)])
async def test_the_theme_picker_says_whole_what_a_row_cuts_and_offers_no_key_for_none(
    size: tuple[int, int],
) -> None:
    async with running(size=size) as drive:
        await drive.app.run_by_id("app.theme")
        picker = await drive.dialog(ThemePicker)
        await drive.write("contrast")
        await drive.until(lambda: picker.rows.row_id == "contrast")
        text = " ".join(drive.text().split())
        (roles,) = [each for each in picker._themes if each["name"] == "contrast"]
        assert roles["description"] in text
        await drive.write("zzz")
        assert "enter" not in drive.text()
