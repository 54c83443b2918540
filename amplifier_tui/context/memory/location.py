"""Where memories are kept unless somebody says otherwise."""

from __future__ import annotations

import os
from pathlib import Path


def memory_path(configured: str | None = None) -> Path:
    """Return the file of memories.

    Args:
        configured: The file somebody wants, ``~`` for the user's home; None for
            ``memory.sqlite3`` in the Amplifier home (``AMPLIFIER_HOME``, ``~/.amplifier``).
    """
    if configured:
        return Path(configured).expanduser()
    home = os.environ.get("AMPLIFIER_HOME") or "~/.amplifier"
    return Path(home).expanduser() / "memory.sqlite3"
