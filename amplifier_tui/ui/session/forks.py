"""Forks: the conversation, or what came before a prompt, goes on in a new session."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.host.events import MAIN_LANE, Failed, SessionOpened, TurnEnded, TurnStarted

if TYPE_CHECKING:
    from amplifier_tui.host.events import HostEvent
    from amplifier_tui.ui.session.tabs.tab import SessionTab


@dataclass(slots=True)
class _Fork:
    """A fork that is not open yet: of session `left`, `sent` once no turn runs there."""

    before_turn: int | None
    prompt: str
    left: str
    sent: bool = False


class Forks:
    """Asks for forks, one at a time, when no turn runs."""

    def __init__(self, tab: SessionTab) -> None:
        self._tab = tab
        self._screen = tab.screen
        self._client = tab.client
        self._state = tab.state
        self._fork: _Fork | None = None

    def begin(self, before_turn: int | None = None, prompt: str = "") -> None:
        """Go on before a turn, or copy all; where a turn runs, ask first whether to stop it.

        Args:
            prompt: What began that turn; it is put into the draft of the fork.
        """
        facts = self._state.facts
        fork = _Fork(before_turn, prompt, facts.session_id)
        if not self._state.activity.running:
            self._send(fork)
            return
        from amplifier_tui.ui.dialogs.questions import Confirm

        def answered(yes: bool | None) -> None:
            if not yes or facts.session_id != fork.left:
                return
            if self._state.activity.running:
                self._fork = fork
                self._client.interrupt(True, self._state.activity.turn)
            else:
                self._send(fork)

        self._screen.app.push_screen(
            Confirm("A turn is running. Forking stops it.", "Stop it and fork"), answered
        )

    def take(self, event: HostEvent) -> None:
        """Take one live event: the fork goes on with it, opens or fails."""
        fork = self._fork
        if fork is None:
            return
        match event:
            case TurnEnded() if not fork.sent and event.agent == MAIN_LANE:
                self._send(fork)
            case SessionOpened() if event.session_id != fork.left:
                self._fork = None
                if fork.sent:
                    self._tab.when_shown(partial(self._opened, fork))
            case TurnStarted() | Failed() if fork.sent:
                # It was refused: what opens next is no fork.
                self._fork = None
            case _:
                pass

    def _send(self, fork: _Fork) -> None:
        fork.sent = True
        self._fork = fork
        self._client.fork(fork.before_turn)

    def _opened(self, fork: _Fork) -> None:
        words = "Forked. The session it came from is unchanged; /resume lists it."
        prompt = self._screen.prompt
        if fork.prompt:
            if prompt.input.text:
                # A draft is never overwritten: the prompt is next in the history.
                prompt.input.past.add(fork.prompt)
                words = "Forked. Your draft was kept: the prompt is in the history."
            else:
                prompt.restore(fork.prompt)
        prompt.input.focus()
        self._tab.say(words)
