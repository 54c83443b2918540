from dataclasses import replace

import pytest

from amplifier_tui.host.events import (
    ModuleFailed,
    ModuleMounted,
    Notice,
    OpeningReported,
    ReportItem,
)
from amplifier_tui.ui.dialogs.opening_report import OpeningReport
from amplifier_tui.ui.keys.actions import BY_ID
from amplifier_tui.ui.panes.modules import ModulesPane
from amplifier_tui.ui.transcript.view import TranscriptView
from tests.ui.driving import Driver, running
from tests.ui.fake_client import SESSION
from tests.ui.state.make import make

HOSTILE = "[red]x[/]\x1b[31m\x1b]0;t\x07\u202eevil\n\rline"
ITEMS = (
    ReportItem(
        what="git+https://example.org/acme/web.git@main",
        kind="failed",
        part="include",
        why="Could not resolve host: example.org",
        remedy="Correct the include, or take it out.",
        asked_by="coding",
        owner="project",
        where="/p/.amplifier/bundles/coding.md:4",
    ),
    ReportItem(what="tool-web", kind="refused", part="tool", why="you refused its code"),
    ReportItem(what=HOSTILE, kind="replaced", part=HOSTILE, why=HOSTILE, asked_by=HOSTILE),
)
REPORT = OpeningReported(session_id=SESSION, ready=24, items=ITEMS)
LINE = "24 ready · 2 without: web, tool-web"


async def opened(drive: Driver) -> OpeningReport:
    dialog = await drive.dialog(OpeningReport)
    await drive.until(lambda: dialog.rows.row is not None)
    return dialog


@pytest.mark.parametrize("size", [(40, 12), (80, 24), (120, 36)])
async def test_the_line_opens_as_a_list_with_reason_remedy_and_who_asked(
    size: tuple[int, int],
) -> None:
    async with running(size=size) as drive:
        mounted = (make(ModuleMounted, module_id=f"tool-{n}", kind="tool") for n in range(24))
        await drive.push(*mounted, REPORT)
        assert LINE[: size[0] // 2] in drive.text()
        drive.app.query_one(TranscriptView).focus()
        await drive.press("g", "enter")
        dialog = await opened(drive)
        if size[1] > 12:
            text = drive.text()
            words = ("Could not resolve host", "Correct the include", "coding · the project's")
            assert all(word in text for word in (*words, "bundles/coding.md:4"))
        await drive.press("down")
        assert "you refused its code" in dialog.text_of("1")
        assert "\x1b" not in drive.text()


@pytest.mark.parametrize("way", ["/report", "/missing", "ctrl+x O", "pane", "click", "palette"])
async def test_the_list_is_reached_by_slash_command_chord_pane_click_and_palette(way: str) -> None:
    async with running() as drive:
        await drive.push(REPORT)
        if way == "click":
            await drive.pilot.click(TranscriptView, offset=(8, 1))
        elif way == "pane":
            drive.app.query_one(ModulesPane).focus()
            await drive.press("o")
        elif way == "palette":
            await drive.press("ctrl+p")
            await drive.settle()
            await drive.write("missing")
            await drive.press("enter")
        elif way.startswith("/"):
            await drive.write(way)
            await drive.press("enter")
        else:
            await drive.press(*way.split())
        await opened(drive)


async def test_where_nothing_is_missing_that_is_said() -> None:
    async with running() as drive:
        await drive.write("/report")
        await drive.press("enter")
        assert "Nothing is missing" in drive.text()


async def test_what_failed_since_the_opening_is_listed() -> None:
    async with running() as drive:
        await drive.push(
            make(ModuleFailed, module_id="tool-x", kind="tool", error="no mount()", remedy="")
        )
        await drive.write("/report")
        await drive.press("enter")
        await drive.dialog(OpeningReport)
        assert "tool-x" in drive.text() and "no mount()" in drive.text()


async def test_mistakes_in_the_bundles_files_are_not_called_nothing() -> None:
    async with running() as drive:
        await drive.push(make(Notice, level="warning", text="'toolz' is ignored", source="bundle"))
        await drive.write("/report")
        await drive.press("enter")
        assert "its files have mistakes: see /notices" in drive.text()


@pytest.mark.parametrize("size", [(40, 12), (80, 24)])
async def test_a_long_reason_is_read_to_its_end_and_so_are_remedy_and_place(
    size: tuple[int, int],
) -> None:
    long = replace(ITEMS[0], why="because " * 200 + "of it")
    async with running(size=size) as drive:
        await drive.push(OpeningReported(session_id=SESSION, ready=1, items=(long, ITEMS[1])))
        await drive.press("ctrl+x", "O")
        dialog = await opened(drive)
        assert "because because" in drive.text() and "More" in drive.text()
        seen, before = "", ""
        while before != (before := drive.text()):
            seen += before
            await drive.press("pagedown")
        words = ("ofit", "Correcttheinclude", "/p/.amplifier/bundles/coding.md:4")
        assert all(each in "".join(seen.split()) for each in words)
        # The cursor of the list has not moved.
        assert dialog.rows.row_id == "0"
        await drive.press("pageup")
        assert "because" in drive.text()
        await drive.press("down")
        assert "you refused its code" in drive.text() and "More" not in drive.text()


def test_while_a_session_opens_the_report_is_waited_for() -> None:
    # Before that it would say that nothing is missing.
    assert BY_ID["session.report"].in_session


async def test_an_item_is_copied_whole() -> None:
    async with running(size=(80, 24)) as drive:
        await drive.push(REPORT)
        await drive.press("ctrl+x", "O")
        await opened(drive)
        await drive.press("enter")
        await drive.closed()
        assert "git+https://example.org/acme/web.git@main: failed" in drive.app.clipboard
        assert "bundles/coding.md:4" in drive.app.clipboard


async def test_of_what_the_session_opened_without_the_pane_asks_for_no_more_details() -> None:
    unused = ReportItem(what="provider-openai", kind="unused", part="provider", why="no key")
    async with running(size=(80, 24)) as drive:
        await drive.push(OpeningReported(session_id=SESSION, ready=1, items=(unused,)))
        await drive.press("f2", "enter")
        await drive.settle()
        assert "no key" in drive.text() and "cannot be described" not in drive.text()
        assert not drive.client.named("module_details")


async def test_what_the_session_opened_without_is_not_switched_and_it_is_said_why() -> None:
    unused = ReportItem(what="provider-openai", kind="unused", part="provider", why="no key")
    async with running(size=(120, 36)) as drive:
        await drive.push(OpeningReported(session_id=SESSION, ready=1, items=(unused,)))
        await drive.write("/disable provider-openai")
        await drive.press("enter")
        await drive.until(lambda: "provider-openai is no part of this session" in drive.text())
        assert not drive.client.named("switch_module")
