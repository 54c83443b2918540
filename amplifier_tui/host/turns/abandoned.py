"""Which turn the running code belongs to.

A turn that would not stop is abandoned: its task may go on for ever. What it still emits, asks
and writes must not get into the turns after it, so everything it starts carries its ticket.
"""

import logging
import os
import signal
from contextvars import ContextVar
from typing import Any

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.watcher import watcher
from amplifier_tui.base.watcher.process import children_of
from amplifier_tui.kernel.hooks import HookRegistry
from amplifier_tui.kernel.models import HookResult

logger = logging.getLogger(__name__)


@dataclass(slots=True, eq=False)
class Ticket:
    """One turn.

    Attributes:
        number: Its number in the session.
        abandoned: Nobody waits for it any more.
    """

    number: int
    abandoned: bool = False


TICKET: ContextVar[Ticket | None] = ContextVar("amplifier_tui_turn", default=None)
"""The ticket of the turn that started the running code."""


def is_abandoned() -> bool:
    """Whether the running code belongs to an abandoned turn."""
    ticket = TICKET.get()
    return ticket is not None and ticket.abandoned


def guard(hooks: HookRegistry) -> None:
    """Keep abandoned turns of a session from asking models and running tools from now on."""
    for event in ("provider:request", "tool:pre"):
        hooks.register(event, _deny_abandoned, -10_000, "amplifier-tui-guard")


async def _deny_abandoned(event: str, data: dict[str, Any]) -> HookResult | None:
    if is_abandoned():
        return HookResult(action="deny", reason="The turn was stopped.")
    return None


def own_children() -> dict[int, int]:
    """Return the direct children of this process with their process groups.

    Empty where the system does not tell (there is no `/proc`).
    """
    found = children_of(os.getpid())
    found.pop(watcher().pid, None)
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
