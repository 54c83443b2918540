from concurrent.futures import Future
from dataclasses import replace

import pytest

from amplifier_tui.foundation.report import ReportItem
from amplifier_tui.host.client import ServerStatus
from amplifier_tui.host.events import OpeningReported
from amplifier_tui.ui.dialogs.modules.mcp_servers import ServerList, ServerSheet
from amplifier_tui.ui.widgets.scroll_lines import ScrollLines
from tests.ui.driving import Driver, running
from tests.ui.fake_client import SESSION, FakeClient

SERVERS = (
    ServerStatus(
        name="github",
        state="ready",
        transport="stdio",
        target="npx",
        tools=("mcp__github__list_issues", "mcp__github__close_issue"),
        resources=("repo://readme",),
        prompts=("review",),
        log=("[b]listening[/b]\x1b[31m",),
    ),
    ServerStatus(name="search", state="idle", transport="http", target="https://example.org/mcp"),
    ServerStatus(name="broken", state="failed", problems=("it ended with exit code 3",)),
)


async def listed(drive: Driver) -> ServerList:
    await drive.write("/mcp")
    await drive.press("enter")
    found = await drive.dialog(ServerList)
    await drive.settle()
    return found


@pytest.mark.parametrize("size", [(40, 12), (80, 24), (160, 40)])
async def test_servers_are_listed_with_how_it_stands_with_them(size: tuple[int, int]) -> None:
    async with running(FakeClient(servers=SERVERS), size=size) as drive:
        await listed(drive)
        text = drive.text()
        assert "github" in text and "2 tools · ready" in text
        assert "search" in text and "idle" in text
        assert "broken" in text and "failed" in text
        await drive.press("j", "j")
        assert "it ended with exit code 3" in drive.text()


@pytest.mark.parametrize("size", [(40, 12), (80, 24)])
async def test_names_of_tools_that_have_no_room_are_marked_as_cut(size: tuple[int, int]) -> None:
    tools = tuple(f"mcp__notes__tool_number_{n}" for n in range(12))
    notes = ServerStatus(name="notes", state="ready", tools=tools)
    async with running(FakeClient(servers=(notes,)), size=size) as drive:
        dialog = await listed(drive)
        assert "tool_number_0," in drive.text() and "tool_number_11" not in drive.text()
        about = dialog.query_one("#server-about")
        shown = drive.text().splitlines()[about.region.y : about.region.bottom]
        assert len(shown) == 2 and shown[1].rstrip(" │█").endswith("…")


async def test_where_servers_were_refused_it_says_which_and_how_to_be_asked_again() -> None:
    items = tuple(
        ReportItem(what=what, kind="refused", part="power", why="you refused it")
        for what in ("settings · mode", "MCP server · [b]weather", "MCP server · docs")
    )
    async with running(FakeClient(servers=RuntimeError("none")), size=(80, 24)) as drive:
        await drive.push(OpeningReported(session_id=SESSION, items=items))
        await listed(drive)
        assert "You refused [b]weather, docs: /trust asks" in " ".join(drive.text().split())


async def test_a_server_is_started_again_and_its_log_read() -> None:
    client = FakeClient(servers=SERVERS)
    async with running(client) as drive:
        await listed(drive)
        await drive.press("j", "j", "r")
        await drive.settle()
        assert client.named("restart_mcp_server") == [("broken",)]
        client.restarted = PermissionError("not yours to run")
        await drive.press("r")
        await drive.settle()
        assert drive.app.return_code is None
        await drive.press("k", "k", "enter")
        await drive.dialog(ServerSheet)
        text = drive.text()
        for words in ("mcp__github__close_issue", "repo://readme", "review", "[b]listening[/b]"):
            assert words in text
        await drive.press("escape")
        await drive.dialog(ServerList)


async def test_details_say_how_it_stands_with_a_server_meanwhile() -> None:
    starting = ServerStatus(name="slow", state="starting")
    log = tuple(f"line {number}" for number in range(60))
    client = FakeClient(servers=(starting,))
    async with running(client, size=(80, 24)) as drive:
        picker = await listed(drive)
        await drive.press("enter")
        sheet = await drive.dialog(ServerSheet)
        assert "slow   starting" in drive.text()
        client.servers = (replace(starting, state="failed", problems=("it ended",), log=log),)
        picker._look_again()
        await drive.until(lambda: sheet.card.state == "failed")
        await drive.settle()
        assert "slow   failed" in drive.text() and "it ended" in drive.text()
        await drive.press("pagedown")
        await drive.settle()
        before = sheet.query_one(ScrollLines).scroll_offset
        assert before.y
        client.servers = (replace(sheet.card, log=(*log, "more")),)
        picker._look_again()
        await drive.until(lambda: sheet.card.log[-1] == "more")
        await drive.settle()
        assert sheet.query_one(ScrollLines).scroll_offset == before
        await drive.press("end")
        await drive.settle()
        assert "more" in drive.text()


async def test_an_answer_that_takes_long_is_shown_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with running(FakeClient(servers=SERVERS)) as drive:
        picker = await listed(drive)
        late: Future[tuple[ServerStatus, ...]] = Future()
        monkeypatch.setattr(picker, "_ask", lambda: late)
        picker._look_again()
        await drive.settle()
        picker._look_again()
        await drive.settle()
        late.set_result(SERVERS[:1])
        await drive.until(lambda: len(picker.rows.rows) == 1)


async def test_without_servers_it_says_where_they_are_named() -> None:
    problem = RuntimeError("This session has no MCP servers. They are named in .mcp.json")
    async with running(FakeClient(servers=problem)) as drive:
        await listed(drive)
        assert "named in .mcp.json" in drive.text()


async def test_a_file_of_servers_that_can_not_be_read_is_told_with_its_line() -> None:
    problem = RuntimeError("This session has no MCP servers. They are named in .mcp.json")
    what, why = "MCP servers of .mcp.json", "it is no JSON: Expecting ','"
    item = ReportItem(what=what, kind="skipped", part="power", why=why, where="/p/.mcp.json:3")
    async with running(FakeClient(servers=problem), size=(120, 30)) as drive:
        await drive.push(OpeningReported(session_id=SESSION, items=(item,)))
        await listed(drive)
        assert "/p/.mcp.json:3: it is no JSON: Expecting ','" in drive.text()
        assert "has no MCP servers" not in drive.text()
