"""Asking the model on the side: what it answers is no part of the conversation."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_ASIDE: ContextVar[bool] = ContextVar("amplifier_tui_aside", default=False)


@contextmanager
def aside() -> Iterator[None]:
    """Keep the words a model writes from here on out of the conversation on the screen.

    Its tokens count, and its provider's troubles are told, as ever.
    """
    token = _ASIDE.set(True)
    try:
        yield
    finally:
        _ASIDE.reset(token)


def is_aside() -> bool:
    """Whether the running code asks a model on the side."""
    return _ASIDE.get()
