"""A timer that ends by itself."""

from collections.abc import Callable

from textual.timer import Timer
from textual.widget import Widget


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
