"""Ends what an abandoned turn left running: processes nobody waits for any more.

Tools end their own processes when they are cancelled. This is for those that do not.
"""

import logging
import os
import signal
from pathlib import Path
from typing import Final

logger = logging.getLogger(__name__)

_PROC: Final = Path("/proc")


def own_children() -> dict[int, int]:
    """Return the direct children of this process with their process groups.

    Empty where the system does not tell (there is no `/proc`).
    """
    found: dict[int, int] = {}
    own = os.getpid()
    try:
        entries = [entry for entry in os.listdir(_PROC) if entry.isdigit()]
    except OSError:
        return found
    for entry in entries:
        try:
            stat = (_PROC / entry / "stat").read_text(encoding="ascii", errors="replace")
        except OSError:
            continue  # It ended in the meantime.
        # The name in brackets may hold anything, brackets and spaces included.
        fields = stat.rpartition(")")[2].split()
        if len(fields) > 2 and int(fields[1]) == own:
            found[int(entry)] = int(fields[2])
    return found


def end_children(known: dict[int, int]) -> int:
    """Kill the process groups of children that came since; returns how many.

    Args:
        known: The children there were before the turn; they are left alone.
    """
    ended = 0
    own_group = os.getpgrp() if hasattr(os, "getpgrp") else 0
    for pid, group in own_children().items():
        if pid in known:
            continue
        try:
            if group != own_group:
                os.killpg(group, signal.SIGKILL)
            else:
                os.kill(pid, signal.SIGKILL)
            ended += 1
        except (ProcessLookupError, PermissionError) as error:
            logger.debug("Process %d could not be ended: %s", pid, error)
    return ended
