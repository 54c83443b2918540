"""Every action of the main screen does something one sees, or says why it does not."""

import pytest

from amplifier_tui.host import events
from amplifier_tui.ui.keys.action import Action
from amplifier_tui.ui.keys.actions import ACTIONS
from amplifier_tui.ui.prompt.prompt_input import PromptInput
from tests.ui.driving import Driver, running
from tests.ui.fake_client import FakeClient, opened
from tests.ui.state.make import ended, make, tool, tool_ended, traced, turn, turn_ended

MAIN = [action for action in ACTIONS if action.scope in ("screen", "prompt")]
MOVING = {f"view.{name}" for name in ("up", "down", "top", "bottom", "expand")} | {"turn.back"}
"""They say nothing where there is nowhere to go."""

ENDING = "session.close app.quit"
"""They end what the others act on."""

WORKED = [
    opened(),
    make(events.ModuleMounted, module_id="tool-bash", kind="tool", provides=("bash",)),
    make(events.ModelChanged, provider="p", model="m", efforts=("low", "high")),
    *(turn(1, "look"), tool("c1"), tool_ended("c1", output="x\n" * 9)),
    *(ended(f"b{n}", f"Answer {n}.\n\n" * 3) for n in range(9)),
    turn_ended(),
    traced(1),
    make(events.TodoChanged, items=(events.TodoItem(content="one", status="pending"),)),
]
WAITING = [*WORKED, turn(2, "go on"), make(events.QueueChanged, items=("next",), ids=("q1",))]


async def silent(actions: list[Action], happened: list[events.HostEvent]) -> set[str]:
    """Run actions in a session in which this has happened; return those that changed nothing."""
    found: set[str] = set()
    client = FakeClient(on_open=happened, silent=not happened)
    async with running(client, size=(80, 24), opened=bool(happened)) as drive:
        for action in sorted(actions, key=lambda action: ENDING.find(action.id)):
            prompt = await at_rest(drive, "a\nb" if action.scope == "prompt" else "")
            before = seen(drive)
            if action.scope == "prompt":
                await prompt.run_action(action.run)
            else:
                await drive.app.run_by_id(action.id)
            await drive.settle()
            if seen(drive) == before:
                found.add(action.id)
    return found


async def at_rest(drive: Driver, draft: str) -> PromptInput:
    """Close and clear what the action before has opened or said; return the prompt."""
    app = drive.app
    while app.screen is not app.main:
        app.pop_screen()
        await drive.settle()
    if app.tabs is not None:
        app.tabs.show(app.tabs.links[0])
    prompt, transcript = app.main.prompt.input, app.main.transcript
    assert app.state is not None and transcript is not None
    if app.main.focused_pane():
        await app.run_by_id(f"pane.{app.main.focused_pane()}")
    prompt.focus()
    prompt.in_chord = False
    prompt.load_text(draft)
    app.state.notices.dismiss()
    # In the middle: from there it goes up and down.
    transcript.follow = False
    transcript.scroll_to(y=9, animate=False)
    app.main.show([])
    await drive.settle()
    return prompt


def seen(drive: Driver) -> tuple[object, ...]:
    """Return what an action can change."""
    app = drive.app
    focus = (app.screen, app.focused, app.clipboard, drive.draft, id(app.client))
    return (*focus, len(drive.client.calls), app.return_value, drive.text())


@pytest.mark.parametrize("happened", [[], [opened()]], ids=["before", "empty"])
async def test_an_action_that_has_nothing_to_act_on_says_so(happened) -> None:
    assert await silent(MAIN, happened) <= MOVING | {"prompt.queue"}


async def test_every_action_acts_where_there_is_something_to_act_on() -> None:
    left = await silent(MAIN, WORKED)
    assert left <= {"turn.back", "prompt.queue"}, "at rest there is nothing to stop"
    left = await silent([action for action in MAIN if action.id in left], WAITING)
    assert not left
