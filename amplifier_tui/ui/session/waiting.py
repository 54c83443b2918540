"""One question at a time on the screen: when its dialog opens, and what becomes of the answer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

if TYPE_CHECKING:
    from textual.content import Content

    from amplifier_tui.ui.dialogs.parts.question import QuestionSheet
    from amplifier_tui.ui.session.keyboard import Keyboard
    from amplifier_tui.ui.session.tabs.tab import SessionTab

AskedT = TypeVar("AskedT")


class WaitingDialog(ABC, Generic[AskedT]):
    """Opens the dialog while the user does not type, and closes it when nobody waits any more.

    That of a session that is not shown opens only when the user asks for it.
    """

    KIND: ClassVar[str]
    """Name of its row above the prompt."""
    RISK: ClassVar[str]
    PLACE: ClassVar[int]
    """When it is answered, among the questions of a session."""

    def __init__(self, tab: SessionTab, keyboard: Keyboard) -> None:
        self._tab = tab
        self._screen = tab.screen
        self._client = tab.client
        self._keyboard = keyboard
        self._asked: AskedT | None = None
        self._waits = self._later = False
        self._ticking = False
        self._dialog: QuestionSheet[Any] | None = None

    def sync(self, asked: AskedT | None) -> None:
        """Take the question that waits, if any."""
        if asked is self._asked:
            return
        self._asked, self._waits, self._later = asked, asked is not None, False
        self._forget()
        if self._dialog is not None:
            self._keyboard.cut_off(self._tab, self._dialog.written)
            self._dialog.finish()
            self._dialog = None
        self._consider()

    def show(self) -> bool:
        """Show the question now; False when there is none."""
        if self._waits and self._dialog is None and self._asked is not None:
            self._later = False
            self._open(self._asked, asked_for=True)
        return self._waits

    def shown(self) -> None:
        """Take note that the session has come to the screen."""
        self._consider()

    def _consider(self) -> None:
        """Open the dialog now, or show above the prompt that it waits, and look again."""
        if self._asked is None or self._dialog is not None or not self._waits:
            self._show_waiting(None)
        elif self._later or not self._tab.shown:
            self._show_waiting(self._asked)
        elif wait := self._keyboard.question_wait():
            self._show_waiting(self._asked)
            if not self._ticking:
                self._ticking = True
                self._screen.set_timer(wait, self._tick)
        else:
            self._open(self._asked)

    def _tick(self) -> None:
        self._ticking = False
        self._consider()

    def _show_waiting(self, asked: AskedT | None) -> None:
        if self._screen.strip is not None:
            key = self._screen.keymap.way_to("approval.show")
            draw = partial(self._strip, asked, key) if asked is not None else None
            self._screen.strip.show(
                f"{self.KIND} {id(self._tab)}",
                draw,
                self.RISK,
                lambda: (not self._tab.shown, self.PLACE),
                self._count,
            )

    def _open(self, asked: AskedT, asked_for: bool = False) -> None:
        self._show_waiting(None)
        self._dialog = self._make(asked)
        self._dialog.asked_for = asked_for
        self._screen.app.push_screen(self._dialog, partial(self._closed, asked))

    def _closed(self, asked: AskedT, answer: Any) -> None:
        if asked is not self._asked:
            # Closed before another question came, which has a dialog of its own by now.
            if answer not in (None, "later"):
                self._answer(asked, answer)
        elif answer == "later":
            self._dialog, self._later = None, True
            self._consider()
        elif answer is not None:
            self._dialog, self._waits = None, False
            self._answer(asked, answer)
        else:
            # The user types: it opens again when the prompt is empty.
            self._dialog = None
            self._consider()

    @abstractmethod
    def _forget(self) -> None:
        """Forget what was answered so far: there is another question, or none."""

    def _count(self) -> int:
        """Return how many of the kind wait in the session."""
        return 1

    @abstractmethod
    def _strip(self, asked: AskedT, key: str, count: int, width: int) -> Content:
        """Return the row above the prompt, for now; `key` opens one of `count` that wait."""

    @abstractmethod
    def _make(self, asked: AskedT) -> QuestionSheet[Any]:
        """Return the dialog."""

    @abstractmethod
    def _answer(self, asked: AskedT, answer: Any) -> None:
        """Send what the dialog returned."""
