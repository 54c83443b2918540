"""Where the cursor is can be told without colours: a mark stands in the row's first cell."""

import pytest

from amplifier_tui.host.events import ModuleMounted, TurnEnded
from amplifier_tui.ui.widgets.palette import CURSOR_MARK
from tests.ui.driving import Driver, running
from tests.ui.state.make import make, turn


def marked(drive: Driver) -> list[str]:
    """Return the words of the rows with a mark."""
    rows = [row for row in drive.text().splitlines() if CURSOR_MARK in row]
    return [row.partition(CURSOR_MARK)[2].strip(" █").partition("  ")[0] for row in rows]


@pytest.mark.parametrize(
    ("keys", "first", "second"),
    [
        (("ctrl+p",), "Switch bundle", "Resume a session"),
        (("f2",), "● provider-a", "● tool-b"),
        (("alt+up", "k"), "Roll", "Roll again"),
    ],
)
async def test_the_row_with_the_cursor_is_marked(
    keys: tuple[str, ...], first: str, second: str
) -> None:
    async with running(size=(80, 24)) as drive:
        await drive.push(
            make(ModuleMounted, module_id="provider-a", kind="provider"),
            make(ModuleMounted, module_id="tool-b", kind="tool"),
            turn(1, "Roll"),
            make(TurnEnded, turn=1, status="success"),
            turn(2, "Roll again"),
            make(TurnEnded, turn=2, status="success"),
        )
        assert not marked(drive)
        await drive.press(*keys)
        assert marked(drive) == [first]
        await drive.press("down")
        assert marked(drive) == [second]
        await drive.press("escape")
        await drive.press("escape")
        assert not marked(drive)
