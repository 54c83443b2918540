"""A sheet whose keys decide something: they do when they stay alone, and what is typed does not."""

from functools import cached_property
from typing import ClassVar, TypeVar

from textual import events, on
from textual.widgets import Input, TextArea

from amplifier_tui.ui.dialogs.parts.sheet import Sheet
from amplifier_tui.ui.state.answer_keys import ALONE, GRACE, AnswerKeys, Heard, KeyRole
from amplifier_tui.ui.terminal.input import key_time

T = TypeVar("T")


class GuardedSheet(Sheet[T]):
    """Hears keys before everything else does, in the order in which they arrived."""

    DECIDES: ClassVar[frozenset[str]] = frozenset()
    """Actions that change something, answer the question, or lead to an answer."""
    BROWSES: ClassVar[frozenset[str]] = frozenset("jk ")
    """Letters that move about in what is shown."""
    WRITES: ClassVar[frozenset[str]] = frozenset()
    """Those of them that only open a field, which has the focus when they return."""
    IS_LIST: ClassVar[bool] = False
    """Whether its letters are commands: it stays open when something is typed, which is lost."""
    asked_for = False
    """Whether the user came to a question, instead of typing on while it opened by itself."""
    _pressed_on = ""
    """The row of the key that waits to stay alone."""
    grace: ClassVar[float] = GRACE
    alone: ClassVar[float] = ALONE

    @cached_property
    def _answer_keys(self) -> AnswerKeys:
        """Its keys; made when it opens."""
        return AnswerKeys(key_time(), self.grace, self.alone, attended=self.asked_for)

    @on(events.Mount)
    def _begin_grace(self) -> None:
        _ = self._answer_keys

    @property
    def armed(self) -> bool:
        """Whether it was seen long enough for an answer."""
        return self._answer_keys.ready(key_time())

    @property
    def typed(self) -> str:
        """What was typed in one go, and is the prompt's when the sheet gives way."""
        return self._answer_keys.text

    def hear(self, event: events.Key | events.Paste) -> Heard:
        """Take a key or a paste; what `ACTS` is for the widget that has the focus."""
        if self.writes_at(event):
            return Heard.ACTS
        if isinstance(event, events.Paste):
            return self._answer_keys.press(event.time, "text", event.text)
        action = self._action_of(event.key)
        text = event.character if event.is_printable and event.character else ""
        if self.IS_LIST and not text and event.key != "escape":
            # Whoever goes on in the list has not begun a word.
            self._decide(self._answer_keys.take_held())
        role = self._role(action, text)
        own = not self.IS_LIST and (
            role in ("acts", "picks") or (role == "moves" and self._moves(event.key))
        )
        heard = self._answer_keys.press(event.time, role, text, action, own=own)
        if heard is Heard.KEPT:
            self._pressed_on = self._row_of(action)
            self.call_next(self._settle)
        elif heard is Heard.ACTS and action and text and not self.IS_LIST:
            self._run_soon(action)
            return Heard.KEPT
        return heard

    def writes_at(self, event: events.Key | events.Paste) -> bool:
        """Whether a key or a paste is for a field of its own, in which the user writes."""
        return isinstance(self.focused, Input | TextArea)

    def give_way(self) -> None:
        """Close without an answer: the user types."""
        self.finish()

    def _action_of(self, key: str) -> str:
        found = self.active_bindings.get(key)
        return found.binding.action if found is not None and found.node is self else ""

    def _moves(self, key: str) -> bool:
        """Whether a key that types nothing means something here; enter also ends what is typed."""
        return key != "enter" and key in self.active_bindings

    def _role(self, action: str, text: str) -> KeyRole:
        if action in self.DECIDES:
            return "writes" if action in self.WRITES else "decides"
        if not text or (self.IS_LIST and text in self.BROWSES):
            return "moves"
        return "acts" if action or self.IS_LIST or text in self.BROWSES else "text"

    def _settle(self) -> None:
        """Look whether a key that decides has stayed alone."""
        now = key_time()
        if wait := self._answer_keys.wait(now):
            self.set_timer(wait, self._settle)
            return
        self._answer_keys.came_early = False
        self._decide(self._answer_keys.settle(now))
        if self._answer_keys.came_early:
            self._say_early()

    def _decide(self, action: str) -> None:
        """Do what a key has stayed alone for, unless that is about another row by now."""
        if action and (self.is_stale or self._row_of(action) != self._pressed_on):
            self.app.bell()
        else:
            self._run_soon(action)

    def _row_of(self, action: str) -> str:
        """Return the id of the row that an action is about; empty for one that is about none."""
        return ""

    def _say_early(self) -> None:
        """Say that a key decided nothing, since the sheet had just opened."""

    def _run_soon(self, action: str) -> None:
        if action in self.WRITES:
            # At once: the next key is for the field.
            if self.check_action(action, ()):
                getattr(self, f"action_{action}")()
        elif action:
            self.call_next(self.run_action, action)
