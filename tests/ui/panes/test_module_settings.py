"""A module's settings are changed from its row."""

from dataclasses import replace

from amplifier_tui.host.client import ModuleDetails, ModuleSetting
from amplifier_tui.ui.dialogs.questions import AskLine
from tests.ui.driving import running
from tests.ui.panes.test_modules_pane import MODULES

UNSET = ModuleSetting(name="shell", value="null", owner="program", given=False, editable=True)


async def test_a_setting_without_a_value_is_written_into_an_empty_field() -> None:
    async with running() as driver:
        driver.client.details["tool-bash"] = ModuleDetails(key="tool-bash", settings=(UNSET,))
        await driver.push(*MODULES)
        await driver.write("/configure tool-bash shell")
        await driver.press("enter")
        await driver.dialog(AskLine)
        await driver.write("zsh")
        await driver.press("enter")
        await driver.closed()
        assert driver.client.named("configure") == [("tool-bash", "shell", "zsh")]


async def test_where_no_setting_can_be_changed_it_says_where_they_are_read() -> None:
    async with running() as driver:
        fixed = replace(UNSET, editable=False)
        driver.client.details["tool-bash"] = ModuleDetails(key="tool-bash", settings=(fixed,))
        await driver.push(*MODULES)
        await driver.write("/configure tool-bash")
        await driver.press("enter")
        await driver.until(lambda: "in the bundle, then /new" in driver.text())
