"""Keys on their way: to a question that is open, or to the prompt while it waits."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from textual import events
from textual.widgets import Input

from amplifier_tui.ui.app.screens.letters import Letters
from amplifier_tui.ui.app.screens.main_screen import IN_THE_WAY
from amplifier_tui.ui.dialogs.parts.guarded import GuardedSheet
from amplifier_tui.ui.dialogs.parts.question import QuestionSheet
from amplifier_tui.ui.dialogs.parts.sheet import Sheet
from amplifier_tui.ui.keys.action import LEADER
from amplifier_tui.ui.keys.actions import BY_ID
from amplifier_tui.ui.panes.table import PANES
from amplifier_tui.ui.state.answer_keys import LOOK_AGAIN, QUIET, Heard, OpeningRule
from amplifier_tui.ui.terminal.input import key_time
from amplifier_tui.ui.widgets.messages import ActionWanted

if TYPE_CHECKING:
    from amplifier_tui.ui.app.screens.main_screen import MainScreen
    from amplifier_tui.ui.session.tabs.tab import SessionTab

_ELSEWHERE = (
    *(f"pane.{pane.name}" for pane in PANES),
    *("permissions.show", "agents.show", "app.palette", "app.help"),
)
"""What is looked at before a question is answered."""
CUT_OFF: Final = (
    "Nobody waits for that answer any more: your words are in the draft, or the history"
)
STALE: Final = "Another session is open: that dialog was about the one before"


class Keyboard:
    """Knows whether the user types, and gives text to the prompt that was not meant to decide."""

    def __init__(self, screen: MainScreen) -> None:
        self._screen = screen
        self._rule = OpeningRule()
        self._letters = Letters(screen)
        self._refocused = False
        self._pressed = float("-inf")
        self._cut_off = False
        """Whether what is typed goes on with an answer for which nobody waits any more."""

    def question_wait(self) -> float:
        """Return the seconds after which to ask again, 0 when a question may open now."""
        if isinstance(self._screen.app.screen, Sheet):
            # The keys of only one dialog are heard, and the user opened that one.
            return LOOK_AGAIN
        line = self._screen.app.focused
        text = self._screen.prompt.input.text or (line.value if isinstance(line, Input) else "")
        return self._rule.wait(key_time(), begun=bool(text))

    def expect_question(self) -> None:
        """Let the question that comes open at once, whatever the prompt holds.

        Another key that is pressed before, or a click, ends that.
        """
        self._rule.expects()

    def cut_off(self, tab: SessionTab, written: str) -> None:
        """Keep what was written in a question that is withdrawn; typed on, it is no prompt."""
        if written.strip():
            self._cut_off = True
            tab.when_shown(partial(self._screen.prompt.give_back, written))
            tab.say(CUT_OFF, "warning")

    def take(self, event: events.Key | events.Paste) -> bool:
        """Hear a key or a paste before any widget does; True when that was all."""
        self._rule.pressed(event.time)
        self.user_is_here()
        pause, self._pressed = event.time - self._pressed, event.time
        types = isinstance(event, events.Paste) or event.is_printable or event.key == "enter"
        self._cut_off = self._cut_off and types and pause < QUIET
        if self._cut_off:
            self._screen.app.bell()
            return True
        sheet = self._screen.app.screen
        if sheet is self._screen:
            return self._letters.hear(event)
        if isinstance(sheet, Sheet) and sheet.is_stale:
            self._screen.say(STALE, "warning")
            # What is typed on is no prompt.
            if isinstance(event, events.Key) and not event.is_printable:
                self._close_stale()
            return True
        if isinstance(sheet, QuestionSheet):
            if self._leaves(sheet, event):
                return True
        elif isinstance(sheet, Sheet) and self._is_in_the_way(sheet, event):
            return True
        if not isinstance(sheet, GuardedSheet):
            return False
        heard = sheet.hear(event)
        if heard is Heard.BACK:
            self._give_back(sheet, event)
        return heard is not Heard.ACTS

    def _close_stale(self) -> None:
        opened = [each for each in self._screen.app.screen_stack if isinstance(each, Sheet)]
        for sheet in [each for each in reversed(opened) if each.is_stale]:
            sheet.finish()

    def _leaves(self, question: QuestionSheet[object], event: events.Key | events.Paste) -> bool:
        """Leave a question that is open for a chord, or for what is looked at before it."""
        if self._is_free(question) and self._runs(event, LEADER):
            self._screen.set_focus(self._screen.prompt.input)
            question.give_way()
            self._screen.app.call_next(self._screen.prompt.input.action_begin_chord)
            return True
        if action := self._leads_elsewhere(question, event):
            self._screen.set_focus(self._screen.prompt.input)
            question.put_off()
            self._screen.post_message(ActionWanted(action))
            return True
        return False

    def terminal_focused(self) -> None:
        """The terminal came to the front; the click that did it decides nothing."""
        self._refocused = True

    def user_is_here(self) -> None:
        """A key or a finished click: from here on clicks are meant."""
        self._refocused = False
        self._rule.clicked()

    def is_first_click(self) -> bool:
        """Return whether this click brought the terminal to the front."""
        first, self._refocused = self._refocused, False
        return first

    def _leads_elsewhere(
        self, question: QuestionSheet[object], event: events.Key | events.Paste
    ) -> str:
        """Return the action of a key that shows something else while the question waits."""
        if not question.MAY_WAIT or not self._is_free(question):
            return ""
        return next((action for action in _ELSEWHERE if self._runs(event, action)), "")

    def _is_in_the_way(self, sheet: Sheet[object], event: events.Key | events.Paste) -> bool:
        """Say of a key that leads elsewhere, and means nothing here, that a dialog is open."""
        if sheet.HEARS_ALL or not any(self._runs(event, each) for each in (*_ELSEWHERE, LEADER)):
            return False
        meant = isinstance(event, events.Key) and sheet.active_bindings.get(event.key)
        line = self._screen.app.focused
        if meant and not (
            isinstance(line, Input) and meant.node is line and line.selection.is_empty
        ):
            return False
        # Without a selection a field would cut nothing, and put that on the clipboard.
        self._screen.say(IN_THE_WAY)
        if sheet.has_class("-small"):
            # It covers the status bar.
            self._screen.app.bell()
        return True

    def _is_free(self, question: QuestionSheet[object]) -> bool:
        """Whether the question is on the main screen, and nobody writes in it."""
        return self._screen.app.screen_stack[-2] is self._screen and not question.writes

    def _runs(self, event: events.Key | events.Paste, action: str) -> bool:
        keys = self._screen.keymap.keys_of(BY_ID[action]).split(",")
        return isinstance(event, events.Key) and event.key in keys

    def _give_back(self, question: GuardedSheet[object], event: events.Key | events.Paste) -> None:
        if question.IS_LIST:
            self._screen.app.bell()
            return
        below = self._screen.app.screen_stack[-2]
        if below is self._screen:
            prompt = self._screen.prompt.input
            self._screen.set_focus(prompt)
            if isinstance(event, events.Paste):
                prompt.insert_paste(question.typed)
            else:
                prompt.insert(question.typed)
        elif isinstance(below.focused, Input):
            below.focused.insert_text_at_cursor(question.typed)
        else:
            # Letters of a list are commands, and these were not meant for it.
            return
        question.give_way()
