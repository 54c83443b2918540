"""Going back: asks what it would do, has it done, and puts the prompt into the draft."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING

from amplifier_tui.base.text import one_line
from amplifier_tui.host.events import MAIN_LANE, Rewound, SessionOpened, TurnEnded

if TYPE_CHECKING:
    from amplifier_tui.host.events import HostEvent, Level
    from amplifier_tui.ui.dialogs.rewind.sheet import RewindChoice
    from amplifier_tui.ui.session.forks import Forks
    from amplifier_tui.ui.session.tabs.tab import SessionTab
    from amplifier_tui.ui.state.conversation.entries import ConversationEntry


class GoingBack:
    """Goes back in a session, when no turn runs there."""

    def __init__(self, tab: SessionTab, forks: Forks) -> None:
        self._tab = tab
        self._screen = tab.screen
        self._client = tab.client
        self._state = tab.state
        self._forks = forks
        self._waiting: int | None = None
        """The turn to go back before, once the running one has ended."""
        self._filled = ""

    def choose(self) -> None:
        """List the prompts to go back before."""
        from amplifier_tui.ui.dialogs.rewind.picker import RewindPicker

        def chosen(turn: str | None) -> None:
            if turn is not None:
                self.begin(int(turn))

        picker = RewindPicker(self._client.rewind_points)
        picker.be_about(self._state)
        self._screen.app.push_screen(picker, chosen)

    def begin_at(self, entry: ConversationEntry) -> None:
        """Go back before the turn that an entry is of."""
        prompt = self._state.prompt_of(entry)
        if prompt is None:
            self.choose()
        else:
            self.begin(prompt.turn)

    def begin(self, turn: int) -> None:
        """Show what going back before a turn does; where one runs, ask first whether to stop it."""
        if not self._state.activity.running:
            self._open(turn)
            return
        from amplifier_tui.ui.dialogs.questions import Confirm

        session = self._state.facts.session_id

        def answered(yes: bool | None) -> None:
            if not yes or self._state.facts.session_id != session:
                return
            if self._state.activity.running:
                self._waiting = turn
                self._client.interrupt(True, self._state.activity.turn)
            else:
                self._open(turn)

        question = "A turn is running. Going back stops it."
        self._screen.app.push_screen(Confirm(question, "Stop it"), answered)

    def undo(self) -> None:
        """Take back the last turn; without a question where nothing of the user's is touched."""
        prompt = self._state.prompt_of()
        if prompt is None:
            self._tab.say("There is no turn to take back.")
        elif self._state.activity.running:
            self.begin(prompt.turn)
        else:
            self._screen.run_worker(self._undo(prompt.turn), group="rewind", exclusive=True)

    async def _undo(self, turn: int) -> None:
        from amplifier_tui.ui.dialogs.rewind.words import is_plain

        try:
            preview = await asyncio.wrap_future(self._client.preview_rewind(turn))
        except Exception as error:
            # Whatever the disk said, or that the session was closed meanwhile.
            self._tab.say(one_line(str(error), 300), "warning")
            return
        if is_plain(preview) and not self._state.activity.running:
            self._client.rewind(turn, "both")
        else:
            self.begin(turn)

    def take(self, event: HostEvent) -> None:
        """Take one live event."""
        match event:
            case TurnEnded() if event.agent == MAIN_LANE and self._waiting is not None:
                turn, self._waiting = self._waiting, None
                self._tab.when_shown(partial(self._open, turn))
            case SessionOpened():
                self._waiting, self._filled = None, ""
            case Rewound():
                self._tab.when_shown(partial(self._done, event))
            case _:
                pass

    def _open(self, turn: int) -> None:
        from amplifier_tui.ui.dialogs.rewind.sheet import RewindSheet

        def chosen(choice: RewindChoice | None) -> None:
            if choice is None:
                return
            if choice.scope != "fork":
                self._client.rewind(turn, choice.scope, choice.overwrite)
                return
            # Of a long conversation the first prompts are not among the rows on the screen.
            self._forks.begin(turn, choice.prompt)

        sheet = RewindSheet(
            lambda: self._client.preview_rewind(turn),
            lambda: self._state.activity.running,
            lambda path: self._show_diff_soon(turn, path),
            self._screen.keymap,
        )
        sheet.be_about(self._state)
        self._screen.app.push_screen(sheet, chosen)

    def _show_diff_soon(self, turn: int, path: str) -> None:
        self._screen.app.run_worker(self._show_diff(turn, path), group="diff", exclusive=True)

    async def _show_diff(self, turn: int, path: str) -> None:
        """Show what going back does to a file, on the whole screen."""
        from amplifier_tui.ui.dialogs.diff_sheet import DiffSheet

        try:
            diff = await asyncio.wrap_future(self._client.rewind_diff(turn, path))
        except Exception as error:
            # Whatever the disk said.
            self._tab.say(f"{one_line(path, 80)}: {one_line(str(error), 300)}", "warning")
            return
        sheet = DiffSheet(path, diff, self._client, self._screen.keymap, made=False)
        self._screen.app.push_screen(sheet)

    def _done(self, event: Rewound) -> None:
        from amplifier_tui.ui.dialogs.rewind.words import done_words

        draft = self._screen.prompt.input
        kept = False
        if event.undone:
            if self._filled and draft.draft == self._filled:
                draft.clear_draft()
            self._filled = ""
        elif event.scope != "files" and event.prompt:
            kept = bool(draft.text)
            if kept:
                # A draft is never overwritten: the prompt is next in the history.
                draft.past.add(event.prompt)
            else:
                self._screen.prompt.restore(event.prompt)
                self._filled = event.prompt
        draft.focus()
        level: Level = "warning" if event.kept or event.failed else "info"
        # The draft holds the prompt: a command can't be typed there.
        redo = self._screen.keymap.way_to("session.redo") or "/redo"
        self._tab.say(done_words(event, kept, redo), level)
