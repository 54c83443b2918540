"""Where the records of the `module` commands go: to stderr, beside the report."""

import logging
import sys

from amplifier_tui.base.text import clean


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
