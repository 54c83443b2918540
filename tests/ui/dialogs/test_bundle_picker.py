import asyncio
from concurrent.futures import Future

import pytest

from amplifier_tui.host.client import (
    BundleCard,
    BundlePreview,
    PlannedModule,
)
from amplifier_tui.host.events import ReportItem
from amplifier_tui.ui.dialogs.bundle_picker import BundlePicker
from amplifier_tui.ui.dialogs.parts.row_about import RowAbout
from amplifier_tui.ui.dialogs.parts.sheet import KeyRow
from amplifier_tui.ui.dialogs.sheets import ProblemSheet
from amplifier_tui.ui.widgets.pick_list import PickList
from tests.ui.driving import Driver, running
from tests.ui.fake_client import FakeClient

HOSTILE = "[red]x[/]\x1b[31m\x1b]0;t\x07\u202eevil\n\rline"
SIZES = [(40, 10), (120, 36)]
LOST = ReportItem(what="web.yaml", kind="failed", part="include", why="not found")


def bundles() -> FakeClient:
    cards = (
        BundleCard(name="coding", description="Files and shell", origin="shipped", active=True),
        BundleCard(name="demo", description="Offline", origin="shipped"),
        BundleCard(name="local", state="needs_key", missing=("OPENAI_BASE_URL",)),
        BundleCard(name="far", state="not_fetched", origin="git+https://example.org/x@main"),
        BundleCard(name="broken", state="invalid", error="broken.md:7: bad mapping"),
    )
    modules = (
        PlannedModule(module_id="tool-bash", kind="tool", origin="demo"),
        PlannedModule(module_id="provider-mock", kind="provider", origin="base", detail="m1"),
    )
    previews = {
        card.name: BundlePreview(
            card=card,
            version="1.2.0",
            modules=modules,
            agents=("scout",),
            context_files=("style.md",),
            base_tokens=3_200,
            report=(LOST,),
        )
        for card in cards
        if card.name != "far"
    }
    return FakeClient(cards=cards, previews=previews)


async def open_bundles(drive: Driver) -> BundlePicker:
    await drive.press("ctrl+x", "b")
    picker = await drive.dialog(BundlePicker)
    await drive.until(lambda: picker.rows.row is not None)
    return picker


@pytest.mark.parametrize("error", [None, OSError("too late")])
async def test_what_the_host_says_when_the_dialog_has_closed_is_nothing(error) -> None:
    async with running(bundles()) as drive:
        picker = await open_bundles(drive)
        late: Future[int] = Future()
        waiting = asyncio.create_task(picker.answer_of(late))
        picker.dismiss()
        await drive.until(lambda: drive.app.screen is not picker)
        if error is None:
            late.set_result(1)
        else:
            late.set_exception(error)
        with pytest.raises(asyncio.CancelledError):
            await waiting


# --- bundles ---------------------------------------------------------------------------------


async def test_the_bundle_picker_starts_on_the_active_bundle_and_previews_it() -> None:
    async with running(bundles()) as drive:
        picker = await open_bundles(drive)
        assert picker.rows.row is not None and picker.rows.row.id == "coding"
        await drive.until(lambda: "provider-mock" in drive.text())
        text = drive.text()
        for words in ("active", "scout", "style.md", "3.2k tokens", "web.yaml: not found", "base"):
            assert words in text


async def test_typing_filters_and_enter_switches_with_the_conversation() -> None:
    async with running(bundles()) as drive:
        await open_bundles(drive)
        await drive.write("offl")
        await drive.press("enter")
        await drive.closed()
        assert drive.client.named("switch_bundle") == [("demo", True)]


async def test_tab_leaves_the_conversation_behind() -> None:
    async with running(bundles()) as drive:
        await open_bundles(drive)
        await drive.press("tab")
        assert "empty conversation" in drive.text()
        await drive.press("down", "enter")
        assert drive.client.named("switch_bundle") == [("demo", False)]


@pytest.mark.parametrize("size", [(40, 12), (80, 24), (120, 36)])
async def test_where_no_bundle_matches_no_key_is_offered_that_does_nothing(size) -> None:
    async with running(bundles(), size=size) as drive:
        picker = await open_bundles(drive)
        keys = picker.query_one(KeyRow)
        assert [each.key for each in keys.choices] == ["enter", "tab", "esc"]
        before = picker.rows.size
        await drive.write("zzz")
        assert [each.key for each in keys.choices] == ["esc"]
        # Nothing jumps.
        assert "No bundle matches." in drive.text() and picker.rows.size == before
        await drive.press("escape")
        assert [each.key for each in keys.choices] == ["enter", "tab", "esc"]


LONG = "An agent for software work in your project, with files, a shell, search and its own notes."


async def test_in_eighty_columns_the_foot_says_whole_what_a_row_cuts_and_why_it_has_its_mark() -> (
    None
):
    error = "hooks-x: not found\nsecond line"
    cards = (
        BundleCard(name="coding", description=LONG, state="needs_key", missing=("A_KEY", "B_KEY")),
        BundleCard(name="part", description="Part", state="incomplete", error=error),
        BundleCard(name="short", description="Short."),
    )
    async with running(FakeClient(cards=cards), size=(80, 24)) as drive:
        picker = await open_bundles(drive)
        await drive.until(lambda: "its own notes." in drive.text())
        foot = " ".join(str(picker.query_one(RowAbout).render()).split())
        assert foot == f"Set A_KEY, B_KEY to use it. {LONG}"
        assert "Set A_KEY, B_KEY to use it." in drive.text()
        before = picker.rows.size
        await drive.press("down")
        assert str(picker.query_one(RowAbout).render()) == "hooks-x: not found"
        await drive.press("down")
        assert str(picker.query_one(RowAbout).render()) == ""
        assert picker.rows.size == before
        # The preview says it where there is one.
        await drive.pilot.resize_terminal(120, 36)
        await drive.until(lambda: not picker.query_one(RowAbout).display)


@pytest.mark.parametrize("size", [(80, 24), (120, 36)])
async def test_enter_on_a_broken_bundle_says_what_is_wrong_and_switches_to_nothing(size) -> None:
    async with running(bundles(), size=size) as drive:
        picker = await open_bundles(drive)
        assert "enter  Switch" in drive.text()
        await drive.write("broken")
        assert "enter  What is wrong" in drive.text() and "Switch" not in drive.text()
        await drive.press("enter")
        await drive.dialog(ProblemSheet)
        assert "broken cannot be opened" in drive.text()
        assert "broken.md:7: bad mapping" in drive.text()
        await drive.press("escape")
        await drive.until(lambda: drive.app.screen is picker)
        assert drive.client.named("switch_bundle") == []


async def test_a_bundle_that_would_open_without_a_module_is_not_called_ready() -> None:
    error = "Would open without tool-web"
    card = BundleCard(name="part", state="incomplete", error=error)
    async with running(FakeClient(cards=(card,))) as drive:
        await open_bundles(drive)
        assert drive.text().count(error) == 2, "in the list, which is all there is when narrow, too"
        assert "opens without a part of it" in drive.text()
        await drive.press("enter")
        assert drive.client.named("switch_bundle") == [("part", True)]


async def test_a_missing_key_is_named() -> None:
    async with running(bundles()) as drive:
        await open_bundles(drive)
        await drive.write("local")
        await drive.until(lambda: "OPENAI_BASE_URL" in drive.text())


async def test_a_preview_that_fails_says_why_and_the_list_goes_on() -> None:
    async with running(bundles()) as drive:
        await open_bundles(drive)
        await drive.write("far")
        await drive.until(lambda: "no preview of far" in drive.text())
        await drive.press("enter")
        assert drive.client.named("switch_bundle") == [("far", True)]


async def test_a_list_that_fails_says_why() -> None:
    async with running(FakeClient(cards=RuntimeError("disk on fire"))) as drive:
        await drive.press("ctrl+x", "b")
        await drive.dialog(BundlePicker)
        await drive.until(lambda: "disk on fire" in drive.text())


async def test_escape_clears_the_filter_and_then_closes() -> None:
    async with running(bundles()) as drive:
        picker = await open_bundles(drive)
        await drive.write("dem")
        assert "esc  Clear" in drive.text()
        await drive.press("escape")
        assert drive.app.screen is picker and picker.query_text == ""
        assert "esc  Close" in drive.text()
        await drive.press("escape")
        await drive.closed()
        assert drive.client.named("switch_bundle") == []


async def test_a_click_chooses() -> None:
    async with running(bundles()) as drive:
        await open_bundles(drive)
        await drive.pilot.click(PickList, offset=(5, 1))
        await drive.closed()
        assert drive.client.named("switch_bundle") == [("demo", True)]


async def test_slash_bundle_with_a_name_switches_at_once() -> None:
    async with running(bundles()) as drive:
        await drive.write("/bundle demo")
        await drive.press("enter")
        assert drive.client.named("switch_bundle") == [("demo", True)]


async def test_a_new_session_takes_the_same_bundle_without_the_conversation() -> None:
    async with running() as drive:
        await drive.press("ctrl+x", "n")
        assert drive.client.named("switch_bundle") == [("coding", False)]
