"""The terminal outside of Textual: its title, its colours, and giving it back whatever happens."""

from __future__ import annotations

import asyncio
import atexit
import os
import signal
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from amplifier_tui.base.watcher import watcher

if TYPE_CHECKING:
    from textual.app import App

OWN_MODES_OFF = "\x1b[?2031l\x1b[>4m"
"""Undoes `own_modes`, and reports of other colours."""

RESET = (
    "\x1b[?2026l"  # a frame that was begun ends
    "\x1b[<u"  # kitty keyboard protocol off
    "\x1b[?1000l\x1b[?1003l\x1b[?1015l\x1b[?1006l\x1b[?1016l"  # mouse off
    "\x1b[?1004l\x1b[?2004l\x1b[?2048l"  # focus events, bracketed paste, in-band resize off
    f"{OWN_MODES_OFF}"
    "\x1b[?7h\x1b[0m"  # line wrap on, colours off
    "\x1b[?1049l\x1b[?25h"  # main screen, cursor on
    "\x1b]22;\x07"  # pointer shape
)
"""Undoes every mode the program may have set; harmless where it was not set."""

PATIENCE = 8.0
"""Seconds an orderly end may take after a signal before the process ends itself."""

_SIGNALS = ("SIGTERM", "SIGHUP")


class TerminalGuard:
    """Puts the terminal back as it was when the program dies in a way Textual does not cover:
    an exception outside its loop, `sys.exit` from a thread, a signal.
    """

    def __init__(self) -> None:
        self._saved: list[Any] | None = None
        self._handle = -1
        self._armed = False

    def arm(self) -> None:
        """Remember the terminal's settings; does nothing without a terminal."""
        if sys.__stdin__ is None or not sys.__stdin__.isatty():
            return
        try:
            import termios
        except ImportError:  # Windows
            return
        self._handle = sys.__stdin__.fileno()
        self._saved = termios.tcgetattr(self._handle)
        self._armed = True
        atexit.register(self.restore)

    def watch(self) -> None:
        """Have the terminal put back also when the program is killed; starts a process."""
        if self._armed and self._saved is not None:
            watcher().watch_terminal(self._handle, self._saved, RESET)

    def disarm(self) -> None:
        """The program ended in order and Textual has put the terminal back."""
        self._armed = False
        watcher().release_terminal()

    def restore(self) -> None:
        """Put the terminal back, once; safe from a signal handler or another thread."""
        if not self._armed or self._saved is None:
            return
        self._armed = False
        import termios

        out = sys.__stderr__ if sys.__stderr__ is not None else sys.__stdout__
        try:
            if out is not None:
                os.write(out.fileno(), RESET.encode())
            termios.tcsetattr(self._handle, termios.TCSANOW, self._saved)
            watcher().release_terminal()
        except (OSError, ValueError, termios.error):
            # The terminal is gone (the window was closed): there is nothing to put back.
            return


def save_title() -> None:
    """Ask the terminal to remember its title."""
    _say("\x1b[22;2t")


def restore_title() -> None:
    """Give the terminal the title back that `save_title` remembered."""
    _say("\x1b[23;2t")


def end_own_modes() -> None:
    """Switch off what Textual knows nothing of; see `own_modes`."""
    _say(OWN_MODES_OFF)


def own_modes(environ: Mapping[str, str]) -> str:
    """Return what switches on the modes that Textual does not.

    tmux does not have the kitty keyboard protocol: with `extended-keys on` it tells shift+enter
    from enter where it is asked to in xterm's way.
    """
    return "\x1b[>4;1m" if environ.get("TMUX") else ""


def _say(sequence: str) -> None:
    if sys.__stderr__ is not None:
        # The window may have been closed.
        with suppress(OSError):
            sys.__stderr__.write(sequence)
            sys.__stderr__.flush()


def takes_true_color(environ: Mapping[str, str]) -> bool:
    """Say whether the terminal takes 24-bit colours unsaid: tmux does, and sets no COLORTERM."""
    asked = ("COLORTERM", "TEXTUAL_COLOR_SYSTEM", "NO_COLOR")
    return "TMUX" in environ and not any(environ.get(name) for name in asked)


def set_title(app: App[Any], title: str) -> None:
    """Write the terminal's title; `title` is clean already. Nothing happens without a terminal."""
    write(app, f"\x1b]2;{title}\x07")


def through_tmux(sequence: str) -> str:
    """Return a sequence wrapped so that tmux hands it to the terminal outside."""
    doubled = sequence.replace("\x1b", "\x1b\x1b")
    return f"\x1bPtmux;{doubled}\x1b\\"


def through_screen(sequence: str) -> str:
    """Return a sequence wrapped so that GNU screen hands it to the terminal outside."""
    return f"\x1bP{sequence}\x1b\\"


def write(app: App[Any], sequence: str) -> None:
    """Send a control sequence of our own to the terminal, in order with what Textual draws."""
    # Textual offers no way to do it; its driver has the only queue there is.
    driver = app._driver
    if driver is not None and not app.is_headless:
        driver.write(sequence)


def handle_signals(
    app: App[Any], leave: Callable[[str], None], guard: TerminalGuard
) -> Callable[[], None]:
    """Hear signals between two events of the loop; return a function that takes this back.

    SIGTERM and SIGHUP end the program in order: `leave` begins the end and gets the signal's name;
    where it takes too long, `guard` puts the terminal back. After a stop the screen begins anew.
    """

    def received(number: signal.Signals) -> None:
        # The terminal may be gone, and then writing to it can block for ever.
        killer = threading.Timer(PATIENCE, _end, (guard, 128 + number))
        killer.daemon = True
        killer.start()
        leave(number.name)

    ends = [getattr(signal, name) for name in _SIGNALS if hasattr(signal, name)]
    handlers = _stop_handlers(app)
    handlers |= {number: partial(received, signal.Signals(number)) for number in ends}
    loop = asyncio.get_running_loop()
    installed: list[int] = []
    for number, handler in handlers.items():
        try:
            loop.add_signal_handler(number, handler)
        except (NotImplementedError, RuntimeError, ValueError):
            continue  # Windows, or not the main thread
        installed.append(number)

    def remove() -> None:
        for number in installed:
            loop.remove_signal_handler(number)

    return remove


def _stop_handlers(app: App[Any]) -> dict[int, Callable[[], None]]:
    """Return what stops the program as its terminal asks, and has it go on after any stop.

    Textual does both where the signal finds it: in the middle of a write or, as the signal may come
    twice, of going on itself, which then waits for itself for ever. And it knows only of a stop by
    the terminal (SIGTSTP). After another one it would draw nothing and begin beside itself, with
    two threads that read the keys.
    """
    driver: Any = app._driver
    if not hasattr(driver, "_must_signal_resume"):
        return {}

    def go_on() -> None:
        if not driver._must_signal_resume:
            driver.suspend_application_mode()
            driver._must_signal_resume = True
        driver.resume_application_mode()

    return {signal.SIGTSTP: driver._sigtstp_application, signal.SIGCONT: go_on}


def end_on_interrupt(guard: TerminalGuard, words: Callable[[], str]) -> None:
    """Have ctrl+c end the program at once, with these words: no screen hears the key any more.

    Nothing that is still waited for is worth a traceback.
    """

    def ended(number: int, frame: object) -> None:
        signal.signal(number, signal.SIG_IGN)
        guard.restore()
        out = sys.__stdout__
        if out is not None and (said := words()):
            os.write(out.fileno(), f"{said}\n".encode(errors="replace"))
        os._exit(128 + number)

    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, ended)


def _end(guard: TerminalGuard, status: int) -> None:
    guard.restore()
    os._exit(status)
