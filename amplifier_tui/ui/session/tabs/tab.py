"""One session of the window: what is kept of it while another one is on screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amplifier_tui.base.text import one_line
from amplifier_tui.host.events import Notice
from amplifier_tui.ui.prompt.prompt_input import Draft
from amplifier_tui.ui.state.conversation.unseen import UnseenChanges
from amplifier_tui.ui.state.open_sessions import SessionLook, name_of, status_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from amplifier_tui.host.client import SessionClient
    from amplifier_tui.host.events import Level, NoticeEnd
    from amplifier_tui.ui.app.screens.main_screen import MainScreen
    from amplifier_tui.ui.state.conversation.entries import EntryChange
    from amplifier_tui.ui.state.session import SessionState
    from amplifier_tui.ui.transcript.view import TranscriptView


class SessionTab:
    """A session, its state, and its conversation, which is drawn once it is `shown`.

    What concerns the screen goes through here: for a session that is not shown it is kept.
    """

    def __init__(self, screen: MainScreen, client: SessionClient, state: SessionState) -> None:
        self.screen = screen
        self.client = client
        self.state = state
        self.shown = False
        self.view: TranscriptView | None = None
        self.draft = Draft()
        """What was written, while another session is shown."""
        self._ended = False
        self._unseen = UnseenChanges()
        self._waiting: list[Callable[[], object]] = []

    @property
    def look(self) -> SessionLook:
        """What the strip shows of it."""
        status = status_of(self.state, ended=self._ended)
        return SessionLook(name_of(self.state), status, self.shown)

    def named(self, words: str) -> str:
        """Return words with the session's name before them, unless it is shown."""
        if self.shown:
            return words
        name = name_of(self.state)
        return f"{name}: {words}" if words else name

    def come_forward(self) -> None:
        """Be the session on screen."""
        self.shown, self._ended = True, False
        if self.view is not None:
            self.view.apply(self._unseen.take(), at_once=False)

    @property
    def written(self) -> str:
        """The session's draft, as it would be sent."""
        return self.screen.prompt.input.draft if self.shown else self.draft.whole

    def do_what_waited(self) -> None:
        """Do what could not be done while another session was shown."""
        waiting, self._waiting = self._waiting, []
        for call in waiting:
            call()

    def show(self, changes: list[EntryChange]) -> None:
        """Draw changes of the conversation, or keep them."""
        (self.screen.show if self.shown else self.keep)(changes)

    def keep(self, changes: list[EntryChange]) -> None:
        """Keep changes until the session is shown."""
        self._unseen.add(changes)

    def turn_ended(self) -> None:
        """Take note that a turn has ended, which the user sees at once or not."""
        self._ended = not self.shown

    def say(self, text: str, level: Level = "info", until: NoticeEnd = "") -> None:
        """Show a line in the status bar, named where another session is shown, and keep it."""
        notice = Notice(session_id="", level=level, text=text, until=until)
        self.show(self.state.apply([notice]))
        self.pass_on(text, level)

    def pass_on(self, text: str, level: Level) -> None:
        """Say what happened in the session, named, where another one is shown."""
        if not self.shown:
            self.screen.say(self.named(one_line(text, 300)), level)

    def restore(self, text: str, *, selected: bool = False) -> None:
        """Give a prompt that was not answered back; as `PromptArea.restore`."""
        self.when_shown(lambda: self.screen.prompt.restore(text, selected=selected))

    def when_shown(self, call: Callable[[], object]) -> None:
        """Call something now, or when the session is shown again."""
        if self.shown:
            call()
        else:
            self._waiting.append(call)
