"""What modules print: caught on the engine thread, shown as notices, never on the screen.

Some published hooks print. On the screen of a full screen program, or between the lines of
`run --jsonl`, a print is damage.
"""

import io
import logging
import sys
import threading
from collections.abc import Callable
from typing import Final, Literal, TextIO

logger = logging.getLogger(__name__)

LINE_LIMIT: Final = 2_000
"""Characters of one printed line that are passed on."""

Name = Literal["stdout", "stderr"]
_NAMES: Final[tuple[Name, ...]] = ("stdout", "stderr")

OnLine = Callable[[str, str], None]
"""Gets one printed line and its stream, `stdout` or `stderr`."""


class _Router(io.TextIOBase):
    """Stands in for a standard stream: lines of one thread go to `on_line`, the rest through."""

    encoding = "utf-8"

    def __init__(self, name: Name, behind: TextIO, on_line: OnLine) -> None:
        super().__init__()
        self._name = name
        self.behind = behind
        self._on_line = on_line
        self._thread = threading.get_ident()
        self._partial = ""
        self._busy = False

    def writable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return False

    def fileno(self) -> int:
        return self.behind.fileno()

    def write(self, text: str) -> int:
        if threading.get_ident() != self._thread:
            return self.behind.write(text)
        self._partial += text
        *lines, self._partial = self._partial.split("\n")
        if len(self._partial) > LINE_LIMIT:
            lines.append(self._partial)
            self._partial = ""
        self._pass_on(lines)
        return len(text)

    def flush(self) -> None:
        if threading.get_ident() != self._thread:
            self.behind.flush()

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


class PrintCapture:
    """Catches what the thread that calls `start` prints from then on."""

    def __init__(self, on_line: OnLine) -> None:
        self._on_line = on_line
        self._routers: dict[Name, _Router] = {}

    def start(self) -> None:
        """Begin; called on the engine thread."""
        for name in _NAMES:
            router = _Router(name, getattr(sys, name), self._on_line)
            self._routers[name] = router
            setattr(sys, name, router)

    def stop(self) -> None:
        """Give the streams back, unless somebody else replaced them since."""
        for name, router in self._routers.items():
            router.finish()
            if getattr(sys, name) is router:
                setattr(sys, name, router.behind)
        self._routers.clear()
