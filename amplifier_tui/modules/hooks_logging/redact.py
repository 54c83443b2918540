"""No secrets in the log by the shape of their value; the kernel knows them by their name."""

from __future__ import annotations

import re
from typing import Final

from amplifier_tui.kernel.utils.truncate import REDACTED

_SHAPES: Final = re.compile(
    r"sk-[A-Za-z0-9_-]{20,}|gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,}|"
    r"AKIA[0-9A-Z]{16}|AIza[0-9A-Za-z_-]{35}|xox[abprs]-[A-Za-z0-9-]{10,}|"
    r"glpat-[A-Za-z0-9_-]{20,}|(?<=Bearer )[A-Za-z0-9._~+/-]{20,}"
)
"""Published formats of keys."""


def redacted_text(text: str) -> str:
    """Return a line of JSON without what has the shape of a key."""
    return _SHAPES.sub(REDACTED, text)
