"""What the terminal sends: keys Textual misreads, pastes and answers it would take for keys.

Textual's parser reads on for key sequences after an escape character, in the middle of a bracketed
paste too, and presses what it does not know as keys: an escape on the clipboard and a few letters
behind it would answer an approval dialog. Not every terminal takes escapes out of a paste.
"""

from __future__ import annotations

import logging
import os
import signal
from collections.abc import Iterable
from encodings.utf_8 import IncrementalDecoder
from importlib import import_module
from sys import platform
from typing import TYPE_CHECKING, Any, cast

from textual import _ansi_sequences
from textual._time import get_time
from textual._xterm_parser import BRACKETED_PASTE_END, BRACKETED_PASTE_START, XTermParser
from textual.constants import ESCAPE_DELAY
from textual.events import Key
from textual.keys import Keys, _character_to_key
from textual.message import Message

from amplifier_tui.ui.terminal.background import AnswerReader, message_of
from amplifier_tui.ui.terminal.shift_enter import keys_told

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

    from amplifier_tui.base.text import StreamCleaner

_log = logging.getLogger(__name__)
CTRL_SPACE = "ctrl+space"
"""What a NUL is, which terminals without the kitty protocol send; Textual calls it `ctrl+@`."""

key_time = get_time
"""Returns the time of now, in seconds of the clock that stamps keys."""


def prepare_input() -> None:
    """Have Textual read this program's keys and pastes; called before the app runs."""
    teach_keys()
    guard_pastes()
    read_any_bytes()
    end_with_terminal()


def teach_keys() -> None:
    """Teach Textual what alt+enter is in terminals without the kitty protocol: without this it
    would arrive as enter, and send the prompt.
    """
    table = cast("dict[str, tuple[Keys, ...] | str]", _ansi_sequences.ANSI_SEQUENCES_KEYS)
    table["\x1b\r"] = (Keys.ControlJ,)
    table["\x1b\n"] = (Keys.ControlJ,)


def guard_pastes() -> None:
    """Let the terminal's driver read through the guard."""
    # The driver offers no place for a parser of one's own.
    _driver()["XTermParser"] = GuardedParser


def read_any_bytes() -> None:
    """Let the driver take bytes that are no UTF-8 for U+FFFD: as it is, one of them ends it.

    A terminal sends what it was given: a paste from a file in Latin-1, noise on a serial line.
    """
    _driver()["getincrementaldecoder"] = lambda _: _Decoder


class _Decoder(IncrementalDecoder):
    """Reads UTF-8 and whatever else comes, up to the end of the input."""

    def __init__(self) -> None:
        super().__init__("replace")

    def decode(self, data: ReadableBuffer, final: bool = False) -> str:
        if not data:
            raise EOFError("it has hung up")
        return super().decode(data, final)


def end_with_terminal() -> None:
    """Have the program end when its terminal is gone, also where nobody tells it with SIGHUP.

    The kernel tells the session's leader alone, which may be a script or another program. Textual
    would go on, and look for keys as often as it can.
    """
    driver = _driver().get("LinuxDriver")
    if driver is None:  # Windows
        return
    read_keys = driver.run_input_thread

    def run_input_thread(reader: object) -> None:
        try:
            read_keys(reader)
        except (EOFError, OSError) as error:
            _log.warning("The terminal is gone: %s", error)
            os.kill(os.getpid(), signal.SIGHUP)

    setattr(driver, run_input_thread.__name__, run_input_thread)


def _driver() -> dict[str, Any]:
    """Return what is in the module of the terminal's driver."""
    name = "win32" if platform == "win32" else "linux_driver"
    return vars(import_module(f"textual.drivers.{name}"))


def key_name(character: str) -> str:
    """Return Textual's name of the key that types a character: `?` is `question_mark`."""
    return _character_to_key(character)


class PasteGuard:
    """Cleans what stands between the marks of bracketed pastes, wherever the input is cut."""

    def __init__(self) -> None:
        self._cleaner: StreamCleaner | None = None
        self._held = ""
        self._seen = ""
        self.answers = AnswerReader()
        """What stands outside of pastes goes through it."""

    def feed(self, data: str) -> str:
        """Return the input with its pastes cleaned; a mark cut in two is held back."""
        found: list[str] = []
        while data:
            if self._cleaner is None:
                data = self._typed(data, found)
            else:
                data = self._pasted(data, self._cleaner, found)
        return "".join(found)

    def _typed(self, data: str, found: list[str]) -> str:
        """Pass input on up to the beginning of a paste; returns what follows it."""
        # The parser needs the characters of a mark as they come: a lone escape is a key.
        before = len(self._seen)
        at = (self._seen + data).find(BRACKETED_PASTE_START)
        if at < 0:
            found.append(self.answers.feed(data))
            self._seen = (self._seen + data)[1 - len(BRACKETED_PASTE_START) :]
            return ""
        from amplifier_tui.base.text import StreamCleaner

        end = at + len(BRACKETED_PASTE_START) - before
        found.append(self.answers.feed(data[:end]))
        self._seen = ""
        self._cleaner = StreamCleaner(invisible=True)
        return data[end:]

    def _pasted(self, data: str, cleaner: StreamCleaner, found: list[str]) -> str:
        """Clean input up to the end of the paste; returns what follows it."""
        data, self._held = self._held + data, ""
        at = data.find(BRACKETED_PASTE_END)
        if at >= 0:
            found += [cleaner.feed(data[:at]), cleaner.finish(), BRACKETED_PASTE_END]
            self._cleaner = None
            return data[at + len(BRACKETED_PASTE_END) :]
        sizes = range(len(BRACKETED_PASTE_END) - 1, 0, -1)
        kept = next((size for size in sizes if data.endswith(BRACKETED_PASTE_END[:size])), 0)
        whole = len(data) - kept
        self._held = data[whole:]
        found.append(cleaner.feed(data[:whole]))
        return ""


class GuardedParser(XTermParser):
    """Textual's parser behind a guard."""

    def __init__(self, debug: bool = False) -> None:
        self._guard = PasteGuard()
        self._told: list[Message] = []
        self._last = 0.0
        super().__init__(debug)

    def feed(self, data: str) -> Iterable[Message]:
        """Parse input; an empty string ends it."""
        self._last = get_time()
        guarded = self._guard.feed(data)
        # An empty string would mean the end: everything may have been held back.
        yield from super().feed(guarded) if guarded or not data else ()
        yield from self._new()

    def tick(self) -> Iterable[Message]:
        """Take for keys what has waited too long for its rest; called ten times a second."""
        yield from super().tick()
        if get_time() - self._last >= ESCAPE_DELAY and (held := self._guard.answers.release()):
            yield from super().feed(held)

    def _new(self) -> Iterable[Message]:
        told, self._told = self._told, []
        return told

    def _sequence_to_key_events(self, sequence: str, alt: bool = False) -> Iterable[Key]:
        if sequence == "\0":
            return [Key(f"alt+{CTRL_SPACE}" if alt else CTRL_SPACE, None)]
        message = message_of(sequence) or keys_told(sequence)
        if message is None:
            try:
                return list(super()._sequence_to_key_events(sequence, alt))
            except (ValueError, OverflowError):
                # A number that no key has: noise, not worth the session.
                return [Key(Keys.Ignore, None)]
        self._told.append(message)
        return [Key(Keys.Ignore, None)]
