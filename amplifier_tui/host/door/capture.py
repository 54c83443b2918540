"""What modules print: caught on the engine thread, shown as notices, never on the screen.

Some published hooks print. On the screen of a full screen program, or between the lines that
another program reads, a print is damage.
"""

import asyncio
import io
import logging
import re
import sys
import threading
from collections.abc import Callable
from typing import Final, Literal, TextIO

from amplifier_tui.kernel.mounting.errors import is_own, place_in_traceback

logger = logging.getLogger(__name__)

LINE_LIMIT: Final = 2_000
"""Characters of one printed line that are passed on."""

Name = Literal["stdout", "stderr"]
_NAMES: Final[tuple[Name, ...]] = ("stdout", "stderr")

OnLine = Callable[[str, str], None]
"""Gets one printed line and its stream, `stdout` or `stderr`."""

OnText = Callable[[str, str, bool], None]
"""Gets a printed text, its stream, and whether the code that printed it runs meanwhile."""


class _Lines:
    """Cuts what one thread prints to one stream into lines."""

    def __init__(self, name: Name, on_line: OnLine) -> None:
        self._name = name
        self._on_line = on_line
        self._partial = ""
        self._busy = False

    def take(self, text: str) -> None:
        """Take text, and pass on the lines that end in it."""
        self._partial += text
        *lines, self._partial = self._partial.split("\n")
        if len(self._partial) > LINE_LIMIT:
            lines.append(self._partial)
            self._partial = ""
        self._pass_on(lines)

    def finish(self) -> None:
        """Pass on what has no line end yet."""
        partial, self._partial = self._partial, ""
        self._pass_on([partial])

    def _pass_on(self, lines: list[str]) -> None:
        if self._busy:  # Whoever takes the lines may print, or log to a stream.
            return
        self._busy = True
        try:
            for line in lines:
                if line.strip():
                    self._on_line(line.rstrip()[:LINE_LIMIT], self._name)
        except Exception:
            logger.exception("A printed line could not be passed on")
        finally:
            self._busy = False


class _Router(io.TextIOBase):
    """Stands in for a standard stream: what a caught thread prints goes to it, the rest through."""

    encoding = "utf-8"

    def __init__(self, behind: TextIO) -> None:
        super().__init__()
        self.behind = behind
        self.caught: dict[int, _Lines] = {}
        """By thread."""

    def writable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return False

    def fileno(self) -> int:
        return self.behind.fileno()

    def write(self, text: str) -> int:
        lines = self.caught.get(threading.get_ident())
        if lines is None:
            return self.behind.write(text)
        lines.take(text)
        return len(text)

    def flush(self) -> None:
        if threading.get_ident() not in self.caught:
            self.behind.flush()

    def close(self) -> None:
        """Leave the stream behind to its owner, who may have closed it when this is collected."""


_changing = threading.Lock()
"""Held while a standard stream is replaced: several engines come and go in one process."""


TRACEBACK: Final = "Traceback (most recent call last):"
GATHERED: Final = 0.05
"""Seconds after which a traceback is passed on as far as it came."""

MOST_LINES: Final = 100
"""Lines of a traceback that are passed on."""
_CHAINED: Final = (
    "The above exception was the direct cause of",
    "During handling of the above exception,",
)


_WARNING: Final = re.compile(r"(\S.*:\d+): (\w*Warning: .+)")
"""The first line of a warning of Python's."""
_WARNING_GOES_ON: Final = re.compile(r"  |\w*Warning: Enable tracemalloc ")


class Tracebacks:
    """Passes printed lines on, those of a traceback or of a warning of Python's as one text.

    Of a traceback that is its last line with the place in a module's code, and then all of it; of a
    warning what it says, with the place unless that is the program's own.

    Args:
        on_text: Gets each text. Of one that was gathered nobody knows who runs meanwhile.
    """

    def __init__(self, on_text: OnText) -> None:
        self._on_text = on_text
        self._lines: dict[str, list[str]] = {}
        """What is being printed of one text, by stream."""

    def take(self, line: str, stream: str) -> None:
        """Take the next line; on an event loop."""
        lines = self._lines.get(stream)
        if lines is not None and _continues(lines, line):
            lines.append(line)
            return
        self._flush(stream)
        if TRACEBACK not in line and not _WARNING.match(line):
            self._on_text(line, stream, True)
            return
        self._lines[stream] = [line]
        asyncio.get_running_loop().call_later(GATHERED, self._flush, stream)

    def finish(self) -> None:
        """Pass on what is gathered so far."""
        for stream in tuple(self._lines):
            self._flush(stream)

    def _flush(self, stream: str) -> None:
        lines = self._lines.pop(stream, None)
        if lines is None:
            return
        if warning := _WARNING.match(lines[0]):
            place, said = warning.groups()
            self._on_text(said if is_own(place) else f"{said} ({place})", stream, False)
        else:
            # The innermost calls say most.
            shown = "\n".join(lines[-MOST_LINES:])
            place = place_in_traceback(shown)
            said = lines[-1].strip() + (f" ({place})" if place else "")
            self._on_text(f"{said}\n{shown}", stream, False)


def _continues(lines: list[str], line: str) -> bool:
    """Whether a line belongs to a traceback or a warning, as far as that came."""
    if _WARNING.match(lines[0]):
        return bool(_WARNING_GOES_ON.match(line))
    last = lines[-1]
    within = last[:1] in (" ", "|") or TRACEBACK in last or last.startswith(_CHAINED)
    return within or line.startswith(_CHAINED)


class PrintCapture:
    """Catches what the thread that calls `start` prints from then on."""

    def __init__(self, on_line: OnLine) -> None:
        self._on_line = on_line
        self._thread = 0
        self._routers: list[_Router] = []

    def start(self) -> None:
        """Begin; called on the engine thread."""
        self._thread = threading.get_ident()
        with _changing:
            for name in _NAMES:
                stream = getattr(sys, name)
                if not isinstance(stream, _Router):
                    stream = _Router(stream)
                    setattr(sys, name, stream)
                stream.caught[self._thread] = _Lines(name, self._on_line)
                self._routers.append(stream)

    def stop(self) -> None:
        """End; the last one gives the streams back, unless somebody else replaced them since."""
        with _changing:
            for name, router in zip(_NAMES, self._routers, strict=False):
                router.caught.pop(self._thread).finish()
                if not router.caught and getattr(sys, name) is router:
                    setattr(sys, name, router.behind)
            self._routers.clear()
