from amplifier_tui.host.events import BlockEnded, Failed, TurnEnded, TurnStarted
from amplifier_tui.ui.dialogs.questions import Confirm
from tests.ui.driving import Driver, running
from tests.ui.fake_client import SESSION, opened


def turn(number: int, prompt: str) -> tuple[TurnStarted, BlockEnded]:
    return (
        TurnStarted(session_id=SESSION, turn=number, prompt=prompt),
        BlockEnded(session_id=SESSION, block_id=f"b{number}", kind="text", text="done"),
    )


def end(number: int, status: str = "success") -> TurnEnded:
    return TurnEnded(session_id=SESSION, turn=number, status=status)


async def talked(drive: Driver, *, running: bool = False) -> None:
    await drive.push(*turn(1, "first [b]prompt"), end(1), *turn(2, "second"))
    if not running:
        await drive.push(end(2))


async def before_first(drive: Driver) -> None:
    """Fork before the first prompt, from the conversation."""
    assert drive.app.main.transcript is not None
    drive.app.main.transcript.focus()
    await drive.settle()
    await drive.press("g", "f")


async def test_the_whole_conversation_is_forked() -> None:
    async with running() as drive:
        await talked(drive)
        await drive.press("ctrl+x", "f")
        assert drive.client.named("fork") == [(None,)]
        await drive.push(opened("s2", resumed=True))
        assert "Forked" in drive.text()
        assert drive.draft == ""


async def test_a_fork_before_a_prompt_puts_it_into_the_draft() -> None:
    async with running() as drive:
        await talked(drive)
        await before_first(drive)
        assert drive.client.named("fork") == [(1,)]
        assert drive.draft == ""
        await drive.push(opened("s2"))
        assert drive.draft == "first [b]prompt"
        assert drive.app.main.prompt.input.has_focus


async def test_a_draft_that_was_begun_is_kept() -> None:
    async with running() as drive:
        await talked(drive)
        await drive.write("my own")
        await before_first(drive)
        await drive.push(opened("s2"))
        assert drive.draft == "my own"
        assert drive.app.main.prompt.input.past.items[0] == "first [b]prompt"


async def test_a_running_turn_is_stopped_first_when_the_user_agrees() -> None:
    async with running() as drive:
        await talked(drive, running=True)
        await before_first(drive)
        await drive.dialog(Confirm)
        assert "stops it" in drive.text()
        await drive.press("y")
        await drive.closed()
        assert drive.client.named("interrupt") == [(True, 2)]
        assert drive.client.named("fork") == []
        await drive.push(end(2, "cancelled"))
        assert drive.client.named("fork") == [(1,)]


async def test_a_running_turn_goes_on_when_the_user_does_not() -> None:
    async with running() as drive:
        await talked(drive, running=True)
        await drive.press("ctrl+x", "f")
        await drive.dialog(Confirm)
        await drive.press("escape")
        await drive.closed()
        await drive.push(end(2))
        assert drive.client.named("interrupt") == [] and drive.client.named("fork") == []


async def test_a_turn_that_ends_while_the_question_is_open_is_not_stopped() -> None:
    async with running() as drive:
        await talked(drive, running=True)
        await drive.press("ctrl+x", "f")
        await drive.dialog(Confirm)
        await drive.push(end(2))
        await drive.press("y")
        await drive.closed()
        assert drive.client.named("interrupt") == []
        assert drive.client.named("fork") == [(None,)]


async def test_a_fork_that_failed_leaves_the_draft_of_another_session_alone() -> None:
    async with running() as drive:
        await talked(drive)
        await before_first(drive)
        await drive.push(Failed(session_id=SESSION, kind="internal", message="disk full"))
        await drive.push(opened("s3"))
        assert drive.draft == ""


async def test_without_a_session_there_is_nothing_to_fork() -> None:
    async with running() as drive:
        assert drive.app.state is not None
        drive.app.state.facts.opened = False
        await drive.press("ctrl+x", "f")
        assert drive.client.named("fork") == []
        assert "No session is open" in drive.text()
