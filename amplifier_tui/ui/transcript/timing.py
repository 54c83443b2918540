"""Lines whose time runs, and a timer that exists only while its job has something to do."""

from collections.abc import Callable

from textual.timer import Timer
from textual.widget import Widget

from amplifier_tui.ui.transcript.entries.renderer import Renderer
from amplifier_tui.ui.transcript.layout.item import DrawnEntry

PULSE_PERIOD = 1 / 4
"""Seconds between two frames of the spinner."""

_FRAMES = "◐◓◑◒"


class Pulse:
    """Keeps the items whose line changes with time; the newest one has the spinner."""

    def __init__(self, renderer: Renderer) -> None:
        self._renderer = renderer
        self._items: dict[DrawnEntry, None] = {}
        self._frame = 0
        self.still = False

    @property
    def active(self) -> bool:
        """Whether anything runs."""
        return bool(self._items)

    def watch(self, item: DrawnEntry) -> None:
        """Look at an item that came or changed."""
        if item.ticking:
            self._items[item] = None
        else:
            self._items.pop(item, None)
        self._choose()

    def leave(self, item: DrawnEntry) -> None:
        """Forget an item."""
        self._items.pop(item, None)
        self._choose()

    def clear(self) -> None:
        """Forget all items."""
        self._items.clear()
        self._choose()

    def beat(self, now: float) -> list[DrawnEntry]:
        """Move on to the next frame; return the items whose line may have changed."""
        self._frame = 0 if self.still else (self._frame + 1) % len(_FRAMES)
        self._renderer.spinner = _FRAMES[self._frame]
        self._renderer.now = now
        return list(self._items)

    def _choose(self) -> None:
        self._renderer.spinning = next(reversed(self._items), None)


class Ticker:
    """Calls a job every `period` seconds until the job says (False) that it is done."""

    def __init__(self, widget: Widget, period: float, job: Callable[[], bool]) -> None:
        self._widget = widget
        self._period = period
        self._job = job
        self._timer: Timer | None = None

    @property
    def running(self) -> bool:
        """Whether the timer exists."""
        return self._timer is not None

    def start(self) -> None:
        """Begin to tick, unless it does already."""
        if self._timer is None:
            self._timer = self._widget.set_interval(self._period, self._tick)

    def _tick(self) -> None:
        if self._timer is not None and not self._job():
            self._timer.stop()
            self._timer = None
