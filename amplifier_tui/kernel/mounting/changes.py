"""Noting what others change while a module mounts, so that undoing the mount keeps it."""

from collections.abc import Callable
from contextvars import ContextVar, Token
from functools import partial
from typing import Any, Self


class ChangeNotes:
    """The changes that other tasks make to some objects while this is open. A context manager.

    A context variable tells the module's own changes from those of others. The owners are a
    coordinator, its hook registry, and the lists that modules add to; ``others`` has functions that
    make their noted changes again, ``foreign`` what they put there.
    """

    def __init__(self, *owners: object) -> None:
        self._owners = owners
        self.others: list[Callable[[], object]] = []
        self.foreign: list[object] = []

    def __enter__(self) -> Self:
        self._token: Token[ChangeNotes | None] = _mounting.set(self)
        open_notes.append(self)
        return self

    def __exit__(self, *error: object) -> None:
        open_notes.remove(self)
        _mounting.reset(self._token)

    def watches(self, owner: object) -> bool:
        """Tell whether changes of ``owner`` are noted."""
        return any(owner is watched for watched in self._owners)


_mounting: ContextVar[ChangeNotes | None] = ContextVar("amplifier_mounting", default=None)

open_notes: list[ChangeNotes] = []
"""The notes of all mounts under way; a change is only worth noting while there are any."""


def note_change(owner: object, redo: Callable[[], object], what: object = None) -> None:
    """Tell the mounts of others how to repeat a change of a coordinator or hook registry.

    ``what`` is what was put there, if anything.
    """
    own = _mounting.get()
    # A copy: on other threads mounts of other sessions begin and end meanwhile.
    for notes in tuple(open_notes):
        if notes is not own and notes.watches(owner):
            notes.others.append(redo)
            notes.foreign.append(what)


def add_shared(rows: list[Any], thing: object) -> None:
    """Add to a list that modules share, so that it is known whose it is while others mount."""
    rows.append(thing)
    if open_notes:
        note_change(rows, partial(put_back, rows, thing), thing)


def put_back(rows: list[Any], thing: object) -> None:
    """Add to a list that modules share what is not in it."""
    if not any(other is thing for other in rows):
        add_shared(rows, thing)


def drop_shared(rows: list[Any], thing: object) -> None:
    """Take something out of a list that modules share."""
    rows[:] = (other for other in rows if other is not thing)
    if open_notes:
        note_change(rows, partial(drop_shared, rows, thing))
