"""Waking a thread that waits for news."""

import contextlib
from queue import Empty, SimpleQueue


class Wakeup:
    """Wakes the thread that waits on it, from any thread and from a signal handler.

    `threading.Event` has a lock that its `wait` takes too: a signal handler that ran there and
    called `set` would wait for its own thread for ever.
    """

    def __init__(self) -> None:
        self._calls: SimpleQueue[None] = SimpleQueue()

    def set(self) -> None:
        """Wake the waiting thread; if none waits, its next `wait` returns at once."""
        self._calls.put(None)

    def wait(self, timeout: float) -> None:
        """Wait for `set`, at most `timeout` seconds; calls so far count as one."""
        with contextlib.suppress(Empty):
            self._calls.get(timeout=timeout)
            while True:
                self._calls.get_nowait()
