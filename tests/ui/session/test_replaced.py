"""Another session takes the place of the one that a dialog is about: its keys do nothing there."""

from collections.abc import Sequence
from typing import Any

import pytest

from amplifier_tui.host.client import (
    CompactionPreview,
    MemoryCard,
    ModelCard,
    OpenRequest,
    RewindFile,
    RewindPoint,
    RewindPreview,
)
from amplifier_tui.host.events import BlockEnded, ModuleMounted, TurnEnded, TurnStarted
from amplifier_tui.ui.dialogs.compaction import CompactionSheet
from amplifier_tui.ui.dialogs.model_pickers import ModelPicker
from amplifier_tui.ui.dialogs.modules.commands import CommandPalette
from amplifier_tui.ui.dialogs.modules.pickers import ModulePicker
from amplifier_tui.ui.dialogs.parts.sheet import Sheet
from amplifier_tui.ui.dialogs.permissions.rules import RuleList
from amplifier_tui.ui.dialogs.pickers import MemoryList
from amplifier_tui.ui.dialogs.questions import AskLine, Confirm
from amplifier_tui.ui.dialogs.rewind.picker import RewindPicker
from amplifier_tui.ui.dialogs.rewind.sheet import RewindSheet
from tests.ui.driving import Driver, running
from tests.ui.fake_client import SESSION, FakeClient, opened
from tests.ui.state.make import make

MINE = RewindFile(path="mine.md", conflict="it was changed since by you")


def client() -> FakeClient:
    return FakeClient(
        points=(RewindPoint(turn=1, prompt="first"),),
        rewound=RewindPreview(turn=1, prompt="first", turns=1, files=(MINE,)),
        reckoned=CompactionPreview(possible=True, before=1_000, after=10),
        remembered=(MemoryCard(memory_id=1, text="tabs"),),
        offered=(ModelCard(provider="p", model="m"),),
    )


async def talked(drive: Driver) -> None:
    await drive.push(
        make(ModuleMounted, module_id="tool-b", kind="tool"),
        TurnStarted(session_id=SESSION, turn=1, prompt="first"),
        BlockEnded(session_id=SESSION, block_id="b1", kind="text", text="done"),
        TurnEnded(session_id=SESSION, turn=1, status="success"),
    )


DIALOGS: Sequence[tuple[str, Sequence[str], type[Sheet[Any]], Sequence[str], str]] = (
    ("/rewind", (), RewindPicker, ("enter",), "preview_rewind"),
    ("/rewind 1", (), RewindSheet, ("c",), "rewind"),
    ("/rewind 1", ("o", "enter"), Confirm, ("y",), "rewind"),
    ("/mode auto", (), Confirm, ("y",), "set_mode"),
    ("/rename", (), AskLine, ("x", "enter"), "rename"),
    ("/compact", (), CompactionSheet, ("enter",), "compact"),
    ("/model", (), ModelPicker, ("enter",), "switch_model"),
    ("/memories", ("d",), MemoryList, ("d",), "forget"),
    ("/remember", (), AskLine, ("x", "enter"), "remember"),
    ("/unmount", (), ModulePicker, ("enter",), "unmount"),
    ("/permissions", ("a", "enter"), AskLine, ("x", "enter"), "add_rule"),
)


@pytest.mark.parametrize(("command", "first", "kind", "keys", "call"), DIALOGS)
async def test_a_dialog_about_a_session_that_was_left_only_closes(
    command: str,
    first: Sequence[str],
    kind: type[Sheet[Any]],
    keys: Sequence[str],
    call: str,
) -> None:
    async with running(client()) as drive:
        await talked(drive)
        await drive.write(command)
        await drive.press("escape", "enter")
        await drive.press(*first)
        await drive.dialog(kind)
        assert not drive.client.named(call) or call == "preview_rewind"
        await drive.push(opened("s2"))
        await drive.press(*keys)
        assert drive.client.named(call) == []
        # What was typed on is no prompt either.
        assert drive.draft == "" and not drive.client.named("submit")
        if drive.app.screen is not drive.app.main:
            await drive.press("escape")
        await drive.closed()
        assert "Another session is open: that dialog was about the one before" in drive.text()


async def test_a_dialog_about_no_session_stays_open() -> None:
    async with running(client()) as drive:
        await talked(drive)
        await drive.press("ctrl+p")
        await drive.dialog(CommandPalette)
        await drive.push(opened("s2"))
        assert isinstance(drive.app.screen, CommandPalette)
        await drive.press("escape")
        await drive.write("/permissions")
        await drive.press("escape", "enter")
        await drive.dialog(RuleList)


async def test_a_click_on_a_key_of_such_a_dialog_only_closes_it() -> None:
    async with running(client(), size=(80, 24)) as drive:
        await talked(drive)
        await drive.write("/memories")
        await drive.press("enter", "d")
        await drive.dialog(MemoryList)
        await drive.until(lambda: "Forget #1 for good" in drive.text())
        await drive.push(opened("s2"))
        await drive.pilot.click("KeyRow", offset=(1, 0))
        await drive.closed()
        assert drive.client.named("forget") == []


async def test_a_conversation_is_compacted_that_was_on_screen_when_it_was_asked_about() -> None:
    async with running(client()) as drive:
        await talked(drive)
        await drive.write("/compact")
        await drive.press("enter")
        await drive.dialog(CompactionSheet)
        assert drive.app.tabs is not None
        drive.app.tabs.open_beside(OpenRequest(cwd=drive.app.cwd))
        other = drive.client.others[-1]
        await drive.until(lambda: drive.app.client is other)
        await drive.press("enter")
        await drive.until(lambda: drive.client.named("compact") == [(None,)])
        assert other.named("compact") == []
