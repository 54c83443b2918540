"""A sheet that asks for a decision: what is typed on goes to the prompt and decides nothing."""

from collections.abc import Callable
from typing import ClassVar, TypeVar, cast

from textual import events
from textual.widgets import Input, TextArea

from amplifier_tui.ui.dialogs.parts.sheet import Sheet
from amplifier_tui.ui.keys.action import KeyScope
from amplifier_tui.ui.keys.keymap import Keymap
from amplifier_tui.ui.state.answer_keys import ALONE, BURST, GRACE, AnswerKeys, Heard, KeyRole
from amplifier_tui.ui.terminal.input import key_time

T = TypeVar("T")

_LATE = 0.05
"""Seconds: when the loop was held up for longer, keys may be on their way."""


class QuestionSheet(Sheet[T]):
    """Hears keys before everything else does, in the order in which they arrived.

    Args:
        keymap: The keys to hear and to show.
        is_first_click: True for the click that brought the terminal to the front.
        cover: Told how many rows of the conversation it covers.
    """

    DECIDES: ClassVar[frozenset[str]] = frozenset()
    """Actions that answer the question, or lead to an answer."""
    MAY_WAIT: ClassVar[bool] = True
    """Whether it can be put off, to look at something else."""
    BROWSES: ClassVar[frozenset[str]] = frozenset("jk ")
    """Letters that scroll what is shown."""
    grace: ClassVar[float] = GRACE
    alone: ClassVar[float] = ALONE

    def __init__(
        self,
        keymap: Keymap,
        is_first_click: Callable[[], bool],
        cover: Callable[[int], None],
        classes: str = "",
    ) -> None:
        super().__init__(classes=classes)
        self._keymap = keymap
        self._keys = keymap.by_key(cast("KeyScope", self.SCOPE))
        self._is_first_click = is_first_click
        self._report_cover = cover
        self._answer_keys = AnswerKeys(key_time(), self.grace, self.alone)

    @property
    def armed(self) -> bool:
        """Whether it was seen long enough for an answer."""
        return self._answer_keys.ready(key_time())

    @property
    def was_noticed(self) -> bool:
        """Whether it was seen long enough for an answer, or a key came to it."""
        return self.armed or bool(self.typed)

    @property
    def typed(self) -> str:
        """What was typed in one go, and is the prompt's when the question gives way."""
        return self._answer_keys.text

    def hear(self, event: events.Key | events.Paste) -> Heard:
        """Take a key or a paste; what `ACTS` is for the widget that has the focus."""
        if isinstance(self.focused, TextArea):
            return Heard.ACTS
        if isinstance(self.focused, Input):
            # A line is being written: only a key of a hand ends it.
            burst = self._answer_keys.gap(event.time) < min(BURST, self.alone)
            ends = isinstance(event, events.Key) and event.key == "enter"
            return Heard.KEPT if burst and ends else Heard.ACTS
        if isinstance(event, events.Paste):
            return self._answer_keys.press(event.time, "text", event.text)
        action = self._action_of(event.key)
        text = event.character if event.is_printable and event.character else ""
        heard = self._answer_keys.press(event.time, self._role(action, text), text, action)
        if heard is Heard.KEPT:
            self.call_next(self._settle)
        elif heard is Heard.ACTS and action and text:
            self.call_next(self.run_action, action)
            return Heard.KEPT
        return heard

    def give_way(self) -> None:
        """Close without an answer: the user types."""
        self.finish()

    def put_off(self) -> None:
        """Close without an answer, until the user comes back to it."""
        self.finish()

    def leave(self) -> None:
        """Mean with ctrl+c what it means without the question: stop the turn, or quit.

        What is being written is given up first.
        """
        if isinstance(self.focused, Input | TextArea):
            self.call_next(self.run_action, "later")
            return
        if self.MAY_WAIT:
            self.put_off()
        self._main.action_copy_text()

    def on_click(self, event: events.Click) -> None:
        """Leave the strip of the sessions in use, where the question does not cover it."""
        strip, at = self._main.sessions, event.screen_offset
        if strip is not None and strip.region.contains_point(at) and at.y not in self._covered():
            # It stays pending in its session.
            self.give_way()
            strip.go_to(at.x)

    def _action_of(self, key: str) -> str:
        return self._keys.get(key, "")

    def _role(self, action: str, text: str) -> KeyRole:
        if action in self.DECIDES:
            return "decides"
        return "moves" if not text else "acts" if action or text in self.BROWSES else "text"

    def _settle(self) -> None:
        """Look whether a key that decides has stayed alone."""
        due, now = self._answer_keys.due, key_time()
        if now < due:
            self.set_timer(due - now, self._settle)
        elif self.alone and now > due + _LATE:
            # Looked at too late: what was pressed meanwhile is heard first.
            self._answer_keys.due = now + _LATE / 2
            self.set_timer(_LATE / 2, self._settle)
        elif action := self._answer_keys.settle(now):
            self.call_next(self.run_action, action)

    def surface_resized(self) -> None:
        """Keep the end of the conversation in view above it."""
        self._tell_cover()

    def _tell_cover(self) -> None:
        if self.is_active:
            self._report_cover(self.rows_hidden)

    def on_unmount(self) -> None:
        """Give the conversation its rows back."""
        self._report_cover(0)

    async def _choose(self, action: str) -> None:
        if not self._is_first_click():
            await super()._choose(action)
