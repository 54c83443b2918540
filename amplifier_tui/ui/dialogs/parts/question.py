"""A sheet that asks for a decision: what is typed on goes to the prompt and decides nothing."""

from collections.abc import Callable
from typing import ClassVar, Final, TypeVar, cast

from textual import events
from textual.widgets import Input, TextArea

from amplifier_tui.ui.dialogs.parts.guarded import GuardedSheet
from amplifier_tui.ui.keys.action import KeyScope
from amplifier_tui.ui.keys.keymap import Keymap
from amplifier_tui.ui.state.answer_keys import BURST, Heard

T = TypeVar("T")

AT_ONE_GO: Final = "Typed at one go: press enter again"
TOO_EARLY: Final = "Too early: press that key again"


class QuestionSheet(GuardedSheet[T]):
    """Asks while the conversation goes on; it may be withdrawn, or put off.

    Args:
        keymap: The keys to hear and to show.
        is_first_click: True for the click that brought the terminal to the front.
        cover: Told how many rows of the conversation it covers.
    """

    MAY_WAIT: ClassVar[bool] = True
    """Whether it can be put off, to look at something else."""

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

    @property
    def was_noticed(self) -> bool:
        """Whether it was seen long enough for an answer, or a key came to it."""
        return self.armed or bool(self.typed)

    @property
    def writes(self) -> bool:
        """Whether the user writes in it: what leaves it gives that up first."""
        return isinstance(self.focused, Input | TextArea)

    @property
    def written(self) -> str:
        """What the user has written in it so far, for the agent."""
        return ""

    def hear(self, event: events.Key | events.Paste) -> Heard:
        """Take a key or a paste; what `ACTS` is for the widget that has the focus."""
        self._run_soon(self._answer_keys.take_field(event.time))
        if isinstance(self.focused, Input) and self.writes_at(event):
            # A line is being written: only a key of a hand ends it.
            gap = self._answer_keys.gap(event.time)
            guessed = self._answer_keys.guessed
            at_once = gap < (self.alone if guessed else min(BURST, self.alone))
            ends = isinstance(event, events.Key) and event.key == "enter"
            if not (at_once and ends):
                # What is written next, as for another question, is meant.
                self._answer_keys.guessed = guessed and not ends
                return Heard.ACTS
            if guessed:
                self._main.say(AT_ONE_GO, "warning")
                if self.has_class("-small"):
                    # It covers the status bar.
                    self.app.bell()
            return Heard.KEPT
        return super().hear(event)

    def _say_early(self) -> None:
        self._main.say(TOO_EARLY, "warning")

    def attend(self) -> None:
        """Note that the user attends to it: it was clicked."""
        self._answer_keys.attended = True

    def put_off(self) -> None:
        """Close without an answer, until the user comes back to it."""
        self.finish()

    def leave(self) -> None:
        """Mean with ctrl+c what it means without the question: stop the turn, or quit.

        What is being written is given up first.
        """
        if self.writes:
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
            self.attend()
            await super()._choose(action)
