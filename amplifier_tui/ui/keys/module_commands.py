"""The `/` commands that modules bring, beside those of the table of actions, and names of none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amplifier_tui.base.nearest import nearest
from amplifier_tui.ui.keys.actions import BY_SLASH

if TYPE_CHECKING:
    from collections.abc import Iterable

    from amplifier_tui.host.events import CommandCard


def by_typed_name(cards: Iterable[CommandCard]) -> dict[str, CommandCard]:
    """Return commands by what is typed after the slash to run them.

    One whose name the program itself has, or a module before, goes by its full name.
    """
    found: dict[str, CommandCard] = {}
    for card in cards:
        taken = card.name in found or card.name in BY_SLASH
        found[f"{card.group}:{card.name}" if taken else card.name] = card
    return found


def is_command(typed: str, cards: Iterable[CommandCard]) -> bool:
    """Whether a name, short or full, is of one of these commands."""
    return any(typed in (card.name, f"{card.group}:{card.name}") for card in cards)


def is_mistyped(name: str, argument: str, known: Iterable[str]) -> bool:
    """Whether a line that begins with a slash, and is no command, was meant as one.

    Args:
        name: Its first word.
        argument: What follows.
        known: The names of commands.
    """
    if name.replace("-", "").isalpha():
        return True
    if not any(map(str.isalnum, name)) or not all(c.isalnum() or c in "-_:" for c in name):
        return False  # A path, for instance.
    # With more words behind it `/v2` is rather the beginning of a sentence, `/model2` is not.
    return not argument or nearest(name, known) is not None


def no_command(name: str, known: Iterable[str], listed: str) -> str:
    """Return what is said of a name that no command has.

    Args:
        listed: Says what lists them, for a name that is like none.
    """
    like = nearest(name, known)
    return f"There is no command /{name}; " + (f"did you mean /{like}?" if like else listed)
