"""`/name` for what modules offer: typed, chosen from the list, and while a turn runs."""

from amplifier_tui.host.events import CommandCard, CommandsChanged, TurnStarted
from amplifier_tui.ui.dialogs.modules.commands import ModuleCommandPicker
from tests.ui.driving import running
from tests.ui.fake_client import SESSION

CARDS = (
    CommandCard(group="skill", name="deploy-2", description="To the servers", takes="where"),
    CommandCard(group="skill", name="plan", description="Another plan"),
)


async def test_a_command_of_a_module_is_sent_as_it_is_typed() -> None:
    async with running() as drive:
        await drive.push(CommandsChanged(session_id=SESSION, commands=CARDS))
        await drive.write("/skills")
        await drive.press("enter")
        picker = await drive.dialog(ModuleCommandPicker)
        assert "/deploy-2 where  To the servers" in drive.text()
        assert "/skill:plan" in drive.text()
        await drive.press("enter")
        await drive.closed()
        assert picker is not drive.app.screen
        assert drive.draft == "/deploy-2 "
        await drive.write("staging\nand then rest")
        await drive.press("enter")
        assert drive.client.named("submit") == [("/deploy-2 staging\nand then rest",)]
        # To a running turn it would be a message of many words: it waits for its end.
        await drive.push(TurnStarted(session_id=SESSION, turn=1, prompt="x"))
        await drive.write("/skill:plan now")
        await drive.press("enter")
        assert drive.client.named("queue") == [("/skill:plan now",)]


async def test_a_resource_of_a_server_is_completed_among_the_files() -> None:
    async with running() as drive:
        given = ("docs:notes://today", "docs:notes://later")
        await drive.push(CommandsChanged(session_id=SESSION, mentions=given))
        await drive.write("see @doctod")
        await drive.until(lambda: "docs:notes://today" in drive.text())
        await drive.press("tab")
        assert drive.draft == "see @docs:notes://today "


async def test_the_prompts_of_a_server_are_found_by_its_name() -> None:
    greet = CommandCard(group="tiny", name="greet", description="Say hello", takes="who")
    wave = CommandCard(group="tiny", name="wave")
    async with running() as drive:
        await drive.push(CommandsChanged(session_id=SESSION, commands=(*CARDS, greet, wave)))
        for typed in ("/tin", "y", ":"):
            await drive.write(typed)
            assert "/tiny:greet who" in drive.text() and "/tiny:wave" in drive.text()
        assert "/skill" not in drive.text()
        await drive.write("gr")
        assert "/tiny:wave" not in drive.text()
        await drive.press("tab")
        assert drive.draft == "/tiny:greet "
        await drive.press("ctrl+u")
        await drive.write("/gre")
        assert "/greet who" in drive.text() and "/tiny:greet" not in drive.text()


async def test_the_program_s_own_command_comes_before_all_that_a_module_brings() -> None:
    async with running() as drive:
        await drive.push(CommandsChanged(session_id=SESSION, commands=CARDS))
        await drive.write("/skill")
        assert drive.text().index("/skills") < drive.text().index("/skill:deploy-2")
        await drive.press("enter")
        await drive.dialog(ModuleCommandPicker)
