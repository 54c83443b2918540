"""The approval dialog at every size of the terminal, and beside what else is on the screen."""

import time
from itertools import permutations

import pytest

from amplifier_tui.host.events import ApprovalRequested, BlockEnded, Segment, TurnStarted
from amplifier_tui.ui.dialogs.approval import ApprovalDialog
from amplifier_tui.ui.dialogs.parts.sheet import KeyRow
from amplifier_tui.ui.widgets.scroll_lines import ScrollLines
from tests.ui.driving import Driver, running
from tests.ui.fake_client import SESSION
from tests.ui.looking import hidden
from tests.ui.requests import DIFF, ask

pytestmark = pytest.mark.usefixtures("no_grace")

CALL = "python -m pytest --durations=10 -k one tests/unit/and/a/long/path/that/takes/some_rows.py"


@pytest.mark.parametrize("size", [(80, 24), (60, 16)])
async def test_the_end_of_the_conversation_stays_in_view_above_the_dialog(
    size: tuple[int, int],
) -> None:
    async with running(size=size) as drive:
        answer = "\n\n".join(f"line {n}" for n in range(30))
        await drive.push(
            TurnStarted(session_id=SESSION, turn=1, prompt="go"),
            BlockEnded(session_id=SESSION, block_id="b", kind="text", text=answer),
        )
        await drive.until(lambda: "line 29" in drive.text())
        await drive.push(ask())
        await drive.dialog(ApprovalDialog)
        await drive.until(lambda: "line 29" in drive.text())
        await drive.press("d")
        await drive.closed()
        await drive.until(lambda: "line 20" in drive.text() or size[1] < 24)


@pytest.mark.parametrize("size", [(200, 50), (80, 24)])
async def test_reasons_stand_beside_their_commands_and_the_dialog_is_110_columns_wide(
    size: tuple[int, int],
) -> None:
    parts = (
        Segment(text="git add -A", note="no rule · writes", risk="medium"),
        Segment(text="git push", note="no rule · reaches the network", risk="high"),
        Segment(text="ls", note="only reads", risk="low"),
    )
    asked = ask(payload="git add -A && git push && ls", segments=parts, timeout=60.0)
    async with running(size=size) as drive:
        await drive.push(asked)
        dialog = await drive.dialog(ApprovalDialog)
        lines = drive.text().splitlines()
        [add, push, listing] = [
            next(line for line in lines if text in line)
            for text in (" 1  git add", " 2  git push", " 3  ls")
        ]
        at = add.index("no rule") - add.index("git add")
        assert at == len("git add -A") + 3
        assert push.index("no rule") - push.index("git push") == at
        assert listing.index("only reads") - listing.index("ls") == at
        assert all(part.outer_size.width <= 110 for part in dialog.sheet.children)
        left = dialog.sheet.content_region.x
        for line in lines[dialog.sheet.region.y : dialog.sheet.region.bottom]:
            assert len(line.rstrip()) <= left + 110
        await drive.press("z")
        await drive.until(lambda: dialog.query_one(ScrollLines).size.width > size[0] - 12)


async def test_the_scopes_are_drawn_again_for_another_width() -> None:
    async with running(size=(60, 16)) as drive:
        scopes = ("once", "session", "project", "always")
        await drive.push(ask(rule="bash(make *)", scopes=scopes))
        await drive.dialog(ApprovalDialog)
        await drive.until(lambda: "○ …" in drive.text())
        await drive.pilot.resize_terminal(120, 36)
        await drive.until(lambda: "○ everywhere" in drive.text())
        await drive.pilot.resize_terminal(60, 16)
        await drive.until(lambda: "○ …" in drive.text())
        assert "this project" not in drive.text()


async def test_a_short_question_takes_no_more_of_a_small_screen_than_it_needs() -> None:
    async with running(size=(60, 16)) as drive:
        answer = "\n\n".join(f"line {n}" for n in range(30))
        await drive.push(
            TurnStarted(session_id=SESSION, turn=1, prompt="go"),
            BlockEnded(session_id=SESSION, block_id="b", kind="text", text=answer),
        )
        await drive.until(lambda: "line 29" in drive.text())
        await drive.push(ask())
        dialog = await drive.dialog(ApprovalDialog)
        # Right above it, with the empty row that ends every conversation.
        await drive.until(lambda: "line 29" in drive.text().splitlines()[dialog.sheet.region.y - 2])
        assert dialog.sheet.region.bottom == 16 and "Later" in drive.text()
        await drive.press("z")
        await drive.until(lambda: dialog.sheet.region.height == 16)


async def test_the_end_of_the_conversation_stays_in_view_when_the_dialog_grows() -> None:
    async with running(size=(100, 24)) as drive:
        answer = "\n\n".join(f"line {n}" for n in range(30))
        await drive.push(
            TurnStarted(session_id=SESSION, turn=1, prompt="go"),
            BlockEnded(session_id=SESSION, block_id="b", kind="text", text=answer),
        )
        await drive.push(ask())
        dialog = await drive.dialog(ApprovalDialog)
        await drive.until(lambda: "line 29" in drive.text())
        # What is in it may have its height a frame after the dialog was laid out.
        dialog.sheet.styles.height = 18
        await drive.until(lambda: dialog.sheet.region.height == 18)
        await drive.until(lambda: "line 29" in drive.text())


async def test_what_a_grant_is_to_hold_for_is_on_the_screen_when_it_is_chosen() -> None:
    async with running(size=(40, 12)) as drive:
        rule = "edit_file(**)"
        means = "edit_file on any path in the workspace"
        await drive.push(
            ask(
                payload=DIFF,
                payload_kind="diff",
                diff=DIFF,
                rule=rule,
                meaning=means,
                scopes=("once", "session", "project", "always"),
                editable=True,
                timeout=300.0,
            )
        )
        await drive.dialog(ApprovalDialog)
        await drive.press("end")
        await drive.until(lambda: "Remember" in drive.text())
        await drive.press("r")
        await drive.until(lambda: "● this" in drive.text())
        assert rule in drive.text()


@pytest.mark.parametrize("rule", ["bash(python -m pytest *)", f"bash({CALL} *)"])
async def test_the_call_stays_on_a_small_screen_whatever_it_is_to_hold_for(rule: str) -> None:
    scopes = ("once", "session", "project", "always")
    kept = "/somewhere/in/a/project/.amplifier/approvals.yaml"
    async with running(size=(40, 12)) as drive:
        await drive.push(ask(payload=CALL, rule=rule, scopes=scopes, kept_in=kept, editable=True))
        await drive.dialog(ApprovalDialog)
        await drive.press("end")
        await drive.until(lambda: "Remember" in drive.text())
        for _ in scopes:
            await drive.press("r")
            await drive.until(lambda: "█   python -m pytest" in drive.text())


async def test_a_resize_while_the_dialog_is_open_loses_nothing() -> None:
    async with running(size=(120, 36)) as drive:
        await drive.push(ask(timeout=60.0, reasons=("cannot be undone",)))
        dialog = await drive.dialog(ApprovalDialog)
        for size in ((60, 18), (80, 24), (40, 12), (120, 36), (200, 50)):
            await drive.pilot.resize_terminal(*size)
            small = size[0] < 80 or size[1] < 20
            await drive.until(
                # Nothing below it is hidden, and no row between stays empty.
                lambda size=size, small=small: (
                    ("Ask for anything" in drive.text()) != small
                    and dialog.sheet.region.bottom + (0 if small else 4) == size[1]
                )
            )
            text = drive.text()
            assert "rm -rf build" in text and "then deny" in text and "Later" in text
            assert "cannot be undone" in text or size == (40, 12)


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize(
    "sizes", [((140, 36), (80, 24)), ((80, 24), (60, 24)), ((80, 24), (40, 12))]
)
async def test_all_of_a_call_can_be_reached_on_a_terminal_that_was_made_narrower(
    sizes: tuple[tuple[int, int], ...], full: bool
) -> None:
    commands = [
        f"tar czf backup-of-folder-number-{n}.tar.gz calc tests README.md --exclude=*.pyc "
        "--mode=644 --owner=root --sort=name"
        for n in range(1, 9)
    ]
    commands.append("rm -rf .git")
    segments = tuple(Segment(text=text, note="no rule") for text in commands)
    async with running(size=sizes[0]) as drive:
        await drive.push(ask(payload=" && ".join(commands), segments=segments, risk="critical"))
        dialog = await drive.dialog(ApprovalDialog)
        if full:
            await drive.press("z")
        for size in sizes[1:]:
            await drive.pilot.resize_terminal(*size)
            await drive.until(lambda size=size: dialog.region.size == size)
        await drive.press("end")
        await drive.until(lambda: "9  rm -rf .git" in drive.text())
        body = dialog.query_one(ScrollLines)
        assert body.scroll_offset.y + body.scrollable_content_region.height == len(body.rows)


@pytest.mark.parametrize(
    "sizes", [((120, 36), (80, 24)), ((80, 24), (50, 24)), ((50, 24), (200, 50))]
)
async def test_a_diff_ends_with_its_last_row_at_every_width_it_is_given(
    sizes: tuple[tuple[int, int], ...],
) -> None:
    added = "plus what " + "the others add to it " * 4
    changed = "".join(
        f"-    return value_{n}\n+    return value_{n} {added}end{n}\n" for n in range(60)
    )
    diff = f"--- a/big.py\n+++ b/big.py\n@@ -1,60 +1,60 @@\n{changed}"
    async with running(size=sizes[0]) as drive:
        await drive.push(ask(payload=diff, payload_kind="diff", diff=diff, segments=()))
        dialog = await drive.dialog(ApprovalDialog)
        await drive.press("z")
        body = dialog.query_one(ScrollLines)
        for size in sizes[1:]:
            await drive.pilot.resize_terminal(*size)
            await drive.until(lambda size=size: dialog.region.size == size)
        await drive.press("end")
        await drive.until(lambda: "end59" in drive.text())
        last = body.scroll_offset.y + body.scrollable_content_region.height
        assert last == max(len(body.rows), body.scrollable_content_region.height)


async def test_the_prompt_has_no_cursor_and_names_no_keys_behind_a_dialog() -> None:
    async with running() as drive:
        prompt = drive.app.main.prompt.input
        assert prompt.show_cursor and "? keys" in drive.text()
        await drive.push(ask())
        await drive.dialog(ApprovalDialog)
        assert not prompt.show_cursor and "? keys" not in drive.text()
        first, *_ = prompt.render_line(0)
        assert first.text == "Ask for anything"
        await drive.push(TurnStarted(session_id=SESSION, turn=1, prompt="go"))
        assert "tab queues" not in drive.text()
        await drive.press("d")
        await drive.closed()
        assert prompt.show_cursor and "tab queues" in drive.text()


async def test_the_long_form_says_that_a_key_has_stopped_the_clock_and_moves_no_choice() -> None:
    async with running(size=(80, 24)) as drive:
        await drive.push(ask(timeout=300.0))
        dialog = await drive.dialog(ApprovalDialog)
        place = dialog.query_one(KeyRow).region
        await drive.press("question_mark")
        assert "deny after" not in drive.text() and "a key stopped the clock" in drive.text()
        assert dialog.query_one(KeyRow).region == place


@pytest.mark.parametrize("size", [(120, 36), (200, 50)])
async def test_all_keys_and_the_clock_stand_on_one_row_and_apart(size: tuple[int, int]) -> None:
    async with running(size=size) as drive:
        await drive.push(ask(timeout=300.0, diff=DIFF, editable=True))
        dialog = await drive.dialog(ApprovalDialog)
        assert dialog.query_one(KeyRow).region.height == 1
        assert "F1" not in drive.text().splitlines()[-1], "the dialog has the keys"
        row = next(line for line in drive.text().splitlines() if "Deny and say why" in line)
        assert "Later " in row and "then deny" in row
        await drive.press("z")
        foot = "".join(drive.text().splitlines()[-2:])
        assert "Remember" in foot, "also where it has the whole screen"
        assert "Deny and say why" in foot


async def test_a_choice_that_does_nothing_is_not_offered() -> None:
    async with running(size=(80, 24)) as drive:
        payload = "\n".join(f"echo {n}" for n in range(200))
        await drive.push(ask(payload=payload, segments=()))
        dialog = await drive.dialog(ApprovalDialog)
        assert " r  Remember" not in drive.text() and "Edit" not in drive.text()
        # More of the screen is for what is asked than for all about it.
        assert dialog.query_one(ScrollLines).region.height >= 12
        await drive.press("end")
        await drive.until(lambda: " r  Remember" in drive.text())


async def test_that_it_leads_outside_is_said_where_not_all_about_it_has_room() -> None:
    async with running(size=(80, 24)) as drive:
        why = "the mode ask asks about commands, the network and what lies outside " * 3
        rule = "write_file(" + "/tmp/a/long/way" * 14 + ")"
        await drive.push(ask(outside=True, why=why, rule=rule, payload="x\ny\nz", segments=()))
        await drive.dialog(ApprovalDialog)
        assert "outside the workspace" in drive.text() and "the network" not in drive.text()


async def test_why_a_hook_of_somebody_elses_asks_is_said_at_80x24_too() -> None:
    async with running(size=(80, 24)) as drive:
        await drive.push(ask(asker="hooks-company", why="COMPANY RULE"))
        await drive.dialog(ApprovalDialog)
        assert "hooks-company" in drive.text() and "COMPANY RULE" in drive.text()


async def test_the_long_form_leaves_every_key_on_a_small_screen_and_scrolls_to_its_end() -> None:
    async with running(size=(40, 12)) as drive:
        await drive.push(ask(timeout=300.0, reasons=("far " * 60,)))
        await drive.dialog(ApprovalDialog)
        await drive.press("question_mark")
        await drive.until(lambda: "asked by" in drive.text())
        text = drive.text()
        assert all(word in text for word in ("Deny", "Allow", "Why", "Back"))
        assert "without an answer" not in text
        await drive.press("end")
        await drive.until(lambda: "without an answer" in drive.text())
        await drive.press("question_mark")
        await drive.until(lambda: "without an answer" not in drive.text())


async def test_on_the_whole_of_a_small_screen_the_payload_has_most_rows() -> None:
    action = "bash wants to run a command of many words"
    async with running(size=(40, 12)) as drive:
        await drive.push(ask(diff=DIFF, action=action, reasons=("deletes many files",) * 6))
        dialog = await drive.dialog(ApprovalDialog)
        payload = dialog.query_one(ScrollLines)
        # What does not fit is cut with a mark.
        assert "bash wants t… 1 of 1" in drive.text()
        assert "read it to the end " in drive.text()
        before = payload.size.height
        await drive.press("z")
        await drive.until(lambda: payload.size.height >= 5 > before)


@pytest.mark.parametrize("size", [(40, 12), (40, 24), (60, 16), (79, 30)])
async def test_the_whole_of_a_small_screen_shows_more_of_a_call_than_a_part(
    size: tuple[int, int],
) -> None:
    texts = [f"echo {n}" for n in range(12)]
    segments = tuple(Segment(text=text, note="no rule · only reads") for text in texts)
    scopes = ("once", "session", "project", "always")
    async with running(size=size) as drive:
        await drive.push(
            ask(payload="; ".join(texts), segments=segments, scopes=scopes, rule="bash(echo *)")
        )
        payload = (await drive.dialog(ApprovalDialog)).query_one(ScrollLines)
        await drive.press("end", "end")
        await drive.until(lambda: "remember a yes  ● just now" in drive.text())
        before = payload.size.height
        await drive.press("z")
        await drive.settle()
        assert payload.size.height >= before


async def test_what_is_remembered_takes_one_row_of_a_small_screen_until_it_is_chosen() -> None:
    async with running(size=(60, 16)) as drive:
        scopes = ("once", "session", "project", "always")
        await drive.push(ask(scopes=scopes, rule="bash(rm -rf *)"))
        await drive.dialog(ApprovalDialog)
        assert "rm -rf build" in drive.text()
        assert "just now" in drive.text() and "rule bash" not in drive.text()
        await drive.press("r")
        assert "rule bash(rm -rf *)" in drive.text()


PARTS = (
    Segment(text="git push", note="no rule · changes things outside this machine", risk="high"),
    Segment(text="rm -rf build", note="no rule · deletes whole folders", risk="high"),
)
SIZES = ((80, 24), (100, 30), (120, 36), (200, 50))
# All of the request is seen at each: where it is not, what was read before counts.


async def test_it_looks_in_a_terminal_that_was_another_size_as_it_does_in_a_new_one() -> None:
    payload = "git push && rm -rf build"
    request = ask(payload=payload, segments=PARTS, scopes=("once",), at=time.time() + 3600)
    fresh: dict[tuple[int, int], str] = {}
    for size in SIZES:
        async with running(size=size) as drive:
            fresh[size] = await _shown(drive, request)
    assert "outside this machine" in fresh[100, 30] and "deletes whole folders" in fresh[80, 24]
    async with running(size=SIZES[0]) as drive:
        await _shown(drive, request)
        # Each size after each other one.
        for size in (size for pair in permutations(SIZES, 2) for size in pair):
            await drive.pilot.resize_terminal(*size)
            await drive.settle()
            assert _sheet(drive) == fresh[size], size


async def _shown(drive: Driver, request: ApprovalRequested) -> str:
    await drive.push(request)
    await drive.dialog(ApprovalDialog)
    await drive.settle()
    return _sheet(drive)


def _sheet(drive: Driver) -> str:
    region = drive.app.screen.query_one("#sheet").region
    return "\n".join(drive.text().splitlines()[region.y : region.bottom])


async def test_the_long_form_names_a_file_only_for_what_outlives_the_session() -> None:
    async with running(size=(120, 36)) as drive:
        scopes = ("once", "session", "always")
        kept_in = "/home/u/.config/amplifier-tui/rules.yaml"
        await drive.push(ask(rule="bash(npm test *)", scopes=scopes, kept_in=kept_in))
        await drive.dialog(ApprovalDialog)
        await drive.press("question_mark", "r")
        assert "until the session ends; in no file" in drive.text()
        assert "rules.yaml" not in drive.text()
        await drive.press("r")
        assert "rules.yaml" in drive.text() and "in no file" not in drive.text()


@pytest.mark.parametrize("size", [(80, 24), (40, 12)])
async def test_the_rule_stands_once_also_while_the_reasons_are_shown(size: tuple[int, int]) -> None:
    diff = "--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-old line\n+new line\n"
    request = ask(
        payload="",
        payload_kind="none",
        segments=(),
        diff=diff,
        rule="edit_file(**)",
        meaning="edit_file on any path",
        scopes=("once", "session"),
    )
    async with running(size=size) as drive:
        await drive.push(request)
        await drive.dialog(ApprovalDialog)
        await drive.press("question_mark")
        await drive.settle()
        if size == (40, 12):
            # There the row below has no room for it.
            await drive.press("pagedown")
            await drive.settle()
        text = " ".join(drive.text().replace("█", " ").split())
        assert text.count("edit_file(**)") == 1 and text.count("edit_file on any path") == 1


async def test_a_full_screen_shows_the_payload_also_with_the_reasons() -> None:
    async with running(size=(40, 12)) as drive:
        payload = "\n".join(f"echo {number}" for number in range(30))
        await drive.push(ask(payload=payload, segments=(), why="it is " + "long " * 60))
        dialog = await drive.dialog(ApprovalDialog)
        await drive.press("question_mark", "z")
        await drive.settle()
        assert dialog.reader.display and "echo 0" in drive.text()
        await drive.press("pagedown")
        await drive.settle()
        assert "echo 0" not in drive.text() and "echo " in drive.text()


async def test_on_the_whole_of_a_small_screen_payload_and_reasons_take_turns() -> None:
    async with running(size=(40, 12)) as drive:
        payload = "\n".join(f"echo {number}" for number in range(30))
        await drive.push(ask(payload=payload, segments=(), why="it is " + "long " * 60))
        dialog = await drive.dialog(ApprovalDialog)
        await drive.press("z")
        most = dialog.reader.body.size.height
        await drive.press("z", "question_mark", "z")
        assert dialog.reader.body.size.height == most and "long long" not in drive.text()
        await drive.press("question_mark")
        assert not dialog.reader.display and drive.text().count("long long") > 3
        await drive.press("question_mark")
        assert dialog.reader.body.size.height == most


async def test_a_search_while_the_reasons_are_shown_leaves_the_keys_on_a_small_screen() -> None:
    async with running(size=(40, 12)) as drive:
        await drive.push(
            ask(tool="edit_file", payload="", segments=(), diff=DIFF, timeout=300.0, editable=True)
        )
        await drive.dialog(ApprovalDialog)
        await drive.press("question_mark", "ctrl+f")
        assert not list(hidden(drive.app))


async def test_the_first_change_is_on_the_screen_when_the_dialog_opens_on_a_small_one() -> None:
    lead = "".join(f" the_{number} = a_function(of_several, arguments)\n" for number in range(3))
    diff = f"--- a/x.py\n+++ b/x.py\n@@ -7,5 +7,5 @@ def f():\n{lead}-old = 1\n+new = 2\n end\n"
    async with running(size=(40, 12)) as drive:
        await drive.push(
            ask(tool="edit_file", payload="", segments=(), diff=diff, timeout=300.0, editable=True)
        )
        dialog = await drive.dialog(ApprovalDialog)
        await drive.settle()
        text = drive.text()
        assert "x.py" in text and "old = 1" in text and "new = 2" in text
        assert "⋯ 3 unchanged lines above" in text and "the_0" not in text
        await drive.press("z")
        await drive.settle()
        await drive.press("home")
        assert "the_0" in drive.text() and "unchanged" not in drive.text()
        await drive.press("z", "ctrl+f", *"the_1")
        await drive.settle()
        assert "1 of 1" in drive.text() and not list(hidden(drive.app)), "a search sees all of it"
        await drive.press("escape")
        await drive.settle()
        assert "⋯ 3 unchanged lines above" in drive.text()
        assert not dialog.reader.finding


async def test_the_lines_above_a_change_are_shown_where_there_is_room_for_both() -> None:
    async with running(size=(80, 24)) as drive:
        await drive.push(ask(tool="edit_file", payload="", segments=(), diff=DIFF))
        await drive.dialog(ApprovalDialog)
        await drive.settle()
        assert "import os" in drive.text() and "unchanged" not in drive.text()
