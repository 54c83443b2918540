import pytest

from amplifier_tui.ui.dialogs.modules.commands import CommandPalette
from amplifier_tui.ui.keys.actions import BY_ID
from tests.ui.driving import running


@pytest.mark.parametrize("size", [(40, 12), (80, 24), (120, 36)])
@pytest.mark.parametrize("key", ["f1", "ctrl+p"])
async def test_what_a_command_does_is_said_whole_while_the_cursor_is_on_it(
    key: str, size: tuple[int, int]
) -> None:
    action = BY_ID["limit.set"]
    assert len(action.help) == max(len(each.help) for each in BY_ID.values())
    async with running(size=size) as drive:
        await drive.press(key)
        await drive.dialog(CommandPalette)
        await drive.write(action.title)
        assert action.help in " ".join(drive.text().split())
