"""Which turn the running code belongs to.

A turn that would not stop is abandoned: its task may go on for ever. What it still emits, asks
and writes must not get into the turns after it, so everything it starts carries its ticket.
"""

from contextvars import ContextVar
from dataclasses import dataclass


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
