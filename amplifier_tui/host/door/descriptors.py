"""What is written to the program's own standard output and error, past Python: caught.

And its standard input, for itself alone.

Libraries in C, child processes that inherit them and `os.write` reach the terminal without
`sys.stdout`. On a full screen that is damage.
"""

import os
import sys
import threading
import traceback
from collections import deque
from collections.abc import Callable
from functools import partial
from io import BufferedReader, FileIO, TextIOWrapper
from typing import Final, Self, TextIO

LINE_LIMIT: Final = 2_000
"""Bytes of one line that are passed on; the rest is dropped."""
_MOST_HELD: Final = 200

OnLine = Callable[[str], None]


class DescriptorCapture:
    """Puts a pipe in the place of descriptors 1 and 2.

    The terminal stays reachable as ``sys.__stdout__`` and ``sys.__stderr__``, for who draws on it.
    """

    def __init__(self) -> None:
        self._saved: tuple[int, int] | None = None
        self._streams: tuple[TextIO | None, TextIO | None] = (None, None)
        self._excepthook = threading.excepthook
        self._held: deque[str] = deque(maxlen=_MOST_HELD)
        self._takers: list[OnLine] = []
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        """Begin; see `take`."""
        self.take()
        return self

    def __exit__(self, *_: object) -> None:
        """End."""
        self.give_back()

    def take(self) -> None:
        """Begin. Both descriptors must be open."""
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        self._saved = (os.dup(1), os.dup(2))
        self._streams = (sys.__stdout__, sys.__stderr__)
        terminals = [os.fdopen(os.dup(number), "w", encoding="utf-8") for number in self._saved]
        # Who draws looks there.
        vars(sys).update(__stdout__=terminals[0], __stderr__=terminals[1])
        reading, writing = os.pipe()
        for number in (1, 2):
            os.dup2(writing, number)
        os.close(writing)
        self._excepthook, threading.excepthook = threading.excepthook, _write_error
        threading.Thread(target=self._read, args=(reading,), name="printed", daemon=True).start()

    def give_back(self) -> None:
        """End, once: both descriptors and streams are what they were."""
        saved, self._saved = self._saved, None
        if saved is None:
            return
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        for number, copy in zip((1, 2), saved, strict=True):
            os.dup2(copy, number)
            os.close(copy)
        vars(sys).update(__stdout__=self._streams[0], __stderr__=self._streams[1])
        threading.excepthook = self._excepthook

    def pass_on(self, on_line: OnLine) -> Callable[[], None]:
        """Give every line, those that came before included, to a function, called in a thread.

        Nobody can tell which of several sessions a line is of: the function that came last gets it.

        Returns:
            What ends it.
        """
        with self._lock:
            self._takers.append(on_line)
            held = list(self._held)
            self._held.clear()
        for line in held:
            on_line(line)
        return partial(self._forget, on_line)

    def _forget(self, on_line: OnLine) -> None:
        with self._lock:
            if on_line in self._takers:
                self._takers.remove(on_line)

    def _read(self, reading: int) -> None:
        with os.fdopen(reading, "rb", 0) as file:
            rest = b""
            while data := file.read(65_536):
                *lines, rest = (rest + data).split(b"\n")
                rest = rest[:LINE_LIMIT]
                for line in lines:
                    self._take_line(line[:LINE_LIMIT])
            self._take_line(rest)

    def _take_line(self, line: bytes) -> None:
        text = line.decode("utf-8", "replace").rstrip()
        if not text:
            return
        with self._lock:
            on_line = self._takers[-1] if self._takers else None
            if on_line is None:
                self._held.append(text)
        if on_line is not None:
            on_line(text)


def _write_error(raised: threading.ExceptHookArgs) -> None:
    """Write what a thread raised to the descriptor: a full screen keeps `sys.stderr` for itself."""
    if raised.exc_type is not SystemExit:
        error = raised.exc_value or raised.exc_type()
        text = "".join(traceback.format_exception(error))
        os.write(2, text.encode("utf-8", "replace"))


def take_input() -> FileIO:
    """Return standard input, unbuffered; whoever else reads it from now on finds its end.

    A module, or a program that one starts, would read lines that are meant for this one.
    """
    own = FileIO(os.dup(0))
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return own


def take_keyboard() -> None:
    """Keep the terminal's keys for who draws on it, who finds them as ``sys.__stdin__``.

    See `take_input`.
    """
    vars(sys).update(__stdin__=TextIOWrapper(BufferedReader(take_input()), encoding="utf-8"))
