"""The one-line messages of hooks and host: the current one and the history."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from amplifier_tui.host.events import Level, Notice
from amplifier_tui.ui.state.section import Section, on

LIFETIME = 8.0
"""Seconds a notice stays in the status bar unless the next one comes."""

_HISTORY = 200


@dataclass(frozen=True, slots=True)
class ShownNotice:
    """A notice with the time it reached the screen, in seconds of the screen's clock."""

    notice: Notice
    since: float

    @property
    def level(self) -> Level:
        """How bad it is."""
        return self.notice.level


class Notices(Section):
    """Notices, newest last, on the screen's clock in seconds."""

    def __init__(self, clock: Callable[[], float]) -> None:
        super().__init__()
        self._clock = clock
        self._current: ShownNotice | None = None
        self.history: deque[ShownNotice] = deque(maxlen=_HISTORY)

    @on(Notice)
    def _noticed(self, event: Notice) -> None:
        """A replayed notice goes to the history only."""
        shown = ShownNotice(event, self._clock())
        self.history.append(shown)
        if not event.replayed:
            self._current = shown
        self.touch()

    def current(self, now: float) -> ShownNotice | None:
        """Return the notice to show at `now`, or None when the last one has expired."""
        shown = self._current
        if shown is None or now - shown.since >= LIFETIME:
            return None
        return shown

    def dismiss(self) -> None:
        """Take the current notice off the status bar; the history keeps it."""
        if self._current is not None:
            self._current = None
            self.touch()
