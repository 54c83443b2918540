"""Going through the modes by one key, which passes some on the way to another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.timer import Timer

    from amplifier_tui.host.client import SessionClient
    from amplifier_tui.host.events import Mode
    from amplifier_tui.ui.state.session import SessionState

CYCLE: Final[tuple[Mode, ...]] = ("plan", "ask", "edits")
"""`auto` is chosen in a list that says what it means, never in passing."""

SETTLE: Final = 1.5
"""Seconds without another step after which a mode counts while a turn runs."""


def following(mode: Mode) -> Mode:
    """Return the mode the key goes on to from one."""
    at = CYCLE.index(mode) if mode in CYCLE else -1
    return CYCLE[(at + 1) % len(CYCLE)]


class ModeSteps:
    """Sets the mode that the key was stopped at.

    A mode answers the calls that wait or come, so while a turn runs none counts that is only
    passed: ask and plan have edits between them.

    Args:
        later: Calls something after so many seconds.
        say: Shows a line in the status bar.
        unsay: Takes that line off.
    """

    def __init__(
        self,
        later: Callable[[float, Callable[[], None]], Timer],
        say: Callable[[str], None],
        unsay: Callable[[str], None],
    ) -> None:
        self._later, self._say, self._unsay = later, say, unsay
        self._timer: Timer | None = None
        self._towards: tuple[SessionClient, Mode] | None = None
        self._words = ""

    def step(self, client: SessionClient, state: SessionState) -> None:
        """Go on to the next mode of a session."""
        passed = self._towards[1] if self._towards and self._towards[0] is client else None
        target = following(passed or state.facts.mode)
        self.forget()
        if passed is None and not state.activity.running:
            client.set_mode(target)
            return
        self._towards = (client, target)
        self._timer = self._later(SETTLE, self._settle)
        self._words = f"Mode {target} in a moment"
        self._say(self._words)

    def forget(self) -> None:
        """Set nothing any more: a mode was chosen in another way."""
        if self._timer is not None:
            self._timer.stop()
            self._unsay(self._words)
        self._timer = self._towards = None

    def _settle(self) -> None:
        towards = self._towards
        self.forget()
        if towards is not None:
            client, mode = towards
            client.set_mode(mode)
