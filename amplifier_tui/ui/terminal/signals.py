"""SIGTERM and SIGHUP end the program in order: rows on disk, terminal restored."""

import asyncio
import os
import signal
import threading
from collections.abc import Callable

from amplifier_tui.ui.terminal.guard import TerminalGuard

PATIENCE = 8.0
"""Seconds an orderly end may take after a signal before the process ends itself."""

_NAMES = ("SIGTERM", "SIGHUP")


def install(
    loop: asyncio.AbstractEventLoop, leave: Callable[[str], None], guard: TerminalGuard
) -> Callable[[], None]:
    """Handle the signals on the loop.

    Args:
        loop: The UI loop.
        leave: Begins the orderly end; gets the signal's name.
        guard: Puts the terminal back when the orderly end takes too long.

    Returns:
        A function that takes the handlers away again.
    """
    numbers = [getattr(signal, name) for name in _NAMES if hasattr(signal, name)]

    def received(number: signal.Signals) -> None:
        # The terminal may be gone, and then writing to it can block for ever.
        killer = threading.Timer(PATIENCE, _end, (guard, 128 + number))
        killer.daemon = True
        killer.start()
        leave(number.name)

    installed: list[int] = []
    for number in numbers:
        try:
            loop.add_signal_handler(number, received, signal.Signals(number))
        except (NotImplementedError, RuntimeError, ValueError):
            continue  # Windows, or not the main thread
        installed.append(number)

    def remove() -> None:
        for number in installed:
            loop.remove_signal_handler(number)

    return remove


def _end(guard: TerminalGuard, status: int) -> None:
    guard.restore()
    os._exit(status)
