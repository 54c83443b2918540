import pytest
from textual import events
from textual.widgets import Input

from amplifier_tui.base.diffs import REPLACED
from amplifier_tui.host.client import Decision
from amplifier_tui.host.events import Scope, Segment
from amplifier_tui.ui.dialogs.approval import ApprovalDialog
from amplifier_tui.ui.dialogs.parts.question import TOO_EARLY
from amplifier_tui.ui.dialogs.parts.sheet import KeyRow
from amplifier_tui.ui.widgets.scroll_lines import ScrollLines
from tests.ui.driving import Driver, running
from tests.ui.fake_client import FakeClient
from tests.ui.requests import DIFF, ask, resolved

pytestmark = pytest.mark.usefixtures("no_grace")


def decisions(drive: Driver) -> list[tuple[str, Decision]]:
    return drive.client.named("decide")


async def test_a_allows_once_and_closes() -> None:
    async with running() as drive:
        await drive.push(ask())
        await drive.dialog(ApprovalDialog)
        await drive.press("a")
        await drive.closed()
        assert decisions(drive) == [("r1", Decision(allow=True))]


async def test_d_denies() -> None:
    async with running() as drive:
        await drive.push(ask())
        await drive.dialog(ApprovalDialog)
        await drive.press("d")
        assert decisions(drive) == [("r1", Decision(allow=False))]


async def test_f_denies_with_the_words_for_the_model() -> None:
    async with running() as drive:
        await drive.push(ask())
        await drive.dialog(ApprovalDialog)
        await drive.press("f")
        await drive.write("use git clean, a dry run first")
        assert decisions(drive) == []
        await drive.press("enter")
        reason = "use git clean, a dry run first"
        assert decisions(drive) == [("r1", Decision(allow=False, reason=reason))]


async def test_escape_leaves_the_reason_and_then_puts_the_request_off() -> None:
    async with running() as drive:
        await drive.push(ask())
        dialog = await drive.dialog(ApprovalDialog)
        await drive.press("f", "n", "o", "escape")
        assert drive.app.screen is dialog
        assert not dialog.query_one("#reason", Input).display
        await drive.press("escape")
        await drive.closed()
        assert decisions(drive) == []


async def test_a_postponed_request_comes_back_with_f8_only() -> None:
    async with running() as drive:
        await drive.push(ask())
        await drive.dialog(ApprovalDialog)
        await drive.press("escape")
        await drive.closed()
        await drive.push(ask("r2", payload="ls", segments=()))
        second = await drive.dialog(ApprovalDialog)
        assert second.request.request_id == "r2"
        await drive.press("a")
        await drive.closed()
        await drive.push(resolved("r2"))
        assert drive.app.screen is drive.app.main
        await drive.press("f8")
        assert (await drive.dialog(ApprovalDialog)).request.request_id == "r1"


async def test_enter_never_decides() -> None:
    async with running() as drive:
        await drive.push(ask())
        dialog = await drive.dialog(ApprovalDialog)
        assert dialog.focused is dialog.query_one(ScrollLines)
        await drive.press("enter", "space", "tab", "enter")
        assert drive.app.screen is dialog
        assert decisions(drive) == []


async def test_a_critical_request_needs_a_then_enter() -> None:
    async with running() as drive:
        await drive.push(ask(risk="critical"))
        dialog = await drive.dialog(ApprovalDialog)
        await drive.press("a")
        assert decisions(drive) == []
        assert "Allow this, once" in drive.text()
        await drive.press("a", "a")
        assert drive.app.screen is dialog
        await drive.press("a", "enter")
        assert decisions(drive) == [("r1", Decision(allow=True))]


async def test_another_key_takes_the_confirmation_back() -> None:
    async with running() as drive:
        await drive.push(ask(risk="critical"))
        await drive.dialog(ApprovalDialog)
        await drive.press("a", "x", "enter")
        assert decisions(drive) == []
        assert "Allow this, once" not in drive.text()


async def test_a_critical_request_offers_no_remembering() -> None:
    async with running() as drive:
        await drive.push(ask(risk="critical"))
        await drive.dialog(ApprovalDialog)
        assert "this session" not in drive.text()
        await drive.press("r", "a", "enter")
        assert decisions(drive) == [("r1", Decision(allow=True, scope="once"))]


async def test_r_cycles_through_the_scopes_the_request_offers() -> None:
    async with running() as drive:
        await drive.push(ask())
        await drive.dialog(ApprovalDialog)
        assert "● just now" in drive.text()
        await drive.press("r")
        assert "● this session" in drive.text()
        await drive.press("r", "a")
        assert decisions(drive) == [("r1", Decision(allow=True, scope="project"))]


@pytest.mark.parametrize("leaves", ["q", "escape"])
async def test_what_was_to_be_remembered_stays_chosen_when_the_question_gave_way(
    leaves: str,
) -> None:
    async with running() as drive:
        await drive.push(ask())
        await drive.dialog(ApprovalDialog)
        await drive.press("r", leaves)
        await drive.closed()
        await drive.press("f8")
        await drive.dialog(ApprovalDialog)
        assert "● this session" in drive.text()
        await drive.press("a")
        await drive.closed()
        assert decisions(drive) == [("r1", Decision(allow=True, scope="session"))]
        await drive.push(resolved("r1"), ask("r2"))
        await drive.press("f8")
        await drive.dialog(ApprovalDialog)
        assert "● just now" in drive.text()


async def test_remembering_is_withheld_until_the_whole_payload_was_on_screen() -> None:
    async with running(size=(80, 24)) as drive:
        payload = "\n".join(f"echo {n}" for n in range(200))
        await drive.push(ask(payload=payload, segments=()))
        dialog = await drive.dialog(ApprovalDialog)
        assert dialog.withheld
        assert "read it to the end" in drive.text()
        await drive.press("r")
        assert "●" not in drive.text()
        await drive.press("end")
        await drive.until(lambda: not dialog.withheld)
        assert "echo 199" in drive.text()
        await drive.press("r", "a")
        assert decisions(drive) == [("r1", Decision(allow=True, scope="session"))]


async def test_all_identical_requests_are_allowed_together_and_no_other() -> None:
    async with running() as drive:
        await drive.push(ask("r1"), ask("r2", payload="ls", segments=()), ask("r3"))
        await drive.dialog(ApprovalDialog)
        assert "Allow all 2" in drive.text()
        await drive.press("A")
        await drive.until(lambda: len(decisions(drive)) == 2)
        assert [request_id for request_id, _ in decisions(drive)] == ["r1", "r3"]
        assert (await drive.dialog(ApprovalDialog)).request.request_id == "r2"


async def test_requests_are_asked_first_come_first_served() -> None:
    async with running() as drive:
        await drive.push(*(ask(f"r{n}", payload=f"echo {n}", segments=()) for n in (1, 2, 3)))
        assert "1 of 3" in drive.text()
        for n in (1, 2, 3):
            await drive.until(
                lambda n=n: (
                    getattr(drive.app.screen, "request", None) is not None
                    and drive.app.screen.request.request_id == f"r{n}"
                )
            )
            await drive.press("d")
        assert [request_id for request_id, _ in decisions(drive)] == ["r1", "r2", "r3"]


async def test_a_request_that_times_out_takes_its_dialog_with_it_and_says_so() -> None:
    async with running() as drive:
        await drive.push(ask(timeout=300.0))
        await drive.dialog(ApprovalDialog)
        await drive.push(resolved(outcome="timed_out", by="timeout"))
        await drive.closed()
        assert decisions(drive) == []
        assert "bash: timed out, denied" in drive.text()


async def test_one_after_the_other_takes_its_dialog_away_when_nobody_waits_for_it() -> None:
    async with running() as drive:
        await drive.push(ask())
        await drive.dialog(ApprovalDialog)
        await drive.push(ask("r2", payload="make"))
        await drive.push(resolved(outcome="timed_out", by="timeout"))
        await drive.until(
            lambda: (
                isinstance(drive.app.screen, ApprovalDialog)
                and drive.app.screen.request.request_id == "r2"
            )
        )
        await drive.settle()
        await drive.push(resolved("r2", outcome="timed_out", by="timeout"))
        await drive.closed()


async def test_a_stop_takes_the_dialog_away() -> None:
    async with running() as drive:
        await drive.push(ask())
        await drive.dialog(ApprovalDialog)
        await drive.push(resolved(outcome="cancelled", by="stop"))
        await drive.closed()
        assert "no longer asked" in drive.text()


async def test_the_draft_is_given_back_untouched() -> None:
    async with running() as drive:
        await drive.write("half a thought")
        await drive.push(ask())
        await drive.press("f8")
        await drive.dialog(ApprovalDialog)
        assert drive.app.main.prompt.input.text == "half a thought"
        await drive.press("down", "tab", "d")
        await drive.closed()
        assert drive.draft == "half a thought"
        await drive.write("!")
        assert drive.draft == "half a thought!"


async def test_a_dialog_waits_until_the_prompt_is_empty_and_nothing_is_pressed() -> None:
    async with running() as drive:
        await drive.write("typing")
        await drive.push(ask())
        assert drive.app.screen is drive.app.main
        assert "1 approval" in drive.text()
        await drive.press("ctrl+u")
        assert drive.app.screen is drive.app.main
        await drive.dialog(ApprovalDialog)  # after the pause


async def test_early_keys_do_not_decide_and_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ApprovalDialog, "grace", 3600.0)
    async with running(size=(80, 24)) as drive:
        await drive.push(ask())
        dialog = await drive.dialog(ApprovalDialog)
        await drive.press("a", "d", "f", "A")
        await drive.until(lambda: TOO_EARLY in drive.text())
        assert drive.app.screen is dialog and decisions(drive) == []
        await drive.press("escape")
        await drive.closed()
        monkeypatch.setattr(ApprovalDialog, "grace", 0.02)
        await drive.press("f8")
        dialog = await drive.dialog(ApprovalDialog)
        await drive.until(lambda: dialog.armed)
        await drive.press("d")
        assert decisions(drive) == [("r1", Decision(allow=False))]


async def test_the_click_that_focuses_the_terminal_does_not_decide() -> None:
    async with running() as drive:
        await drive.push(ask())
        dialog = await drive.dialog(ApprovalDialog)
        row = dialog.query_one(KeyRow)
        at = next(x for x, choice in row._rows(row.size.width)[0] if choice.action == "deny")
        drive.app.post_message(events.AppBlur())
        drive.app.post_message(events.AppFocus())
        await drive.settle()
        await drive.pilot.click(KeyRow, offset=(at + 1, 0))
        assert drive.app.screen is dialog
        await drive.pilot.click(KeyRow, offset=(at + 1, 0))
        await drive.closed()
        assert decisions(drive) == [("r1", Decision(allow=False))]


async def test_segments_are_numbered_and_the_whole_command_is_shown_as_well() -> None:
    async with running() as drive:
        await drive.push(
            ask(
                payload="git status && rm x | tee y",
                segments=(
                    Segment(text="git status", note="allowed by rule git *", allowed=True),
                    Segment(text="rm x", note="no rule · deletes files"),
                    Segment(text="tee y", note="no rule"),
                ),
            )
        )
        await drive.dialog(ApprovalDialog)
        text = drive.text()
        assert "git status && rm x | tee y" in text
        assert " 1  git status" in text and "allowed by rule git *" in text
        assert " 3  tee y" in text


async def test_a_change_is_shown_with_counts_and_its_hunks_can_be_jumped_to() -> None:
    async with running(size=(80, 24)) as drive:
        filler = "".join(f"+line {n}\n" for n in range(60))
        diff = DIFF + f"@@ -90,0 +91,60 @@\n{filler}"
        await drive.push(ask(tool="edit_file", payload="", segments=(), diff=diff, risk="medium"))
        dialog = await drive.dialog(ApprovalDialog)
        assert "+63 −2" in drive.text()
        assert "src/app.py" in drive.text()
        payload = dialog.query_one(ScrollLines)
        await drive.press("right_square_bracket")
        first = payload.scroll_offset.y
        await drive.press("right_square_bracket")
        assert payload.scroll_offset.y > first > 0
        await drive.press("left_square_bracket")
        assert payload.scroll_offset.y == first


async def test_texts_too_different_to_compare_are_said_to_be_shown_as_replaced() -> None:
    async with running(size=(80, 24)) as drive:
        hunk = "".join(f"{mark}line {n}\n" for mark in "-+" for n in range(60))
        diff = f"--- a\n+++ a\n@@ -1,60 +1,60 @@ {REPLACED}\n{hunk}"
        await drive.push(ask(tool="edit_file", payload="", segments=(), diff=diff, risk="medium"))
        await drive.dialog(ApprovalDialog)
        await drive.settle()
        assert f"+60 −60  {REPLACED}" in drive.text()
        assert f"⋯ {REPLACED}" in drive.text()


@pytest.mark.parametrize("size", [(80, 24), (60, 18), (40, 10)])
async def test_the_first_line_is_the_askers_own_question(size: tuple[int, int]) -> None:
    async with running(size=size) as drive:
        await drive.push(ask(prompt="Delete it?", why=""))
        await drive.dialog(ApprovalDialog)
        lines = drive.text().splitlines()
        first = next(place for place, line in enumerate(lines) if "Delete it?" in line)
        assert "high" in lines[first]
        assert ask().action[:25] in lines[first + 1]
        assert "Deny" in drive.text() and "Allow" in drive.text()
        await drive.press("question_mark")
        assert "no rule allows it" not in drive.text()


async def test_why_shows_the_askers_options_and_the_rule() -> None:
    async with running() as drive:
        await drive.push(ask(prompt="Really delete it?", options=("Proceed", "Cancel")))
        await drive.dialog(ApprovalDialog)
        await drive.press("question_mark")
        assert "Proceed, Cancel (only Allow grants)" in drive.text()
        await drive.press("question_mark")
        assert "Proceed, Cancel" not in drive.text()
        await drive.press("question_mark", "escape")
        assert "Proceed, Cancel" not in drive.text() and "Later" in drive.text()


async def test_what_is_remembered_stays_in_its_rows_while_the_reasons_are_shown() -> None:
    async with running(size=(120, 36)) as drive:
        scopes = ("once", "session", "project", "always")
        await drive.push(ask(rule="bash(make *)", scopes=scopes))
        await drive.dialog(ApprovalDialog)
        await drive.until(lambda: "everywhere" in drive.text())

        def row(words: str) -> int:
            lines = drive.text().splitlines()
            return next(place for place, line in enumerate(lines) if words in line)

        before = row("○ everywhere")
        assert row("asked by") < before
        await drive.press("question_mark")
        await drive.until(lambda: "Back" in drive.text())
        assert row("○ everywhere") == before and row("asked by") < before


@pytest.mark.parametrize("size", [(40, 12), (80, 24), (120, 36)])
async def test_it_says_that_only_a_yes_is_remembered(size: tuple[int, int]) -> None:
    scopes: tuple[Scope, ...] = ("once", "session", "project", "always")
    chosen = {"session": "this session", "project": "this project", "always": "everywhere"}
    async with running(size=size) as drive:
        await drive.push(ask(rule="bash(make *)", scopes=scopes))
        await drive.dialog(ApprovalDialog)
        for words in chosen.values():
            await drive.press("r")
            # All of it is in one row.
            (row,) = (line for line in drive.text().splitlines() if "remember a yes" in line)
            assert f"● {words}" in row
            assert ("○ …" if size[0] < 80 else "○ just now") in row
        await drive.press("d")
        assert decisions(drive) == [("r1", Decision(allow=False))]


async def test_a_path_outside_is_flagged() -> None:
    async with running() as drive:
        await drive.push(ask(outside=True, paths=("/etc/hosts",)))
        await drive.dialog(ApprovalDialog)
        assert "outside the workspace" in drive.text()
        assert "/etc/hosts" in drive.text()


async def test_hidden_characters_are_written_out_and_nothing_is_markup() -> None:
    async with running() as drive:
        payload = "echo \u202egpj.exe\u202c \x1b[31mred\x1b[0m [bold]x[/bold] a\u00a0b\r\nrm\t-rf"
        hostile = "[red]\x1b]0;owned\x07bash\n"
        await drive.push(
            ask(
                payload=payload,
                segments=(),
                tool=hostile,
                action=hostile + "wants",
                asker=hostile,
                why=hostile,
                cwd=hostile,
                reasons=(hostile,),
                paths=(hostile,),
                rule=hostile,
                prompt=hostile,
            )
        )
        await drive.dialog(ApprovalDialog)
        await drive.press("question_mark")
        text = drive.text()
        assert "‹U+202E›gpj.exe‹U+202C›" in text
        assert "‹U+001B›[31mred" in text
        assert "[bold]x[/bold]" in text
        assert "a‹U+00A0›b‹U+000D›" in text
        assert "rm→   -rf" in text
        assert "[red]" in text
        assert "\x1b" not in text and "\x07" not in text


@pytest.mark.parametrize(
    ("what", "size"),
    [
        ("command", (40, 10)),
        ("command", (60, 18)),
        ("diff", (60, 18)),
        ("diff", (80, 24)),
        ("command", (120, 36)),
        ("diff", (200, 50)),
    ],
)
async def test_it_can_be_answered_at_every_size(what: str, size: tuple[int, int]) -> None:
    async with running(size=size) as drive:
        values = {"diff": DIFF, "payload": "{}", "payload_kind": "json"} if what == "diff" else {}
        await drive.push(ask(timeout=60.0, **values))
        await drive.dialog(ApprovalDialog)
        text = drive.text()
        assert "Deny" in text and "Allow" in text and "then deny" in text
        assert "high" in text
        await drive.press("a")
        assert decisions(drive) == [("r1", Decision(allow=True))]


@pytest.mark.parametrize("size", [(40, 12), (80, 24), (120, 36)])
async def test_what_would_be_kept_and_would_have_been_allowed_is_shown_before_it_is_kept(
    size: tuple[int, int],
) -> None:
    client = FakeClient(reach=3)
    async with running(client, size=size) as drive:
        scopes = ("once", "session", "project", "always")
        kept_in = "/home/u/.config/amplifier-tui/rules.yaml"
        await drive.push(ask(rule="bash(npm test *)", scopes=scopes, kept_in=kept_in))
        dialog = await drive.dialog(ApprovalDialog)
        await drive.settle()
        assert client.named("rule_reach") == [("r1",)]
        if size[1] < 24:
            await drive.press("r")
            assert "remember a yes  ● this session  ○ …" in drive.text()
            assert "rule bash(npm test *)" in drive.text() and dialog.reader.display
        else:
            text = " ".join(drive.text().split())
            reach = "would also have allowed 3 calls here in 30 days"
            assert f"rule bash(npm test *) · {reach}" in text
            assert "● just now ○ this session ○ this project ○ everywhere" in text
            payload = dialog.reader.region
            await drive.press("r", "r")
            assert f"keptin{kept_in}" in "".join(drive.text().replace("█", "").split())
            assert dialog.reader.region.y <= payload.y
        await drive.press("a")
        await drive.closed()
        assert decisions(drive)[0][1].allow


async def test_calls_that_cannot_be_counted_leave_the_question_as_it_is() -> None:
    async with running(FakeClient(reach=RuntimeError("the disk is gone"))) as drive:
        await drive.push(ask())
        await drive.dialog(ApprovalDialog)
        await drive.settle()
        assert "rule rm -rf build" in drive.text() and "30 days" not in drive.text()
        await drive.press("d")
        assert decisions(drive) == [("r1", Decision(allow=False))]
