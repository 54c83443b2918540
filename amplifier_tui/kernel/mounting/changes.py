"""Noting what others change while a module mounts, so that undoing the mount keeps it."""

from collections.abc import Callable
from contextvars import ContextVar, Token
from typing import Self


class ChangeNotes:
    """The changes that other tasks make to some objects while this is open. A context manager.

    A context variable tells the module's own changes from those of others. The owners are a
    coordinator and its hook registry; ``others`` has functions that make their noted changes again,
    ``foreign`` what they put there.
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
