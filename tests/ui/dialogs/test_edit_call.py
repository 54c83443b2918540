"""Changing the arguments of a call before it is allowed."""

import pytest
from textual.widgets import TextArea

from amplifier_tui.ui.dialogs.approval import ApprovalDialog
from amplifier_tui.ui.dialogs.parts.call_editor import CallEditor
from tests.ui.driving import running
from tests.ui.fake_client import FakeClient
from tests.ui.requests import ask, resolved

pytestmark = pytest.mark.usefixtures("no_grace")
SIZES = ((80, 24), (120, 36))


@pytest.mark.parametrize("size", SIZES)
async def test_e_edits_the_arguments_and_what_is_wrong_with_them_is_said(
    size: tuple[int, int],
) -> None:
    async with running(FakeClient(wrong="command: 3 is not of type 'string'"), size=size) as drive:
        await drive.push(ask(editable=True))
        dialog = await drive.dialog(ApprovalDialog)
        assert "Edit" in drive.text()
        await drive.press("e")
        editor = dialog.query_one(TextArea)
        assert drive.app.focused is editor and "rm -rf build" in drive.text()
        assert "ctrl+o" in drive.text().replace("^o", "ctrl+o") and "Judge it anew" in drive.text()
        await drive.write("d a")
        assert editor.text.startswith("d a{") and not drive.client.named("decide")
        await drive.press("ctrl+o")
        assert drive.client.named("change_call") == [("r1", editor.text)]
        assert drive.app.screen is dialog and "command: 3 is not of type 'string'" in drive.text()
        drive.client.wrong = ""
        await drive.press("ctrl+o")
        await drive.push(resolved("r1", outcome="changed"))
        await drive.closed()
        assert "judged anew" in drive.text()
        assert not drive.client.named("decide")


async def test_escape_leaves_the_editor_with_the_call_as_it_was() -> None:
    async with running() as drive:
        await drive.push(ask(editable=True))
        dialog = await drive.dialog(ApprovalDialog)
        await drive.press("e", "x", "escape")
        assert drive.app.screen is dialog and not dialog.query_one(CallEditor).display
        await drive.press("e")
        assert dialog.query_one(TextArea).text == drive.client.arguments
        await drive.press("escape", "a")
        await drive.closed()
        assert [answer.allow for _, answer in drive.client.named("decide")] == [True]
        assert not drive.client.named("change_call")


async def test_a_call_that_cannot_be_changed_offers_no_editor() -> None:
    async with running() as drive:
        await drive.push(ask())
        dialog = await drive.dialog(ApprovalDialog)
        await drive.press("e")
        assert not dialog.query_one(CallEditor).display
        assert not drive.client.named("call_arguments")
