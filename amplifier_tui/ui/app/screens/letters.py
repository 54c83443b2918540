"""Letters that are pressed while the conversation or a pane has the keys: commands, or a text."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from textual import events

from amplifier_tui.ui.state.answer_keys import ALONE, AnswerKeys, Heard, KeyRole
from amplifier_tui.ui.terminal.input import key_time
from amplifier_tui.ui.transcript.cursor_view import CursorView
from amplifier_tui.ui.widgets.line_view import LineView

if TYPE_CHECKING:
    from collections.abc import Hashable

    from textual.widget import Widget

    from amplifier_tui.ui.app.screens.main_screen import MainScreen

_BROWSES: Final = frozenset("jkgG ")
"""Letters that move about."""


class Letters:
    """Has a letter that changes something wait until it stayed alone; a text is the prompt's."""

    alone: ClassVar[float] = ALONE

    def __init__(self, screen: MainScreen) -> None:
        self._screen = screen
        self._keys = AnswerKeys(float("-inf"), 0.0, self.alone)
        self._of: Widget | None = None
        """What had the keys when the last one came."""
        self._about: Hashable = None
        """What the row is about on which a letter waits."""

    def hear(self, event: events.Key | events.Paste) -> bool:
        """Take a key or a paste; False when it is for the widget that has the focus."""
        widget = self._screen.focused
        if widget is not self._of:
            self._of, self._keys = widget, AnswerKeys(float("-inf"), 0.0, self.alone)
        if not isinstance(widget, CursorView | LineView):
            return False
        if isinstance(event, events.Paste):
            self._keys.press(event.time, "text", event.text)
            self._write(pasted=True)
            return True
        text = event.character if event.is_printable and event.character else ""
        if not text and event.key != "escape":
            # Whoever goes on in the list has not begun a word.
            self._run(self._keys.take_held())
        action = self._action_of(event.key)
        role: KeyRole = "acts" if action else "text"
        if not text or (action and text in _BROWSES):
            role = "moves"
        elif action in widget.CHANGES:
            role = "decides"
        heard = self._keys.press(event.time, role, text, action)
        if heard is Heard.BACK:
            self._write()
        elif heard is Heard.KEPT:
            self._about = widget.about
            self._settle(self._keys)
        return heard is not Heard.ACTS

    def _action_of(self, key: str) -> str:
        """Return what a key does in what has the focus, or around it on the screen."""
        found = self._screen.active_bindings.get(key)
        on_top = found is None or found.node in (self._screen, self._screen.app)
        return "" if found is None or on_top else found.binding.action

    def _settle(self, keys: AnswerKeys) -> None:
        """Look whether a key that changes something has stayed alone."""
        now = key_time()
        if keys is not self._keys:
            return
        if wait := keys.wait(now):
            self._screen.set_timer(wait, lambda: self._settle(keys))
        else:
            self._run(keys.settle(now))

    def _run(self, action: str) -> None:
        widget = self._of
        if not action or widget is not self._screen.focused:
            return
        if isinstance(widget, CursorView | LineView) and widget.about == self._about:
            self._screen.app.call_next(self._screen.app.run_action, action, widget)
        else:
            # The row that it was pressed on is gone.
            self._screen.app.bell()

    def _write(self, *, pasted: bool = False) -> None:
        """Give what was typed to the prompt, and the keys that follow."""
        prompt, text = self._screen.prompt.input, self._keys.text
        if text == "?" and not prompt.text:
            # As in the prompt; the keys of what has the focus are named.
            self._screen.app.call_next(self._screen.app.run_action, "help")
            return
        self._screen.set_focus(prompt)
        if pasted:
            prompt.insert_paste(text)
        else:
            prompt.insert(text)
