"""A person at the screen: the program itself, driven with keys."""

import asyncio

from textual import events

from amplifier_tui.host.events import HostEvent
from amplifier_tui.ui.dialogs.approval import ApprovalDialog
from amplifier_tui.ui.dialogs.ask.dialog import AskDialog
from amplifier_tui.ui.state.session import SessionState
from tests.fronts.player import Act
from tests.fronts.stage import Held, Stage, TappedClient
from tests.ui.driving import Driver, running
from tests.waiting import within

COMMANDS = {"go": "/once", "stop": "/stop", "ask": "/do", "edits": "/do-edits"}


async def hold(stage: Stage) -> Held:
    """Hold the conversation of a stage; `told` is the state the screen ends in."""
    held = Held(stage.folder)
    with stage.set() as bundle:
        for request, player in stage.requests(bundle, held):
            acts: asyncio.Queue[Act] = asyncio.Queue()

            def sees(event: HostEvent, player=player, acts=acts) -> None:
                for act in player.sees(event):
                    acts.put_nowait(act)

            client = TappedClient(held, sees)
            async with running(client, cwd=stage.folder, request=request) as drive:
                state = drive.app.state
                async with within(20):
                    while (act := await acts.get()).kind != "leave":
                        await do(drive, state, act)
                await drive.settle()
            client.close().result(5)
            state.apply(client.drain())
            held.told = state
    return stage.end(held)


async def do(drive: Driver, state: SessionState, act: Act) -> None:
    """Do with keys what the user does."""
    match act.kind:
        case "prompt" | "steer":
            await _say(drive, act.what)
        case "queue":
            await drive.write(act.what)
            await drive.press("tab")
        case "stop":
            await _say(drive, "/stop")
            if act.what == "now":
                await _say(drive, "/stop")
        case "decide":
            await drive.until(lambda: state.approvals.pending)
            await drive.press("f8")
            dialog = await drive.dialog(ApprovalDialog)
            # Of two that wait the dialog has the one whose call came first; both get one answer.
            assert dialog.request in state.approvals.pending
            if act.what == "deny":
                await drive.press("d")
            else:
                await drive.press(*"r" * dialog.request.scopes.index(act.what), "a")
            await drive.until(lambda: drive.app.screen is not dialog)
        case "answer":
            await drive.until(lambda: act.asked in state.questions.pending)
            await drive.press("f8")
            await drive.dialog(AskDialog)
            if act.what == "decline":
                await drive.press("x")
            else:
                await drive.press(*(str(place + 1) for place in act.what), "enter")
            await drive.closed()
        case "limit":
            await drive.until(lambda: state.usage.at_limit)
            await _say(drive, COMMANDS[act.what])
        case "plan":
            await drive.until(lambda: not state.activity.running)
            await _say(drive, COMMANDS[act.what])


async def _say(drive: Driver, text: str) -> None:
    if drive.draft:
        # A prompt that failed is given back.
        await drive.press("ctrl+c")
    drive.app.post_message(events.Paste(text))
    await drive.settle()
    await drive.press("enter")
    if drive.draft == f"{text} ":
        # The first one took what completes it.
        await drive.press("enter")
