"""What the host granted the tool call that runs now.

A host that judges tool calls sets it around `Tool.execute`; tools that can confine themselves, such
as one that runs commands, read it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Literal

__all__ = ["Grant", "current_grant", "granted"]


@dataclass(frozen=True, slots=True)
class Grant:
    """The terms of one call.

    Attributes:
        by: Who let it through: a person who saw these very arguments, a standing rule, or the mode.
        reading: It was found to only read, so it needs to write nowhere.
        network: A rule grants it the network.
    """

    by: Literal["person", "rule", "mode"]
    reading: bool = False
    network: bool = False


_grant: ContextVar[Grant | None] = ContextVar("tool_grant", default=None)


@contextmanager
def granted(grant: Grant) -> Iterator[None]:
    """Run what is inside under these terms."""
    token = _grant.set(grant)
    try:
        yield
    finally:
        _grant.reset(token)


def current_grant() -> Grant | None:
    """Return the terms of the call that runs now; None where no host judges calls."""
    return _grant.get()
