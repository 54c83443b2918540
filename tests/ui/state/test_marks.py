import pytest

from amplifier_tui.base.text import without_marks
from amplifier_tui.host.events import (
    ApprovalRequested,
    Failed,
    ModuleFailed,
    Notice,
    OpeningReported,
    ReportItem,
)
from tests.ui.driving import running
from tests.ui.fake_client import SESSION


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Run `amplifier-tui doctor`.", "Run amplifier-tui doctor."),
        ("Set `A_KEY` or `B_KEY`", "Set A_KEY or B_KEY"),
        ("one ` alone", "one ` alone"),
        ("``` a fence", "``` a fence"),
        ("ends with `", "ends with `"),
    ],
)
def test_backticks_in_pairs_are_left_out_and_one_alone_stays(text: str, shown: str) -> None:
    assert without_marks(text) == shown


async def test_no_error_report_or_notice_shows_backticks() -> None:
    why = "`polcy` is no setting"
    async with running(size=(100, 30)) as drive:
        await drive.push(
            Failed(
                session_id=SESSION, kind="internal", message="`x` broke", remedy="Run `doctor`."
            ),
            Notice(session_id=SESSION, level="warning", text="Set `A_KEY` first"),
            ModuleFailed(session_id=SESSION, module_id="tool-x", kind="tool", error=why),
            OpeningReported(
                session_id=SESSION,
                items=(ReportItem(kind="skipped", part="tool", what="tool-x", why=why),),
            ),
        )
        assert "x broke" in drive.text() and "Run doctor." in drive.text()
        assert "`" not in drive.text()
        for action in ("view.notices", "session.report", "pane.modules"):
            await drive.app.run_by_id(action)
            await drive.settle()
            if action == "pane.modules":
                await drive.press("enter")
            text = drive.text()
            assert "`" not in text, action
            assert ("A_KEY" if action == "view.notices" else "polcy") in text
            await drive.press("escape")


async def test_the_reason_of_an_approval_shows_no_backticks_and_its_command_keeps_them() -> None:
    asked = ApprovalRequested(
        session_id=SESSION,
        request_id="r",
        asker="amplifier-tui",
        action="bash wants to run a command",
        payload="echo `date`",
        payload_kind="command",
        why="not sure here: the shell's own `for`",
    )
    async with running(size=(100, 30)) as drive:
        await drive.push(asked)
        text = drive.text()
        assert "the shell's own for" in text and "`for`" not in text
        assert "echo `date`" in text
