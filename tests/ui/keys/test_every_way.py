"""Every action by every way the table gives it: key, chord, slash command, palette and help.

Nothing here names an action of the main screen: a new row of the table is tested as it stands.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from textual import events
from textual.app import App
from textual.binding import Binding
from textual.dom import DOMNode
from textual.screen import Screen

from amplifier_tui.host.events import HostEvent, ImageCard, ImagesAdded, ToolEnded, TurnStarted
from amplifier_tui.ui.app.session_app import SessionApp
from amplifier_tui.ui.dialogs.approval import ApprovalDialog
from amplifier_tui.ui.dialogs.ask.dialog import AskDialog
from amplifier_tui.ui.dialogs.diff_sheet import DiffSheet
from amplifier_tui.ui.dialogs.export.sheet import ExportSheet
from amplifier_tui.ui.dialogs.image_sheet import ImageSheet
from amplifier_tui.ui.dialogs.modules.commands import CommandPalette, Help
from amplifier_tui.ui.dialogs.modules.mcp_servers import ServerList
from amplifier_tui.ui.dialogs.parts.guarded import GuardedSheet
from amplifier_tui.ui.dialogs.permissions.details import DetailSheet
from amplifier_tui.ui.dialogs.permissions.rules import RuleList
from amplifier_tui.ui.dialogs.rewind.sheet import RewindSheet
from amplifier_tui.ui.dialogs.sessions.imported import ImportedSheet
from amplifier_tui.ui.dialogs.sessions.picker import SessionPicker
from amplifier_tui.ui.dialogs.sheets import EventSheet
from amplifier_tui.ui.dialogs.trust.dialog import TrustDialog
from amplifier_tui.ui.keys.action import LEADER, Action
from amplifier_tui.ui.keys.actions import ACTIONS, BY_ID, in_scope
from amplifier_tui.ui.keys.keymap import Keymap, show_key
from amplifier_tui.ui.keys.keymap_file import pane_actions
from amplifier_tui.ui.panes.inspector import EventInspector
from amplifier_tui.ui.panes.table import PANES
from amplifier_tui.ui.transcript.find_bar import FindInput
from amplifier_tui.ui.transcript.view import TranscriptView
from amplifier_tui.ui.widgets.messages import InspectRequested
from tests.ui.dialogs.test_imported import FOUND as IMPORTED
from tests.ui.driving import Driver, running
from tests.ui.fake_client import SESSION, FakeClient
from tests.ui.questions import questions
from tests.ui.requests import DIFF, ask
from tests.ui.state.make import traced
from tests.ui.trust_questions import many
from tests.waiting import within

SIZE = (80, 24)
MAIN = [action for action in ACTIONS if action.scope in ("screen", "prompt")]


class Reach:
    """Stops one action just before it runs, and keeps where it would have run."""

    def __init__(self, drive: Driver, patch: pytest.MonkeyPatch) -> None:
        self.drive = drive
        self._aim = ""
        self._reached: list[DOMNode] = []
        dispatch = App._dispatch_action

        async def caught(app: App[Any], node: DOMNode, name: str, params: Any) -> bool:
            run = f"{name}({', '.join(map(repr, params))})" if params else name
            if run != self._aim:
                return await dispatch(app, node, name, params)
            self._reached.append(node)
            return True

        patch.setattr(App, "_dispatch_action", caught)
        run_soon = GuardedSheet._run_soon

        def caught_at_once(sheet: GuardedSheet[Any], run: str) -> None:
            if run and run == self._aim:
                self._reached.append(sheet)
            else:
                run_soon(sheet, run)

        # What opens a field is not dispatched: the next key is for the field.
        patch.setattr(GuardedSheet, "_run_soon", caught_at_once)

    @asynccontextmanager
    async def expect(self, action: Action, way: str) -> AsyncIterator[None]:
        """Fail unless what is done in it comes to run the action, once and where it belongs."""
        namespace, _, self._aim = action.run.rpartition(".")
        self._reached = []
        yield
        try:
            async with within(20):
                while not self._reached:
                    await asyncio.sleep(0)
        except TimeoutError:
            raise AssertionError(f"{way} does not run {action.id}") from None
        app = self.drive.app
        home = {"app": app, "screen": app.main}.get(namespace, self.at)
        assert self._reached == [home], f"{way}: {action.id}"
        assert hasattr(home, f"action_{self._aim.partition('(')[0]}"), action.id
        # The leader, which was kept from opening its popup, waits for no chord.
        app.main.prompt.input.in_chord = False

    @property
    def at(self) -> DOMNode:
        """Where the action would have run."""
        return self._reached[0]

    def post(self, *keys: str) -> None:
        """Press keys without a pause, as one burst."""
        for key in keys:
            self.drive.app.post_message(events.Key(key, None))


async def test_every_key_and_every_chord_of_the_main_screen(monkeypatch) -> None:
    leader = BY_ID[LEADER].keys
    async with running(size=SIZE) as drive:
        reach = Reach(drive, monkeypatch)
        for action in MAIN:
            for key in filter(None, action.keys.split(",")):
                async with reach.expect(action, key):
                    reach.post(key)
            if action.chord:
                async with reach.expect(action, f"{leader} {action.chord}"):
                    reach.post(leader, action.chord)
                await drive.closed()
        assert not drive.client.calls[1:], "nothing ran"


async def test_every_slash_command(monkeypatch) -> None:
    async with running(size=SIZE) as drive:
        reach = Reach(drive, monkeypatch)
        for action in MAIN:
            for name in action.commands:
                async with reach.expect(action, f"/{name}"):
                    await drive.write(f"/{name}")
                    reach.post("enter")
                assert drive.draft == ""


async def test_palette_and_help_list_every_action_with_the_way_to_it() -> None:
    keymap = Keymap()
    async with running() as drive:
        for key, kind, wanted in (
            ("ctrl+p", CommandPalette, [a for a in ACTIONS if a.listed and a.id != "app.palette"]),
            ("f1", Help, [*ACTIONS, *pane_actions()]),
        ):
            await drive.press(key)
            dialog = await drive.dialog(kind)
            rows = {row.id: f"{row.left.plain} {row.right.plain}" for row in dialog._rows_for("")}
            assert set(rows) - {""} == {action.id for action in wanted}
            for action in wanted:
                line = rows[action.id]
                assert action.title in line
                ways = [show_key(k) for k in keymap.keys_of(action).split(",")[:1] if k]
                chord = keymap.chord_of(action)
                if chord and (kind is Help or not ways):
                    ways.append(f"{keymap.leader()} {show_key(chord)}")
                ways += [f"/{name}" for name in action.commands[:1]]
                assert all(way in line for way in ways), (action.id, line, ways)
                found = [row.id for row in dialog._rows_for(action.title)]
                assert action.id in (found[:1] if kind is CommandPalette else found)
            await drive.press("escape")
            await drive.closed()


@pytest.mark.parametrize("key", ["ctrl+p", "f1"])
async def test_what_is_chosen_in_palette_or_help_runs(key, monkeypatch) -> None:
    async with running(size=SIZE) as drive:
        reach = Reach(drive, monkeypatch)
        for action in (BY_ID["view.bottom"], BY_ID["app.theme"], BY_ID["prompt.editor"]):
            await drive.press(key)
            await drive.write(action.title)
            async with reach.expect(action, key):
                reach.post("enter")
            await drive.closed()


async def test_every_key_of_a_dialog(monkeypatch) -> None:
    for kind in (ApprovalDialog, AskDialog, TrustDialog):
        monkeypatch.setattr(kind, "grace", 0.0)
        monkeypatch.setattr(kind, "alone", 0.0)
    said = TurnStarted(session_id=SESSION, turn=1, prompt="p", replayed=True)
    changed = ToolEnded(session_id=SESSION, call_id="c", tool="edit_file", ok=True, diff=DIFF)
    picture = ImageCard(key="k", media_type="image/png", width=2, height=2)
    seen = ImagesAdded(session_id=SESSION, call_id="c", images=(picture,))
    monkeypatch.setattr(SessionApp, "why_no_images", "")
    openings: dict[str, tuple[tuple[HostEvent, ...], str, type[Screen[Any]]]] = {
        "approval": ((ask(),), "", ApprovalDialog),
        "ask": ((questions(),), "", AskDialog),
        "diff": ((changed,), "view.diff", DiffSheet),
        "image": ((changed, seen), "view.image", ImageSheet),
        "export": ((), "session.export", ExportSheet),
        "imported": ((), f"session.import {IMPORTED.card.key}", ImportedSheet),
        "rewind": ((said,), "session.undo", RewindSheet),
        "trust": ((many(),), "", TrustDialog),
        "picker": ((), "app.palette", CommandPalette),
        "rules": ((), "permissions.show", RuleList),
        "sessions": ((), "session.sessions", SessionPicker),
        "decision": ((), "permissions.explain ls", DetailSheet),
        "servers": ((), "mcp.servers", ServerList),
    }
    dialogs = {action.scope for action in ACTIONS} - {"screen", "prompt", "pane", "find"}
    assert dialogs == openings.keys(), "say here how a new kind of dialog is opened"
    for scope in sorted(dialogs):
        async with running(FakeClient(foreign=(IMPORTED,)), size=SIZE) as drive:
            pushed, opened_by, kind = openings[scope]
            if pushed:
                await drive.push(*pushed)
            if opened_by:
                name, _, argument = opened_by.partition(" ")
                await drive.app.run_by_id(name, argument)
            dialog = await drive.dialog(kind)
            reach = Reach(drive, monkeypatch)
            for action in ACTIONS:
                for key in filter(None, action.keys.split(",") if action.scope == scope else ()):
                    async with reach.expect(action, f"{key} in {scope}"):
                        await drive.press(key)
                    assert reach.at is dialog


async def test_every_key_of_the_conversation_and_the_panes(monkeypatch) -> None:
    parts = [TranscriptView, *(part for pane in PANES for part in pane.widgets()), EventInspector]
    async with running(size=(200, 50)) as drive:
        reach = Reach(drive, monkeypatch)
        for kind in parts:
            if kind is EventInspector:
                await drive.push(traced(1))
                drive.app.post_message(InspectRequested(1))
                await drive.dialog(EventSheet)
            widget = drive.app.screen.query_one(kind)
            for binding in kind.BINDINGS:
                if isinstance(binding, Binding) and binding.id:
                    for key in binding.key.split(","):
                        widget.set_class(True, "-open")
                        widget.focus()
                        await drive.settle()
                        action = Action(binding.id, binding.description, binding.action)
                        async with reach.expect(action, f"{key} in {kind.__name__}"):
                            await drive.press(key)
                        assert reach.at is widget


async def test_every_key_of_the_line_in_which_one_finds(monkeypatch) -> None:
    async with running() as drive:
        reach = Reach(drive, monkeypatch)
        await drive.press("ctrl+f")
        field = drive.app.screen.query_one(FindInput)
        for action in in_scope("find"):
            for key in action.keys.split(","):
                async with reach.expect(action, f"{key} in the line"):
                    await drive.press(key)
                assert reach.at is field
