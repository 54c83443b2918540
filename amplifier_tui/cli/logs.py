"""Where log records go: a file of our own, or stderr beside a report; never the screen."""

import logging
import sys
from logging.handlers import RotatingFileHandler

from amplifier_tui.base.text import clean
from amplifier_tui.paths import user_log_dir

SIZE = 1_000_000
"""Bytes of one log file; three are kept."""


class _Quiet(RotatingFileHandler):
    """Leaves out what the disk does not take: a traceback of it would come up as a notice."""

    def handleError(self, record: logging.LogRecord) -> None:
        if not isinstance(sys.exc_info()[1], OSError):
            super().handleError(record)


def log_to_file() -> None:
    """Send the program's own records and all warnings to a file.

    Without a writable log directory nothing is logged; the program runs all the same.
    """
    path = user_log_dir() / "amplifier-tui.log"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handler = _Quiet(path, maxBytes=SIZE, backupCount=2, encoding="utf-8")
    except OSError:
        handler = None
    root = logging.getLogger()
    root.addHandler(handler if handler is not None else logging.NullHandler())
    root.setLevel(logging.WARNING)
    logging.getLogger("amplifier_tui").setLevel(logging.INFO)


class _Cleaned(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        # Words of a module, which a terminal would take for more than text.
        return clean(super().format(record))


def log_to_stderr() -> None:
    """Print warnings and errors, the module's own among them."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Cleaned("%(levelname)s %(name)s: %(message)s"))
    handler.setLevel(logging.WARNING)
    logging.getLogger().addHandler(handler)
