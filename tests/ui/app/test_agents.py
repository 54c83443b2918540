"""Agents on the screen: the strip, the conversation of one, telling it something, stopping it."""

import pytest

from amplifier_tui.host.events import (
    ApprovalRequested,
    BlockEnded,
    LaneClosed,
    LaneOpened,
    LaneUsed,
    QueueChanged,
    SteerApplied,
    ToolEnded,
    ToolStarted,
    TurnStarted,
    Usage,
)
from tests.ui.driving import Driver, running
from tests.ui.fake_client import SESSION

SIZES = [(80, 24), (120, 36)]


def opens(
    name: str, lane: str = "", parent: str = "main", task: str = "Look for it."
) -> LaneOpened:
    lane = lane or f"1-2_{name}"
    return LaneOpened(
        session_id=SESSION, agent=lane, lane=lane, name=name, parent=parent, instruction=task
    )


def calls(lane: str, call_id: str = "c1", pattern: str = "needle") -> ToolStarted:
    arguments = {"pattern": pattern}
    return ToolStarted(
        session_id=SESSION, agent=lane, call_id=call_id, tool="grep", arguments=arguments
    )


def says(lane: str, text: str) -> BlockEnded:
    return BlockEnded(session_id=SESSION, agent=lane, block_id=text, kind="text", text=text)


async def work(drive: Driver, *names: str) -> None:
    await drive.push(
        TurnStarted(session_id=SESSION, turn=1, prompt="find it"),
        says("main", "I ask around."),
        *(opens(name) for name in names),
        *(calls(f"1-2_{name}") for name in names),
    )


def strip(drive: Driver) -> list[str]:
    agents = drive.app.main.agents
    assert agents is not None
    lines = drive.text().splitlines()
    return [line.rstrip() for line in lines[agents.region.y : agents.region.bottom]]


@pytest.mark.parametrize("size", SIZES)
async def test_a_running_agent_is_opened_told_something_and_left(size: tuple[int, int]) -> None:
    async with running(size=size) as drive:
        await work(drive, "explorer", "reviewer")
        lane = "1-2_explorer"
        used = Usage(input_tokens=1_000, output_tokens=234)
        await drive.push(LaneUsed(session_id=SESSION, agent=lane, lane=lane, usage=used))
        assert "explorer" in strip(drive)[0] and "search needle" in strip(drive)[0]
        assert "1 call · 1.2k tokens" in strip(drive)[0]
        await drive.press("f7", "enter")
        screen = drive.text()
        assert "main › explorer" in screen and "esc back" in screen
        assert "Look for it." in screen and "I ask around." not in screen
        assert "enter tells explorer" in screen
        await drive.write("Only in src.")
        await drive.press("enter")
        assert drive.client.calls[-1] == ("tell_agent", lane, "Only in src.")
        await drive.push(
            QueueChanged(session_id=SESSION, agent=lane, items=(), steering=("Only in src.",))
        )
        assert "at the next step" in drive.text()
        await drive.push(
            QueueChanged(session_id=SESSION, agent=lane, items=()),
            SteerApplied(session_id=SESSION, agent=lane, text="Only in src."),
            says(lane, "Found in src."),
            says("1-2_reviewer", "Not mine."),
        )
        screen = drive.text()
        assert "said while it worked" in screen and "Found in src." in screen
        assert "Not mine." not in screen and "at the next step" not in screen
        await drive.press("escape")
        assert "I ask around." in drive.text() and "main › explorer" not in drive.text()
        assert not drive.client.named("interrupt"), "the way back stops nothing"


@pytest.mark.parametrize("names", [("explorer",), ("explorer", "reviewer")])
async def test_who_wants_to_tell_an_agent_something_writes_to_it(names: tuple[str, ...]) -> None:
    async with running(size=(80, 24)) as drive:
        await work(drive, *names)
        await drive.press("ctrl+x", "T")
        if len(names) > 1:
            assert "Choose the agent with enter" in drive.text()
            await drive.press("enter")
        assert "enter tells explorer" in drive.text()
        await drive.write("Be brief.")
        await drive.press("enter")
        assert drive.client.calls[-1] == ("tell_agent", "1-2_explorer", "Be brief.")


async def test_what_is_written_to_an_agent_that_has_ended_goes_nowhere_and_stays() -> None:
    async with running(size=(80, 24)) as drive:
        await work(drive, "explorer")
        await drive.press("f7", "enter")
        await drive.push(LaneClosed(session_id=SESSION, agent="1-2_explorer", lane="1-2_explorer"))
        assert "explorer has ended" in drive.text()
        await drive.write("More.")
        await drive.press("enter")
        assert drive.draft == "More." and not drive.client.named("tell_agent")
        assert not drive.client.named("submit")


async def test_the_conversation_of_an_agent_that_failed_says_why_once() -> None:
    async with running(size=(80, 24)) as drive:
        await work(drive, "explorer")
        lane, why = "1-2_explorer", "The connection [b]broke[/b]"
        failed = LaneClosed(session_id=SESSION, agent=lane, lane=lane, status="error", result=why)
        await drive.push(failed, failed)
        assert drive.text().count(why) == 1, "below its line"
        await drive.write("/agents explorer")
        await drive.press("enter")
        assert "main › explorer" in drive.text() and drive.text().count(why) == 1


async def test_an_agent_is_stopped_alone_after_its_step_and_then_at_once() -> None:
    async with running(size=(80, 24)) as drive:
        await work(drive, "explorer", "reviewer")
        await drive.press("f7", "j", "s")
        assert drive.client.calls[-1] == ("stop_agent", "1-2_reviewer", False)
        assert "stopping… again stops it at once" in strip(drive)[1]
        await drive.press("s")
        assert "stopping now…" in strip(drive)[1]
        assert drive.client.calls[-1] == ("stop_agent", "1-2_reviewer", True)
        await drive.press("escape")
        await drive.write("/stop-agent expl")
        await drive.press("enter")
        assert drive.client.calls[-1] == ("stop_agent", "1-2_explorer", False)
        await drive.write("/tell explorer stay calm")
        await drive.press("enter")
        assert drive.client.calls[-1] == ("tell_agent", "1-2_explorer", "stay calm")


@pytest.mark.parametrize("keys", [["ctrl+x", "S"], [*"/stop-agent", "enter"]])
async def test_of_several_agents_the_one_to_stop_is_chosen_from_the_list(keys: list[str]) -> None:
    async with running(size=(80, 24)) as drive:
        await work(drive, "explorer", "reviewer", "tester")
        await drive.press(*keys)
        await drive.until(lambda: "s stop" in drive.text())
        assert not drive.client.named("stop_agent")
        await drive.press("j", "s")
        assert drive.client.named("stop_agent") == [("1-2_reviewer", False)]


async def test_where_all_agents_have_ended_none_can_be_stopped() -> None:
    async with running(size=(80, 24)) as drive:
        await work(drive, "explorer", "reviewer")
        ended = (
            LaneClosed(session_id=SESSION, agent=f"1-2_{name}", lane=f"1-2_{name}")
            for name in ("explorer", "reviewer")
        )
        await drive.push(*ended)
        await drive.press("ctrl+x", "S")
        await drive.until(lambda: "No agent is working." in drive.text())


async def test_stopping_is_offered_for_an_agent_that_works_alone() -> None:
    async with running(size=(80, 24)) as drive:
        await work(drive, "explorer", "reviewer")
        lane = "1-2_reviewer"
        await drive.push(LaneClosed(session_id=SESSION, agent=lane, lane=lane))
        await drive.press("f7")
        assert "s stop" in strip(drive)[-1]
        await drive.press("j")
        assert "open" in strip(drive)[-1] and "stop" not in strip(drive)[-1]
        await drive.press("k")
        assert "s stop" in strip(drive)[-1]
        lane = "1-2_explorer"
        await drive.push(LaneClosed(session_id=SESSION, agent=lane, lane=lane))
        assert "open" in strip(drive)[-1] and "stop" not in strip(drive)[-1]


@pytest.mark.parametrize("size", SIZES)
async def test_ten_agents_at_once_are_counted_and_listed_on_request(size: tuple[int, int]) -> None:
    async with running(size=size) as drive:
        await drive.push(
            TurnStarted(session_id=SESSION, turn=1, prompt="find it"),
            *(opens("explorer", f"1-{number}_explorer") for number in range(10)),
        )
        few = 3 if size[1] < 30 else 6
        assert len(strip(drive)) == few
        assert f"+{11 - few} more agents" in strip(drive)[-1] and "F7 all" in strip(drive)[-1]
        await drive.press("f7")
        assert len(strip(drive)) > few and "open" in strip(drive)[-1]
        await drive.press("G")
        assert any("explorer 10" in line for line in strip(drive))
        await drive.press("q")
        assert len(strip(drive)) == few and drive.app.focused is drive.app.main.prompt.input


async def test_an_agents_line_folds_what_it_said_and_those_it_called() -> None:
    async with running(size=(80, 24)) as drive:
        await work(drive, "explorer")
        lane = "1-2_explorer"
        await drive.push(
            ToolEnded(session_id=SESSION, agent=lane, call_id="c1", tool="grep", ok=True),
            opens("critic", "2-3_critic", lane, "Doubt it."),
            says("2-3_critic", "I doubt it."),
            says(lane, "It is in src."),
            says("main", "So it is in src, then."),
        )
        assert "└ critic" in drive.text() and "I doubt it." in drive.text()
        transcript = drive.app.main.transcript
        assert transcript is not None
        transcript.toggle(f"lane:{lane}")
        await drive.settle()
        screen = drive.text()
        assert "I doubt it." not in screen and "└ critic" not in screen
        assert "It is in src." not in screen and "So it is in src, then." in screen
        await drive.push(says(lane, "And more."))
        assert "And more." not in drive.text()
        transcript.toggle(f"lane:{lane}")
        await drive.settle()
        assert "I doubt it." in drive.text() and "And more." in drive.text()


async def test_an_agent_that_waits_for_the_user_says_so() -> None:
    async with running(size=(80, 24)) as drive:
        await work(drive, "explorer")
        asked = ApprovalRequested(
            session_id=SESSION,
            agent="1-2_explorer",
            request_id="r1",
            call_id="c1",
            tool="grep",
            asker="gate",
            action="grep wants to look",
        )
        await drive.write("a draft")
        await drive.push(asked)
        assert "waits for you" in strip(drive)[0]


async def test_finished_agents_of_a_resumed_session_open_too() -> None:
    async with running(size=(80, 24)) as drive:
        lane = "1-2_explorer"
        done = LaneClosed(
            session_id=SESSION, agent=lane, lane=lane, result="Here.", at=9.0, replayed=True
        )
        begun = LaneOpened(
            session_id=SESSION,
            agent=lane,
            lane=lane,
            name="explorer",
            at=4.0,
            earlier=132,
            replayed=True,
        )
        said = BlockEnded(
            session_id=SESSION, agent=lane, block_id="b", kind="text", text="Here.", replayed=True
        )
        await drive.push(begun, said, done)
        assert strip(drive) == []
        await drive.write("/agents explorer")
        await drive.press("enter")
        assert "main › explorer" in drive.text() and "Here." in drive.text()
        assert "5 s" in drive.text() and "132 earlier rows" in drive.text()


async def test_an_agents_name_is_no_markup_and_moves_no_cursor() -> None:
    async with running(size=(80, 24)) as drive:
        name = "[red]x[/]\x1b[2J\u202e{y}"
        await drive.push(
            TurnStarted(session_id=SESSION, turn=1, prompt="find it"),
            opens(name, "1-2_x", task=name),
            calls("1-2_x", pattern=name),
        )
        assert "[red]x[/]" in strip(drive)[0]
        await drive.press("f7", "enter")
        screen = drive.text()
        assert "main › [red]x[/]" in screen and "enter tells [red]x[/]" in screen
        assert not set(screen) & {"\x1b", "\u202e"}


async def test_the_prompt_says_that_keys_go_to_the_list_of_agents() -> None:
    async with running(size=(80, 24)) as drive:
        await work(drive, "explorer")
        await drive.press("f7")
        assert "› In the agents   esc back here" in drive.text()
        await drive.press("escape")
        assert "› enter steers" in drive.text()


@pytest.mark.parametrize("times", [2, 3])
async def test_an_agent_that_is_clicked_several_times_is_opened(times: int) -> None:
    async with running() as drive:
        await work(drive, "explorer", "reviewer")
        assert drive.app.main.agents is not None
        await drive.pilot.click(drive.app.main.agents, offset=(4, 0), times=times)
        await drive.settle()
        assert "main › explorer" in drive.text(), "the one that was pressed, though rows moved"


async def test_agents_are_opened_one_right_after_the_other() -> None:
    async with running() as drive:
        await work(drive, "explorer", "reviewer")
        for name in ("explorer", "reviewer", "explorer"):
            drive.app.main.open_agent(f"1-2_{name}")
        await drive.settle()
        assert "main › explorer" in drive.text()
