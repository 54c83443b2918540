"""What is to be allowed, read: searched, gone through, side by side, with the whole screen."""

import threading
from typing import Any

import pytest

from amplifier_tui.host.client import Decision
from amplifier_tui.host.events import ToolEnded, ToolStarted
from amplifier_tui.ui.dialogs.approval import ApprovalDialog
from amplifier_tui.ui.dialogs.diff_sheet import DiffSheet
from amplifier_tui.ui.diffs import reader as reading
from amplifier_tui.ui.diffs.reader import Reader
from amplifier_tui.ui.widgets.text_lines import TextLine
from tests.ui.driving import Driver, running
from tests.ui.fake_client import SESSION
from tests.ui.requests import ask

pytestmark = pytest.mark.usefixtures("no_grace")


def diff(count: int = 40) -> str:
    """Return a change of every tenth line of a file."""
    body = "".join(
        f"-old_{n} = 1\n+new_{n} = 2\n" if n % 10 == 5 else f" line {n} Retry\n"
        for n in range(1, count + 1)
    )
    return f"--- a/src/app.py\n+++ b/src/app.py\n@@ -1,{count} +1,{count} @@\n{body}"


async def asked(drive: Driver) -> Reader:
    await drive.push(ask(tool="edit_file", payload="", segments=(), diff=diff(), risk="medium"))
    return (await drive.dialog(ApprovalDialog)).query_one(Reader)


async def test_z_gives_the_change_the_whole_screen_and_decisions_are_made_there() -> None:
    async with running(size=(80, 24)) as drive:
        reader = await asked(drive)
        before = reader.body.size.height
        await drive.press("z")
        assert reader.body.size.height > before and "› " not in drive.text()
        assert "4 changes" in drive.text() and "Small again" in drive.text()
        await drive.press("n", "n")
        assert "change 2 of 4" in drive.text() and "new_15" in drive.text()
        await drive.press("p")
        assert "change 1 of 4" in drive.text()
        await drive.press("escape")
        assert reader.body.size.height == before
        await drive.press("z", "a")
        await drive.closed()
        assert drive.client.named("decide") == [("r1", Decision(allow=True))]


@pytest.mark.parametrize("key", ["slash", "ctrl+f"])
async def test_a_search_counts_marks_and_steps_and_types_no_decision(key: str) -> None:
    async with running(size=(80, 24)) as drive:
        reader = await asked(drive)
        await drive.press(key)
        await drive.write("retry")
        assert "1 of 36" in drive.text()
        # A letter is typed now: none is offered as a decision.
        assert "enter  Search" in drive.text() and "esc  Cancel" in drive.text()
        assert "Allow" not in drive.text() and "n  Next" not in drive.text()
        await drive.press("enter", "n", "n")
        assert "Allow" in drive.text() and "n  Next" in drive.text()
        assert "esc  End search" in drive.text()
        assert "3 of 36" in drive.text()
        await drive.press("p", "p", "p")
        assert "36 of 36" in drive.text() and "line 40 Retry" in drive.text()
        await drive.press("slash", "ctrl+u")
        await drive.write("Retri")
        assert "not found" in drive.text()
        await drive.press("escape")
        assert "not found" not in drive.text() and not reader.finding
        assert not drive.client.named("decide")
        await drive.press("d")
        await drive.closed()
        assert drive.client.named("decide") == [("r1", Decision(allow=False))]


async def test_before_and_after_stand_side_by_side_where_there_is_room() -> None:
    async with running(size=(140, 36)) as drive:
        reader = await asked(drive)
        assert not reader.split
        await drive.press("z")
        row = next(line for line in drive.text().splitlines() if "old_5 " in line)
        assert reader.split and "new_5 " in row
        await drive.press("t")
        assert not reader.split and "Side by side" in drive.text()
        await drive.press("t")
        await drive.pilot.resize_terminal(100, 30)
        await drive.until(lambda: "change" in drive.text())
        assert reader.split
        # What was read to its end stays so in another arrangement.
        await drive.press("end")
        await drive.until(lambda: reader.body.read_to_end)
        await drive.press("t")
        assert reader.body.read_to_end


async def test_on_a_small_screen_no_key_is_cut() -> None:
    async with running(size=(40, 12)) as drive:
        await asked(drive)
        await drive.press("z")
        await drive.press("slash")
        await drive.write("retry")
        await drive.press("enter")
        assert "Whole file" in drive.text() and "Small again" in drive.text()


async def test_words_of_code_have_colours_of_their_own() -> None:
    async with running(size=(80, 24)) as drive:
        reader = await asked(drive)
        await drive.until(lambda: any(getattr(line, "spans", ()) for line in reader.body.lines))


async def test_a_change_in_the_conversation_is_read_in_full_with_all_of_its_file() -> None:
    async with running(size=(80, 24)) as drive:
        drive.client.whole = ValueError("src/app.py has changed since")
        await drive.push(
            ToolStarted(
                session_id=SESSION,
                call_id="c1",
                tool="edit_file",
                arguments={"file_path": "src/app.py"},
            ),
            ToolEnded(session_id=SESSION, call_id="c1", tool="edit_file", ok=True, diff=diff()),
        )
        await drive.press("f6", "d")
        sheet = await drive.dialog(DiffSheet)
        assert "edit_file" in drive.text() and "+4 −4" in drive.text()
        await drive.press("n", "n")
        assert "change 2 of 4" in drive.text()
        await drive.press("slash")
        assert "esc  Cancel" in drive.text() and "Whole file" not in drive.text()
        await drive.press("escape", "w")
        assert "src/app.py has changed since" in drive.text()
        assert drive.client.named("whole_diff") == [(diff(), True)]
        drive.client.whole = PermissionError("not yours to read")
        await drive.press("w")
        assert "not yours to read" in drive.text()
        drive.client.whole = diff(80)
        await drive.press("w")
        assert "change 2 of 8" in drive.text() and "Changes only" in drive.text()
        await drive.press("w")
        assert "change 2 of 4" in drive.text()
        await drive.press("slash")
        await drive.write("line 9")
        await drive.press("escape")
        assert drive.app.screen is sheet and "1 of 1" not in drive.text()
        await drive.press("escape")
        await drive.closed()
        await drive.press("ctrl+x", "D")
        await drive.dialog(DiffSheet)


async def test_changes_that_are_one_with_all_lines_around_them_are_shown_as_one() -> None:
    head = "--- a/src/app.py\n+++ b/src/app.py\n"
    body = "".join(f"+new {n}\n" for n in range(1, 61))
    apart = f"{head}@@ -0,0 +1,60 @@\n{body}@@ -0,0 +61,60 @@\n{body}"
    async with running(size=(80, 24)) as drive:
        drive.client.whole = f"{head}@@ -0,0 +1,120 @@\n{body}{body}"
        await drive.push(
            ToolStarted(session_id=SESSION, call_id="c1", tool="edit_file", arguments={}),
            ToolEnded(session_id=SESSION, call_id="c1", tool="edit_file", ok=True, diff=apart),
        )
        await drive.press("f6", "d")
        await drive.dialog(DiffSheet)
        await drive.press("n", "n", "w")
        assert "change 1 of 1" in drive.text()


async def test_colours_that_come_while_it_is_closed_have_nowhere_to_go(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = threading.Event()

    def slow(*_: Any, **__: Any) -> dict[int, Any]:
        found.wait(10)
        return {0: ()}

    monkeypatch.setattr(reading, "diff_syntax", slow)
    async with running() as drive:
        reader = await asked(drive)
        reader._begin_to_colour()
        await reader.body.remove()
        found.set()
        # Its own clock may have begun to colour as well.
        for worker in [each for each in reader.workers if each.group == "colour"]:
            await worker.wait()
        await drive.press("escape")


@pytest.mark.parametrize("first", [(120, 36), (80, 24)])
async def test_a_change_that_fits_is_whole_again_after_a_small_terminal_has_grown(
    first: tuple[int, int],
) -> None:
    long = diff(9).replace("Retry", "Retry of a call that was not answered")
    async with running(size=first) as drive:
        await drive.push(ask(tool="edit_file", payload="", segments=(), diff=long, risk="medium"))
        body = (await drive.dialog(ApprovalDialog)).query_one(Reader).body
        for size in ((40, 12), (120, 36)):
            await drive.pilot.resize_terminal(*size)
            await drive.settle()
        assert body.size.height >= len(body.rows)
        assert "src/app.py" in drive.text() and "old_5" in drive.text() and "line 9" in drive.text()


async def test_the_same_line_stays_at_the_top_when_the_screen_gets_another_width() -> None:
    def top() -> str:
        found = reader.body.lines[reader.body.top_line]
        line = found if isinstance(found, TextLine) else found.right or found.left
        assert line is not None
        return line.text

    long = diff(200).replace("Retry", "and so on " * 12).replace("= 1", "= 1 + 1 " * 12)
    async with running(size=(100, 24)) as drive:
        await drive.push(ask(tool="edit_file", payload="", segments=(), diff=long))
        reader = (await drive.dialog(ApprovalDialog)).query_one(Reader)
        await drive.press("z", "n", "n", "n", *["down"] * 13)
        before = top()
        assert before.startswith(("line ", "new_", "old_"))
        for size in ((70, 24), (130, 30), (100, 20), (180, 24), (150, 40), (60, 16), (100, 24)):
            await drive.pilot.resize_terminal(*size)
            await drive.settle()
            assert top() == before, size
