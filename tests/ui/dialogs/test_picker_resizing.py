"""A list is the same, whether the terminal had its size before or after it was opened."""

import time

import pytest

from amplifier_tui.host.client import (
    BundleCard,
    BundlePreview,
    PlannedModule,
    SessionCard,
)
from amplifier_tui.ui.dialogs.bundle_picker import BundlePicker
from amplifier_tui.ui.dialogs.sessions.left_open import LeftOpenPicker
from tests.ui.driving import Driver, running
from tests.ui.fake_client import FakeClient

Size = tuple[int, int]
SIZES: list[tuple[Size, Size]] = [((60, 16), (200, 50)), ((200, 50), (60, 16))]


def bundles() -> FakeClient:
    card = BundleCard(name="coding", description="An agent for the work " * 4, origin="shipped")
    module = PlannedModule(
        kind="tool",
        module_id="tool-with-a-long-name",
        origin="files-and-shell",
        detail="of its own",
    )
    preview = BundlePreview(card=card, version="1.0.0", modules=(module,))
    return FakeClient(cards=(card,), previews={"coding": preview})


def left_open() -> FakeClient:
    cards = [
        SessionCard(
            session_id=name,
            title="What was done",
            cwd=f"/work/folder-{name}",
            branch=f"a-branch-of-{name}",
            turns=12,
            updated=time.time() - 3600,
        )
        for name in ("s7", "s8")
    ]
    return FakeClient(left=tuple(cards))


async def drawn(drive: Driver, picker: BundlePicker | LeftOpenPicker) -> list[str]:
    await drive.until(lambda: picker.rows.row is not None)
    await drive.pilot.pause()
    return drive.text().splitlines()


@pytest.mark.parametrize(("before", "after"), SIZES)
@pytest.mark.parametrize("kind", [BundlePicker, LeftOpenPicker])
async def test_a_list_is_laid_out_anew_where_the_terminal_is_resized(
    kind: type[BundlePicker | LeftOpenPicker], before: Size, after: Size
) -> None:
    client, action = (
        (bundles(), "session.bundles")
        if kind is BundlePicker
        else (left_open(), "session.left_open")
    )
    async with running(client, size=before) as drive:
        await drive.app.run_by_id(action)
        picker = await drive.dialog(kind)
        await drawn(drive, picker)
        await drive.pilot.resize_terminal(*after)
        resized = await drawn(drive, picker)
        await drive.press("escape")
        await drive.closed()
        await drive.app.run_by_id(action)
        picker = await drive.dialog(kind)
        await drive.until(lambda: drive.text().splitlines() == resized)
